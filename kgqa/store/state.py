"""One state of a base, read, whatever holds it: facts, nodes, names, documents.

Belongs here: the Reader that every store shares, over the few reads that each store has of its
own. Must not: SQL, Cypher, connections, writing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from kgqa.errors import InputError
from kgqa.model.things import Chunk, Document, Fact, Failure, Item, Node, Relation
from kgqa.protocols import Batch, Change, Hits, Json, NameHit, Pattern, Pending, Reached
from kgqa.store import queries, rows
from kgqa.store.facts import Facts
from kgqa.store.queries import Where, slices
from kgqa.store.rows import Record
from kgqa.store.tables import MARK

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

_READ: dict[str, tuple[str, str, Callable[[Record], Item]]] = {
    "node": ("nodes", rows.NODE, rows.node),
    "chunk": ("chunks", rows.CHUNK, rows.chunk),
    "document": ("documents", rows.DOCUMENT, rows.document),
}


class Cache:
    """Hold what reads share between revisions: parsed relations, merges, the vector matrix.

    A part is kept with the revision that last touched it, so that a state older or newer
    than the cache never takes what is not its own.
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[str, tuple[int, int, Any]] = {}

    def get(self, part: str, state: State, load: Callable[[], T]) -> T:
        """Return a part as ``state`` sees it."""
        revision = state.revision
        held = self._parts.get(part)
        if held is not None and held[0] == revision:
            return held[2]  # type: ignore[no-any-return]
        touched = state.touched(part)
        value = held[2] if held is not None and held[1] == touched else load()
        self._parts[part] = (revision, touched, value)
        return value


class State(ABC):
    """Read one state of a base; implements ``Reader``.

    A store gives the abstract members. In their conditions the row of a table is ``n``, a fact
    ``f``; ``known_at`` is what ``known`` returned.
    """

    __slots__ = ("cache",)

    where: ClassVar[type[Where]] = Where

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    # What each store has of its own.

    @property
    @abstractmethod
    def revision(self) -> int:
        """Return the revision of this state."""

    @abstractmethod
    def known(self, known_at: int | None) -> int | None:
        """Return the revision for conditions to name; None if a store need not name its own."""

    @abstractmethod
    def seen(self, table: str) -> Where:
        """Return the condition that a row was there at this state's revision.

        In a table with keys (``tables.KEYS``): that it stands; in others: that it ever stood.
        """

    @abstractmethod
    def select(
        self, table: str, columns: str, where: Where, order: str = "", limit: int | None = None
    ) -> Iterable[Record]:
        """Return columns of a table's rows in order."""

    @abstractmethod
    def count(self, table: str, where: Where, most: int | None = None) -> int:
        """Return how many rows fit, ``most`` if there are more."""

    @abstractmethod
    def distinct(self, table: str, column: str, where: Where) -> Iterable[Any]:
        """Return each value of a column once, in any order."""

    @abstractmethod
    def fact_rows(
        self, where: Where, known_at: int | None, order: str, size: int | None = None
    ) -> list[Record]:
        """Return rows FACT of the facts on record, the first ``size`` of them, in order.

        The rows of one fact, which are its claims, follow one another in any order.
        """

    @abstractmethod
    def beside(
        self, side: str, pairs: Sequence[tuple[str, str]], known_at: int | None, closed: bool
    ) -> Iterable[tuple[tuple[str, str], Iterable[Record]]]:
        """Return each (``side``, relation) that facts share with those facts, in any order.

        ``side`` is subject or object; a fact is es, ls, ee, le, id, its other side. ``closed``:
        only facts with a known end. A pair without facts may be left out.
        """

    @abstractmethod
    def name_rows(self, keys: Sequence[str], known_at: int | None) -> Iterable[Record]:
        """Return key, node id, label, main and validity of the names with these keys."""

    @abstractmethod
    def used(self, known: Container[str]) -> Iterable[str]:
        """Return each relation of facts on record now, without those that are known."""

    @abstractmethod
    def claim_rows(self, document: str) -> Iterable[Record]:
        """Return a document's claims as stated (``status.CLAIM``), in a settled order."""

    @abstractmethod
    def find(self, text: str, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` best full-text hits that satisfy the pattern, best first."""

    @abstractmethod
    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` nearest embedded items that satisfy the pattern."""

    def touched(self, part: str) -> int:
        """Return the revision that last changed a part, or any of several joined by ``+``."""
        keys = [MARK + one for one in part.split("+")]
        where = self.seen("meta").among("n.key", keys)
        return max((int(value) for (value,) in self.select("meta", "value", where)), default=0)

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
        columns = "loser, winner, recorded_from, recorded_to"
        for loser, *rest in self.select("merges", columns, self.seen("merges"), "n.n"):
            found.setdefault(loser, []).append((rest[0], rest[1], rest[2]))
        return found

    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]:
        """Return the things that citation labels name; unknown and erased ones are left out."""
        known_at = self.known(known_at)
        wanted: dict[str, dict[str, list[str]]] = {}
        found: dict[str, Item | None] = {}
        for label in labels:
            noun, _, name = label.partition(":")
            if noun != "fact" and noun not in _READ:
                raise InputError(
                    f"not a citation label: {label!r}", code="store.bad_label",
                    hint="write node:ID, fact:ID, chunk:ID or document:ID",
                )  # fmt: skip
            if noun == "node":
                name = self.canonical(name, known_at)
            wanted.setdefault(noun, {}).setdefault(name, []).append(label)
            found[label] = None
        for noun, names in wanted.items():
            for part in slices(names):
                for item in self._by_id(noun, part, known_at):
                    found.update(dict.fromkeys(names[item.id], item))
        return {label: item for label, item in found.items() if item is not None}

    def _by_id(self, noun: str, ids: list[str], known_at: int | None) -> Iterable[Item]:
        if noun == "fact":
            return Facts(self).by_id(ids, known_at)
        where = queries.recorded(self.where().among("n.id", ids), "n", known_at)
        table, columns, read = _READ[noun]
        return map(read, self.select(table, columns, where))

    # Nodes and names.

    def nodes(self, pattern: Pattern) -> list[Node]:
        """Return nodes by (earliest start, earliest end, id) of existence, or by id."""
        known_at = self.known(pattern.known_at)
        where = queries.existing(queries.recorded(self.where(), "n", known_at), pattern)
        if pattern.subject is not None:
            where.add("n.id = ?", self.canonical(pattern.subject, known_at))
        self.after(where, "nodes", "n", pattern)
        order = "n.id" if pattern.order == "id" else "n.es, n.ee, n.id"
        found = self.select("nodes", rows.NODE, where, order, pattern.limit)
        return [rows.node(row) for row in found]

    def after(self, where: Where, table: str, alias: str, pattern: Pattern) -> None:
        """Add: comes after the cursor."""
        if pattern.after is None:
            return
        if pattern.order == "id":
            where.add(f"{alias}.id > ?", pattern.after)
            return
        named = self.seen(table).add("n.id = ?", pattern.after)
        place = next(iter(self.select(table, "es, ee, id", named, "n.n DESC", 1)), None)
        if place is None:
            raise InputError(
                f"no such place in the list: {pattern.after!r}", code="store.bad_cursor",
                hint="start again without a cursor",
            )  # fmt: skip
        where.beyond(alias, place)

    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]:
        """Return who bears each key as label or alias, at any time; by key, then node."""
        known_at = self.known(known_at)
        found: list[Record] = []
        for part in slices(dict.fromkeys(keys)):
            found += self.name_rows(part, known_at)
        # The main label of a key and node first, then by validity and label.
        found.sort(key=lambda row: (row[0], row[1], not row[3], *row[4:8], row[2], row[8]))
        return [
            NameHit(key, node, label, bool(main), rows.validity(*valid))
            for key, node, label, main, *valid in found
        ]

    # Facts.

    def match(self, pattern: Pattern) -> list[Fact]:
        """Return facts by (earliest start, earliest end as stored, id), or by id."""
        return Facts(self).match(pattern)

    def expand(
        self, seeds: Sequence[str], hops: int, pattern: Pattern, limit: int
    ) -> list[Reached]:
        """Return simple paths of facts from seeds; see ``Facts.expand``."""
        return Facts(self).expand(seeds, hops, pattern, limit)

    # Documents, relations, the base itself.

    def chunks(self, document: str, known_at: int | None = None) -> list[Chunk]:
        """Return a document's chunks in order."""
        where = self.where().add("n.document = ?", document)
        queries.recorded(where, "n", self.known(known_at))
        found = self.select("chunks", rows.CHUNK, where, "n.ordinal, n.id")
        return [rows.chunk(row) for row in found]

    def documents(
        self, limit: int | None = None, after: str | None = None, known_at: int | None = None
    ) -> list[Document]:
        """Return documents by id, from after the id ``after``."""
        where = self.where().add("n.id > ?", after or "")
        queries.recorded(where, "n", self.known(known_at))
        found = self.select("documents", rows.DOCUMENT, where, "n.id", limit)
        return [rows.document(row) for row in found]

    def declared(self) -> dict[str, Relation]:
        """Return the relations that were declared."""
        return self.cache.get("relations", self, self._load_relations)

    def _load_relations(self) -> dict[str, Relation]:
        found = self.select("relations", "key, body", self.seen("relations"))
        return {key: rows.relation_load(body) for key, body in found}

    def relations(self) -> dict[str, Relation]:
        """Return every relation by key: the declared ones, and those that facts use."""
        found = dict(self.declared())
        found.update({key: Relation(key, key) for key in self.used(found)})
        return dict(sorted(found.items()))

    def failures(self) -> list[Failure]:
        """Return the units that could not be loaded, by unit."""
        columns = "unit, code, message, payload"
        found = self.select("failures", columns, self.seen("failures"), "n.unit")
        return [Failure(*row) for row in found]

    def meta(self) -> dict[str, Json]:
        """Return the base's settings."""
        found = self.select("meta", "key, value", self.seen("meta"), "n.key")
        return {key: rows.loads(value) for key, value in found if not key.startswith(MARK)}

    def stats(self) -> dict[str, int]:
        """Return counts of what is current, by noun; see ``status.stats``."""
        from kgqa.store import status

        return status.stats(self)

    def changes(self, since: int = 0) -> list[Change]:
        """Return the revisions after ``since``, oldest first."""
        where = self.seen("revisions").add("n.n > ?", since)
        return [Change(*row) for row in self.select("revisions", "n, wall, note", where, "n.n")]

    def pending(self, limit: int, after: tuple[str, str] | None = None) -> list[Pending]:
        """Return items whose text has no vector yet, by (kind, id), from after ``after``."""
        from kgqa.store import status

        return status.pending(self, limit, after)

    def batches(self) -> Iterator[Batch]:
        """Yield batches that rebuild the current state in an empty store, without vectors."""
        from kgqa.store import status

        return status.batches(self)
