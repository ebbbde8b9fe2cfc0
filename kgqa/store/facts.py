"""Facts of one state: matched, read as they hold, expanded into paths.

Belongs here: SQL over facts and their claims. Must not: the rules of reading (``reading``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge as in_order
from itertools import islice
from typing import TYPE_CHECKING, Any

from kgqa.model.ids import object_token
from kgqa.model.things import Fact
from kgqa.protocols import Pattern, Reached
from kgqa.store import queries, rows
from kgqa.store.queries import Where, marks
from kgqa.store.reading import Sibling, Siblings, overridden, stopped
from kgqa.store.rows import Record
from kgqa.temporal.interval import END

if TYPE_CHECKING:
    from kgqa.store.snapshot import Snapshot

_PAGE = 64
_LARGEST_PAGE = 4096


class Facts:
    """Read the facts of a snapshot."""

    __slots__ = ("_db", "_siblings", "_snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._db = snapshot.connection
        self._siblings: dict[tuple[str, str, str, int | None], Siblings] = {}

    def match(self, pattern: Pattern) -> list[Fact]:
        """Return facts by (earliest start, earliest end as stored, id), or by id."""
        if pattern.limit is not None:
            return list(islice(self.stream(pattern), pattern.limit))
        found = self._read(self._page(pattern), pattern.known_at, pattern)
        # A node that was merged into another has no facts; only then merges need a look.
        if not found and (merged := self._canonical(pattern)) is not pattern:
            return self._read(self._page(merged), pattern.known_at, pattern)
        return found

    def stream(self, pattern: Pattern) -> Iterator[Fact]:
        """Yield what ``match`` returns, reading page by page; ``limit`` is ignored."""
        pattern, size, last = self._canonical(pattern), _PAGE, None
        while True:
            page = self._page(pattern, size, last)
            yield from self._read(page, pattern.known_at, pattern)
            places = dict.fromkeys((row[5], row[7], row[1]) for row in page)
            if len(places) < size:
                return
            *_, last = places
            size = min(size * 4, _LARGEST_PAGE)

    def _canonical(self, pattern: Pattern) -> Pattern:
        """Return the pattern with ids followed through merges; itself if none is merged."""
        canonical, known_at = self._snapshot.canonical, pattern.known_at
        subject, object_ = pattern.subject, pattern.object
        if subject is not None:
            subject = canonical(subject, known_at)
        if isinstance(object_, str):
            object_ = canonical(object_, known_at)
        if (subject, object_) == (pattern.subject, pattern.object):
            return pattern
        return replace(pattern, subject=subject, object=object_)

    def _page(
        self, pattern: Pattern, size: int | None = None, last: tuple[Any, ...] | None = None
    ) -> list[Record]:
        """Return the rows of at most ``size`` facts, those that come after ``last``."""
        where = queries.about(Where(), pattern)
        if last is None:
            self._snapshot.after(where, "facts", "f", pattern)
        elif pattern.order == "id":
            where.add("f.id > ?", last[2])
        else:
            where.add("(f.es, f.ee, f.id) > (?, ?, ?)", *last)
        order = "f.id" if pattern.order == "id" else "f.es, f.ee, f.id"
        return self._select(where, pattern.known_at, order, size)

    def by_id(self, ids: list[str], known_at: int | None) -> list[Fact]:
        """Return the facts with these ids."""
        where = Where().add(f"f.id IN ({marks(ids)})", *ids)
        return self._read(self._select(where, known_at, "f.id"), known_at)

    def _select(
        self, where: Where, known_at: int | None, order: str, size: int | None = None
    ) -> list[Record]:
        """Return joined rows FACT; claims of one fact follow one another."""
        known_at = self._snapshot.known(known_at)
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
        return self._db.execute(
            f"SELECT {rows.FACT} FROM {source} CROSS JOIN claims c ON c.fact = f.n "
            f"WHERE {where} AND {outer} ORDER BY {order}",
            [*limit, *outer.parameters],
        ).fetchall()

    def _read(
        self, found: list[Record], known_at: int | None, pattern: Pattern | None = None
    ) -> list[Fact]:
        """Return facts as they are read: ends overridden and stopped, then filtered again."""
        facts: list[Fact] = []
        for fact in rows.facts(found):
            if fact.valid.le == END and fact.valid.dated:
                read = self._ended(fact, known_at)
                # Only an end that moved can have left the span that SQL has checked.
                if read is fact or self._fits(read, pattern):
                    facts.append(read)
            else:
                facts.append(fact)
        return facts

    @staticmethod
    def _fits(fact: Fact, pattern: Pattern | None) -> bool:
        return (
            pattern is None
            or pattern.valid is None
            or fact.valid.matches(pattern.valid, pattern.match)
        )

    def _ended(self, fact: Fact, known_at: int | None) -> Fact:
        token = object_token(fact.object)
        beside = self._beside("subject", fact.subject, fact.relation, known_at)
        read = overridden(fact, beside.stated_end(fact, token))
        relation = self._snapshot.declared().get(fact.relation)
        if read is not fact or relation is None:
            return read
        holders = beside
        if relation.max_subjects is not None:
            holders = self._beside("object", token, fact.relation, known_at)
        return stopped(fact, beside, holders, relation, token)

    def _beside(self, side: str, value: str, relation: str, known_at: int | None) -> Siblings:
        """Return the facts that share ``side`` (subject or object) and the relation."""
        known_at = self._snapshot.known(known_at)
        key = (side, value, relation, known_at)
        found = self._siblings.get(key)
        if found is None:
            other = "object" if side == "subject" else "subject"
            where = Where().add(f"f.{side} = ? AND f.relation = ?", value, relation)
            queries.recorded(where, "f", known_at)
            found = self._siblings[key] = Siblings(
                map(
                    Sibling._make,
                    self._db.execute(
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
        known_at = pattern.known_at
        incident: dict[str, _Replay] = {}

        def at(node: str) -> _Replay:
            if node not in incident:
                incident[node] = _Replay(self._incident(node, pattern))
            return incident[node]

        start = dict.fromkeys(self._snapshot.canonical(seed, known_at) for seed in seeds)
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
