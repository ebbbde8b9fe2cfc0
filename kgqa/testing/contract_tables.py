"""The contract of ``store.tables.Tables``: every back-end's rows behave as a list of dicts.

Belongs here: expectations that hold for any back-end. Must not: back-ends. A back-end's test
extends ``TablesContract`` with the fixture ``fresh``: a function that opens a write transaction
on an empty base and gives its ``Tables``, anew at every call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgqa.store.rows import Record
from kgqa.store.tables import KEYS, Tables
from kgqa.temporal.interval import BEGIN, END

Fresh: TypeAlias = Callable[[], AbstractContextManager[Tables]]

REVISION = 3
COLUMNS = {
    "refs": "n, label, kind, explicit, key, node, uses, sum",
    "facts": "n, id, subject, relation, object, es, ls, ee, le, recorded_from, recorded_to",
    "claims": "n, fact, document, subject_ref, object_ref, how, chunk, span_start, span_end, "
    "line, confidence, properties, recorded_from, recorded_to, sum",
    "names": "key, node, label, main, own, es, ls, ee, le, how",
    "meta": "key, value, sum",
    "vectors": "kind, item, generation, digest, vector, sum",
}
LONG = "n" * 3000
TEXTS = (
    "a",
    "b",
    "",
    "é",
    "`x`",
    "\\u0060",
    "nul\0",
    "ℵ𝒳",
    LONG,
    LONG + "a",
    LONG + "b",
    "é" * 800,
)
"""Such as are known to be mistaken for syntax, for one another, or for too long."""

_texts = st.sampled_from(TEXTS)
_number = st.sampled_from((0, 1, -5, BEGIN, END))
_maybe = st.one_of(st.none(), st.sampled_from((0, 7, 2**40)))
_few = st.integers(1, 4)


class Rows:
    """Do what ``Tables`` does, in the plainest way."""

    def __init__(self) -> None:
        self.held: dict[str, list[dict[str, Any]]] = {table: [] for table in COLUMNS}

    def fitting(self, table: str, where: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows that fit every condition."""
        return [
            row
            for row in self.held[table]
            if all(row[c] in v if isinstance(v, list) else row[c] == v for c, v in where.items())
        ]

    def delete(self, table: str, where: Mapping[str, Any]) -> int:
        """Remove the rows that fit; return how many."""
        gone = self.fitting(table, where)
        self.held[table] = [row for row in self.held[table] if row not in gone]
        return len(gone)

    def put(self, table: str, row: Record) -> bool:
        """Write one row by its key; tell whether that changed anything."""
        new = dict(zip(COLUMNS[table].split(", "), row, strict=True))
        same = {column: new[column] for column in KEYS[table]}
        old = self.fitting(table, same)
        if old == [new]:
            return False
        self.delete(table, same)
        self.held[table].append(new)
        return True


_open = st.just(END)
_ROWS = {
    "refs": st.tuples(_texts, _texts, _texts, _texts, _texts, _number, st.just(5)),
    "facts": st.tuples(
        _texts, _texts, _texts, _texts, _number, _number, _number, _number, _few, _open
    ),
    "claims": st.tuples(
        _few, _texts, _few, st.just(0), _texts, st.none() | _texts, _maybe, _maybe, _maybe,
        st.sampled_from((0.0, 0.25, 1.0)), _texts, _few, _open, st.just(17 - END),
    ),
    "names": st.tuples(
        _texts, _few, _texts, st.sampled_from((0, 1)), st.sampled_from((0, 1)),
        _number, _number, _number, _number, _texts,
    ),
}  # fmt: skip
"""By table: what its rows hold after their ``n``, if they have one."""
_insertions = st.sampled_from(sorted(_ROWS)).flatmap(
    lambda table: st.tuples(
        st.just("insert"), st.just(table), st.lists(_ROWS[table], min_size=1, max_size=4)
    )
)


def _conditions(table: str) -> st.SearchStrategy[dict[str, Any]]:
    columns = {
        "refs": ("label", "key", "explicit", "node"),
        "facts": ("id", "subject", "relation", "object"),
        "claims": ("document", "chunk"),
        "names": ("key",),
    }[table]
    texts = st.one_of(_texts, st.lists(_texts, max_size=6))
    texts_by = st.dictionaries(st.sampled_from(columns), texts, max_size=2)
    numbers = {"refs": "n", "facts": "n", "claims": "fact", "names": "node"}[table]
    numbers_by = st.dictionaries(st.just(numbers), st.lists(_few) | _few, max_size=1)
    return st.builds(lambda a, b: a | b, texts_by, numbers_by)


_selections = st.sampled_from(("refs", "facts", "claims", "names")).flatmap(
    lambda table: st.tuples(st.just("select"), st.just(table), _conditions(table))
)
_deletions = st.sampled_from(("refs", "facts", "claims", "names")).flatmap(
    lambda table: st.tuples(st.just("delete"), st.just(table), _conditions(table))
)
_shifts = st.tuples(
    st.sampled_from((("until", "claims"), ("until", "facts"), ("since", "claims"))), st.lists(_few)
)
_changes = st.tuples(st.just("change"), st.lists(st.tuples(_texts, _number, _few), max_size=3))
_puts = st.tuples(
    st.just("put"),
    st.dictionaries(_texts, st.tuples(_texts, st.sampled_from((1, 2))), max_size=3),
)
_vector = st.sampled_from((b"\0" * 16, b"\0\0\x80?" * 4, b"\xcd\xcc\xcc=\0\0\0\xbf" * 2))
_vectors = st.tuples(
    st.just("put_vectors"),
    st.dictionaries(
        st.tuples(st.sampled_from(("node", "chunk")), _texts, st.sampled_from((0, 1, 2))),
        st.tuples(st.sampled_from(("d", "e")), _vector),
        max_size=4,
    ),
)
_flips = st.tuples(st.just("flip"), st.sampled_from((0, 1, 2)))
_steps = st.lists(
    st.one_of(
        _insertions, _selections, _deletions, _shifts, _changes, _puts, _vectors, _flips
    ),
    max_size=12,
)  # fmt: skip


class TablesContract:
    """What holds of any implementation of ``Tables``."""

    @pytest.fixture
    def tables(self, fresh: Fresh) -> Iterator[Tables]:
        """Yield the tables of an empty base."""
        with fresh() as tables:
            yield tables

    @settings(
        max_examples=25, deadline=None, report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )  # fmt: skip
    @given(_steps)
    def test_any_steps_leave_what_they_leave_in_lists(
        self, fresh: Fresh, steps: list[tuple[Any, ...]]
    ) -> None:
        """Every step has the effect and the result that it has on plain rows."""
        rows = Rows()
        with fresh() as tables:
            for step in steps:
                _apply(step, tables, rows)
            for table, columns in COLUMNS.items():
                assert _sorted(tables.select(table, columns)) == _sorted(
                    tuple(row.values()) for row in rows.held[table]
                )
            for table in ("refs", "facts", "claims"):
                assert tables.last(table) == max((r["n"] for r in rows.held[table]), default=0)

    def test_an_empty_base_has_nothing(self, tables: Tables) -> None:
        """Nothing is found, nothing removed, no vector has a size."""
        assert tables.select("facts", "id") == []
        assert tables.last("facts") == 0
        assert tables.delete("facts", id="a") == 0
        assert tables.vector_size() is None
        assert tables.put_vectors([]) == 0

    def test_many_rows_and_a_long_list(self, tables: Tables) -> None:
        """More rows than go into one statement, found by as long a list."""
        many = 6001
        tables.insert("names", COLUMNS["names"], (_name(i) for i in range(many)))
        found = tables.select("names", "key", node=list(range(many)), own=[0, 1])
        assert sorted(found) == sorted((f"k{i}",) for i in range(many))
        assert tables.select("names", "key", node=[], own=1) == []
        assert tables.delete("names", key=[f"k{i}" for i in range(1, many)]) == many - 1
        assert tables.select("names", "key, own") == [("k0", 0)]

    def test_a_closed_row_keeps_its_sum_and_opens_again(self, tables: Tables) -> None:
        """The sum moves with the revisions, by which ``verify`` reads it."""
        claim = (1, 1, "d", 1, 0, "", None, None, None, None, 1.0, "", 2, END, 100 + 2 - END)
        tables.insert("claims", COLUMNS["claims"], [claim])
        tables.until("claims", 5, [1])
        assert tables.select("claims", "recorded_to, sum") == [(5, 100 + 2 - 5)]
        tables.since("claims", 1, [1])
        tables.until("claims", END, [1])
        assert tables.select("claims", "recorded_from, recorded_to, sum") == [
            (1, END, 100 + 1 - END)
        ]

    def test_texts_that_differ_at_their_end_differ(self, tables: Tables) -> None:
        """However long they are; and each is found and given back whole."""
        texts = [LONG, LONG + "a", LONG + "b"]
        rows = [(i, t, "", "", t, t, 0, 0) for i, t in enumerate(texts, 1)]
        tables.insert("refs", COLUMNS["refs"], rows)
        for n, text in enumerate(texts, 1):
            assert tables.select("refs", "n, label, key", key=text) == [(n, text, text)]
        tables.change("refs", "node, uses", [("short", 1, 1), (LONG + "c", 1, 2)])
        assert sorted(tables.select("refs", "n, node")) == [
            (1, "short"), (2, LONG + "c"), (3, LONG + "b")
        ]  # fmt: skip


def _name(i: int) -> Record:
    return (f"k{i}", i, "label", 1, i % 2, 0, 0, 1, 1, "")


def _sorted(rows: Any) -> list[Record]:
    return sorted(map(tuple, rows), key=repr)


def _apply(step: tuple[Any, ...], tables: Tables, rows: Rows) -> None:
    """Take a step on both sides; what the step returns is the same."""
    what, *given = step
    match what:
        case "insert":
            table, made = given
            columns = COLUMNS[table]
            if columns.startswith("n,"):
                first = tables.last(table) + 1
                made = [(i, *row) for i, row in enumerate(made, first)]
            made = [_distinct(table, row) for row in made]
            tables.insert(table, columns, made)
            names = columns.split(", ")
            rows.held[table] += [dict(zip(names, row, strict=True)) for row in made]
        case "select":
            table, where = given
            columns = COLUMNS[table]
            assert _sorted(tables.select(table, columns, **where)) == _sorted(
                tuple(row.values()) for row in rows.fitting(table, where)
            )
        case "delete":
            table, where = given
            assert tables.delete(table, **where) == rows.delete(table, where)
        case ("until" | "since" as which, table):
            (ns,) = given
            getattr(tables, which)(table, REVISION, ns)
            column, sign = ("recorded_to", 1) if which == "until" else ("recorded_from", -1)
            for row in rows.fitting(table, {"n": ns}):
                if "sum" in row:
                    row["sum"] += sign * (row[column] - REVISION)
                row[column] = REVISION
        case "change":
            tables.change("refs", "node, uses", given[0])
            for node, uses, n in given[0]:
                for row in rows.fitting("refs", {"n": n}):
                    row.update(node=node, uses=uses)
        case "put":
            written = [(key, value, total) for key, (value, total) in given[0].items()]
            changed = sum([rows.put("meta", row) for row in written])
            assert tables.put("meta", COLUMNS["meta"], written) == changed
        case "put_vectors":
            written = [(*k, d, v, hash((k, d, v)) % 2**32) for k, (d, v) in given[0].items()]
            changed = sum([rows.put("vectors", row) for row in written])
            assert tables.put_vectors(written) == changed
            assert tables.vector_size() == (4 if rows.held["vectors"] else None)
        case "flip":
            tables.flip(given[0])
            _flip(rows, given[0])


def _distinct(table: str, row: Record) -> Record:
    """Return a row that breaks no rule of uniqueness: what must differ ends with its number."""
    return (row[0], f"{row[1]}{row[0]}", *row[2:]) if table in ("refs", "facts") else row


def _flip(rows: Rows, generation: int) -> None:
    newest: dict[tuple[str, str], int] = {}
    for row in rows.held["vectors"]:
        if row["generation"] <= generation:
            key = row["kind"], row["item"]
            newest[key] = max(newest.get(key, 0), row["generation"])
    rows.held["vectors"] = [
        row
        for row in rows.held["vectors"]
        if row["generation"] >= newest.get((row["kind"], row["item"]), 0)
    ]
