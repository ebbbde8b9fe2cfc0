"""The rows of a base in SQLite: ``Tables`` over one open write transaction.

Belongs here: SQL that changes rows, and the text indexes that follow them. Must not: deciding
what is written (``writing`` and its parts).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kgqa.store import sums
from kgqa.store.queries import marks, slices
from kgqa.store.rows import Record
from kgqa.store.tables import KEYS

_INDEXED = {
    "nodes": ("node_text", "words"),
    "chunks": ("chunk_text", "title, section, text"),
}
"""Tables with a text index: its name, what it holds."""


class SQLiteTables:
    """Read and change the rows that a connection's transaction sees."""

    __slots__ = ("_db",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def select(self, table: str, columns: str, **where: Any) -> list[Record]:
        """Return the columns of the rows that fit every condition, in any order."""
        found: list[Record] = []
        for condition, parameters in _conditions(where):
            found += self._db.execute(
                f"SELECT {columns} FROM {table} WHERE {condition}", parameters
            )
        return found

    def last(self, table: str) -> int:
        """Return the highest ``n`` in a table, 0 if it is empty."""
        found: int = self._db.execute(f"SELECT coalesce(max(n), 0) FROM {table}").fetchone()[0]
        return found

    def insert(self, table: str, columns: str, rows: Iterable[Record]) -> None:
        """Add rows; none of them may be there yet."""
        names = columns.split(", ")
        sql = f"INSERT INTO {table}({columns}) VALUES ({marks(names)})"
        if table not in _INDEXED:
            self._db.executemany(sql, rows)
            return
        rows = list(rows)
        self._db.executemany(sql, rows)
        index, texts = _INDEXED[table]
        places = [names.index("n"), *(names.index(text) for text in texts.split(", "))]
        self._db.executemany(
            f"INSERT INTO {index}(rowid, {texts}) VALUES ({marks(places)})",
            [[row[i] for i in places] for row in rows],
        )

    def change(self, table: str, columns: str, rows: Iterable[Record]) -> None:
        """Set columns of rows; the last value of each record is the row's ``n``."""
        setting = ", ".join(f"{name} = ?" for name in columns.split(", "))
        self._db.executemany(f"UPDATE {table} SET {setting} WHERE n = ?", rows)

    def put(self, table: str, columns: str, rows: Sequence[Record]) -> int:
        """Write rows of a table with a key, one a key; return how many that changed."""
        (key,) = KEYS[table]
        names = columns.split(", ")
        place = names.index(key)
        held = {
            row[place]: row
            for row in self.select(table, columns, **{key: [row[place] for row in rows]})
        }
        changed = [row for row in rows if held.get(row[place]) != tuple(row)]
        self._db.executemany(f"REPLACE INTO {table}({columns}) VALUES ({marks(names)})", changed)
        return len(changed)

    def put_vectors(self, rows: Sequence[Record]) -> int:
        """Write rows of ``vectors``, all columns; return how many that changed."""
        before = self._db.total_changes
        self._db.executemany(
            "INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET digest = excluded.digest, vector = excluded.vector, sum = excluded.sum "
            "WHERE digest <> excluded.digest OR vector <> excluded.vector",
            rows,
        )
        return self._db.total_changes - before

    def vector_size(self) -> int | None:
        """Return how many numbers the vectors of this base have; None if there are none."""
        row = self._db.execute("SELECT length(vector) / 4 FROM vectors LIMIT 1").fetchone()
        return row[0] if row else None

    def until(self, table: str, revision: int, ns: Iterable[int]) -> None:
        """Set ``recorded_to`` of rows, keeping their sums."""
        self._db.executemany(sums.until(table), [(revision, n) for n in ns])

    def since(self, table: str, revision: int, ns: Iterable[int]) -> None:
        """Set ``recorded_from`` of rows, keeping their sums."""
        self._db.executemany(sums.since(table), [(revision, n) for n in ns])

    def delete(self, table: str, **where: Any) -> int:
        """Remove the rows that fit every condition; return how many."""
        if table in _INDEXED:
            index, texts = _INDEXED[table]
            self._db.executemany(
                f"INSERT INTO {index}({index}, rowid, {texts}) "
                f"VALUES ('delete', {marks(('n', *texts.split(', ')))})",
                self.select(table, f"n, {texts}", **where),
            )
        return sum(
            self._db.execute(f"DELETE FROM {table} WHERE {condition}", parameters).rowcount
            for condition, parameters in _conditions(where)
        )

    def flip(self, generation: int) -> None:
        """Drop the vectors that newer ones up to a generation replace."""
        self._db.execute(
            "DELETE FROM vectors WHERE generation < (SELECT max(v.generation) FROM vectors v "
            "WHERE v.kind = vectors.kind AND v.item = vectors.item AND v.generation <= ?)",
            (generation,),
        )


def _conditions(where: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield SQL and parameters that together select what fits; a long list in parts."""
    single = {column: [v] for column, v in where.items() if isinstance(v, (str, int))}
    several = {column: list(v) for column, v in where.items() if column not in single}
    longest = max(several, key=lambda column: len(several[column]), default=None)
    parts: Iterable[list[Any]] = slices(several.pop(longest)) if longest else [[]]
    for part in parts:
        values = {**single, **several, **({longest: part} if longest else {})}
        condition = " AND ".join(f"{column} IN ({marks(v)})" for column, v in values.items())
        yield condition or "1", [one for v in values.values() for one in v]
