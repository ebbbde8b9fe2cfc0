"""SQLiteStore: a knowledge base in one file.

Belongs here: transactions, connections, the facade. Must not: reading (``snapshot``), writing
(``writing``), the file as a whole (``files``).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from kgqa.errors import InputError
from kgqa.model.things import Relation
from kgqa.protocols import (
    Batch,
    Capability,
    Json,
    Problem,
    Reader,
    Receipt,
    Rows,
)
from kgqa.store import LOCK_SECONDS, files, hooks, revisions
from kgqa.store.calls import Calls
from kgqa.store.schema import MIGRATIONS
from kgqa.store.snapshot import Snapshot
from kgqa.store.sqlite_tables import SQLiteTables
from kgqa.store.state import Cache
from kgqa.store.view import View

_IDLE = 8


class SQLiteStore(Calls):
    """Keep a knowledge base in one SQLite file (WAL, FTS5); implements ``Store``.

    Isolation: each call reads one state, the newest commit of any process; ``view`` holds one
    state over many calls. Writes are atomic, durable when they return, one at a time; a second
    writing process waits ``lock_timeout`` seconds. Threads may share a store. A node row
    replaces what the same source said of that node before; rows of different sources are united.
    """

    def __init__(
        self,
        path: Path,
        migrations: Sequence[str] = MIGRATIONS,
        lock_timeout: float = LOCK_SECONDS,
    ) -> None:
        self.path = path
        self._wait = lock_timeout
        with files.translated(path):
            files.migrate(path, migrations, lock_timeout)
        self._cache = Cache()
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._closed = False
        with self._state() as snapshot:
            snapshot.connection.execute("SELECT count(*) FROM (SELECT 1 FROM facts LIMIT 1)")

    @classmethod
    def create(
        cls,
        path: Path,
        meta: Mapping[str, Json] | None = None,
        lock_timeout: float = LOCK_SECONDS,
        relations: Iterable[Relation] = (),
    ) -> SQLiteStore:
        """Make a base with settings and relations, all at once, and open it.

        Raises ConflictError (``store.exists``).
        """
        first = Batch(meta=meta or {}, relations=tuple(relations), note="init")

        def fill(draft: Path) -> None:
            with closing(cls(draft)) as store:
                store.write(first)

        with files.translated(path):
            files.create(path, fill)
        return cls(path, lock_timeout=lock_timeout)

    # Connections.

    def _state(self) -> _Reading:
        return _Reading(self)

    def _begin(self) -> sqlite3.Connection:
        """Return an idle or new connection, in a reading transaction."""
        with self._guard:
            self._check_open()
            connection = self._idle.pop() if self._idle else None
        connection = connection or files.connect(self.path, wait=self._wait)
        try:
            connection.execute("BEGIN")
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        # Every read passes here: no context manager that a plain statement can stand for.
        try:
            connection.rollback()
        except sqlite3.Error:
            connection.close()
            return
        with self._guard:
            if not (self._closed or connection.in_transaction or len(self._idle) >= _IDLE):
                self._idle.append(connection)
                return
        connection.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InputError(
                f"the knowledge base {str(self.path)!r} was closed", code="store.closed",
                hint="open it again",
            )  # fmt: skip

    @contextmanager
    def view(self) -> Iterator[Reader]:
        """Yield a Reader of one state, whatever is committed meanwhile. Use it in one thread."""
        with files.translated(self.path):
            connection = self._begin()
        try:
            view = View(connection, self._cache, self.path)
            view.pin()
            yield view
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close all connections; any later call raises InputError (``store.closed``)."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # Writing.

    @contextmanager
    def _writer(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection inside a write transaction; commit, unless the block raises."""
        hooks.reached("begin")
        self._check_open()
        with files.writer_lock(self.path, self._wait):
            connection = files.connect(self.path, write=True, wait=self._wait)
            try:
                connection.execute("BEGIN IMMEDIATE")
                hooks.reached("opened")
                yield connection
                if connection.in_transaction:
                    hooks.reached("commit")
                    connection.execute("COMMIT")
                    hooks.reached("done")
            finally:
                # An open transaction is rolled back with its connection.
                connection.close()

    def write(self, batch: Batch) -> Receipt:
        """Apply a batch: all of it or nothing. The same batch again changes nothing.

        Order within: delete, retract, ends, then what is stated, merges, undo. Raises InputError,
        NotFoundError or ConflictError for what does not fit, UnavailableError
        (``store.locked``, ``store.disk_full``).
        """
        with files.translated(self.path), self._writer() as connection:
            receipt = revisions.write(SQLiteTables(connection), batch)
            if not receipt.changed:
                connection.rollback()
        return receipt

    def erase(self, labels: Sequence[str]) -> Receipt:
        """Remove the bytes of what labels name from every revision, index and log.

        ``node:``: the node, its facts and the names for it; ``document:``: its text, chunks and
        claims; ``fact:``, ``chunk:``: those. A tombstone without content stays. Reads of
        earlier revisions show nothing of it either.
        """
        with files.translated(self.path):
            with self._writer() as connection:
                receipt = revisions.erase(SQLiteTables(connection), labels)
                if receipt.changed:
                    files.scrub(connection)
            files.empty_log(self.path, self._wait)
        return receipt

    def backup(self, path: Path) -> None:
        """Copy one consistent state to a new file, while others read and write.

        Raises ConflictError (``store.exists``).
        """
        self._check_open()
        with files.translated(path), files.made(path) as draft:
            files.copy_to(self.path, draft)

    @contextmanager
    def rows(self) -> Iterator[Rows]:
        """Yield the rows of one state, whatever is committed meanwhile. Use it in one thread."""
        from kgqa.store.sqlite_rows import SQLiteRows

        with files.translated(self.path):
            connection = self._begin()
        try:
            rows = SQLiteRows(connection, self.path)
            rows.pin()
            yield rows
        finally:
            self._give_back(connection)

    def verify(self) -> list[Problem]:
        """Recompute what is derived and compare; return every difference found."""
        from kgqa.store.verifying import verify

        with self._state() as snapshot:
            return verify(snapshot)

    @property
    def capabilities(self) -> Capability:
        """Say what this store is and how it searches."""
        return Capability(
            str(self.path), "sqlite", sqlite3.sqlite_version, "exact, filtered", "fts5, bm25"
        )


class _Reading:
    """Open one snapshot; a plain class because every read passes through here."""

    __slots__ = ("_connection", "_store")

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def __enter__(self) -> Snapshot:
        store = self._store
        try:
            self._connection = store._begin()
        except (sqlite3.Error, OSError) as exc:
            raise files.typed(exc, store.path) from exc
        return Snapshot(self._connection, store._cache)

    def __exit__(self, kind: object, exc: BaseException | None, trace: object) -> None:
        self._store._give_back(self._connection)
        if isinstance(exc, files.READING):
            raise files.typed(exc, self._store.path) from exc
