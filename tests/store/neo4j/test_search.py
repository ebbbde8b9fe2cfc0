"""Searches on a server find what SQLite finds, by whichever way, whatever a pattern asks."""

from __future__ import annotations

from contextlib import closing
from random import Random

import numpy as np
import pytest

from kgqa.errors import InputError
from kgqa.model.things import Chunk, Node, Relation, Span
from kgqa.protocols import Batch, Hits, Pattern, VectorRow
from kgqa.store.neo4j import nearby
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import BEGIN, END, UNDATED, Interval, Validity
from kgqa.testing.contract_base import direction, instant, says, term, texts
from kgqa.testing.sizes import counts

_WORDS = (
    "the mayor's rule of Zürich O'Brien in 1,815 anno-domini was X_Y naïve İstanbul ﬁne straße "
    "日本語 and AND or NOT Cleveland's end.Next e\u0301t\u0301 Łódź ²"
).split()


class Both:
    """Write the same to a file and to a server; read both and compare."""

    def __init__(self, file: SQLiteStore, server: Neo4jStore) -> None:
        self.file = file
        self.server = server

    def write(self, batch: Batch) -> None:
        assert self.file.write(batch).revision == self.server.write(batch).revision

    def index(self, generation: int = 1) -> None:
        waiting = self.file.pending(10_000)
        rows = tuple(VectorRow(p.kind, p.id, p.digest, direction(p.text)) for p in waiting)
        self.write(Batch(vectors=rows, generation=generation))
        self.write(Batch(meta={"generation": generation}))

    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> Hits:
        """Return what the server finds, having seen that it is what the file finds."""
        wanted = self.file.nearest(vector, k, pattern)
        found = self.server.nearest(vector, k, pattern)
        assert [(h.kind, h.id) for h in found] == [(h.kind, h.id) for h in wanted], found.how
        assert [h.score for h in found] == pytest.approx([h.score for h in wanted], abs=1e-5)
        return found

    def find(self, text: str, pattern: Pattern) -> Hits:
        """Return all that the server finds, having seen that it is what the file finds."""
        wanted = self.file.find(text, 1000, pattern)
        found = self.server.find(text, 1000, pattern)
        assert {(h.kind, h.id) for h in found} == {(h.kind, h.id) for h in wanted}, text
        assert found == sorted(found, key=lambda h: (-h.score, h.kind, h.id))
        return found


@pytest.fixture
def both(tmp_path, url):
    with (
        closing(SQLiteStore.create(tmp_path / "a.kgqa")) as file,
        closing(Neo4jStore.create(parse(url))) as server,
    ):
        yield Both(file, server)


def some_term(rnd: Random) -> Validity:
    start = rnd.randrange(-20, 60)
    end = start + rnd.randrange(1, 20)
    return rnd.choice(
        [term(start, end)] * 6
        + [term(start), UNDATED, Validity(BEGIN, BEGIN, end, end),
           Validity(start, start + 3, start + 1, end + 9)]
    )  # fmt: skip


def some_words(rnd: Random) -> str:
    return " ".join(rnd.choices(_WORDS, k=rnd.randrange(1, 9)))


def some_pattern(rnd: Random, known: int) -> Pattern:
    start = rnd.randrange(-25, 75)
    return Pattern(
        valid=rnd.choice([None, Interval(start, start + rnd.choice([1, 1, 5]))]),
        match=rnd.choice(["overlaps", "overlaps", "start", "end", "all"]),
        kind=rnd.choice([None, None, "ship"]),
        begun_before=rnd.choice([None, None, rnd.randrange(-20, 60)]),
        undated=rnd.choice(["include", "include", "exclude"]),
        items=rnd.choice([("chunk",), ("node",), ("chunk", "node", "relation"), ("relation",)]),
        known_at=rnd.choice([None, None, None, known]),
    )


@pytest.mark.parametrize("count", counts(25, 1000))
def test_the_same_is_found_by_every_way(both, monkeypatch, count):
    rnd = Random(29)
    both.write(Batch(relations=(Relation("held office", "held office"),)))
    for n in range(4):
        nodes = [
            Node(f"q{n}-{i}", some_words(rnd), rnd.choice(["ship", "person", None]),
                 existence=tuple(some_term(rnd) for _ in range(rnd.choice([0, 1, 2]))))
            for i in range(12)
        ]  # fmt: skip
        passages = [(f"{some_words(rnd)} {n}.{i}", some_term(rnd)) for i in range(40)]
        both.write(says(f"d{n}", nodes=nodes, passages=passages))
    both.index()
    known = both.file.revision
    both.write(Batch(delete=("d1", "d2")))
    both.write(says("d2", passages=[(f"{some_words(rnd)} {i}", some_term(rnd)) for i in range(9)]))
    both.index()
    ways: set[str] = set()
    for n in range(count):
        monkeypatch.setattr(nearby, "_SEARCH", rnd.choice([-(10**9), 300]))
        monkeypatch.setattr(nearby, "_QUERY", rnd.choice([-(10**8), 100]))
        pattern, k = some_pattern(rnd, known), rnd.choice([1, 5, 20, 300])
        found = both.nearest(direction(f"aim {n}"), k, pattern)
        ways |= {how.partition(": ")[2].partition(",")[0] for how in found.how.split("; ")}
        both.find(
            rnd.choice([some_words(rnd), rnd.choice(_WORDS), "cleveland", "815", "x"]), pattern
        )
    both_ways = {"exact", "vector index (queryNodes)"}
    if not both.server.capabilities.version.startswith("5."):
        both_ways.add("vector index (SEARCH)")
    assert ways == both_ways


def test_a_crowd_outside_the_time_hides_nothing(both, monkeypatch):
    """As many as wanted are found where all the nearest fall to what only the rows can say."""
    monkeypatch.setattr(nearby, "_SEARCH", -(10**9))
    monkeypatch.setattr(nearby, "_QUERY", -(10**8))
    aim = direction("aim")
    nodes = [
        Node(f"q{i}", f"Ada {i}", "ship", existence=(term(0, 2), term(8, 9))) for i in range(300)
    ]
    right = [Node(f"r{i}", f"Ben {i}", "ship", existence=(term(4, 6),)) for i in range(5)]
    both.write(says("d", nodes=[*nodes, *right]))
    vectors = {p.id: aim + (0.5 if p.id[0] == "q" else 3) * direction(p.text)
               for p in both.file.pending(1000)}  # fmt: skip
    rows = [VectorRow(p.kind, p.id, p.digest, vectors[p.id] / np.linalg.norm(vectors[p.id]))
            for p in both.file.pending(1000)]  # fmt: skip
    both.write(Batch(vectors=tuple(rows), generation=1, meta={"generation": 1}))
    then = Pattern(items=("node",), valid=instant(5))
    for k in (1, 5, 20):
        assert {h.id[0] for h in both.nearest(aim, k, then)} == {"r"}
    assert both.nearest(aim, 5, Pattern(items=("node",), kind="person", valid=instant(1))) == []
    assert len(both.nearest(aim, 20, Pattern(items=("node",), valid=instant(1)))) == 20


def test_far_instants_are_told_apart(both, monkeypatch):
    """A vector index rounds integers to doubles; no item is lost or wrongly found by that."""
    monkeypatch.setattr(nearby, "_SEARCH", -(10**9))
    far = (2**53, 2**56 + 1, 2**60 + 1, -(2**60) - 1, BEGIN, END - 2, 0)
    both.write(says("d", passages=[(f"p {t}", term(t, t + 1)) for t in far]))
    both.index()
    for t in far:
        for near in (t - 1, t, t + 1):
            if BEGIN <= near < END - 1:
                found = both.nearest(direction("x"), 9, Pattern(valid=instant(near)))
                assert bool(found) == (near in far)


def test_an_older_state_is_searched_as_it_was(both):
    both.write(says("a", passages=texts("one mayor")))
    both.write(says("b", passages=texts("two mayors, one town")))
    both.index()
    with both.server.view() as then:
        found = then.nearest(direction("x"), 5, Pattern())
        both.write(Batch(nodes=(Node("q1", "Ada"),)))
        assert then.nearest(direction("x"), 5, Pattern()) == found
        both.write(Batch(delete=("a",)))
        later = then.nearest(direction("x"), 5, Pattern())
        assert [h.id for h in later] == [h.id for h in found]
        assert "newer" in later.how
        assert {h.id for h in then.find("one", 5, Pattern())} == {"a-0", "b-0"}
    assert [h.id for h in both.find("one", Pattern())] == ["b-0"]
    assert [h.id for h in both.nearest(direction("x"), 5, Pattern())] == ["b-0"]


def test_generations(both):
    both.write(says("a", passages=texts("one", "two")))
    both.index(1)
    aim = direction("aim")
    before = both.nearest(aim, 5, Pattern())
    rows = tuple(VectorRow("chunk", f"a-{i}", digest, aim) for i, digest in enumerate("xy"))
    both.write(Batch(vectors=rows, generation=2))
    assert both.nearest(aim, 5, Pattern()) == before
    both.write(Batch(meta={"generation": 2}))
    assert [h.id for h in both.nearest(aim, 5, Pattern())] == ["a-0", "a-1"]


def test_long_ids_are_whole(both):
    long = "é" * 3000
    chunk = Chunk(long, "d", 0, "a mayor", Span(0, 7))
    both.write(Batch(source="d", documents=says("d").documents, chunks=(chunk,)))
    both.index()
    assert [h.id for h in both.find("mayor", Pattern())] == [long]
    assert [h.id for h in both.nearest(direction("x"), 5, Pattern())] == [long]


def test_nothing_asked_nothing_found(both):
    assert both.server.nearest(direction("x"), 5, Pattern()) == []
    both.write(says("a", passages=texts("one")))
    both.index()
    assert both.server.nearest(direction("x"), 0, Pattern()) == []
    assert both.server.find("one", 0, Pattern()) == []
    assert both.server.find("?!", 5, Pattern()) == []
    assert both.server.find("one", 5, Pattern(items=("relation",))) == []
    assert both.server.nearest(direction("x"), 5, Pattern(items=())) == []
    for bad in (direction("x", width=3), np.zeros(16, np.float32), np.full(16, np.nan, np.float32)):
        with pytest.raises(InputError) as caught:
            both.server.nearest(bad, 5, Pattern())
        assert caught.value.code == "vectors.query"


def test_how_says_which_way_and_why(both):
    both.write(says("a", passages=[("one", term(0, 5)), ("two", term(3, 9))]))
    both.index()
    found = both.nearest(direction("x"), 5, Pattern(valid=instant(1)))
    assert found.how == "node: exact, 0 of 0 hold; chunk: exact, 1 of 2 hold"
    assert both.find("one", Pattern()).how == "full text, filtered, bm25"
