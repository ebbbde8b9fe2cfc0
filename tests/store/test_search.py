"""Searches over text and vectors: filters in the past, odd words, the same as full scans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.errors import FaultError, InputError
from kgqa.model.things import Chunk, Node, Span
from kgqa.protocols import Batch, Pattern, VectorRow
from kgqa.store import open_store, queries
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import UNDATED, Interval

from .small import small, term

KINDS = ("node", "chunk", "relation")


@pytest.fixture
def indexed(store):
    """A base with vectors in which every item has been changed since revision ``store.known``."""
    store.write(small())
    chunks = [Chunk(f"c{i}", "doc", 5 + i, f"words {i}", Span(0, 1), validity=v)
              for i, v in enumerate([term(0, 5), term(3, 9), UNDATED])]  # fmt: skip
    nodes = [
        Node("n0", "None"),
        Node("n1", "One", "ship", existence=(term(0, 5),)),
        Node("n2", "Two", "ship", existence=(term(0, 2), term(7, 9))),
    ]
    store.write(Batch(source="doc", chunks=tuple(chunks), nodes=tuple(nodes)))
    items = [("chunk", c.id) for c in chunks] + [("node", n.id) for n in nodes]
    items.append(("relation", "governed"))
    rows = [VectorRow(kind, name, "d", np.eye(len(items), dtype=np.float32)[i])
            for i, (kind, name) in enumerate(items)]  # fmt: skip
    store.write(Batch(vectors=tuple(rows), generation=1, meta={"generation": 1}))
    return store


spans = st.builds(lambda a, n: Interval(a, a + n), st.integers(-1, 9), st.integers(1, 4))
patterns = st.builds(
    Pattern,
    kind=st.sampled_from([None, "ship", "person"]),
    valid=st.none() | spans,
    match=st.sampled_from(["overlaps", "start", "end", "all"]),
    begun_before=st.none() | st.integers(0, 9),
    undated=st.sampled_from(["include", "exclude"]),
    items=st.sets(st.sampled_from(KINDS)).map(lambda s: tuple(sorted(s))),
)  # fmt: skip


def test_the_past_is_searched_as_it_was(indexed):
    query = np.ones(7, np.float32)
    known = indexed.revision
    asked: list[tuple[Pattern, list[str]]] = []

    @settings(max_examples=60, deadline=None)
    @given(patterns)
    def collect(pattern: Pattern) -> None:
        found = [h.id for h in indexed.nearest(query, 20, pattern)]
        wanted = []
        if "chunk" in pattern.items:
            wanted += [
                c.id
                for c in indexed.chunks("doc")
                if c.id[0] == "c" and admits(pattern, [c.validity])
            ]
        if "node" in pattern.items:
            nodes = indexed.nodes(replace(pattern, order="id"))
            wanted += [n.id for n in nodes if n.declared and n.id[0] == "n"]
        if "relation" in pattern.items:
            wanted.append("governed")
        assert found == wanted
        asked.append((pattern, found))

    collect()
    indexed.write(Batch(delete=("doc",)))
    for pattern, found in asked:
        past = Pattern(**{**{n: getattr(pattern, n) for n in Pattern.__slots__}, "known_at": known})
        assert [h.id for h in indexed.nearest(query, 20, past)] == found
        now = [h.id for h in indexed.nearest(query, 20, pattern)]
        assert now == [name for name in found if name == "governed"]


def admits(pattern: Pattern, terms) -> bool:
    """Tell the same as the store, by a scan."""
    return any(
        (pattern.valid is None or v.matches(pattern.valid, pattern.match))
        and (pattern.begun_before is None or v.es < pattern.begun_before)
        and (pattern.undated == "include" or v.dated)
        for v in terms
    )


def test_nothing_asked_nothing_found(indexed):
    query = np.ones(7, np.float32)
    assert indexed.nearest(query, 0, Pattern()) == []
    assert indexed.find("rome", 0, Pattern()) == []
    assert indexed.find("?!", 5, Pattern()) == []
    assert indexed.find("rome", 5, Pattern(items=())) == []
    with pytest.raises(InputError):
        indexed.nearest(np.ones(3, np.float32), 5, Pattern())


def test_mixed_vectors_are_a_fault(indexed):
    import sqlite3

    raw = sqlite3.connect(indexed.path)
    raw.execute("UPDATE vectors SET vector = x'0000803f' WHERE item = 'c0'")
    raw.commit()
    raw.close()
    again = SQLiteStore(indexed.path)
    with pytest.raises(FaultError) as caught:
        again.nearest(np.ones(7, np.float32), 5, Pattern())
    assert caught.value.code == "vectors.corrupt"
    again.close()


def test_find_in_the_past(store):
    store.write(small())
    store.write(Batch(delete=("doc",)))
    assert store.find("governed", 5, Pattern()) == []
    assert [h.id for h in store.find("governed", 5, Pattern(known_at=1))] == ["doc-0"]


@given(st.text(max_size=300))
def test_words_are_never_syntax(text):
    expression = queries.match_expression(text)
    if expression is not None:
        words = expression.split(" OR ")
        assert all(w[0] == w[-1] == '"' and '"' not in w[1:-1] for w in words)
        assert len(words) <= 64


def test_accents_and_cases_fold(store):
    store.write(Batch(nodes=(Node("q1", "Zoe\u0308 Łódź"),)))
    for text in ("zoë", "ZOE", "Zoe\u0308"):
        assert [h.id for h in store.find(text, 2, Pattern())] == ["q1"]


def test_declaring_names_may_change_hands(store):
    """A label that a merged placeholder lent becomes the node's own, without another change."""
    from kgqa.model.things import Alias, Claim, Merge, Ref

    store.write(
        Batch(source="a", nodes=(Node("q1", "Ada"),), claims=(Claim(Ref("Ida"), "r", Ref("Ada")),))
    )
    store.write(Batch(merges=(Merge("name:ida", "q1"),)))
    store.write(Batch(source="b", nodes=(Node("q1", "Ada", aliases=(Alias("Ida"),)),)))
    assert store.verify() == []
    store.write(Batch(source="c", claims=(Claim(Ref("ida"), "r", Ref("x")),)))
    assert {f.subject for f in store.match(Pattern())} == {"q1"}
    store.write(Batch(delete=("b",)))
    assert store.verify() == []


def test_open_by_path_object(store):
    again = open_store(store.path)
    assert again.capabilities.technology == "sqlite"
    again.close()


def test_hits_say_how_they_were_found(indexed):
    query = np.ones(7, np.float32)
    pattern = Pattern(items=("chunk",), valid=Interval(1, 2))
    assert indexed.nearest(query, 1, pattern).how == "exact, 2 of 7 hold"
    assert indexed.find("rome", 5, pattern).how == "fts5, filtered, bm25"
