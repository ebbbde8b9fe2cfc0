"""Vectors that were replaced: kept for views, taken in parts, removed in time or by erasing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from kgqa.errors import InputError, UnavailableError
from kgqa.protocols import Batch, Pattern, VectorRow
from kgqa.store.neo4j import retiring
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.schema import vector_index
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.testing.contract_base import direction, says, texts

_HELD = "MATCH (v {kb: $kb}) WHERE v:Vector OR v:OldVector RETURN labels(v), v.item, v.generation"
AIM = direction("aim")


@pytest.fixture
def store(url: str) -> Iterator[Neo4jStore]:
    with closing(Neo4jStore.create(parse(url))) as made:
        made.write(says("d", passages=texts(*"abcdefg")))
        made.write(vectors(1))
        made.write(Batch(meta={"generation": 1}))
        yield made


def vectors(generation: int) -> Batch:
    rows = [
        VectorRow("chunk", f"d-{i}", f"{generation}", direction(f"{generation} {i}"))
        for i in range(7)
    ]
    return Batch(vectors=tuple(rows), generation=generation)


def held(store: Neo4jStore, client: Client, label: str) -> list[tuple[str, int]]:
    found = client.rows(_HELD, kb=store.address.kb)
    return sorted((item, generation) for labels, item, generation in found if label in labels)


def nearest(reader: Any) -> list[tuple[str, float]]:
    return [(h.id, round(h.score, 4)) for h in reader.nearest(AIM, 5, Pattern(items=("chunk",)))]


def test_an_interrupted_flip_is_gone_on_with(
    store: Neo4jStore, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches see the new vectors alone, the old view the old ones, at every step."""
    monkeypatch.setattr(retiring, "_AT_ONCE", 2)
    before = nearest(store)
    store.write(vectors(2))
    now = sorted(((f"d-{i}", float(direction(f"2 {i}") @ AIM)) for i in range(7)),
                 key=lambda hit: -hit[1])[:5]  # fmt: skip
    steps: list[int] = []
    change = store._change

    def fails_in_the_second_part(statement: str, **given: Any) -> Any:
        steps.append(len(given.get("rows", ())))
        if len(steps) == 4:
            raise UnavailableError("gone", code="store.unreachable")
        return change(statement, **given)

    monkeypatch.setattr(store, "_change", fails_in_the_second_part)
    with store.view() as then:
        assert store.write(Batch(meta={"generation": 2})).changed
        assert steps == [2, 2, 2, 2]
        assert len(held(store, client, "OldVector")) == 4
        assert len(held(store, client, "Vector")) == 12
        assert nearest(then) == before
        assert nearest(store) == [(name, pytest.approx(score, abs=1e-3)) for name, score in now]
        monkeypatch.undo()
        store.write(vectors(3))
        assert held(store, client, "OldVector") == [(f"d-{i}", 1) for i in range(7)]
        assert nearest(then) == before
    assert store.stats()["vectors"] == 7
    assert nearest(store) == [(name, pytest.approx(score, abs=1e-3)) for name, score in now]
    assert client.rows(retiring._FLIPPED, kb=store.address.kb) == []


def test_a_view_held_too_long_is_told(
    store: Neo4jStore, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.view() as first:
        before = nearest(first)
        store.write(vectors(2))
        store.write(Batch(meta={"generation": 2}))
        with store.view() as second:
            store.write(vectors(3))
            monkeypatch.setattr(retiring, "KEPT_SECONDS", -60)
            with closing(Neo4jStore(store.address)) as other, other.view() as fresh:
                retiring._sweep(store._client.rows, store._change, store.address.kb)
                assert held(store, client, "OldVector") == []
                # What the first view saw is gone; neither the second nor a new one lost any.
                with pytest.raises(UnavailableError) as caught:
                    nearest(first)
                assert caught.value.code == "store.view_expired"
                assert nearest(second) == nearest(fresh) != before
    with closing(Neo4jStore(store.address)) as other:
        assert nearest(other) == nearest(store)


def test_a_flip_sweeps_what_was_kept_long_enough(
    store: Neo4jStore, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retiring, "KEPT_SECONDS", -60)
    monkeypatch.setattr(retiring, "_AT_ONCE", 3)
    store.write(vectors(2))
    with store.view() as then:
        store.write(Batch(meta={"generation": 2}))
        assert held(store, client, "OldVector") == []
        assert held(store, client, "Vector") == [(f"d-{i}", 2) for i in range(7)]
        with pytest.raises(UnavailableError, match="gone"):
            nearest(then)


def test_erasing_leaves_no_old_vector(store: Neo4jStore, client: Client) -> None:
    store.write(vectors(2))
    store.write(Batch(meta={"generation": 2}))
    store.write(vectors(3))
    assert ("d-0", 1) in held(store, client, "OldVector")
    store.erase(["chunk:d-0"])
    for label in ("OldVector", "Vector"):
        assert "d-0" not in {item for item, _ in held(store, client, label)}
    assert ("d-1", 1) in held(store, client, "OldVector")


def test_vectors_of_another_length_leave_no_index(store: Neo4jStore, client: Client) -> None:
    wrong = (9, 13)
    for sizes in (wrong[:1], wrong, (len(AIM), wrong[1])):
        rows = tuple(VectorRow("chunk", f"d-{i}", "x", direction("x", width=size))
                     for i, size in enumerate(sizes))  # fmt: skip
        with pytest.raises(InputError) as caught:
            store.write(Batch(vectors=rows, generation=1))
        assert caught.value.code == "store.vector_length"
    names = {name for (name,) in client.rows("SHOW INDEXES YIELD name RETURN name")}
    assert vector_index(len(AIM)) in names
    assert not names & {vector_index(size) for size in wrong}
