"""The rows of a base in Neo4j: the contract, versions by key, what searches filter by, plans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import neo4j
import numpy as np
import pytest

from kgqa.store.neo4j import retiring, schema, statements
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.store.neo4j.tables import Neo4jTables, _parts
from kgqa.store.tables import Tables
from kgqa.temporal.interval import BEGIN, END
from kgqa.testing.contract_tables import COLUMNS, LONG, Fresh, TablesContract
from kgqa.testing.servers import Neo4jServer

_bases = count(1)
_CHUNK = (
    "n, id, document, ordinal, title, section, text, digest, span_start, span_end, page_first, "
    "page_last, es, ls, ee, le, how, recorded_from, recorded_to, sum"
)
_NODE = (
    "n, id, label, kind, kinds, words, aliases, existence, properties, declared, digest, es, ee, "
    "recorded_from, recorded_to, sum"
)


@contextmanager
def _open(client: Client, kb: str, revision: int = 1, erasing: bool = False) -> Iterator[Any]:
    """Give tables in a transaction of the driver that is committed at the end."""
    with client._session(write=True) as session, session.begin_transaction() as tx:
        yield Neo4jTables(Transaction(tx, client, ""), kb, revision, erasing)
        tx.commit()


class Whole(Neo4jTables):
    """Do at once what follows a flip."""

    def flip(self, generation: int) -> None:
        super().flip(generation)
        retiring.retire(self._tx.rows, self._tx.rows, self._kb)


class TestNeo4jTables(TablesContract):
    @pytest.fixture
    def fresh(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> Fresh:
        monkeypatch.setattr(retiring, "_AT_ONCE", 2)

        @contextmanager
        def fresh() -> Iterator[Tables]:
            with client._session(write=True) as session, session.begin_transaction() as tx:
                tables = Whole(Transaction(tx, client, ""), f"{client.address.kb}:t", 1)
                tables._run("CREATE (:Base {kb: $kb})")
                yield tables
                # Each base is empty again.
                tx.rollback()

        return fresh


@pytest.fixture
def kb() -> str:
    return f"tables{next(_bases)}"


def test_bases_do_not_see_each_other(client: Client, kb: str) -> None:
    row = (1, "a", "", "", "a", "a", 0, 0)
    for name in (kb, kb + "x"):
        with _open(client, name) as tables:
            tables.insert("refs", COLUMNS["refs"], [row])
    with _open(client, kb) as tables:
        assert tables.delete("refs", n=1) == 1
    with _open(client, kb + "x") as tables:
        assert tables.select("refs", COLUMNS["refs"]) == [row]


def _settings(client: Client, kb: str) -> list[tuple[Any, ...]]:
    return client.rows(
        "MATCH (t:Setting {kb: $kb}) RETURN t.value, t.recorded_from, t.recorded_to "
        "ORDER BY t.recorded_from",
        kb=kb,
    )


def test_rows_with_a_key_are_versions(client: Client, kb: str) -> None:
    for revision, value in ((1, "a"), (2, "a"), (3, "b"), (4, "c")):
        with _open(client, kb, revision) as tables:
            assert tables.put("meta", "key, value, sum", [("k", value, 0)]) == (revision != 2)
            assert tables.select("meta", "value", key="k") == [(value,)]
    assert _settings(client, kb) == [("a", 1, 3), ("b", 3, 4), ("c", 4, END)]
    with _open(client, kb, 5) as tables:
        assert tables.put("meta", "key, value, sum", [("k", "d", 0)]) == 1
        assert tables.put("meta", "key, value, sum", [("k", "e", 0)]) == 1
        assert tables.delete("meta", key="k") == 1
    # What one write made and took back leaves no trace.
    assert _settings(client, kb) == [("a", 1, 3), ("b", 3, 4), ("c", 4, 5)]


def test_erasing_removes_every_version_of_a_failure(client: Client, kb: str) -> None:
    columns = "unit, code, message, payload, sum"
    for revision, message in ((1, "secret"), (2, "better")):
        with _open(client, kb, revision) as tables:
            tables.put("failures", columns, [("u", "c", message, None, 0)])
    with _open(client, kb, 3) as tables:
        assert tables.delete("failures", unit="u") == 1
    count = "MATCH (t:Failure {kb: $kb}) RETURN count(t)"
    assert client.rows(count, kb=kb) == [(2,)]
    with _open(client, kb, 4, erasing=True) as tables:
        assert sorted(tables.select("failures", "message, payload")) == [
            ("better", None), ("secret", None)
        ]  # fmt: skip
        assert tables.delete("failures", unit="u") == 2
    assert client.rows(count, kb=kb) == [(0,)]


def _node(n: int, name: str, revision: int) -> tuple[Any, ...]:
    return (n, name, name, "", "", f"{name}\nÉtat", "", "x", "", 1, "d", 0, 9, revision, END, 0)


def _chunk(n: int, name: str) -> tuple[Any, ...]:
    return (
        n, name, "doc", n, "Title", "", "The Text", "d", 0, 1, None, None,
        5, 6, 7, 8, "", 1, END, 0,
    )  # fmt: skip


def test_what_was_touched_is_told(client: Client, kb: str) -> None:
    fact = (1, "f", "s", "r", "n:o", 0, 0, 1, 1, 1, END)
    claim = (1, 1, "doc", 1, 2, "", "c", None, None, None, 1.0, "", 1, END, 0)
    with _open(client, kb) as tables:
        tables.insert("facts", COLUMNS["facts"], [fact])
        tables.insert("claims", COLUMNS["claims"], [claim])
        tables.insert("chunks", _CHUNK, [_chunk(1, LONG)])
        assert {k: v for k, v in tables.touched.items() if v} == {
            "facts": {(1, "s", "r", "n:o")}, "claims": {(1, "c")}, "chunks": {(LONG, "doc")}
        }  # fmt: skip
    with _open(client, kb, 2) as tables:
        tables.until("facts", 2, [1])
        tables.change("claims", "fact", [(7, 1)])
        assert tables.delete("chunks", id=LONG) == 1
        assert {k: v for k, v in tables.touched.items() if v} == {
            "facts": {(1, "s", "r", "n:o")}, "claims": {(1, "c"), (7, "c")},
            "chunks": {(LONG, "doc")},
        }  # fmt: skip


def test_words_of_nodes_and_chunks_are_ready_for_full_text(client: Client, kb: str) -> None:
    with _open(client, kb) as tables:
        tables.insert("nodes", _NODE, [_node(1, "Aé", 1)])
        tables.insert("chunks", _CHUNK, [_chunk(1, "c")])
    found = client.rows(
        "MATCH (t {kb: $kb}) WHERE t:Version OR t:Chunk RETURN t.tokens ORDER BY t.tokens", kb=kb
    )
    assert found == [("ae etat",), ("title the text",)]


def test_long_texts_go_in_statements_of_their_own(client: Client, kb: str) -> None:
    rows = [(f"u{i}", "c", "m", "x" * 2_500_000, 0) for i in range(3)]
    with _open(client, kb) as tables:
        sizes = [len(part) for part in _parts(rows, 5000, heavy=True)]
        assert sizes == [1, 1, 1]
        assert [len(part) for part in _parts(rows, 2)] == [2, 1]
        tables.insert("failures", "unit, code, message, payload, sum", rows)
        assert tables.select("failures", "payload", unit="u2") == [(rows[2][3],)]


def _vector(kind: str, item: str, seed: int, generation: int = 1) -> tuple[Any, ...]:
    data = np.random.default_rng(seed).random(8, dtype="<f4").tobytes()
    return (kind, item, generation, "d", data, seed)


def _filters(client: Client, kb: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    return {
        (kind, item): (live, es, le)
        for kind, item, live, es, le in client.rows(
            "MATCH (v:Vector8 {kb: $kb}) "
            "RETURN v.kind, coalesce(v.item_long, v.item), v.live, v.es, v.le",
            kb=kb,
        )
    }


def test_vectors_follow_their_items(client: Client, kb: str) -> None:
    schema.ensure_vectors(client, 8)
    items = [("node", "a"), ("node", LONG), ("chunk", "c"), ("relation", "r"), ("node", "gone")]
    with _open(client, kb) as tables:
        tables.insert("nodes", _NODE, [_node(1, "a", 1), _node(2, LONG, 1)])
        tables.insert("existence", "node, es, ls, ee, le", [(1, 3, 3, 4, 4), (1, 8, 8, 9, 11)])
        tables.insert("chunks", _CHUNK, [_chunk(1, "c")])
        tables.put("relations", "key, body, sum", [("r", "{}", 0)])
        rows = [_vector(kind, item, i) for i, (kind, item) in enumerate(items)]
        assert tables.put_vectors(rows) == 5
        assert tables.put_vectors(rows) == 0
        assert tables.vector_size() == 8
        assert sorted(tables.select("vectors", COLUMNS["vectors"])) == sorted(rows)
        tables.flush()
    assert _filters(client, kb) == {
        ("node", "a"): (True, 3, 11),
        ("node", LONG): (True, BEGIN, END),
        ("chunk", "c"): (True, 5, 8),
        ("relation", "r"): (True, BEGIN, END),
        ("node", "gone"): (False, BEGIN, END),
    }
    with _open(client, kb, 2) as tables:
        tables.until("nodes", 2, [1])
        tables.insert("nodes", _NODE, [_node(3, "a", 2), _node(4, "gone", 2)])
        tables.insert("existence", "node, es, ls, ee, le", [(3, 20, 20, 30, 30)])
        tables.until("chunks", 2, [1])
        tables.flush()
    changed = _filters(client, kb)
    assert changed["node", "a"] == (True, 20, 30)
    assert changed["node", "gone"] == (True, BEGIN, END)
    assert changed["chunk", "c"] == (False, BEGIN, END)


# Plans: how the server finds what the logic of writing asks for.

_ASKED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("facts", "id, n", {"id": ["a"], "recorded_to": END}),
    ("facts", "n", {"subject": "a", "recorded_to": END}),
    ("facts", "n", {"object": "a"}),
    ("facts", "n", {"n": [1], "recorded_to": [END, 1]}),
    ("facts", "n", {}),
    ("claims", "n", {"fact": [1], "recorded_to": [END, 1]}),
    ("claims", "n", {"document": "a", "recorded_to": END}),
    ("claims", "n", {"chunk": "a"}),
    ("claims", "n", {"subject_ref": [1]}),
    ("claims", "n", {"object_ref": [1]}),
    ("claims", "n", {"n": [1]}),
    ("refs", "n", {"key": ["a"], "explicit": ""}),
    ("refs", "n", {"explicit": ["a"]}),
    ("refs", "n", {"label": ["a"]}),
    ("nodes", "n", {"id": ["a"], "recorded_to": END}),
    ("names", "label", {"key": ["a"], "own": 1}),
    ("names", "label", {"node": [1]}),
    ("existence", "es", {"node": 1}),
    ("node_claims", "n", {"node": ["a"], "document": "", "recorded_to": [END, 1]}),
    ("node_claims", "n", {"document": "a", "recorded_to": END}),
    ("documents", "n", {"id": ["a"], "recorded_to": [END, 1]}),
    ("chunks", "n", {"document": "a", "recorded_to": END}),
    ("merges", "loser", {"recorded_to": END}),
    ("meta", "value", {"key": ["a"]}),
    ("vectors", "item", {"kind": "node", "item": ["a"]}),
)


@pytest.fixture
def driver(server: Neo4jServer) -> Iterator[neo4j.Driver]:
    with neo4j.GraphDatabase.driver(server.start().url, auth=server.auth) as made:
        yield made


def _operators(plan: Any) -> set[str]:
    found = {plan["operatorType"].partition("@")[0]}
    return found.union(*map(_operators, plan.get("children", ())))


def _explained(driver: neo4j.Driver, statement: str, **parameters: Any) -> set[str]:
    summary = driver.execute_query("EXPLAIN " + statement, parameters).summary
    return _operators(summary.plan)


@pytest.mark.parametrize(("table", "columns", "where"), _ASKED, ids=[str(a) for a in _ASKED])
def test_what_is_selected_is_found_by_an_index(
    client: Client, driver: neo4j.Driver, table: str, columns: str, where: dict[str, Any]
) -> None:
    tables = Neo4jTables(None, "kb", 1)  # type: ignore[arg-type]
    ((statement, given),) = tables._matching(
        table, statements.SELECT, where, tuple(columns.split(", "))
    )
    operators = _explained(driver, statement, kb="kb", **given)
    assert any("IndexSeek" in name for name in operators), operators
    assert not any("Scan" in name for name in operators), operators


@pytest.mark.parametrize(
    "statement",
    [
        statements.lasts(),
        statements.shift(statements.UNTIL, "claims"),
        statements.change("claims", ("fact",)),
        statements.put_vectors(8, False),
        statements.ANY_VECTOR,
        *statements.LIVE.values(),
    ],
    ids=lambda statement: statement[:40],
)
def test_what_is_written_is_found_by_an_index(
    client: Client, driver: neo4j.Driver, statement: str
) -> None:
    names = ("kb", "ns", "rows", "items", "revision", "begin", "end")
    given: dict[str, Any] = {name: [] if name[-1] == "s" else 1 for name in names}
    operators = _explained(driver, statement, **given)
    assert any("IndexSeek" in name or "Unique" in name for name in operators), operators
    assert not any("Scan" in name for name in operators), operators
