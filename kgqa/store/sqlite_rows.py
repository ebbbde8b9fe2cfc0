"""The rows of a base in SQLite as they are moved: all of them, in and out.

Belongs here: ``Rows``, ``Receiver`` and ``Target`` over a file. Must not: what is copied when
(``moving``), what rows mean.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from kgqa.errors import UnavailableError
from kgqa.protocols import Progress, Rows
from kgqa.store import LOCK_SECONDS, files, hooks
from kgqa.store.moving import Marker, Standing, layouts
from kgqa.store.queries import marks
from kgqa.store.rows import Record
from kgqa.store.schema import APPLICATION_ID
from kgqa.store.sqlite import SQLiteStore
from kgqa.store.sqlite_tables import SQLiteTables


class SQLiteRows:
    """Read the rows that a connection's open transaction sees."""

    __slots__ = ("_db", "_path")

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self._path = path

    @property
    def name(self) -> str:
        """Return the path."""
        return str(self._path)

    @property
    def revision(self) -> int:
        """Return the revision of this state."""
        return self._one("SELECT coalesce(max(n), 0) FROM revisions")

    def pin(self) -> None:
        """Read something: a transaction sees what is committed when it first reads."""
        self._one("SELECT 1 FROM sqlite_schema LIMIT 1")

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        return self._one(f"SELECT count(*) FROM {table}")

    def _one(self, sql: str) -> int:
        with files.translated(self._path):
            found: int = self._db.execute(sql).fetchone()[0]
        return found

    def read(self, table: str, after: Record | None = None) -> Iterator[Record]:
        """Yield rows by key, from after a key."""
        layout = layouts()[table]
        key = ", ".join(layout.columns[place] for place in layout.key)
        where = f"({key}) > ({marks(layout.key)})" if after else "1"
        with files.translated(self._path):
            yield from self._db.execute(
                f"SELECT {', '.join(layout.columns)} FROM {table} WHERE {where} ORDER BY {key}",
                after or (),
            )


class SQLiteReceiver(SQLiteRows):
    """Take the rows of a copy into a file that no one else writes to."""

    __slots__ = ()

    def write(self, table: str, rows: list[Record], before: Marker, now: Marker) -> None:
        """Add rows and let the marker be ``now``; ``before`` it cannot be another."""
        with self._transaction():
            columns = ", ".join(layouts()[table].columns)
            SQLiteTables(self._db).insert(table, columns, rows)
            self._db.execute("UPDATE copying SET marker = ?", (now.dump(),))

    def finish(self, progress: Progress | None = None) -> None:
        """Make a base of the copy, and be sure that it is on the disk."""
        self._db.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            self._db.execute("DROP TABLE copying")
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # Closing the connection rolls back what was not committed.
        with files.translated(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            hooks.reached("opened")
            yield
            hooks.reached("commit")
            self._db.execute("COMMIT")
            hooks.reached("done")


class SQLiteTarget:
    """A path for a copy. An unfinished one has another application id, and a table ``copying``."""

    def __init__(self, path: Path, wait: float = LOCK_SECONDS) -> None:
        self._path = path
        self._wait = wait

    @property
    def name(self) -> str:
        """Return the path."""
        return str(self._path)

    def close(self) -> None:
        """Do nothing: nothing is open between calls."""

    def standing(self) -> Standing:
        """Say what is there. Raises InputError (``store.not_a_base``) if it is something else."""
        with files.translated(self._path):
            if not self._path.exists():
                return "absent"
            try:
                files.version_of(self._path)
            except UnavailableError as exc:
                if exc.code != "store.unfinished":
                    raise
                return "unfinished"
            return "finished"

    @contextmanager
    def rows(self) -> Iterator[Rows]:
        """Read the base that is there."""
        store = SQLiteStore(self._path, lock_timeout=self._wait)
        with closing(store), store.rows() as rows:
            yield rows

    def marker(self) -> Marker:
        """Return how far an unfinished copy is. Raises ConflictError if it is none any more."""
        with files.translated(self._path):
            if self.standing() != "unfinished":
                raise files.taken(self._path)
            connection = files.connect(self._path, wait=self._wait)
            try:
                text = connection.execute("SELECT marker FROM copying").fetchone()[0]
            finally:
                connection.close()
        return Marker.load(text)

    def begin(self, marker: Marker) -> None:
        """Make the file, all at once."""

        def fill(draft: Path) -> None:
            connection = files.connect(draft, write=True)
            try:
                connection.execute("CREATE TABLE copying(source TEXT, marker TEXT)")
                connection.execute(
                    "INSERT INTO copying VALUES (?, ?)", (marker.source, marker.dump())
                )
                connection.execute(f"PRAGMA application_id = {files.UNFINISHED_ID}")
            finally:
                connection.close()

        with files.translated(self._path):
            files.create(self._path, fill)

    def discard(self) -> None:
        """Remove the file and its logs."""
        with files.translated(self._path), files.writer_lock(self._path, self._wait):
            if self.standing() == "unfinished":
                # The base before its logs: without them it may be damaged.
                files.remove(self._path)

    @contextmanager
    def hold(self) -> Iterator[SQLiteReceiver]:
        """Be the one writer of the file until the copy is finished or given up."""
        with files.translated(self._path), files.writer_lock(self._path, self._wait):
            connection = files.connect(self._path, write=True, wait=self._wait)
            try:
                # A page that a power cut takes away is copied again: its marker goes with it.
                connection.execute("PRAGMA synchronous = NORMAL")
                yield SQLiteReceiver(connection, self._path)
            finally:
                connection.close()
