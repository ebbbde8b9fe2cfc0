"""The rows of a base in Neo4j as they are moved: all of them, in and out.

Belongs here: ``Rows``, ``Receiver`` and ``Target`` over a server. Must not: what is copied when
(``store.moving``), what rows mean.

A state is a revision, and what was on record then is read as it was. References, names and vectors
change in place, and an erasure takes from every revision: if that happens meanwhile, it is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

from kgqa.errors import ConflictError, NotFoundError, UnavailableError
from kgqa.protocols import Progress
from kgqa.store import LOCK_SECONDS
from kgqa.store.moving import EARLY, Layout, Marker, Standing, layouts
from kgqa.store.neo4j import cypher, schema
from kgqa.store.neo4j.address import Address
from kgqa.store.neo4j.cypher import LABELS, Cypher, short
from kgqa.store.neo4j.deriving import derive
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.store.neo4j.statements import CUT, INDEXES, VERSIONED
from kgqa.store.neo4j.tables import Neo4jTables
from kgqa.store.queries import slices
from kgqa.store.rows import Record
from kgqa.store.tables import KEYS
from kgqa.temporal.interval import END

_AT_ONCE = 4_000
_FEW: Mapping[str, int] = {"documents": 100, "chunks": 1_000, "vectors": 1_000, "failures": 1_000}
"""How many rows of a table are fetched at once where they may be long."""
_DROP_AT_ONCE = 10_000
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "Entity": ("id",), "Literal": ("token",), "OldVector": ("kind", "item")
}  # fmt: skip
"""Labels of what is kept beside rows, each with its index."""

_THEN = "t.recorded_from <= $revision"
_RECORDED: Mapping[str, str] = {
    "refs": "true",
    "vectors": "true",
    "revisions": "t.n <= $revision",
    "tombstones": "t.revision <= $revision",
    # Versions of nodes have ever higher numbers, so these are those of rows on record then.
    "names": "t.node <= $last",
    "existence": "t.node <= $last",
    **dict.fromkeys(VERSIONED, "t.recorded_from <= $revision AND t.recorded_to > $revision"),
}
"""By table: which rows there were at a revision; _THEN for all others."""

_COUNT = (
    "MATCH (t:@label) USING INDEX t:@label(@index) WHERE t.kb = $kb "
    "AND @there AND @recorded RETURN count(*)"
)
_WINDOW = (
    "MATCH (t:@label) USING INDEX t:@label(@index) WHERE t.kb = $kb "
    "AND t.@key > $after AND t.@key <= $upto AND @there AND @recorded RETURN @columns"
)
_KEYS = (
    "MATCH (t:@label) USING INDEX t:@label(@index) WHERE t.kb = $kb "
    "AND @there AND @recorded RETURN @columns"
)
_BY_KEY = "UNWIND $keys AS r MATCH (t:@label {kb: $kb, @fields}) WHERE @recorded RETURN @columns"
_LAST = (
    "MATCH (t:@label) USING INDEX t:@label(kb, n) WHERE t.kb = $kb AND t.n IS NOT NULL "
    "AND @recorded RETURN t.n ORDER BY t.kb DESC, t.n DESC LIMIT 1"
)
_BASE = "MATCH (b:Base {kb: $kb}) RETURN b.revision, b.copying"
_ERASED = (
    "MATCH (t:Revision) WHERE t.kb = $kb AND t.n > $revision AND t.note = 'erase' RETURN count(*)"
)
_BEGIN = "CREATE (:Base {kb: $kb, revision: 0, copying: $marker})"
_LOCK = "MATCH (b:Base {kb: $kb}) SET b.kb = $kb RETURN b.copying"
_MARK = "MATCH (b:Base {kb: $kb}) SET b.copying = $marker"
_FINISH = "MATCH (b:Base {kb: $kb}) SET b.revision = $revision REMOVE b.copying"
_DROP = (
    "MATCH (t:@label) USING INDEX t:@label(@index) WHERE t.kb = $kb AND @there "
    "WITH t LIMIT $most DETACH DELETE t RETURN count(*)"
)
_DROP_BASE = "MATCH (b:Base {kb: $kb}) DELETE b"


class Neo4jRows:
    """Read the rows of a base as of a revision."""

    def __init__(self, client: Client, revision: int) -> None:
        self._client = client
        self._kb = client.address.kb
        self.revision = revision
        self._at = revision

    @property
    def name(self) -> str:
        """Return the address, without the password."""
        return str(self._client.address)

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        return self._one(_table_statement(_COUNT, table), **self._bounds(table))

    def _one(self, statement: Cypher, **parameters: Any) -> int:
        found = self._client.rows(statement, kb=self._kb, **parameters)
        return int(found[0][0]) if found else 0

    def _bounds(self, table: str) -> dict[str, int]:
        """Return the parameters of _RECORDED."""
        if "last" not in _RECORDED.get(table, ""):
            return {"revision": self._at}
        return {"last": self._last("nodes")}

    def _last(self, table: str) -> int:
        return self._one(_table_statement(_LAST, table), revision=self._at)

    def read(self, table: str, after: Record | None = None) -> Iterator[Record]:
        """Yield rows by key, from after a key.

        Raises UnavailableError (``store.source_moved``) for rows that cannot be had any more as
        they were.
        """
        layout = layouts()[table]
        pages = self._by_key if table in KEYS and table != "revisions" else self._by_number
        for page in pages(table, layout, after):
            yield from sorted(self._as_of(layout, page), key=layout.key_of)
        if table != "revisions":
            self._check(table)

    def _check(self, table: str) -> None:
        """Refuse what was read if it may not be as it was."""
        moved = self._one(cypher.text(_ERASED), revision=self.revision)
        if table in EARLY:
            moved += self._one(cypher.text(_BASE)) != self.revision
        if moved:
            raise UnavailableError(
                f"{self.name!r} was changed while {table} of revision {self.revision} were read",
                code="store.source_moved", hint="copy again with --restart",
            )  # fmt: skip

    def _by_number(
        self, table: str, layout: Layout, after: Record | None
    ) -> Iterator[list[Record]]:
        # Not by LIMIT: all rows of one key belong together.
        statement, bounds = _table_statement(_WINDOW, table), self._bounds(table)
        last = bounds["last"] if "last" in bounds else self._last(table)
        step = _FEW.get(table, _AT_ONCE)
        for start in range(after[0] if after else 0, last, step):
            yield self._client.rows(
                statement, kb=self._kb, after=start, upto=start + step, **bounds
            )

    def _by_key(self, table: str, layout: Layout, after: Record | None) -> Iterator[list[Record]]:
        # Sorted here: servers order texts in ways of their own.
        keys = self._client.rows(_table_statement(_KEYS, table), kb=self._kb, **self._bounds(table))
        todo = sorted(key for key in keys if after is None or key > after)
        statement = _table_statement(_BY_KEY, table)
        for part in slices(todo, _FEW.get(table, _AT_ONCE)):
            cut = [[short(one) if isinstance(one, str) else one for one in key] for key in part]
            yield self._client.rows(statement, kb=self._kb, keys=cut, **self._bounds(table))

    def _as_of(self, layout: Layout, rows: list[Record]) -> Iterator[Record]:
        """Yield rows with values as SQLite has them; closed later is open."""
        places = {column: i for i, column in enumerate(layout.columns)}
        until, total, vector = (places.get(c) for c in ("recorded_to", "sum", "vector"))
        for row in rows:
            found = [int(value) if isinstance(value, bool) else value for value in row]
            if until is not None and self._at < found[until] < END:
                if total is not None:
                    found[total] += found[until] - END
                found[until] = END
            if vector is not None:
                found[vector] = _bytes(found[vector])
            yield tuple(found)


def _bytes(numbers: Any) -> bytes:
    import numpy as np

    return np.asarray(numbers, dtype="<f4").tobytes()


@lru_cache(maxsize=100)
def _table_statement(template: str, table: str) -> Cypher:
    layout = layouts()[table]
    key = [layout.columns[place] for place in layout.key]
    index = next((found for found in INDEXES[table] if found[0] == key[0]), ())
    shown = key if template is _KEYS else layout.columns
    return cypher.text(
        template, label=LABELS[table], key=key[0], index=("kb", *index),
        there=cypher.every(cypher.there(index)), fields=cypher.fields(key),
        recorded=cypher.text(_RECORDED.get(table, _THEN)),
        columns=cypher.whole(
            "t", ["embedding" if c == "vector" else c for c in shown], CUT[table]
        ),
    )  # fmt: skip


def _drop(label: str, index: tuple[str, ...]) -> Cypher:
    return cypher.text(
        _DROP, label=label, index=("kb", *index), there=cypher.every(cypher.there(index))
    )


class Neo4jReceiver(Neo4jRows):
    """Take the rows of a copy; read them as they are."""

    def __init__(self, client: Client, revision: int) -> None:
        super().__init__(client, revision)
        self._at = END - 1

    def _check(self, table: str) -> None:
        """Do nothing: only the copy writes here."""

    def write(self, table: str, rows: list[Record], before: Marker, now: Marker) -> None:
        """Add rows and let the marker be ``now``.

        Raises UnavailableError (``store.locked``) where another copy went on.
        """
        expected, marker = before.dump(), now.dump()

        def work(tx: Transaction) -> None:
            held = tx.lock(_LOCK, kb=self._kb)
            if held == [(marker,)]:
                return  # an attempt of which it was not known whether it succeeded
            if held != [(expected,)]:
                raise UnavailableError(
                    f"another copy to {self.name!r} is at work", code="store.locked",
                    hint="retry when it is done",
                )  # fmt: skip
            tables = Neo4jTables(tx, self._kb, self.revision)
            if table == "vectors":
                tables.put_vectors(rows)
            else:
                tables.insert(table, ", ".join(layouts()[table].columns), rows)
            tx.rows(_MARK, kb=self._kb, marker=marker)

        self._client.write(work)

    def finish(self, progress: Progress | None = None) -> None:
        """Derive what the server keeps beside rows, then make a base of the copy."""
        derive(self._client, self.revision, progress)
        self._client.write(lambda tx: tx.rows(_FINISH, kb=self._kb, revision=self.revision))


def refuse_unfinished(address: Address, copying: str | None) -> None:
    """Raise UnavailableError (``store.unfinished``) if a base has the property ``copying``."""
    if copying is not None:
        source = Marker.load(copying).source
        raise UnavailableError(
            f"'{address}' is an unfinished copy of {source!r}", code="store.unfinished",
            hint=f"finish it with: kgqa copy {source} {address}",
        )  # fmt: skip


class Neo4jTarget:
    """An address for a copy. The ``:Base`` of an unfinished one has a property ``copying``."""

    def __init__(self, address: Address, wait: float = LOCK_SECONDS) -> None:
        self._client = Client(address, wait)
        self._kb = address.kb

    @property
    def name(self) -> str:
        """Return the address, without the password."""
        return str(self._client.address)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def standing(self) -> Standing:
        """Say what is there."""
        found = self._client.rows(_BASE, kb=self._kb)
        if not found:
            return "absent"
        return "finished" if found[0][1] is None else "unfinished"

    @contextmanager
    def rows(self) -> Iterator[Neo4jRows]:
        """Read the base that is there."""
        found = self._client.rows(_BASE, kb=self._kb)
        if not found:
            raise NotFoundError(
                f"no knowledge base at {self.name!r}", code="store.not_found",
                hint=f"make one with: kgqa init {self.name}",
            )  # fmt: skip
        refuse_unfinished(self._client.address, found[0][1])
        yield Neo4jRows(self._client, found[0][0])

    def marker(self) -> Marker:
        """Return how far an unfinished copy is. Raises ConflictError if it is none any more."""
        found = self._client.rows(_BASE, kb=self._kb)
        if not found or found[0][1] is None:
            raise self._taken()
        return Marker.load(found[0][1])

    def begin(self, marker: Marker) -> None:
        """Make the base, unfinished. Raises ConflictError (``store.exists``)."""
        text = marker.dump()
        schema.ensure(self._client)

        def work(tx: Transaction) -> None:
            found = tx.rows(_BASE, kb=self._kb)
            if not found:
                tx.rows(_BEGIN, kb=self._kb, marker=text)
            elif found[0][1] != text:
                raise self._taken()

        self._client.write(work)

    def _taken(self) -> ConflictError:
        return ConflictError(
            f"{self.name!r} is there already", code="store.exists", hint="choose another name"
        )

    def discard(self) -> None:
        """Remove an unfinished copy, the marker last; one that is removed in part fits nothing."""
        nothing = Marker(self.marker().source, 0, "").dump()
        self._client.write(lambda tx: tx.rows(_MARK, kb=self._kb, marker=nothing))
        for label, index in (*_BESIDE.items(), *((LABELS[t], INDEXES[t][0]) for t in LABELS)):
            while self._client.write(partial(self._drop, _drop(label, index))):
                pass
        self._client.write(lambda tx: tx.rows(_DROP_BASE, kb=self._kb))

    def _drop(self, statement: Cypher, tx: Transaction) -> int:
        return int(tx.rows(statement, kb=self._kb, most=_DROP_AT_ONCE)[0][0])

    @contextmanager
    def hold(self) -> Iterator[Neo4jReceiver]:
        """Go on with the copy; each write finds out whether another one does too."""
        schema.ensure(self._client)
        yield Neo4jReceiver(self._client, self.marker().revision)
