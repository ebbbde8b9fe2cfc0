"""The schema on real servers: made, mended, refused; and waiting for indexes, on a fake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kgqa.errors import ConflictError, FaultError, KGQAError, UnavailableError
from kgqa.store.neo4j import schema
from kgqa.store.neo4j.cypher import LABELS
from kgqa.store.neo4j.session import Client

_NAMES = "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'kgqa_' RETURN name, state"
_OPTIONS = "SHOW INDEXES YIELD name, options WHERE name = $name RETURN options"


def _names(client: Client) -> dict[str, str]:
    return dict(client.rows(_NAMES))


def test_every_table_has_its_schema() -> None:
    wanted = schema.base_schema()
    assert {one.label for one in wanted} == {
        *LABELS.values(), "OldVector", "Base", "Entity", "Literal", "OTHER",
    }  # fmt: skip
    names = [one.name for one in wanted]
    assert len(set(names)) == len(names)


def test_the_schema_is_made_once(client: Client) -> None:
    wanted = {one.name for one in schema.base_schema()}
    before = _names(client)
    assert wanted <= set(before)
    assert set(before.values()) == {"ONLINE"}
    schema.ensure(client)
    assert _names(client) == before


def test_what_is_missing_is_made_again(client: Client) -> None:
    client.schema(["DROP INDEX kgqa_claim_chunk", "DROP CONSTRAINT kgqa_fact_n"])
    assert "kgqa_fact_n" not in _names(client)
    schema.ensure(client)
    assert {"kgqa_claim_chunk", "kgqa_fact_n"} <= set(_names(client))


@pytest.fixture
def mended(client: Client) -> Iterator[Client]:
    """Give a client whose schema is whole again afterwards."""
    yield client
    client.schema(["DROP INDEX another IF EXISTS", "DROP INDEX kgqa_claim_chunk IF EXISTS"])
    client.write(lambda tx: tx.rows("MATCH (n {kb: 'twice'}) DELETE n"))
    schema.ensure(client)


def _refused(client: Client) -> KGQAError:
    with pytest.raises(KGQAError) as caught:
        schema.ensure(client)
    assert caught.value.code == "store.schema"
    return caught.value


def test_an_index_where_a_constraint_belongs(mended: Client) -> None:
    mended.schema(["DROP CONSTRAINT kgqa_fact_n"])
    mended.schema(["CREATE INDEX another FOR (t:Fact) ON (t.kb, t.n)"])
    error = _refused(mended)
    assert isinstance(error, ConflictError)
    assert error.hint == "if nobody needs it: DROP INDEX another"


def test_another_index_of_that_name(mended: Client) -> None:
    mended.schema(["DROP INDEX kgqa_claim_chunk"])
    mended.schema(["CREATE INDEX kgqa_claim_chunk FOR (t:Theirs) ON (t.x)"])
    assert isinstance(_refused(mended), ConflictError)


def test_the_same_index_of_another_name_will_do(mended: Client) -> None:
    mended.schema(["DROP INDEX kgqa_claim_chunk"])
    mended.schema(["CREATE INDEX another FOR (t:Claim) ON (t.kb, t.chunk)"])
    schema.ensure(mended)
    assert "kgqa_claim_chunk" not in _names(mended)


def test_rows_that_stand_twice(mended: Client) -> None:
    mended.schema(["DROP CONSTRAINT kgqa_fact_n"])
    mended.write(lambda tx: tx.rows("UNWIND [1, 1] AS n CREATE (:Fact {kb: 'twice', n: n})"))
    assert isinstance(_refused(mended), FaultError)


def test_the_index_of_vectors(client: Client) -> None:
    schema.ensure_vectors(client, 6)
    schema.ensure_vectors(client, 6)
    ((options,),) = client.rows(_OPTIONS, name=schema.vector_index(6))
    config = options["indexConfig"]
    assert (config["vector.dimensions"], config["vector.hnsw.m"]) == (6, 32)
    assert config["vector.similarity_function"] == "COSINE"
    if client.cypher25:
        assert config["vector.quantization.type"] == "NONE"
    else:
        assert config["vector.quantization.enabled"] is False


def test_the_schema_of_relationships(client: Client) -> None:
    schema.ensure_types(client, ["HELD_OFFICE", "ÉLU"])
    schema.ensure_types(client, ["HELD_OFFICE"])
    wanted = {one.name for one in schema.type_schema("HELD_OFFICE")}
    assert wanted <= set(_names(client))


class _Slow:
    """Stands for a client whose one index is being filled, or has failed."""

    address = "bolt://db:7687/a"

    def __init__(self, states: list[tuple[str, float]]) -> None:
        self._states = states

    def rows(self, query: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        state, percent = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        return [("kgqa_x", "RANGE", ["X"], ["kb", "a"], state, percent, None)]


_WANTED = schema.Wanted("kgqa_x", "RANGE", "X", ("kb", "a"), schema.base_schema()[0].statement)


def test_indexes_that_are_being_filled_are_waited_for() -> None:
    told: list[float] = []
    slow = _Slow([("POPULATING", 0.0), ("POPULATING", 25.0), ("ONLINE", 100.0)])
    schema.ensure(slow, [_WANTED], progress=told.append)  # type: ignore[arg-type]
    assert told == [0.25]


def test_indexes_that_stay_unfilled_or_fail() -> None:
    with pytest.raises(UnavailableError, match="40 %") as caught:
        schema.ensure(_Slow([("POPULATING", 40.0)]), [_WANTED], wait=0)  # type: ignore[arg-type]
    assert caught.value.code == "store.populating"
    with pytest.raises(FaultError, match="failed") as failed:
        schema.ensure(_Slow([("FAILED", 0.0)]), [_WANTED])  # type: ignore[arg-type]
    assert failed.value.hint == "DROP INDEX kgqa_x, then open the base again"
