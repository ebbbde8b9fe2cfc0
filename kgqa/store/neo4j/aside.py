"""What an export to CSV keeps on the disk until it has read all rows.

Belongs here: that file, and what comes out of it once. Must not: what is kept and why (``admin``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from kgqa.store.queries import marks, slices
from kgqa.store.rows import Record

_AT_ONCE = 2_000
_TABLES = """
CREATE TABLE documents(id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE chunks(id TEXT PRIMARY KEY, document TEXT) WITHOUT ROWID;
CREATE TABLE mentions(chunk TEXT, entity TEXT);
CREATE TABLE literals(token TEXT, name TEXT);
CREATE TABLE vectors(
  kind TEXT, item TEXT, generation INTEGER, digest TEXT, vector BLOB, sum INTEGER
);
"""
PARTS = "SELECT c.id, c.document FROM chunks c JOIN documents d ON d.id = c.document"
# GROUP BY sorts in files, where DISTINCT looks each row up.
MENTIONS = "SELECT m.chunk, m.entity FROM mentions m JOIN chunks c ON c.id = m.chunk GROUP BY 1, 2"
LITERALS = "SELECT token, name FROM literals GROUP BY 1, 2"
VECTORS = "SELECT * FROM vectors"


class Aside:
    """Keep rows in a new file."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLES)

    def keep(self, table: str, rows: Iterable[Record]) -> None:
        """Add rows to one of the tables."""
        for part in slices(rows, _AT_ONCE):
            self._db.executemany(f"INSERT INTO {table} VALUES ({marks(part[0])})", part)

    def read(self, query: str) -> Iterator[list[Record]]:
        """Yield the rows of a query of this module, in parts."""
        found = self._db.execute(query)
        while part := found.fetchmany(_AT_ONCE):
            yield part

    def close(self) -> None:
        """Close the file."""
        self._db.close()
