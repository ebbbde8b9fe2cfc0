"""Recompute what a base derives and compare; find what damage or a bug has done.

Belongs here: checks, each over one whole part. Must not: repairs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgqa.model.ids import digest, fact_id
from kgqa.protocols import Problem
from kgqa.store import indexed, rows, sums, versions
from kgqa.store.linking import Derived, resolve
from kgqa.store.nodes import Nodes
from kgqa.store.queries import slices
from kgqa.store.refs import Merges, Refs
from kgqa.store.rows import Record
from kgqa.store.sqlite_tables import SQLiteTables
from kgqa.temporal.interval import BEGIN, END

if TYPE_CHECKING:
    from kgqa.store.snapshot import Snapshot

_VERSIONED = ("documents", "chunks", "node_claims", "nodes", "facts", "claims", "merges")
_BOUNDED = ("documents", "chunks", "facts", "names", "existence")


def verify(snapshot: Snapshot) -> list[Problem]:
    """Return every problem found, by part."""
    connection = snapshot.connection
    found: list[Problem] = []
    checks = (
        _pages, _sums, _recorded, _bounds, _support, _ids, _links, _uses, _nodes, _text, _vectors,
    )  # fmt: skip
    for check in checks:
        try:
            found += check(connection)
        except (sqlite3.DatabaseError, ValueError, TypeError) as exc:
            found.append(Problem(check.__name__.strip("_"), "", f"could not be read: {exc}"))
    return found


def _each(connection: sqlite3.Connection, part: str, message: str, sql: str) -> Iterator[Problem]:
    for row in connection.execute(sql):
        yield Problem(part, str(row[0]), message.format(*row))


def _pages(db: sqlite3.Connection) -> Iterator[Problem]:
    for (message,) in db.execute("PRAGMA integrity_check(100)"):
        if message != "ok":
            yield Problem("file", "", message)


def _sums(db: sqlite3.Connection) -> Iterator[Problem]:
    for part, name in sums.differing(db):
        yield Problem(part, name, f"{name!r} in {part} is not as it was written")


def _recorded(db: sqlite3.Connection) -> Iterator[Problem]:
    last: int = db.execute("SELECT coalesce(max(n), 0) FROM revisions").fetchone()[0]
    for table in _VERSIONED:
        yield from _each(
            db, table, "row {0} is recorded from {1} to {2}, of " + str(last) + " revisions",
            f"SELECT n, recorded_from, recorded_to FROM {table} WHERE recorded_from < 1 "
            f"OR recorded_from > {last} OR recorded_to <= recorded_from "
            f"OR (recorded_to > {last} AND recorded_to <> {END})",
        )  # fmt: skip
    yield from _each(
        db, "revisions", "revision {0} is earlier than the one before by the clock",
        "SELECT n FROM (SELECT n, wall, lag(wall) OVER (ORDER BY n) AS before FROM revisions) "
        "WHERE wall < before",
    )  # fmt: skip
    yield from _each(
        db, "revisions", "there are {0} revisions, the last is {1}",
        "SELECT count(*), max(n) FROM revisions HAVING count(*) <> max(n)",
    )  # fmt: skip


def _bounds(db: sqlite3.Connection) -> Iterator[Problem]:
    for table in _BOUNDED:
        yield from _each(
            db, table, "row {0} has impossible bounds",
            f"SELECT rowid FROM {table} WHERE es >= le OR es > ls OR ee > le "
            f"OR es < {BEGIN} OR le > {END} "
            "OR typeof(es) || typeof(ls) || typeof(ee) || typeof(le) <> "
            "'integerintegerintegerinteger'",
        )  # fmt: skip


def _support(db: sqlite3.Connection) -> Iterator[Problem]:
    yield from _each(
        db, "claims", "claim {0} supports no fact that is on record as long as it is",
        "SELECT c.n FROM claims c LEFT JOIN facts f ON f.n = c.fact WHERE f.n IS NULL "
        "OR c.recorded_from < f.recorded_from OR c.recorded_to > f.recorded_to",
    )  # fmt: skip
    yield from _each(
        db, "facts", "fact {0} is on record while no claim is, or not while one is",
        "SELECT f.id FROM facts f LEFT JOIN (SELECT fact, min(recorded_from) AS since, "
        "max(recorded_to) AS until FROM claims GROUP BY fact) c ON c.fact = f.n "
        "WHERE f.recorded_from IS NOT c.since OR f.recorded_to IS NOT c.until",
    )  # fmt: skip


def _ids(db: sqlite3.Connection) -> Iterator[Problem]:
    for name, subject, relation, token, es, ls, ee, le in db.execute(
        "SELECT id, subject, relation, object, es, ls, ee, le FROM facts"
    ):
        if fact_id(subject, relation, token, rows.validity(es, ls, ee, le, "")) != name:
            yield Problem("facts", name, f"fact {name} is not what its id says")


def _links(db: sqlite3.Connection) -> Iterator[Problem]:
    tables = SQLiteTables(db)
    merges = Merges(tables)
    nodes = Nodes(tables, 0, Refs(tables, merges), merges)
    for part in slices(db.execute("SELECT n, key, kind, explicit, node FROM refs ORDER BY n")):
        bearers = nodes.bearers({row[1] for row in part})
        for n, key, kind, explicit, node in part:
            meant = merges.canonical(explicit)
            if not explicit:
                meant = resolve(key, kind, bearers.get(key, ()), merges.canonical).node
            if node != meant:
                yield Problem("refs", str(n), f"ref {n} ({key!r}) means {meant!r}, not {node!r}")
    current = f"f.recorded_to = {END} AND c.recorded_to = {END}"
    yield from _each(
        db, "claims", "claim {0} supports a fact of other nodes than it names",
        "SELECT c.n FROM claims c JOIN facts f ON f.n = c.fact "
        "LEFT JOIN refs s ON s.n = c.subject_ref LEFT JOIN refs o ON o.n = c.object_ref "
        f"WHERE {current} AND (s.node IS NOT f.subject OR (c.object_ref <> 0 "
        "AND 'n:' || o.node IS NOT f.object) OR (c.object_ref = 0 AND f.object GLOB 'n:*'))",
    )  # fmt: skip


def _uses(db: sqlite3.Connection) -> Iterator[Problem]:
    yield from _each(
        db, "refs", "ref {0} counts {1} claims, there are {2}",
        "SELECT r.n, r.uses, coalesce(u.uses, 0) AS there FROM refs r LEFT JOIN ("
        "SELECT ref, count(*) AS uses FROM ("
        f"SELECT subject_ref AS ref FROM claims WHERE recorded_to = {END} UNION ALL "
        f"SELECT object_ref FROM claims WHERE recorded_to = {END}) GROUP BY ref) u ON u.ref = r.n "
        "WHERE r.uses <> there",
    )  # fmt: skip


def _nodes(db: sqlite3.Connection) -> Iterator[Problem]:
    tables = SQLiteTables(db)
    merges = Merges(tables)
    nodes = Nodes(tables, 0, Refs(tables, merges), merges)
    named = (
        f"SELECT id FROM nodes WHERE recorded_to = {END} "
        f"UNION SELECT node FROM node_claims WHERE recorded_to = {END} "
        "UNION SELECT node FROM refs WHERE uses > 0"
    )
    for part in slices(db.execute(named)):
        derived = nodes.derived_afresh([merges.canonical(row[0]) for row in part])
        for name, (meant, row) in derived.items():
            for problem in _differences(db, meant, row):
                yield Problem("nodes", name, f"node {name!r} {problem}")
    for n, *row in db.execute(f"SELECT n, {rows.NODE} FROM nodes WHERE recorded_to <> {END}"):
        meant = Derived(rows.node(tuple(row)), frozenset(), frozenset())
        # Which names declared a node matters, and is kept, only while it is current.
        held = {(*name[:4], 0, *name[5:]) for name in _rows(db, "names", versions.NAME, n)}
        if held != set(versions.names(n, meant)) or _terms_differ(db, n, meant):
            yield Problem(
                "nodes", row[0], f"node {row[0]!r} had other names or terms in the index "
                f"than in its row {n}",
            )  # fmt: skip
    yield from _each(
        db, "nodes", "a merged node {0!r} is on record beside what it was merged into",
        f"SELECT n.id FROM nodes n JOIN merges m ON m.loser = n.id AND m.recorded_to = {END} "
        f"WHERE n.recorded_to = {END}",
    )  # fmt: skip


def _differences(
    db: sqlite3.Connection, meant: Derived | None, row: Record | None
) -> Iterator[str]:
    """Yield how a node's current version, names or existence are not what derives."""
    wanted = versions.content(meant) if meant else None
    if wanted != (row[3:] if row else None):
        yield "differs from what its rows say"
    elif row and meant:
        if _rows(db, "names", versions.NAME, row[0]) != set(versions.names(row[0], meant)):
            yield "has other names in the index than in its row"
        if _terms_differ(db, row[0], meant):
            yield "has other terms of existence in the index than in its row"


def _terms_differ(db: sqlite3.Connection, n: int, meant: Derived) -> bool:
    return _rows(db, "existence", versions.TERM, n) != set(versions.terms(n, meant))


def _rows(db: sqlite3.Connection, table: str, columns: str, n: int) -> set[Record]:
    return set(db.execute(f"SELECT {columns} FROM {table} WHERE node = ?", (n,)))


def _text(db: sqlite3.Connection) -> Iterator[Problem]:
    yield from indexed.compare(db)
    for index in ("chunk_text", "node_text"):
        # Two words that hardly stand together: reading their places reads how the index is kept.
        db.execute(f"SELECT count(*) FROM {index} WHERE {index} MATCH '\"a b\"'").fetchone()
    for n, title, section, text, stored in db.execute(
        "SELECT n, title, section, text, digest FROM chunks"
    ):
        if digest(rows.chunk_text(title, section, text)) != stored:
            yield Problem("chunks", str(n), f"chunk row {n} is not the text that was written")


def _vectors(db: sqlite3.Connection) -> Iterator[Problem]:
    import numpy as np

    for kind, item, vector in db.execute("SELECT kind, item, vector FROM vectors"):
        if len(vector) % 4 == 0 and not np.isfinite(np.frombuffer(vector, dtype="<f4")).all():
            yield Problem("vectors", item, f"the vector of {kind} {item} has numbers without end")
    yield from _each(
        db, "vectors", "the vector of {1} {0} has {2} bytes, others have other lengths",
        "SELECT item, kind, length(vector) AS size FROM vectors WHERE size % 4 OR size <> ("
        "SELECT length(vector) FROM vectors GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)",
    )  # fmt: skip
    yield from _each(
        db, "vectors", "there is a vector of {1} {0}, which never was",
        "SELECT item, kind FROM vectors v WHERE "
        "(kind = 'chunk' AND NOT EXISTS (SELECT 1 FROM chunks WHERE id = v.item)) OR "
        "(kind = 'node' AND NOT EXISTS (SELECT 1 FROM nodes WHERE id = v.item))",
    )  # fmt: skip
