"""Facts of one state: matched, read as they hold, expanded into paths.

Belongs here: the order of reads over facts and what lies beside them, the same for every store.
Must not: SQL, Cypher, the rules of reading (``reading``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import merge as in_order
from itertools import islice
from typing import TYPE_CHECKING, Any

from kgqa.model.ids import object_token
from kgqa.model.things import Fact, Relation
from kgqa.protocols import Pattern, Reached
from kgqa.store import queries, rows
from kgqa.store.reading import Sibling, Siblings, overridden, stopped
from kgqa.store.rows import Record
from kgqa.temporal.interval import END

if TYPE_CHECKING:
    from kgqa.store.state import State

_PAGE = 64
_LARGEST_PAGE = 4096
_NO_RULE = Relation("", "")
_NONE = Siblings(())


class Facts:
    """Read the facts of a state."""

    __slots__ = ("_siblings", "_state")

    def __init__(self, state: State) -> None:
        self._state = state
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
        canonical, known_at = self._state.canonical, pattern.known_at
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
        state = self._state
        where = queries.about(state.where(), pattern)
        if last is None:
            state.after(where, "facts", "f", pattern)
        elif pattern.order == "id":
            where.add("f.id > ?", last[2])
        else:
            where.beyond("f", last)
        order = "f.id" if pattern.order == "id" else "f.es, f.ee, f.id"
        return state.fact_rows(where, state.known(pattern.known_at), order, size)

    def by_id(self, ids: list[str], known_at: int | None) -> list[Fact]:
        """Return the facts with these ids."""
        where = self._state.where().among("f.id", ids)
        found = self._state.fact_rows(where, self._state.known(known_at), "f.id")
        return self._read(found, known_at)

    def _read(
        self, found: list[Record], known_at: int | None, pattern: Pattern | None = None
    ) -> list[Fact]:
        """Return facts as they are read: ends overridden and stopped, then filtered again."""
        facts = rows.facts(found)
        endless = [fact for fact in facts if fact.valid.le == END and fact.valid.dated]
        if not endless:
            return facts
        read = self._ended(endless, self._state.known(known_at))
        # Only an end that moved can have left the span that the store has checked.
        return [
            now
            for fact in facts
            if (now := read.get(fact.id, fact)) is fact or self._fits(now, pattern)
        ]

    @staticmethod
    def _fits(fact: Fact, pattern: Pattern | None) -> bool:
        return (
            pattern is None
            or pattern.valid is None
            or fact.valid.matches(pattern.valid, pattern.match)
        )

    def _ended(self, facts: list[Fact], known_at: int | None) -> dict[str, Fact]:
        """Return facts by id, with the ends that the facts beside them give."""
        declared = self._state.declared()
        rules = [declared.get(fact.relation, _NO_RULE) for fact in facts]
        both = list(zip(facts, rules, strict=True))
        for limited in (False, True):
            asked = [f for f, rule in both if (rule.max_objects is not None) == limited]
            pairs = [(fact.subject, fact.relation) for fact in asked]
            self._fetch("subject", pairs, known_at, closed=not limited)
        pairs = [
            (object_token(f.object), f.relation) for f, r in both if r.max_subjects is not None
        ]
        self._fetch("object", pairs, known_at, closed=False)
        read: dict[str, Fact] = {}
        for fact, rule in both:
            token = object_token(fact.object)
            values = self._siblings["subject", fact.subject, fact.relation, known_at]
            holders = self._siblings.get(("object", token, fact.relation, known_at), values)
            now = overridden(fact, values.stated_end(fact, token))
            if now is fact:
                now = stopped(fact, values, holders, rule, token)
            read[fact.id] = now
        return read

    def _fetch(
        self, side: str, pairs: Iterable[tuple[str, str]], known_at: int | None, closed: bool
    ) -> None:
        """Read the facts beside each (subject or object, relation), if not read before."""
        siblings = self._siblings
        asked = [p for p in dict.fromkeys(pairs) if (side, *p, known_at) not in siblings]
        if asked:
            siblings.update({(side, *pair, known_at): _NONE for pair in asked})
            for pair, found in self._state.beside(side, asked, known_at, closed):
                siblings[side, *pair, known_at] = Siblings(map(Sibling._make, found))

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

        start = dict.fromkeys(self._state.canonical(seed, known_at) for seed in seeds)
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
