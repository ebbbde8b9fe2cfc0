"""Compare a base's text indexes and definitions with ones made afresh.

Belongs here: the check that ``verify`` makes with a second, empty base. Must not: searching
(``search``). FTS5 checks itself only inside a write, which would make every other writer wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from kgqa.protocols import Problem
from kgqa.store.schema import MIGRATIONS

_INDEXES = (
    ("chunk_text", "title, section, text", "chunks"),
    ("node_text", "words", "nodes"),
)
_PLACES = (
    "count(*), sum(doc), sum(offset), sum(doc * offset), sum(length(col) * (doc + offset)) "
    "FROM temp.places"
)
"""Where a term stands, in figures that one damaged place cannot leave as they are."""


def compare(db: sqlite3.Connection) -> Iterator[Problem]:
    """Yield what is defined or indexed otherwise than in a base made afresh of the same rows."""
    # A file of its own, which SQLite removes: the indexes may be larger than the memory.
    with closing(sqlite3.connect("", isolation_level=None)) as fresh:
        fresh.executescript(";".join(MIGRATIONS))
        yield from _definitions(db, fresh)
        for index, columns, table in _INDEXES:
            yield from _index(db, fresh, index, columns, table)


def _definitions(db: sqlite3.Connection, fresh: sqlite3.Connection) -> Iterator[Problem]:
    sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    for kind, name, *_ in set(fresh.execute(sql)) - set(db.execute(sql)):
        yield Problem("file", name, f"the {kind} {name} is not defined as it should be")


def _index(
    db: sqlite3.Connection, fresh: sqlite3.Connection, index: str, columns: str, table: str
) -> Iterator[Problem]:
    marks = ", ".join("?" * (columns.count(",") + 1))
    fresh.execute("BEGIN")
    fresh.executemany(
        f"INSERT INTO {index}(rowid, {columns}) VALUES (?, {marks})",
        db.execute(f"SELECT n, {columns} FROM {table}"),
    )
    fresh.execute("COMMIT")
    # How long each text is, then the totals; those of an index without rows are written two ways.
    lengths = (
        f"SELECT id, sz FROM {index}_docsize UNION ALL SELECT id, block FROM {index}_data "
        f"WHERE id = 1 AND EXISTS (SELECT 1 FROM {index}_docsize)"
    )
    if set(fresh.execute(lengths)) != set(db.execute(lengths)):
        yield Problem(index, "", "the text index has other lengths of texts than its table")
    with _places(fresh, index), _places(db, index):
        terms = 0
        for term, *wanted in fresh.execute(f"SELECT term, {_PLACES} GROUP BY term"):
            found = db.execute(f"SELECT {_PLACES} WHERE term = ?", (term,)).fetchone()
            if found != tuple(wanted):
                yield Problem(index, term, f"the text index has {term!r} at other places")
            terms += 1
        there = db.execute("SELECT count(DISTINCT term) FROM temp.places").fetchone()[0]
        if there != terms:
            yield Problem(index, "", f"the text index has {there} words, its table {terms}")


@contextmanager
def _places(db: sqlite3.Connection, index: str) -> Iterator[None]:
    """Let ``temp.places`` be the words of an index, each with where it stands."""
    (guarded,) = db.execute("PRAGMA query_only").fetchone()
    db.execute("PRAGMA query_only = 0")
    try:
        db.execute(f"CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, {index}, instance)")
        try:
            yield
        finally:
            db.execute("DROP TABLE temp.places")
    finally:
        db.execute(f"PRAGMA query_only = {guarded}")
