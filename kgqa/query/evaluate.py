"""Evaluate one reading of a question over a base: its terms, and what they answer.

Belongs here: goal, when and order to terms, by the rules of time. Must not: choosing between
readings of the wording, printing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kgqa.model.answer import Scope
from kgqa.model.ids import object_token
from kgqa.model.question import (
    Candidate,
    Goal,
    Mention,
    Moment,
    Order,
    Question,
    Side,
    Unknown,
    When,
)
from kgqa.model.things import Alias, Literal, Node, Relation
from kgqa.protocols import Pattern, Reader
from kgqa.query import operators as op
from kgqa.query.operators import Term
from kgqa.query.patterns import Facts, Reading, readings, tiers
from kgqa.query.scope import asking, incident
from kgqa.temporal.interval import BEGIN, END, Interval, Validity

Value = str | Literal
_MAX_DEPTH = 4
_EXTENDED = 25
"""Up to so many terms of a slice are shown whole, joined with those that touch them."""
_SLICED = ("at", "during", "between")


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what one reading found.

    ``terms`` are the chosen ones, ``joined`` those that a moment or anchor contributed.
    ``support``: 2 = something holds, 1 = the pattern is known at other times only, 0 =
    nothing. ``rivals`` are the candidates of a name between which nothing decides.
    """

    question: Question
    scope: Scope
    terms: tuple[Term, ...] = ()
    joined: tuple[Term, ...] = ()
    side: Side = "object"
    support: int = 0
    outside: bool = False
    rivals: tuple[Candidate, ...] = ()
    passed_over: tuple[Candidate, ...] = ()
    reading: Reading | None = None

    @property
    def values(self) -> tuple[Value, ...]:
        """Return the distinct values of the wanted side, in start order."""
        values = [t.value(self.side) for t in self.terms]
        return tuple({object_token(v): v for v in values}.values())

    @property
    def reading_tier(self) -> int:
        """Return how weakly the names were linked, 0 = exactly."""
        return self.reading.tier if self.reading else 0


class Evaluator:
    """Evaluate readings of one question over one reader under one scope."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self.reader = reader
        self.scope = scope
        self._depth = 0
        self._undecided: tuple[Candidate, ...] = ()

    @cached_property
    def relations(self) -> dict[str, Relation]:
        """Return the base's relations."""
        return self.reader.relations()

    def evaluate(self, question: Question) -> Found:
        """Return what a reading of a question finds, after trying the meanings of its names.

        Meanings are tried tier by tier (exact before partial); the first tier of which the
        base knows the pattern decides. Several meanings that hold are rivals.
        """
        if question.goal is None or self._depth >= _MAX_DEPTH:
            return Found(question, self.scope)
        self._depth += 1
        try:
            return self._over_names(question, question.goal)
        finally:
            self._depth -= 1

    def _over_names(self, question: Question, goal: Goal) -> Found:
        best = Found(question, self.scope, side=goal.wanted)
        tried: list[Found] = []
        for reading in readings(self._opened(question, goal), self._solve):
            if tried and best.support and reading.tier > tried[-1].reading_tier:
                break
            found = self._over_time(question, reading)
            tried.append(found)
            if found.support > best.support or (found.outside and not best.support):
                best = found
        if best.support < 2 and self._undecided:
            return replace(best, rivals=self._undecided)
        return _settled(best, tried)

    def _opened(self, question: Question, goal: Goal) -> Goal:
        """Open the wanted side of a yes/no question about order: is X among the chosen?"""
        if question.asked == "boolean" and question.order:
            if goal.wanted == "subject":
                return replace(goal, subject=Unknown())
            return replace(goal, object=Unknown())
        return goal

    def _solve(self, question: Question) -> tuple[Value, ...]:
        found = self.evaluate(question)
        self._undecided = self._undecided or found.rivals
        return found.values

    def _over_time(self, question: Question, reading: Reading) -> Found:
        """Apply the rules of time (DESIGN 2.3) to one reading."""
        window = self._window(question.when)
        scope: Scope | None = self.scope
        if window:
            text = ", ".join(w.moment.text for w in question.when if w.moment.span)
            scope = asking(self.scope, window, text)
        if scope is None:
            outside = Found(question, self.scope, side=reading.wanted, outside=True)
            return replace(outside, reading=reading)
        facts = Facts(self.reader, scope, self.relations)
        span = self._slice(question, scope)
        terms = self._terms(question, reading, facts, span)
        joined: list[Term] = []
        chosen = terms
        for when in question.when:
            chosen, others = self._when(chosen, when)
            joined += others
        if question.order:
            chosen, others = self._order(question, question.order, chosen, terms, reading)
            joined += others
        known = bool(chosen) or bool(terms) or facts.known(reading)
        if question.asked == "boolean" and known and not chosen:
            joined = facts.match(reading)[0][:_EXTENDED]
        return Found(
            question, scope, tuple(chosen), tuple(joined), reading.wanted,
            2 if chosen else 1 if known else 0, reading=reading,
        )  # fmt: skip

    def _terms(
        self, question: Question, reading: Reading, facts: Facts, span: Interval | None
    ) -> list[Term]:
        """Return the terms that the question chooses among."""
        if question.asked == "name":
            terms = [t for node in reading.subject.nodes or () for t in self._names(node)]
            if span is None:
                return terms
            named = op.at(terms, span, facts.scope.as_of_match)
            return [t for t in named if t.certainty == "definite"] or named
        terms, _ = facts.match(reading, span)
        if span is None:
            return terms
        if not question.when:
            terms = op.at(terms, span, facts.scope.as_of_match)
        return facts.extended(terms) if len(terms) <= _EXTENDED else terms

    def _names(self, node: Value) -> list[Term]:
        """Return the names of a node as terms, those that had begun before the horizon."""
        item = self.reader.get([f"node:{node}"], self.scope.known_at).get(f"node:{node}")
        if not isinstance(node, str) or not isinstance(item, Node):
            return []
        names = {a.label: a for a in (Alias(item.label), *item.aliases)}
        horizon = self.scope.horizon
        terms = [
            Term(node, "name", Literal(a.label), a.valid, ())
            for a in (*item.aliases, *(a for a in names.values() if a not in item.aliases))
            if horizon is None or a.valid.es < horizon
        ]
        dated = [t for t in terms if t.valid.dated]
        return op.timeline(dated or terms)

    def _slice(self, question: Question, scope: Scope) -> Interval | None:
        """Return the span that bounds the read itself, or None for the whole world."""
        over_world = question.asked in ("start", "end", "span", "duration", "times", "timeline")
        if not question.when:
            if question.order or over_world or not scope.as_of:
                return None
            return scope.as_of.span
        kinds = {w.relation for w in question.when if w.moment.span}
        if over_world or (question.order and question.order.kind in ("next", "previous")):
            return None
        return scope.time if len(kinds) == 1 and kinds <= set(_SLICED) else None

    def _window(self, whens: Sequence[When]) -> Interval | None:
        """Return the span that the question's own dates leave, or None if it writes none."""
        window: Interval | None = None
        for when in whens:
            span = when.moment.span
            if span is None:
                continue
            start, end = span.start, span.end
            if when.relation in ("before", "until"):
                start, end = BEGIN, span.start if when.relation == "before" else span.end
            elif when.relation in ("after", "since"):
                start, end = span.end if when.relation == "after" else span.start, END
            part = Interval(start, end) if start < end else span
            window = (window.intersect(part) or part) if window else part
        return window

    def _when(self, terms: Iterable[Term], when: When) -> tuple[list[Term], list[Term]]:
        """Return the terms that stand so to a moment, and the terms that the moment is made of."""
        span, horizon = when.moment.span, self.scope.horizon
        if span is not None:
            if horizon is not None and span.start < horizon < span.end:
                span = Interval(span.start, horizon)
            return _at_span(terms, when, span), []
        others = self._moment(when.moment)
        edges = self._edges(others, when.moment)
        if when.relation in _SLICED:
            return op.overlapping(terms, [e for _, e in edges]), others
        found: dict[str, Term] = {}
        for other, edge in edges:
            hull = edge.valid.hull
            if when.relation == "after" and edge.valid.ee < END:
                hull = Interval(edge.valid.es, max(edge.valid.ee, edge.valid.es + 1))
            chosen = _at_span(terms, when, hull)
            found.update((_token(t), t) for t in chosen if _token(t) != _token(other))
        return op.timeline(found.values()), others

    def _edges(self, terms: list[Term], moment: Moment) -> list[tuple[Term, Term]]:
        """Return the terms of a moment, each with what of it the question is about."""
        if moment.edge is None:
            return [(t, t) for t in terms]
        edges = ((t, op.edge(t, moment.edge, self.scope.horizon)) for t in terms)
        return [(term, edge) for term, edge in edges if edge]

    def _moment(self, moment: Moment) -> list[Term]:
        """Return the terms of a moment: of a goal's facts, or of a node's existence."""
        if moment.goal:
            found = self.evaluate(Question(moment.text, "timeline", moment.goal))
            self._undecided = self._undecided or found.rivals
            return list(found.terms)
        mention = moment.mention
        for group in tiers(mention) if mention else []:
            for candidate in group:
                terms = self._lifetime(candidate.node)
                if terms:
                    return terms
        return []

    def _lifetime(self, node: str) -> list[Term]:
        item = self.reader.get([f"node:{node}"], self.scope.known_at).get(f"node:{node}")
        horizon = self.scope.horizon
        if isinstance(item, Node) and item.existence:
            return [
                Term(node, "existence", node, v, ())
                for v in item.existence
                if horizon is None or v.es < horizon
            ]
        dated = Pattern(begun_before=horizon, known_at=self.scope.known_at, undated="exclude")
        return op.coalesce(incident(self.reader, node, dated))

    def _order(
        self,
        question: Question,
        order: Order,
        chosen: list[Term],
        pool: list[Term],
        reading: Reading,
    ) -> tuple[list[Term], list[Term]]:
        if order.kind in ("first", "nth"):
            return op.nth(chosen, order.n), []
        if order.kind == "last":
            return op.last(chosen, order.n), []
        step = op.next_ if order.kind == "next" else op.previous
        if order.anchor is None:
            return self._beside(question, order, pool)
        anchors = self._anchors(order.anchor, pool, reading)
        values = {object_token(a.value(reading.wanted)) for a in anchors}
        rest = [t for t in pool if object_token(t.value(reading.wanted)) not in values]
        return _steps(step, rest, anchors, order.n), anchors

    def _beside(
        self, question: Question, order: Order, pool: list[Term]
    ) -> tuple[list[Term], list[Term]]:
        """Return the neighbours of the moments that the question writes."""
        step = op.next_ if order.kind == "next" else op.previous
        found: list[Term] = []
        joined: list[Term] = []
        for when in question.when:
            span = when.moment.span
            if span is not None:
                edge = span.end - 1 if order.kind == "next" else span.start
                found += step(pool, edge, order.n)
                continue
            others = self._moment(when.moment)
            same = {_token(t) for t in others}
            rest = [t for t in pool if _token(t) not in same]
            edges = [e for _, e in self._edges(others, when.moment)]
            found += _steps(step, rest, edges, order.n)
            joined += others
        return op.timeline({_token(t): t for t in found}.values()), joined

    def _anchors(
        self, anchor: Mention | Question, pool: list[Term], reading: Reading
    ) -> list[Term]:
        if isinstance(anchor, Question):
            wanted = {object_token(v) for v in self._solve(anchor)}
            return [t for t in pool if object_token(t.value(reading.wanted)) in wanted]
        for group in tiers(anchor):
            nodes = {object_token(c.node) for c in group}
            found = [t for t in pool if object_token(t.value(reading.wanted)) in nodes]
            if found:
                return found
        return []


def _steps(step: object, pool: list[Term], anchors: list[Term], n: int) -> list[Term]:
    found: dict[str, Term] = {}
    for anchor in anchors:
        for term in step(pool, anchor.start, n):  # type: ignore[operator]
            found.setdefault(_token(term), term)
    return op.timeline(found.values())


def _at_span(terms: Iterable[Term], when: When, span: Interval) -> list[Term]:
    kind = when.relation
    if kind == "throughout":
        return op.at(terms, span, "all")
    if kind == "before":
        return op.before(terms, span.start)
    if kind == "after":
        return op.after(terms, span.end)
    if kind == "since":
        return op.at(terms, Interval(span.start, END))
    if kind == "until":
        return op.at(terms, Interval(BEGIN, span.end))
    return op.at(terms, span)


def _token(term: Term) -> str:
    v: Validity = term.valid
    return f"{term.subject}\x1f{term.relation}\x1f{object_token(term.object)}\x1f{v.bounds}"


def _settled(best: Found, tried: list[Found]) -> Found:
    """Return the one reading that is left, or the candidates between which nothing decides.

    Other meanings of its names that do not fit are kept, to be told.
    """
    if best.reading is None or not best.support:
        return best
    equal = [f for f in tried if f.support == best.support and f.reading_tier == best.reading_tier]
    rivals = _meanings(equal)
    if len(rivals) > 1 and best.support == 2:
        return replace(best, rivals=rivals, terms=(), joined=())
    taken = {c.node for c in best.reading.candidates}
    level = [f for f in tried if f.reading_tier == best.reading_tier]
    return replace(best, passed_over=tuple(c for c in _meanings(level) if c.node not in taken))


def _meanings(tried: list[Found]) -> tuple[Candidate, ...]:
    """Return the candidates of the first name that several of the readings take differently."""
    read = [f.reading for f in tried if f.reading]
    for filled in ([r.subject for r in read], [r.object for r in read]):
        found = {f.candidate.node: f.candidate for f in filled if f.candidate}
        if len(found) > 1:
            return tuple(found.values())
    return ()
