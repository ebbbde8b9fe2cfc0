"""No statement walks through other bases: each finds its own by an index that begins with kb."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import neo4j
import pytest

from kgqa.store.moving import layouts
from kgqa.store.neo4j import cypher, deriving, moving, picture, retiring, search, verifying
from kgqa.store.neo4j.cypher import LABELS, Cypher
from kgqa.store.neo4j.schema import ensure_vectors, vector_label
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.statements import FILTERED, INDEXES, KEEP_VECTORS
from kgqa.store.tables import KEYS
from kgqa.testing.servers import Neo4jServer

_GIVEN: dict[str, Any] = {
    **dict.fromkeys(("after", "item", "kind", "name", "key"), "x"),
    **dict.fromkeys(
        ("active", "at", "above", "before", "begin", "below", "end", "es", "ee", "le", "ls", "k",
         "last", "limit", "most", "n", "revision", "upto", "generation"), 1,
    ),
    **{name: [] for name in ("flipped", "ids", "items", "keys", "ns", "pairs", "rows", "tokens")},
    "kb": "x", "of": None, "undated": True, "vector": [1.0] * 16,
}  # fmt: skip
_ALL = (
    "AllNodesScan", "NodeByLabelScan", "NodeIndexScan", "RelationshipTypeScan",
    "AllRelationshipsScan",
)  # fmt: skip


_BEGINNING, _ENDING = ("MATCH", "UNWIND", "CALL"), ("RETURN", "DELETE", " SET ", "REMOVE")


def whole(module: ModuleType) -> Iterator[str]:
    """Yield the statements of a module that are constants."""
    for value in vars(module).values():
        said = value if isinstance(value, str) and "@" not in value else ""
        if said.startswith(_BEGINNING) and any(clause in said for clause in _ENDING):
            yield said


def moved() -> Iterator[str]:
    for table in layouts():
        yield moving._table_statement(moving._COUNT, table)
        if table in KEYS and table != "revisions":
            yield moving._table_statement(moving._KEYS, table)
            yield moving._table_statement(moving._BY_KEY, table)
        else:
            yield moving._table_statement(moving._WINDOW, table)
    for label, index in (*moving._BESIDE.items(), *((LABELS[t], INDEXES[t][0]) for t in LABELS)):
        yield moving._drop(label, index)


def derived() -> Iterator[str]:
    for table in deriving._DRAWN:
        yield cypher.text(deriving._COUNT, label=LABELS[table])
        yield cypher.text(deriving._CURRENT, label=LABELS[table], columns=[Cypher("t.id")])


def searched() -> Iterator[str]:
    for kind in search._CHECKED:
        for way in ("exact", "rows"):
            yield cypher.text(
                search._WAYS[way], label=vector_label(16), keys=search._BY_START,
                rows=search._ROWS[kind], checked=search._CHECKED[kind],
            )  # fmt: skip


@pytest.mark.parametrize(
    "statements",
    [
        [*whole(moving), *moved()],
        [*whole(deriving), *derived()],
        [*whole(picture)],
        [*whole(verifying), *FILTERED.values()],
        [*whole(retiring), KEEP_VECTORS, cypher.text(retiring._LEAVE, label=vector_label(16))],
        [*whole(search), *searched()],
    ],
    ids=["moving", "deriving", "picture", "verifying", "retiring", "search"],
)
def test_a_base_is_found_by_an_index(
    client: Client, server: Neo4jServer, statements: list[str]
) -> None:
    assert len(statements) > 4
    ensure_vectors(client, 16)
    with neo4j.GraphDatabase.driver(server.url, auth=server.auth) as driver:
        for statement in statements:
            given = {name: _GIVEN[name] for name in _GIVEN if f"${name}" in statement}
            plan = driver.execute_query("EXPLAIN " + statement, given).summary.plan
            scans = [one for one in _operators(plan) if one.endswith(_ALL)]
            assert not scans, statement


def _operators(plan: Any) -> list[str]:
    below = [one for child in plan.get("children", ()) for one in _operators(child)]
    return [plan["operatorType"].partition("@")[0], *below]
