"""Start-up and memory: `import kgqa` and `kgqa --version` against a bare interpreter, and RSS.

Usage: python benchmarks/start.py [--facts 1000000 --chunks 100000]

Prints medians of interleaved runs and their ratios. The memory part makes a base of the given
size in a temporary folder (random facts and vectors, seed 7) and opens it in a child process,
which does one `search` and one `at`; spaCy's model is loaded first and its share is taken off.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15

COMMANDS = {
    "bare interpreter": [sys.executable, "-c", "pass"],
    "import kgqa": [sys.executable, "-c", "import kgqa"],
    "kgqa --version": [sys.executable, "-m", "kgqa", "--version"],
    "kgqa --version (script)": [str(Path(sys.executable).parent / "kgqa"), "--version"],
}


def once(argv: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def starts() -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, argv in COMMANDS.items():
            times[name].append(once(argv))
    bare = statistics.median(times["bare interpreter"])
    for name, found in times.items():
        median = statistics.median(found)
        print(f"{name:<26} {median * 1000:7.1f} ms  {median / bare:5.2f}x")


CHILD = """
import os, sys, psutil
from kgqa.language import nlp
nlp.parse("Ready.")
model = psutil.Process().memory_info().rss
from kgqa import AskOptions, KBase
with KBase.open(sys.argv[1]) as kb:
    name = kb.nodes(limit=1)[0].label
    found = kb.search(f"which council elected {name} in 1900", 10)
    held = kb.at(name, AskOptions(as_of="1900"))
    rss = psutil.Process().memory_info().rss
print(f"search found {len(found.items)}; with the model loaded {model / 1e6:.0f} MB, "
      f"after search and at {rss / 1e6:.0f} MB; apart from the model {(rss - model) / 1e6:.0f} MB")
"""


def memory(facts: int, chunks: int) -> None:
    from bases import chunk_batches, claim_batches, vector_batches

    from kgqa import KBase
    from kgqa.protocols import Batch

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "big.kg")
        with KBase.create(path) as kb:
            store = kb._store
            for batch in claim_batches(facts):
                store.write(batch)
            for batch in chunk_batches(chunks):
                store.write(batch)
            for batch in vector_batches(store, kb.embedder):
                store.write(batch)
            ready = {"generation": 1, "indexed_revision": store.revision}
            store.write(Batch(meta=ready))
            print(
                {k: v for k, v in kb.stats().items() if v},
                f"{Path(path).stat().st_size / 1e6:.0f} MB",
            )
        done = subprocess.run(
            [sys.executable, "-c", CHILD, path], check=True, stdout=subprocess.PIPE, text=True
        )
        print(done.stdout.strip())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=int, default=0)
    parser.add_argument("--chunks", type=int, default=0)
    args = parser.parse_args()
    starts()
    if args.facts:
        memory(args.facts, args.chunks)
