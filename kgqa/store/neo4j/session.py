"""Talking to the server: one driver for a base, managed transactions, what the server can do.

Belongs here: the only import of the driver; time limits, retries, who holds the lock of writers.
Must not: statements about a base (but one that tells who holds a lock), the text of errors
(``faults``). Work may be run more than once and so must be idempotent.
"""

from __future__ import annotations

import logging
import os
import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from kgqa.errors import InputError, KGQAError, UnavailableError, UnsupportedError
from kgqa.store import LOCK_SECONDS
from kgqa.store.neo4j import faults
from kgqa.store.neo4j.address import Address
from kgqa.store.rows import Record

if TYPE_CHECKING:
    import neo4j

T = TypeVar("T")

READ_SECONDS = 60.0
WRITE_SECONDS = 600.0
SCHEMA_SECONDS = 6 * 3600.0
"""A constraint reads all that is there, which may have been imported."""
RETRY_SECONDS = 30.0
CONNECT_SECONDS = 10.0
OLDEST = (5, 20)
"""The oldest server whose Cypher has all that is used."""

_PAUSE_SECONDS = 1.0
"""How long one waits before the second attempt; twice as long before each one after."""
_LOST = 4
"""How many commits in a row may stay without an answer and be tried again."""
_LOOK_SECONDS = 0.5
"""How often one looks again whether a slow writer waits for another."""
_COMPONENTS = "CALL dbms.components() YIELD name, versions, edition RETURN name, versions, edition"
_RUNNING = (
    "SHOW TRANSACTIONS YIELD transactionId, status, metaData "
    "RETURN transactionId, status, metaData.pid, metaData.token"
)
_STOP = "TERMINATE TRANSACTIONS $one"


class Transaction:
    """Run statements in an open transaction; it sees what it wrote itself."""

    __slots__ = ("_client", "_token", "_tx")

    def __init__(self, tx: neo4j.Transaction, client: Client, token: str) -> None:
        self._tx = tx
        self._client = client
        self._token = token

    def rows(self, query: str, /, **parameters: Any) -> list[Record]:
        """Return what a statement returns. Its text is a constant or made by ``cypher``."""
        return list(map(tuple, self._tx.run(query, parameters).values()))

    def lock(self, query: str, /, **parameters: Any) -> list[Record]:
        """Run the first statement of a writer, which waits until no other one holds its lock.

        Raises UnavailableError (``store.locked``) with the holder's pid after ``lock_timeout``.
        """
        with _Watch(self._client, self._token):
            return self.rows(query, **parameters)

    def vector(self, data: bytes) -> Any:
        """Return float32 numbers, little-endian, as a parameter that this server takes."""
        import numpy as np

        numbers = np.frombuffer(data, dtype="<f4")
        if not self._client.vectors:
            return numbers.tolist()
        from neo4j.vector import Vector

        return Vector.from_numpy(numbers)

    @property
    def vectors(self) -> bool:
        """Tell whether ``vector`` gives a value of the server's type for vectors."""
        return self._client.vectors


class Client:
    """Hold one driver: connected, and the server known, or a typed error.

    Threads may share a client. Each read sees every write acknowledged to this client, on a
    cluster too. Raises UnavailableError (``store.unreachable``), DeniedError (``store.denied``),
    NotFoundError (``store.no_database``), UnsupportedError (``store.too_old``).
    """

    def __init__(
        self, address: Address, lock_timeout: float = LOCK_SECONDS, retry: float = RETRY_SECONDS
    ) -> None:
        import neo4j

        # The driver logs a lost connection; what becomes of it is told by an error.
        logging.getLogger("neo4j").addHandler(_SILENT)
        self.address = address
        self.lock_timeout = lock_timeout
        self._closed = False
        self._retry = retry
        with faults.translated(address):
            self._driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=(address.user, address.password),
                connection_timeout=CONNECT_SECONDS,
                connection_acquisition_timeout=2 * CONNECT_SECONDS,
                notifications_min_severity="OFF",
            )
            try:
                # This fails at once where a managed transaction would try for a while.
                self._driver.verify_connectivity()
                self._probe()
            except BaseException:
                self._driver.close()
                raise

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.address}')"

    def _probe(self) -> None:
        with self._session() as session:
            result = session.run(_COMPONENTS)
            found = {name: (versions, edition) for name, versions, edition in result.values()}
            protocol = result.consume().server.protocol_version
        versions, self.edition = found.get("Neo4j Kernel", ([""], ""))
        self.version: str = versions[0]
        if _number(self.version) < OLDEST:
            raise UnsupportedError(
                f"'{self.address}' runs Neo4j {self.version!r}; "
                f"kgqa needs {'.'.join(map(str, OLDEST))} or newer",
                code="store.too_old", hint="upgrade the server; compose.yaml starts one",
            )  # fmt: skip
        self.cypher25 = "25" in found.get("Cypher", ([], ""))[0]
        """Whether statements may begin with ``CYPHER 25``."""
        self.vectors: bool = tuple(protocol) >= (6, 0)
        """Whether parameters may be vectors."""

    def _session(self, write: bool = False) -> neo4j.Session:
        if self._closed:
            raise InputError(
                f"the knowledge base '{self.address}' was closed", code="store.closed",
                hint="open it again",
            )  # fmt: skip
        return self._driver.session(
            database=self.address.database,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
            default_access_mode="WRITE" if write else "READ",
            fetch_size=5000,
        )

    # Work.

    def read(self, work: Callable[[Transaction], T], timeout: float = READ_SECONDS) -> T:
        """Return what ``work`` returns, run in a transaction that cannot write."""
        return self._managed(work, timeout)

    def write(self, work: Callable[[Transaction], T], timeout: float = WRITE_SECONDS) -> T:
        """Return what ``work`` returns once all that it wrote is durable.

        Work is run again after a fault that may pass, even after a commit of which it is not
        known whether it was carried out.
        """
        return self._managed(work, timeout, write=True)

    def schema(self, statements: Iterable[str]) -> None:
        """Run statements that change the schema, together."""

        def work(tx: Transaction) -> None:
            for statement in statements:
                tx.rows(statement)

        self.write(work, SCHEMA_SECONDS)

    def rows(self, query: str, /, **parameters: Any) -> list[Record]:
        """Return what one reading statement returns."""
        return self.read(lambda tx: tx.rows(query, **parameters))

    def _managed(self, work: Callable[[Transaction], T], timeout: float, write: bool = False) -> T:
        # The driver's own way of trying again knows neither a limit of attempts, nor that a
        # transaction that was too large stays so, nor commits without an answer.
        token = uuid.uuid4().hex
        marks = {"kgqa": self.address.kb, "pid": os.getpid(), "token": token}
        until, wait, lost = time.monotonic() + self._retry, _PAUSE_SECONDS, 0
        with faults.translated(self.address):
            while True:
                try:
                    with (
                        self._session(write) as session,
                        session.begin_transaction(marks, timeout) as tx,
                    ):
                        found = work(Transaction(tx, self, token))
                        tx.commit()
                        return found
                except Exception as exc:
                    if type(exc).__name__ == "IncompleteCommit" and lost < _LOST:
                        lost += 1
                        continue
                    if not faults.passes(exc) or time.monotonic() + wait > until:
                        raise
                time.sleep(wait * random.uniform(0.8, 1.2))
                wait *= 2

    # The lock of writers.

    def running(self) -> Sequence[Record]:
        """Return id, status, pid and token of the server's transactions; the last two are ours."""
        with self._session() as session:
            return [tuple(row) for row in session.run(_RUNNING).values()]

    def stop(self, transaction: str) -> None:
        """Make the server end a transaction."""
        with self._session(write=True) as session:
            session.run(_STOP, one=transaction).consume()

    def close(self) -> None:
        """Close all connections; any later call raises InputError (``store.closed``)."""
        self._closed = True
        self._driver.close()


class _Watch:
    """Stop a transaction that waits too long for a lock, and say who holds that.

    One that is only slow goes on.
    """

    def __init__(self, client: Client, token: str) -> None:
        self._client = client
        self._token = token
        self._holder: int | str | None = None
        self._done = threading.Event()

    def __enter__(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        wait = self._client.lock_timeout
        while self._holder is None and not self._done.wait(wait):
            # Whatever fails here, the time limit of the transaction remains.
            with suppress(Exception):
                self._stop_if_blocked(self._client.running())
            wait = _LOOK_SECONDS

    def _stop_if_blocked(self, running: Sequence[Record]) -> None:
        for name, status, _, token in running:
            if token == self._token and status.startswith("Blocked"):
                by = re.findall(r"[^][, ]+", status)
                holders = [pid for holder, _, pid, _ in running if holder in by and pid]
                self._holder = holders[0] if holders else "unknown"
                self._client.stop(name)

    def __exit__(self, kind: object, exc: BaseException | None, trace: object) -> None:
        self._done.set()
        if exc is None or self._holder is None or isinstance(exc, KGQAError):
            return
        raise UnavailableError(
            f"'{self._client.address}' is being written by process {self._holder}",
            code="store.locked", hint="retry when it is done", pid=self._holder,
        ) from exc  # fmt: skip


_SILENT = logging.NullHandler()


def _number(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version.

    >>> _number("2026.09.0-aura"), _number("")
    ((2026, 9), ())
    """
    return tuple(map(int, re.findall(r"\d+", version)[:2]))
