"""One state of a base, read: facts, nodes, names, documents.

Belongs here: the Reader of SQLite. Must not: writing, connections, transactions; whoever makes
a Snapshot has begun the transaction that holds its state.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import merge as in_order
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from kgqa.errors import InputError
from kgqa.model.ids import object_token
from kgqa.model.things import Chunk, Document, Fact, Failure, Item, Node, Relation
from kgqa.protocols import Batch, Change, Hit, Json, NameHit, Pattern, Pending, Reached
from kgqa.store import queries, rows
from kgqa.store.queries import Where, marks, slices
from kgqa.store.reading import Sibling, Siblings, is_open, overridden, stopped
from kgqa.store.rows import Record
from kgqa.temporal.interval import END

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

_PAGE = 64
_LARGEST_PAGE = 4096
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
        return value  # type: ignore[no-any-return]


class Snapshot:
    """Read the state that ``connection``'s open transaction sees."""

    __slots__ = ("_siblings", "cache", "connection", "revision")

    def __init__(self, connection: sqlite3.Connection, cache: Cache) -> None:
        self.connection = connection
        self.cache = cache
        self.revision: int = connection.execute(
            "SELECT coalesce(max(n), 0) FROM revisions"
        ).fetchone()[0]
        self._siblings: dict[tuple[str, str, str, int | None], Siblings] = {}

    def touched(self, part: str) -> int:
        """Return the revision that last changed a part, or any of several joined by ``+``."""
        keys = [f"_touched:{one}" for one in part.split("+")]
        row = self.connection.execute(
            f"SELECT max(CAST(value AS INTEGER)) FROM meta WHERE key IN ({marks(keys)})", keys
        ).fetchone()
        return row[0] or 0

    def _known(self, known_at: int | None) -> int | None:
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
        known_at = self._known(known_at)
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
            "fact": self._facts_by_id,
            "chunk": self._chunks_by_id,
            "document": self._documents_by_id,
        }
        found: dict[str, Item] = {}
        for noun, names in wanted.items():
            for part in slices(names):
                for item in read[noun](part, known_at):
                    found.update(dict.fromkeys(names[item.id], item))
        return found

    def _by_id(self, table: str, columns: str, ids: list[str], known_at: int | None) -> list[Record]:
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

    def _facts_by_id(self, ids: list[str], known_at: int | None) -> list[Fact]:
        where = Where().add(f"f.id IN ({marks(ids)})", *ids)
        return self._read(self._select(where, known_at, "f.id"), known_at)

    # Nodes and names.

    def nodes(self, pattern: Pattern) -> list[Node]:
        """Return nodes by (earliest start, earliest end, id) of existence, or by id."""
        known_at = self._known(pattern.known_at)
        where = queries.existing(queries.recorded(Where(), "n", known_at), pattern)
        if pattern.subject is not None:
            where.add("n.id = ?", self.canonical(pattern.subject, known_at))
        self._continue(where, "nodes", "n", pattern)
        order = "n.id" if pattern.order == "id" else "n.es, n.ee, n.id"
        found = self.connection.execute(
            f"SELECT {rows.NODE} FROM nodes n WHERE {where} ORDER BY {order} LIMIT ?",
            [*where.parameters, -1 if pattern.limit is None else pattern.limit],
        )
        return [rows.node(row) for row in found]

    def _continue(self, where: Where, table: str, alias: str, pattern: Pattern) -> None:
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
        known_at = self._known(known_at)
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
        if pattern.limit is None:
            return self._page(pattern, None, None)
        return list(islice(self.stream(pattern), pattern.limit))

    def stream(self, pattern: Pattern) -> Iterator[Fact]:
        """Yield what ``match`` returns, reading page by page; ``limit`` is ignored."""
        size, last = _PAGE, None
        while True:
            page: list[tuple[Any, ...]] = []
            yield from self._page(pattern, size, last, page)
            if len(page) < size:
                return
            last, size = page[-1], min(size * 4, _LARGEST_PAGE)

    def _page(
        self,
        pattern: Pattern,
        size: int | None,
        last: tuple[Any, ...] | None,
        seen: list[tuple[Any, ...]] | None = None,
    ) -> list[Fact]:
        known_at = self._known(pattern.known_at)
        subject, token = pattern.subject, None
        if subject is not None:
            subject = self.canonical(subject, known_at)
        if pattern.object is not None:
            token = object_token(pattern.object)
            if isinstance(pattern.object, str):
                token = "n:" + self.canonical(pattern.object, known_at)
        where = queries.about(Where(), pattern, subject, token)
        if last is None:
            self._continue(where, "facts", "f", pattern)
        elif pattern.order == "id":
            where.add("f.id > ?", last[2])
        else:
            where.add("(f.es, f.ee, f.id) > (?, ?, ?)", *last)
        order = "f.id" if pattern.order == "id" else "f.es, f.ee, f.id"
        found = self._select(where, known_at, order, size)
        if seen is not None:
            seen += dict.fromkeys((row[5], row[7], row[1]) for row in found)
        return self._read(found, known_at, pattern)

    def _select(
        self, where: Where, known_at: int | None, order: str, size: int | None = None
    ) -> list[Record]:
        """Return joined rows FACT; claims of one fact follow one another."""
        queries.recorded(where, "f", known_at)
        source, limit = "facts f", where.parameters
        if size is not None:
            columns = "f.n, f.id, f.subject, f.relation, f.object, f.es, f.ls, f.ee, f.le"
            source = (
                f"(SELECT {columns}, f.recorded_from, f.recorded_to FROM facts f WHERE {where} "
                f"ORDER BY {order} LIMIT ?) f"
            )
            limit = [*where.parameters, size]
            where = Where()
        outer = queries.recorded(Where(), "c", known_at)
        return self.connection.execute(
            f"SELECT {rows.FACT} FROM {source} CROSS JOIN claims c ON c.fact = f.n "
            f"WHERE {where} AND {outer} ORDER BY {order}",
            [*limit, *outer.parameters],
        ).fetchall()

    def _read(
        self, found: list[Record], known_at: int | None, pattern: Pattern | None = None
    ) -> list[Fact]:
        """Return facts as they are read: ends overridden and stopped, then filtered again."""
        facts = rows.facts(found)
        for i, fact in enumerate(facts):
            if is_open(fact):
                facts[i] = self._ended(fact, known_at)
        if pattern is None or pattern.valid is None:
            return facts
        valid, match = pattern.valid, pattern.match
        # Only an end that moved can have left the span that SQL has checked.
        return [f for f in facts if f.valid.le == END or f.valid.matches(valid, match)]

    def _ended(self, fact: Fact, known_at: int | None) -> Fact:
        token = object_token(fact.object)
        beside = self._beside("subject", fact.subject, fact.relation, known_at)
        read = overridden(fact, beside.stated_end(fact, token))
        relation = self.declared().get(fact.relation)
        if read is not fact or relation is None:
            return read
        holders = beside
        if relation.max_subjects is not None:
            holders = self._beside("object", token, fact.relation, known_at)
        return stopped(fact, beside, holders, relation, token)

    def _beside(self, side: str, value: str, relation: str, known_at: int | None) -> Siblings:
        """Return the facts that share ``side`` (subject or object) and the relation."""
        key = (side, value, relation, known_at)
        found = self._siblings.get(key)
        if found is None:
            other = "object" if side == "subject" else "subject"
            where = Where().add(f"f.{side} = ? AND f.relation = ?", value, relation)
            queries.recorded(where, "f", known_at)
            found = self._siblings[key] = Siblings(
                map(
                    Sibling._make,
                    self.connection.execute(
                        f"SELECT f.es, f.ls, f.ee, f.le, f.id, f.{other} FROM facts f "
                        f"WHERE {where}",
                        where.parameters,
                    ),
                )
            )
        return found

    def expand(
        self, seeds: Sequence[str], hops: int, pattern: Pattern, limit: int
    ) -> list[Reached]:
        """Return simple paths of 1 to ``hops`` facts from each seed, in either direction.

        Breadth first; the facts at a node by earliest start. Every hop satisfies ``pattern``,
        whose subject and object are ignored. At most ``limit`` paths, the shortest first.
        """
        known_at = self._known(pattern.known_at)
        incident: dict[str, _Replay] = {}

        def at(node: str) -> _Replay:
            if node not in incident:
                incident[node] = _Replay(self._incident(node, pattern))
            return incident[node]

        start = dict.fromkeys(self.canonical(seed, known_at) for seed in seeds)
        level: list[tuple[tuple[Fact, ...], tuple[str, ...]]] = [((), (seed,)) for seed in start]
        found: list[Reached] = []
        for _ in range(hops):
            longer = []
            for facts, visited in level:
                here = visited[-1]
                for fact in at(here):
                    there = fact.object if fact.subject == here else fact.subject
                    if not isinstance(there, str) or there in visited:
                        continue
                    if len(found) >= limit:
                        return found
                    found.append(Reached(visited[0], (*facts, fact), there))
                    longer.append(((*facts, fact), (*visited, there)))
            level = longer
        return found

    def _incident(self, node: str, pattern: Pattern) -> Iterator[Fact]:
        """Yield the facts from and to a node, by earliest start."""
        pattern = replace(pattern, order="start", after=None)
        out = self.stream(replace(pattern, subject=node, object=None))
        into = self.stream(replace(pattern, subject=None, object=node))
        return in_order(out, into, key=lambda fact: fact.valid.es)

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
        queries.recorded(where, "t", self._known(known_at))
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
        where = queries.recorded(Where().add("t.id > ?", after or ""), "t", self._known(known_at))
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


class _Replay:
    """Iterate over a stream any number of times, reading it at most once and only as needed."""

    __slots__ = ("_read", "_source")

    def __init__(self, source: Iterator[Fact]) -> None:
        self._source = source
        self._read: list[Fact] = []

    def __iter__(self) -> Iterator[Fact]:
        i = 0
        while True:
            while i < len(self._read):
                yield self._read[i]
                i += 1
            following = next(self._source, None)
            if following is None:
                return
            self._read.append(following)
