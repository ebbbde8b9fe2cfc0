"""Neo4jStore: a knowledge base on a Neo4j server.

Belongs here: transactions, the life of a base, the facade. Must not: statements over rows
(``tables``), reading (``snapshot``), talking to the server (``session``).
"""

from __future__ import annotations

import json
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from kgqa.errors import ConflictError, NotFoundError, UnavailableError
from kgqa.model.ids import relation_key
from kgqa.model.things import Relation
from kgqa.protocols import Batch, Capability, Json, Problem, Reader, Receipt, Rows
from kgqa.store import LOCK_SECONDS, files, hooks, revisions, rows
from kgqa.store.calls import Calls
from kgqa.store.neo4j import cypher, schema, statements
from kgqa.store.neo4j.address import Address
from kgqa.store.neo4j.deriving import adopt
from kgqa.store.neo4j.moving import Neo4jRows, refuse_unfinished
from kgqa.store.neo4j.picture import Picture
from kgqa.store.neo4j.retiring import retire
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.store.neo4j.snapshot import Neo4jSnapshot
from kgqa.store.neo4j.tables import Neo4jTables
from kgqa.store.rows import Record
from kgqa.store.state import Cache

_BASE = "MATCH (b:Base {kb: $kb}) RETURN b.revision, b.copying"
_UNDONE = (
    "MATCH (b:Base {kb: $kb}) WHERE b.latest > b.revision OR b.imported "
    "RETURN coalesce(b.imported, false)"
)
_PUBLISH = (
    "MATCH (b:Base {kb: $kb}) SET b.kb = $kb "
    "WITH b WHERE b.latest > b.revision SET b.revision = b.latest"
)
_CREATE = (
    "MERGE (b:Base {kb: $kb}) ON CREATE SET b.revision = 0, b.made = $token "
    "RETURN b.made = $token, b.copying"
)
_LOCK = "MATCH (b:Base {kb: $kb}) SET b.kb = $kb RETURN coalesce(b.written, [])"
_STATE = "MATCH (b:Base {kb: $kb}) RETURN coalesce(b.latest, b.revision), coalesce(b.types, [])"
_TYPES = "MATCH (b:Base {kb: $kb}) RETURN coalesce(b.types, [])"
_ADD_TYPES = (
    "MATCH (b:Base {kb: $kb}) SET b.kb = $kb "
    "SET b.types = (coalesce(b.types, []) + "
    "[t IN $types WHERE NOT t IN coalesce(b.types, [])])[..$most]"
)
_WRITTEN = (
    "MATCH (b:Base {kb: $kb}) SET b.latest = $revision, b.written = "
    "([$written] + CASE WHEN $erased THEN [] ELSE coalesce(b.written, []) END)[..$most]"
)
_ROWS = 2_000
"""How many rows a write should hold: a claim takes some 45 kB of a transaction's memory."""
_KNOWN_AGAIN = 8
"""How many writes are known again whose answer was lost, others having written since."""


class Neo4jStore(Calls):
    """Keep a knowledge base on a Neo4j server, one of several in its database; a ``Store``.

    Isolation: each call reads one state, the newest commit of any process; ``view`` holds one
    state over many calls, without holding a transaction. Writes are atomic, durable when they
    return, one at a time; a second writer waits ``lock_timeout`` seconds. A write that the
    connection interrupted is run again and has one effect. Threads may share a store.

    A server applies a commit step by step while others read, so a revision is published, in a
    transaction of its own, after all of it is there; the next opener or writer does that for
    one who died in between.
    """

    def __init__(self, address: Address, lock_timeout: float = LOCK_SECONDS) -> None:
        self.address = address
        self._client = Client(address, lock_timeout)
        self._cache = Cache()
        # Threads of one store take turns however long that takes; only others are waited for.
        self._turn = threading.Lock()
        self._types: set[str] = set()
        try:
            schema.ensure(self._client)
            self._pinned()
            for (imported,) in self._client.rows(_UNDONE, kb=address.kb):
                if imported:
                    adopt(self._client)
                self._client.write(lambda tx: tx.rows(_PUBLISH, kb=address.kb))
        except BaseException:
            self._client.close()
            raise

    @classmethod
    def create(
        cls,
        address: Address,
        meta: Mapping[str, Json] | None = None,
        lock_timeout: float = LOCK_SECONDS,
        relations: Iterable[Relation] = (),
    ) -> Neo4jStore:
        """Make a base with settings and relations, all at once, and open it.

        Raises ConflictError (``store.exists``).
        """
        first = Batch(meta=meta or {}, relations=tuple(relations), note="init")
        token = uuid.uuid4().hex

        def make(tx: Transaction) -> None:
            ((mine, copying),) = tx.rows(_CREATE, kb=address.kb, token=token)
            refuse_unfinished(address, copying)
            if not mine:
                raise ConflictError(
                    f"'{address}' is there already", code="store.exists",
                    hint="choose another name",
                )  # fmt: skip
            with suppress(_Unchanged):
                _written(tx, address.kb, token, lambda tables: revisions.write(tables, first))

        with closing(Client(address, lock_timeout)) as client:
            schema.ensure(client)
            client.write(make)
        return cls(address, lock_timeout)

    def close(self) -> None:
        """Close all connections; any later call raises InputError (``store.closed``)."""
        self._client.close()

    # Writing.

    def write(self, batch: Batch) -> Receipt:
        """Apply a batch: all of it or nothing. The same batch again changes nothing.

        Order within: delete, retract, ends, then what is stated, merges, undo. Raises InputError,
        NotFoundError or ConflictError for what does not fit, UnavailableError
        (``store.locked``, ``store.unreachable``, ``store.out_of_memory``).
        """
        self._index_vectors({len(row.vector) for row in batch.vectors})
        relations = {relation_key(rows.clean(c.relation)) for c in batch.claims}
        self._give_types(set(map(cypher.relationship, relations)))
        receipt = self._write(lambda tables: revisions.write(tables, batch))
        if batch.vectors or "generation" in batch.meta:
            # What is left undone, the next write of vectors does; this one is made.
            with suppress(UnavailableError):
                retire(self._client.rows, self._change, self.address.kb)
        return receipt

    def _index_vectors(self, sizes: set[int]) -> None:
        """Make the index for vectors of one length, unless the base has others."""
        if len(sizes) == 1:
            (size,) = sizes
            if self._client.rows(statements.ANY_VECTOR, kb=self.address.kb) in ([], [(size,)]):
                schema.ensure_vectors(self._client, size)

    def _change(self, statement: str, **parameters: Any) -> list[Record]:
        return self._client.write(lambda tx: tx.rows(statement, **parameters))

    def erase(self, labels: Sequence[str]) -> Receipt:
        """Remove what labels name from every revision and index.

        ``node:``: the node, its facts and the names for it; ``document:``: its text, chunks and
        claims; ``fact:``, ``chunk:``: those. A tombstone without content stays. Reads of
        earlier revisions show nothing of it either. The server's own logs and backups keep
        bytes as long as its administrator lets them.
        """
        return self._write(lambda tables: revisions.erase(tables, labels), erasing=True)

    def _write(self, change: Callable[[Neo4jTables], Receipt], erasing: bool = False) -> Receipt:
        hooks.reached("begin")
        token, kb = uuid.uuid4().hex, self.address.kb

        def work(tx: Transaction) -> Receipt:
            before = tx.lock(_LOCK, kb=kb)
            if not before:
                raise _missing(self.address)
            hooks.reached("opened")
            for written in before[0][0]:
                if written.startswith(token):
                    # The server had committed what seemed to fail.
                    return _loaded(written.removeprefix(token))
            return _written(tx, kb, token, change, erasing)

        try:
            with self._turn:
                receipt = self._client.write(work)
                self._client.write(lambda tx: tx.rows(_PUBLISH, kb=kb))
        except _Unchanged as unchanged:
            return unchanged.receipt
        hooks.reached("done")
        return receipt

    def _give_types(self, wanted: set[str]) -> None:
        """Give new relations relationship types of their own, as long as there are any left."""
        if wanted <= self._types or len(self._types) >= schema.TYPES_MAX:
            return
        kb = self.address.kb
        with self._turn:
            held = self._client.rows(_TYPES, kb=kb)
            if not held:
                raise _missing(self.address)
            self._types = set(held[0][0])
            given = sorted(wanted - self._types)[: schema.TYPES_MAX - len(self._types)]
            if given:
                schema.ensure_types(self._client, given)
                self._client.write(
                    lambda tx: tx.lock(_ADD_TYPES, kb=kb, types=given, most=schema.TYPES_MAX)
                )
                self._types |= set(given)

    # The base as a whole.

    def backup(self, path: Path) -> None:
        """Copy one consistent state to a new file, while others read and write.

        The file has its name only once it is whole. Raises ConflictError (``store.exists``).
        """
        from kgqa.store.moving import move

        with files.translated(path), files.made(path) as draft:
            # A copy is made where nothing is.
            draft.unlink()
            move(self, str(draft))
            files.empty_log(draft, LOCK_SECONDS)

    def verify(self) -> list[Problem]:
        """Recompute what is derived and compare; return every difference found.

        Reads all rows: some thousands a second, in parts. Others may write meanwhile.
        """
        from kgqa.store.neo4j import verifying
        from kgqa.store.sqlite import SQLiteStore

        with tempfile.TemporaryDirectory(prefix="kgqa-verify-") as folder:
            path = Path(folder, "rows.kb")
            self.backup(path)
            with closing(SQLiteStore(path)) as copied:
                found = copied.verify()
        return [*found, *verifying.problems(self._state)]

    @property
    def capabilities(self) -> Capability:
        """Say what this store is and how it searches."""
        vectors = "filtered index" if self._client.cypher25 else "index, widened by the filter"
        return Capability(
            str(self.address),
            "neo4j",
            self._client.version,
            f"{vectors}; exact below the crossover",
            "lucene, bm25",
            _ROWS,
            self.address.user,
        )

    @contextmanager
    def rows(self) -> Iterator[Rows]:
        """Yield the rows of one state, whatever is committed meanwhile."""
        yield Neo4jRows(self._client, self._pinned())

    @contextmanager
    def view(self) -> Iterator[Reader]:
        """Yield a Reader of one state, whatever is committed meanwhile."""
        with self._state() as state:
            yield state

    def _pinned(self) -> int:
        """Return the newest committed revision."""
        found = self._client.rows(_BASE, kb=self.address.kb)
        if not found:
            raise _missing(self.address)
        refuse_unfinished(self.address, found[0][1])
        return int(found[0][0])

    @contextmanager
    def _state(self) -> Iterator[Neo4jSnapshot]:
        client = self._client
        revision = self._pinned()

        def run(statement: str, parameters: Mapping[str, Any]) -> list[Record]:
            return client.rows(statement, **parameters)

        yield Neo4jSnapshot(run, self.address.kb, revision, self._cache, client.cypher25)


class _Unchanged(Exception):
    """Let a transaction go that changed nothing."""

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt


def _written(
    tx: Transaction,
    kb: str,
    token: str,
    change: Callable[[Neo4jTables], Receipt],
    erasing: bool = False,
) -> Receipt:
    """Make a change in a transaction that holds the lock; note the revision that it makes."""
    ((revision, types),) = tx.rows(_STATE, kb=kb)
    tables = Neo4jTables(tx, kb, revision + 1, erasing)
    receipt = change(tables)
    if not receipt.changed:
        raise _Unchanged(receipt)
    tables.flush()
    Picture(tx, kb, receipt.revision, types).draw(tables.touched, tables.fresh)
    hooks.reached("commit")
    # A receipt may tell names, which an erasure leaves nowhere.
    tx.rows(
        _WRITTEN, kb=kb, revision=receipt.revision, written=token + _dumped(receipt),
        erased=erasing, most=_KNOWN_AGAIN,
    )  # fmt: skip
    return receipt


def _dumped(receipt: Receipt) -> str:
    return json.dumps([receipt.revision, dict(receipt.counts), receipt.ambiguous])


def _loaded(text: str) -> Receipt:
    revision, counts, ambiguous = json.loads(text)
    return Receipt(revision, True, counts, tuple(ambiguous))


def _missing(address: Address) -> NotFoundError:
    return NotFoundError(
        f"no knowledge base at '{address}'", code="store.not_found",
        hint=f"make one with: kgqa init {address}",
    )  # fmt: skip
