"""The same again, a little changed, taken back, interrupted: what was loaded is all there is."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from letters import Letters

from kgqa.errors import ConflictError, KGQAError, UnavailableError
from kgqa.ingest.index import build
from kgqa.ingest.pipeline import LoadPlan, load
from kgqa.model.things import Chunk, Claim, Document, Ref
from kgqa.protocols import Batch, Pattern
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import Interval
from kgqa.testing.canonical import canonical, difference
from kgqa.testing.sizes import counts


class Words:
    """Claim the first three words of each chunk; fail on a share of the calls."""

    def __init__(self, share: float = 0.0, seed: int = 0) -> None:
        self.share, self.chance, self.calls = share, random.Random(seed), 0

    def __call__(
        self, document: Document, chunks: Sequence[Chunk], reference: Interval | None
    ) -> Iterator[Claim]:
        self.calls += 1
        if self.chance.random() < self.share:
            raise UnavailableError("the extractor is down", code="extract.down")
        for chunk in chunks:
            subject, verb, thing = chunk.text.split()[:3]
            yield Claim(Ref(subject), verb, Ref(thing), chunk=chunk.id, span=chunk.span)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    made = SQLiteStore.create(tmp_path / "base.kgqa")
    yield made
    assert made.verify() == []
    made.close()


def run(store: SQLiteStore, *paths: Path, extractor: Words | None = None, retry: bool = False):
    plan = LoadPlan(paths=paths, extractor=extractor or Words(), retry=retry)
    return load(store, plan)


def documents(folder: Path, count: int) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{n:03}.txt" for n in range(count)]
    for n, path in enumerate(paths):
        path.write_text(f"City{n % 9} had Walls{n}. It stood in 19{n % 90 + 10}.")
    return paths


def table(path: Path, count: int) -> Path:
    rows = [{"id": f"n{n}", "label": f"Node {n}", "kind": "thing"} for n in range(count)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize("count", counts(10, 100))
def test_the_same_bytes_change_nothing(store: SQLiteStore, tmp_path: Path, count: int) -> None:
    """R-ID-01: again, in other order, by another opener, under other file names."""
    paths = [*documents(tmp_path / "in", count), table(tmp_path / "nodes.jsonl", count * 10)]
    first, embedder = Words(), Letters()
    run(store, *paths, extractor=first)
    build(store, embedder)
    assert first.calls == count
    before, revision, embedded = canonical(store), store.revision, len(embedder.seen)
    other = SQLiteStore(store.path)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    copies = [moved / f"copy-{path.name}" for path in paths]
    for path, copy in zip(paths, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    for again, chosen in ((store, paths), (other, paths[::-1]), (store, copies)):
        extractor = Words()
        report = run(again, *chosen, extractor=extractor)
        build(again, embedder)
        assert extractor.calls == 0
        assert len(report.skipped) == count + 1
    assert len(embedder.seen) == embedded
    assert store.revision == revision
    assert difference(canonical(store), before) == []
    other.close()


def test_one_changed_paragraph_is_embedded_alone(store: SQLiteStore, tmp_path: Path) -> None:
    """R-ID-02: 1 of 50; facts of the removed text go, and stay in ``known_at`` before."""
    paragraphs = [f"Town{n} had Gate{n}. " + "It was old and grey. " * 14 for n in range(50)]
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(paragraphs))
    run(store, path)
    build(store, Letters())
    chunks = store.stats()["chunks"]
    facts = {f.object for f in store.match(Pattern())}
    assert "name:gate20." in facts
    revision = store.revision
    paragraphs[20] = paragraphs[20].replace("Gate20", "Tower20")
    path.write_text("\n\n".join(paragraphs))
    run(store, path)
    embedder = Letters()
    build(store, embedder)
    passage, node = sorted(embedder.seen, key=len, reverse=True)
    assert passage.startswith("a\nTown20 had Tower20.")
    assert node == "Tower20."
    assert store.stats()["chunks"] == chunks
    assert {f.object for f in store.match(Pattern())} == facts - {"name:gate20."} | {
        "name:tower20."
    }
    assert {f.object for f in store.match(Pattern(known_at=revision))} == facts


@pytest.mark.parametrize("steps", counts(60, 2000))
def test_documents_come_and_go(store: SQLiteStore, tmp_path: Path, steps: int) -> None:
    """R-ID-03: after any adding, replacing and deleting, the facts are those of what is there."""
    chance = random.Random(steps)
    there: dict[str, list[int]] = {}
    for step in range(steps):
        name = f"d{chance.randrange(8)}.jsonl"
        if name in there and chance.random() < 0.35:
            found = next(d for d in store.documents() if Path(d.path).name == name)
            store.write(Batch(delete=(found.id,)))
            del there[name]
        else:
            there[name] = sorted({chance.randrange(12) for _ in range(chance.randrange(1, 6))})
            rows = [{"subject": f"S{n % 3}", "relation": "has", "object": f"O{n}",
                     "start": str(1900 + n), "from": name} for n in there[name]]  # fmt: skip
            path = tmp_path / name
            path.write_text("\n".join(map(json.dumps, rows)))
            run(store, path)
        expected: dict[str, set[str]] = {}
        for document, numbers in there.items():
            for n in numbers:
                expected.setdefault(f"name:o{n}", set()).add(document)
        paths = {d.id: Path(d.path).name for d in store.documents()}
        found_facts = {
            f.object: {paths[s.document] for s in f.sources} for f in store.match(Pattern())
        }
        assert found_facts == expected, f"step {step}"


@pytest.mark.parametrize("count", counts(12, 100))
def test_what_failed_is_retried_until_done(store: SQLiteStore, tmp_path: Path, count: int) -> None:
    """R-ID-05: a third of the calls fails; every failure is listed, nothing is read twice."""
    paths = documents(tmp_path / "in", count)
    extractor, succeeded = Words(0.33, seed=7), 0
    report = run(store, *paths, extractor=extractor)
    assert 0 < len(store.failures()) < count
    while failures := store.failures():
        assert {f.code for f in failures} == {"extract.down"}
        held = len(store.documents())
        assert held + len(failures) == count
        succeeded = extractor.calls
        report = run(store, retry=True, extractor=extractor)
        assert extractor.calls - succeeded == len(failures)
        assert len(report.failures) == len(store.failures())
    whole = SQLiteStore.create(tmp_path / "whole.kgqa")
    run(whole, *paths)
    assert difference(canonical(store), canonical(whole)) == []
    whole.close()


def raced(stores: Sequence[SQLiteStore], path: Path) -> list[KGQAError]:
    """Load a file into every store at one moment; return what was raised."""
    gate, told = threading.Barrier(len(stores)), list[KGQAError]()

    def race(store: SQLiteStore) -> None:
        gate.wait()
        try:
            run(store, path)
        except KGQAError as error:
            told.append(error)

    threads = [threading.Thread(target=race, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@pytest.mark.parametrize("races", counts(3, 100))
def test_two_loads_of_one_document_at_once(tmp_path: Path, races: int) -> None:
    """R-ID-06: one result; the other finds it done, or is told that it came second."""
    (path,) = documents(tmp_path / "in", 1)
    expected = None
    for number in range(races):
        one = SQLiteStore.create(tmp_path / f"{number}.kgqa")
        two = SQLiteStore(one.path)
        told = raced((one, two), path)
        assert [type(error) for error in told] in ([], [ConflictError])
        found = canonical(one)
        expected = expected or found
        assert found == expected, f"race {number}"
        assert len(found["documents"]) == 1
        assert one.verify() == []
        one.close()
        two.close()
