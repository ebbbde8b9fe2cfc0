"""Document ingest against spaCy plus embedder alone, and cost per document as the base grows.

Usage: python benchmarks/ingest.py [--documents 60] [--grown 10]

Documents are made from the packaged examples' prose and numbered names (seed 7), so that each
differs. Baseline: the same chunks through `nlp.parse_all` and `embedder.embed`, nothing stored.
Both are timed in one process, interleaved; ratios of medians.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from kgqa import KBase, examples
from kgqa.inference.embed import open_embedder
from kgqa.language import nlp
from kgqa.loaders import load_text

SEED = 7
ROUNDS = 3


def prose() -> list[str]:
    """Return the paragraphs of the packaged documents."""
    found = []
    for name in examples.names():
        path = examples.path(name)
        if path.suffix in (".txt", ".md", ".html"):
            loaded = load_text(path.read_bytes(), path.name)
            found += [p for s in loaded.sections for p in s.text.split("\n\n") if len(p) > 200]
    return found


def write_documents(folder: Path, count: int, first: int) -> None:
    rng = random.Random(SEED + first)
    paragraphs = prose()
    for number in range(first, first + count):
        chosen = rng.sample(paragraphs, 6)
        text = "\n\n".join(f"Record {number}. {p}" for p in chosen)
        (folder / f"doc-{number:06}.txt").write_text(text)


def ingest(kb: KBase, folder: Path) -> float:
    began = time.perf_counter()
    report = kb.load(folder)
    kb.index()
    elapsed = time.perf_counter() - began
    assert not report.failures
    return elapsed


def bare(texts: list[str], embedder: object) -> float:
    began = time.perf_counter()
    for _ in nlp.parse_all(texts):
        pass
    embedder.embed(texts)  # type: ignore[attr-defined]
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=30)
    parser.add_argument("--grown", type=int, default=10)
    args = parser.parse_args()
    embedder = open_embedder("minilm")
    embedder.embed(["warm"])
    nlp.parse("Warm up.")
    with tempfile.TemporaryDirectory() as name, KBase.create(Path(name) / "a.kg") as kb:
        root = Path(name)
        ours, alone = [], []
        for turn in range(ROUNDS):
            folder = root / f"round-{turn}"
            folder.mkdir()
            write_documents(folder, args.documents, turn * args.documents)
            ours.append(ingest(kb, folder))
            made = {d.id for d in kb.documents() if str(folder) in d.path}
            texts = [c.text for d in sorted(made) for c in kb._store.chunks(d)]
            alone.append(bare(texts, embedder))
        ratios = [a / b for a, b in zip(ours, alone, strict=True)]
        print(
            f"{args.documents} documents: load and index {statistics.median(ours):.2f} s, spaCy "
            f"and embedder alone {statistics.median(alone):.2f} s, "
            f"ratio {statistics.median(ratios):.2f}"
        )
        small = statistics.median(ours)
        have = args.documents * ROUNDS
        grown = root / "grown"
        grown.mkdir()
        write_documents(grown, have * (args.grown - 1), have)
        ingest(kb, grown)
        last = root / "last"
        last.mkdir()
        write_documents(last, args.documents, have * args.grown)
        again = ingest(kb, last)
        print(
            f"the same number of documents into a base {args.grown} times the size: {again:.2f} s, "
            f"{again / small:.2f}x"
        )


if __name__ == "__main__":
    main()
