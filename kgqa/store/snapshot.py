"""One state of a base, read: facts, nodes, names, documents.

Belongs here: the Reader of SQLite. Must not: writing, connections, transactions; whoever makes
a Snapshot has begun the transaction that holds its state.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kgqa.errors import InputError
from kgqa.model.things import Chunk, Document, Fact, Failure, Item, Node, Relation
from kgqa.protocols import Batch, Change, Hit, Json, NameHit, Pattern, Pending, Reached
from kgqa.store import queries, rows
from kgqa.store.facts import Facts
from kgqa.store.queries import Where, marks, slices
from kgqa.store.rows import Record
from kgqa.temporal.interval import END

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

_MOST_K = 10_000


class Cache:
    """Hold what reads share between revisions: parsed relations, merges, the vector matrix.

    A part is kept with the revision that last touched it, so that a snapshot older or newer
    than the cache never takes what is not its own.
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[str, tuple[int, int, Any]] = {}

    def get(self, part: str, snapshot: Snapshot, load: Callable[[], T]) -> T:
        """Return a part as ``snapshot`` sees it."""
        revision = snapshot.revision
        held = self._parts.get(part)
        if held is not None and held[0] == revision:
            return held[2]  # type: ignore[no-any-return]
        touched = snapshot.touched(part)
        value = held[2] if held is not None and held[1] == touched else load()
        self._parts[part] = (revision, touched, value)
        return value


class Snapshot:
    """Read the state that ``connection``'s open transaction sees."""

    __slots__ = ("_revision", "cache", "connection")

    def __init__(self, connection: sqlite3.Connection, cache: Cache) -> None:
        self.connection = connection
        self.cache = cache
        self._revision: int | None = None

    @property
    def revision(self) -> int:
        """Return the revision of this state; read when first needed, a plain match needs none."""
        if self._revision is None:
            self._revision = self.connection.execute(
                "SELECT coalesce(max(n), 0) FROM revisions"
            ).fetchone()[0]
        return self._revision

    def pin(self) -> None:
        """Read something: a transaction sees what is committed when it first reads."""
        self._revision = self.revision

    def touched(self, part: str) -> int:
        """Return the revision that last changed a part, or any of several joined by ``+``."""
        keys = [f"_touched:{one}" for one in part.split("+")]
        row = self.connection.execute(
            f"SELECT max(CAST(value AS INTEGER)) FROM meta WHERE key IN ({marks(keys)})", keys
        ).fetchone()
        return row[0] or 0

    def known(self, known_at: int | None) -> int | None:
        """Return a past revision as it is, and None for this snapshot's own or a later one."""
        return None if known_at is None or known_at >= self.revision else known_at

    # Identity.

    def canonical(self, node: str, known_at: int | None = None) -> str:
        """Follow merges from a node id."""
        merges = self.cache.get("merges", self, self._load_merges)
        if not merges:
            return node
        at = self.revision if known_at is None else known_at
        while True:
            for winner, since, until in merges.get(node, ()):
                if since <= at < until:
                    node = winner
                    break
            else:
                return node

    def _load_merges(self) -> dict[str, list[tuple[str, int, int]]]:
        found: dict[str, list[tuple[str, int, int]]] = {}
        for loser, *rest in self.connection.execute(
            "SELECT loser, winner, recorded_from, recorded_to FROM merges ORDER BY n"
        ):
            found.setdefault(loser, []).append((rest[0], rest[1], rest[2]))
        return found

    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]:
        """Return the things that citation labels name; unknown and erased ones are left out."""
        known_at = self.known(known_at)
        wanted: dict[str, dict[str, list[str]]] = {}
        for label in labels:
            noun, _, name = label.partition(":")
            if noun not in ("node", "fact", "chunk", "document"):
                raise InputError(
                    f"not a citation label: {label!r}", code="store.bad_label",
                    hint="write node:ID, fact:ID, chunk:ID or document:ID",
                )  # fmt: skip
            if noun == "node":
                name = self.canonical(name, known_at)
            wanted.setdefault(noun, {}).setdefault(name, []).append(label)
        read: dict[str, Callable[[list[str], int | None], Iterable[Item]]] = {
            "node": self._nodes_by_id,
            "fact": Facts(self).by_id,
            "chunk": self._chunks_by_id,
            "document": self._documents_by_id,
        }
        found: dict[str, Item] = {}
        for noun, names in wanted.items():
            for part in slices(names):
                for item in read[noun](part, known_at):
                    found.update(dict.fromkeys(names[item.id], item))
        return found

    def _by_id(
        self, table: str, columns: str, ids: list[str], known_at: int | None
    ) -> list[Record]:
        where = queries.recorded(Where().add(f"t.id IN ({marks(ids)})", *ids), "t", known_at)
        return self.connection.execute(
            f"SELECT {columns} FROM {table} t WHERE {where}", where.parameters
        ).fetchall()

    def _nodes_by_id(self, ids: list[str], known_at: int | None) -> list[Node]:
        return [rows.node(row) for row in self._by_id("nodes", rows.NODE, ids, known_at)]

    def _chunks_by_id(self, ids: list[str], known_at: int | None) -> list[Chunk]:
        return [rows.chunk(row) for row in self._by_id("chunks", rows.CHUNK, ids, known_at)]

    def _documents_by_id(self, ids: list[str], known_at: int | None) -> list[Document]:
        return [
            rows.document(row) for row in self._by_id("documents", rows.DOCUMENT, ids, known_at)
        ]

    # Nodes and names.

    def nodes(self, pattern: Pattern) -> list[Node]:
        """Return nodes by (earliest start, earliest end, id) of existence, or by id."""
        known_at = self.known(pattern.known_at)
        where = queries.existing(queries.recorded(Where(), "n", known_at), pattern)
        if pattern.subject is not None:
            where.add("n.id = ?", self.canonical(pattern.subject, known_at))
        self.after(where, "nodes", "n", pattern)
        order = "n.id" if pattern.order == "id" else "n.es, n.ee, n.id"
        found = self.connection.execute(
            f"SELECT {rows.NODE} FROM nodes n WHERE {where} ORDER BY {order} LIMIT ?",
            [*where.parameters, -1 if pattern.limit is None else pattern.limit],
        )
        return [rows.node(row) for row in found]

    def after(self, where: Where, table: str, alias: str, pattern: Pattern) -> None:
        """Add: comes after the cursor."""
        if pattern.after is None:
            return
        if pattern.order == "id":
            where.add(f"{alias}.id > ?", pattern.after)
            return
        row = self.connection.execute(
            f"SELECT es, ee, id FROM {table} WHERE id = ? ORDER BY n DESC", (pattern.after,)
        ).fetchone()
        if row is None:
            raise InputError(
                f"no such place in the list: {pattern.after!r}", code="store.bad_cursor",
                hint="start again without a cursor",
            )  # fmt: skip
        where.add(f"({alias}.es, {alias}.ee, {alias}.id) > (?, ?, ?)", *row)

    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]:
        """Return who bears each key as label or alias, at any time; by key, then node."""
        known_at = self.known(known_at)
        found: list[NameHit] = []
        for part in slices(dict.fromkeys(keys)):
            where = queries.recorded(Where().add(f"m.key IN ({marks(part)})", *part), "n", known_at)
            for key, node, label, main, *valid in self.connection.execute(
                "SELECT m.key, n.id, m.label, m.main, m.es, m.ls, m.ee, m.le, m.how "
                f"FROM names m CROSS JOIN nodes n ON n.n = m.node WHERE {where}",
                where.parameters,
            ):
                found.append(NameHit(key, node, label, bool(main), rows.validity(*valid)))
        found.sort(key=lambda h: (h.key, h.node, not h.main, h.valid.bounds, h.label))
        return found

    # Facts.

    def match(self, pattern: Pattern) -> list[Fact]:
        """Return facts by (earliest start, earliest end as stored, id), or by id."""
        return Facts(self).match(pattern)

    def expand(
        self, seeds: Sequence[str], hops: int, pattern: Pattern, limit: int
    ) -> list[Reached]:
        """Return simple paths of facts from seeds; see ``Facts.expand``."""
        return Facts(self).expand(seeds, hops, pattern, limit)

    # Text and vectors.

    def find(self, text: str, k: int, pattern: Pattern) -> list[Hit]:
        """Return the ``k`` best full-text hits that satisfy the pattern, best first."""
        from kgqa.store import search

        return search.find(self, text, min(k, _MOST_K), pattern)

    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> list[Hit]:
        """Return the ``k`` nearest embedded items that satisfy the pattern; exact."""
        from kgqa.store import search

        return search.nearest(self, vector, min(k, _MOST_K), pattern)

    # Documents, relations, the base itself.

    def chunks(self, document: str, known_at: int | None = None) -> list[Chunk]:
        """Return a document's chunks in order."""
        where = Where().add("t.document = ?", document)
        queries.recorded(where, "t", self.known(known_at))
        return [
            rows.chunk(row)
            for row in self.connection.execute(
                f"SELECT {rows.CHUNK} FROM chunks t WHERE {where} ORDER BY t.ordinal, t.id",
                where.parameters,
            )
        ]

    def documents(
        self, limit: int | None = None, after: str | None = None, known_at: int | None = None
    ) -> list[Document]:
        """Return documents by id, from after the id ``after``."""
        where = queries.recorded(Where().add("t.id > ?", after or ""), "t", self.known(known_at))
        return [
            rows.document(row)
            for row in self.connection.execute(
                f"SELECT {rows.DOCUMENT} FROM documents t WHERE {where} ORDER BY t.id LIMIT ?",
                [*where.parameters, -1 if limit is None else limit],
            )
        ]

    def declared(self) -> dict[str, Relation]:
        """Return the relations that were declared."""
        return self.cache.get(
            "relations",
            self,
            lambda: {
                key: rows.relation_load(body)
                for key, body in self.connection.execute("SELECT key, body FROM relations")
            },
        )

    def relations(self) -> dict[str, Relation]:
        """Return every relation by key: the declared ones, and those that facts use."""
        found = dict(self.declared())
        # One index probe per relation, however many facts each has.
        for (key,) in self.connection.execute(
            "WITH RECURSIVE used(key) AS ("
            "SELECT min(relation) FROM facts UNION ALL "
            "SELECT (SELECT min(relation) FROM facts WHERE relation > used.key) FROM used "
            "WHERE used.key IS NOT NULL) SELECT key FROM used WHERE key IS NOT NULL"
        ):
            if key not in found and self._in_use(key):
                found[key] = Relation(key, key)
        return dict(sorted(found.items()))

    def _in_use(self, relation: str) -> bool:
        return bool(
            self.connection.execute(
                f"SELECT 1 FROM facts WHERE relation = ? AND recorded_to = {END} LIMIT 1",
                (relation,),
            ).fetchone()
        )

    def failures(self) -> list[Failure]:
        """Return the units that could not be loaded, by unit."""
        return [
            Failure(*row)
            for row in self.connection.execute(
                "SELECT unit, code, message, payload FROM failures ORDER BY unit"
            )
        ]

    def meta(self) -> dict[str, Json]:
        """Return the base's settings."""
        return {
            key: rows.loads(value)
            for key, value in self.connection.execute(
                "SELECT key, value FROM meta WHERE key NOT GLOB '_touched:*' ORDER BY key"
            )
        }

    def stats(self) -> dict[str, int]:
        """Return counts of what is current, by noun; see ``status.stats``."""
        from kgqa.store import status

        return status.stats(self)

    def changes(self, since: int = 0) -> list[Change]:
        """Return the revisions after ``since``, oldest first."""
        return [
            Change(*row)
            for row in self.connection.execute(
                "SELECT n, wall, note FROM revisions WHERE n > ? ORDER BY n", (since,)
            )
        ]

    def pending(self, limit: int, after: tuple[str, str] | None = None) -> list[Pending]:
        """Return items whose text has no vector yet, by (kind, id), from after ``after``."""
        from kgqa.store import status

        return status.pending(self, limit, after)

    def batches(self) -> Iterator[Batch]:
        """Yield batches that rebuild the current state in an empty store, without vectors."""
        from kgqa.store import status

        return status.batches(self)
