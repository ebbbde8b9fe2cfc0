"""From the pattern that a question asks for to the facts of a base, one reading at a time.

Belongs here: filling a goal's sides with nodes, trying its relations, reading facts within
the scope. Must not: operators, wording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from kgqa.model.answer import Scope
from kgqa.model.question import Candidate, Goal, Mention, Question, RelationGuess, Side, Unknown
from kgqa.model.question import Term as Asked
from kgqa.model.things import Fact, Literal, Relation
from kgqa.protocols import Pattern, Reader
from kgqa.query.operators import Term, coalesce, timeline
from kgqa.query.scope import pattern
from kgqa.temporal.interval import Interval, Validity

MAX_READINGS = 24
"""How many ways of filling the names of one pattern are tried."""
_EXACT = ("given", "exact", "alias")
_CLOSE = 0.1
"""Candidates scored this far below the best are other names, not other readings of this one."""


@dataclass(frozen=True, slots=True)
class Filling:
    """Hold one way of filling a side: the nodes (None = anything), and the name's candidate."""

    nodes: tuple[str | Literal, ...] | None = None
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold one way of filling a pattern; ``tier`` 0 = names exact, higher = weaker links."""

    subject: Filling
    object: Filling
    relations: tuple[RelationGuess, ...]
    wanted: Side
    tier: int

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Return the candidates that the reading took for its names."""
        return tuple(s.candidate for s in (self.subject, self.object) if s.candidate)


def tiers(mention: Mention) -> list[tuple[Candidate, ...]]:
    """Return a mention's candidates as groups of equal standing, best first."""
    groups: list[list[Candidate]] = []
    ordered = sorted(mention.candidates, key=lambda c: (c.why not in _EXACT, -c.score))
    for candidate in ordered:
        if groups and _level(groups[-1][0], candidate):
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
    return [tuple(group) for group in groups]


def _level(best: Candidate, other: Candidate) -> bool:
    if (best.why in _EXACT) != (other.why in _EXACT):
        return False
    return best.why in _EXACT or other.score >= best.score - _CLOSE


def readings(goal: Goal, solve: Callable[[Question], tuple[str | Literal, ...]]) -> list[Reading]:
    """Return the ways of filling a goal's names, strongest first.

    ``solve`` answers a nested question.
    """
    subjects, objects = (_sides(term, solve) for term in (goal.subject, goal.object))
    found = [
        Reading(s, o, goal.relations, goal.wanted, a + b)
        for (a, s), (b, o) in product(subjects, objects)
    ]
    return sorted(found, key=lambda r: r.tier)[:MAX_READINGS]


def _sides(
    term: Asked, solve: Callable[[Question], tuple[str | Literal, ...]]
) -> list[tuple[int, Filling]]:
    if isinstance(term, Unknown):
        return [(0, Filling())]
    if isinstance(term, Question):
        return [(0, Filling(solve(term)))]
    return [
        (tier, Filling((candidate.node,), candidate))
        for tier, group in enumerate(tiers(term))
        for candidate in group
    ]


@dataclass(frozen=True, slots=True)
class Facts:
    """Read the facts of readings from one base under one scope."""

    reader: Reader
    scope: Scope
    relations: dict[str, Relation]

    def match(
        self, reading: Reading, span: Interval | None = None
    ) -> tuple[list[Term], tuple[RelationGuess, ...]]:
        """Return the terms of a reading, as its goal reads them, and the guesses that have them.

        ``span`` reads what holds then. The facts of any of the relations fit; none means any
        relation. The terms of an inverted guess have their sides exchanged; their facts are
        as stored.
        """
        if not reading.relations:
            return coalesce(self._read(reading, None, span)), ()
        found = [(guess, self._terms(reading, guess, span)) for guess in reading.relations]
        terms = timeline(term for _, some in found for term in some)
        return terms, tuple(guess for guess, some in found if some)

    def _terms(self, reading: Reading, guess: RelationGuess, span: Interval | None) -> list[Term]:
        terms = coalesce(self._read(reading, guess, span))
        if not guess.inverted:
            return terms
        return [
            replace(t, subject=t.object, object=t.subject)
            for t in terms
            if isinstance(t.object, str)
        ]

    def extended(self, terms: Sequence[Term]) -> list[Term]:
        """Return terms of a slice as long as they are in the world; each keeps its own facts."""
        return [replace(term, valid=self._whole(term)) for term in terms]

    def _whole(self, term: Term) -> Validity:
        fact = term.facts[0]
        p = pattern(self.scope, subject=fact.subject, relation=fact.relation, object=fact.object)
        ids = {f.id for f in term.facts}
        wholes = coalesce(self.reader.match(p))
        return next((w.valid for w in wholes if ids & {f.id for f in w.facts}), term.valid)

    def known(self, reading: Reading) -> bool:
        """Tell whether the scope's world has any fact of a reading, at whatever time."""
        return any(
            self.reader.match(replace(p, limit=1))
            for guess in (reading.relations or (None,))
            for p in self._patterns(reading, guess, None)
        )

    def count(self, reading: Reading) -> int:
        """Return how many facts of a reading the base has, at whatever time, horizon or none."""
        found = {
            fact.id
            for guess in (reading.relations or (None,))
            for p in self._patterns(reading, guess, None)
            for fact in self.reader.match(replace(p, begun_before=None))
        }
        return len(found)

    def _read(
        self, reading: Reading, guess: RelationGuess | None, span: Interval | None
    ) -> list[Fact]:
        found: dict[str, Fact] = {}
        for p in self._patterns(reading, guess, span):
            found.update((fact.id, fact) for fact in self.reader.match(p))
        return [fact for fact in found.values() if self._exists(fact, span)]

    def _patterns(
        self, reading: Reading, guess: RelationGuess | None, span: Interval | None
    ) -> list[Pattern]:
        subject, object_ = reading.subject.nodes, reading.object.nodes
        if guess and guess.inverted:
            subject, object_ = object_, subject
        subjects: Sequence[str | Literal | None] = (None,) if subject is None else subject
        objects: Sequence[str | Literal | None] = (None,) if object_ is None else object_
        key = guess.key if guess else None
        return [
            pattern(self.scope, span, subject=s, relation=key, object=o)
            for s, o in product(subjects, objects)
            if not isinstance(s, Literal) and not (s is None and o is None and key is None)
        ]

    def _exists(self, fact: Fact, span: Interval | None) -> bool:
        """Tell whether the nodes exist that the relation requires, when the fact is asked for."""
        relation = self.relations.get(fact.relation)
        need = relation.requires_existence if relation else None
        if need is None:
            return True
        when = fact.valid.hull.intersect(span) if span else fact.valid.hull
        ids = [fact.subject] if need in ("subject", "both") else []
        if need in ("object", "both") and isinstance(fact.object, str):
            ids.append(fact.object)
        nodes = self.reader.get([f"node:{i}" for i in ids], self.scope.known_at)
        terms = [getattr(nodes.get(f"node:{i}"), "existence", ()) for i in ids]
        return when is None or all(not t or any(v.possible(when) for v in t) for t in terms)
