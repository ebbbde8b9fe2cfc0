"""Temporal operators: pure functions over terms, the coalesced validities of facts.

Belongs here: choosing, ordering, counting and joining by time. Must not: reading a store,
printing, wording. Every operator takes terms from ``coalesce`` and returns terms in start
order; ends are exclusive throughout, and each docstring says which border counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal as OneOf
from typing import TypeAlias

from kgqa.model.ids import object_token
from kgqa.model.question import Edge
from kgqa.model.things import Fact, Literal
from kgqa.temporal.calendars import alignment, finer, granule
from kgqa.temporal.interval import Certainty, Instant, Interval, Match, Validity

Side: TypeAlias = OneOf["subject", "object"]


@dataclass(frozen=True, slots=True)
class Term:
    """Hold one unbroken stretch in which a subject-relation-object held, and the facts that say so.

    ``certainty`` is that of the last operator that chose the term.
    """

    subject: str
    relation: str
    object: str | Literal
    valid: Validity
    facts: tuple[Fact, ...]
    certainty: Certainty = "definite"

    @property
    def start(self) -> Instant:
        """Return the earliest start, by which terms are ordered."""
        return self.valid.es

    def value(self, side: Side) -> str | Literal:
        """Return what stands on a side of the facts."""
        return self.subject if side == "subject" else self.object


def coalesce(facts: Iterable[Fact]) -> list[Term]:
    """Return the terms of facts: touching ones of one subject-relation-object become one.

    Two touch if the later begins no later than the earlier can end; an unknown end reaches
    only as far as it certainly holds, so a later fact does not touch it. The result is in
    start order and does not depend on the order of ``facts``.
    """
    ordered = sorted(facts, key=lambda f: (*_key(f), _reach(f.valid), f.id))
    terms: list[Term] = []
    for _, group in groupby(ordered, key=_key):
        terms.extend(_joined(list(group)))
    return timeline(terms)


def _key(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.relation, object_token(fact.object)


def _reach(valid: Validity) -> tuple[Instant, Instant]:
    """Return the span that counts for touching: an unknown end gives its certain part only."""
    start = valid.ls if valid.start_unknown else valid.es
    end = valid.ee if valid.end_unknown else valid.le
    return start, end


def _joined(facts: list[Fact]) -> Iterable[Term]:
    run: list[Fact] = []
    reach = 0
    for fact in facts:
        start, end = _reach(fact.valid)
        if run and start > reach:
            yield _term(run)
            run = []
        reach = max(reach, end) if run else end
        run.append(fact)
    if run:
        yield _term(run)


def _term(run: list[Fact]) -> Term:
    first = min((f.valid for f in run), key=lambda v: (v.es, v.ls))
    last = max((f.valid for f in run), key=lambda v: (v.le, v.ee))
    valid = first
    if len(run) > 1:
        valid = replace(
            first,
            ls=min(f.valid.ls for f in run),
            ee=max(f.valid.ee for f in run),
            le=last.le,
            end_precision=last.end_precision,
            text="",
            uncertain=first.uncertain or last.uncertain,
            approximate=first.approximate or last.approximate,
        )
    fact = run[0]
    return Term(fact.subject, fact.relation, fact.object, valid, tuple(run))


def timeline(terms: Iterable[Term]) -> list[Term]:
    """Return all terms by (earliest start, latest start, subject, relation, object).

    Ends have no part in it: under an as_of, an order must not hint at one still to come.
    """
    return sorted(terms, key=_order)


def _order(term: Term) -> tuple[Instant, Instant, str, str, str]:
    token = object_token(term.object)
    return term.valid.es, term.valid.ls, term.subject, term.relation, token


def at(terms: Iterable[Term], span: Interval, match: Match = "overlaps") -> list[Term]:
    """Return the terms that possibly hold at ``[span.start, span.end)`` under a match policy."""
    return [
        replace(t, certainty=_sure(t, span, match))
        for t in timeline(terms)
        if t.valid.matches(span, match)
    ]


def _sure(term: Term, span: Interval, match: Match) -> Certainty:
    """Return definite if one fact alone is; a join of coarse facts may hide a gap."""
    if match == "all" or not term.facts:
        return term.valid.certainty(span, match)
    sure = any(f.valid.certainty(span, match) == "definite" for f in term.facts)
    return "definite" if sure else "possible"


def during(terms: Iterable[Term], span: Interval) -> list[Term]:
    """Return the terms that possibly share an instant with ``[span.start, span.end)``."""
    return at(terms, span)


def between(terms: Iterable[Term], first: Interval, last: Interval) -> list[Term]:
    """Return the terms that possibly hold between two granules, both of them included.

    Raises InputError (``time.inverted``) if ``last`` ends before ``first`` starts.
    """
    return at(terms, Interval(first.start, last.end))


def before(terms: Iterable[Term], start: Instant) -> list[Term]:
    """Return all terms that possibly start earlier than ``start`` (exclusive)."""
    return [
        replace(t, certainty="definite" if t.valid.ls < start else "possible")
        for t in timeline(terms)
        if t.valid.es < start
    ]


def after(terms: Iterable[Term], end: Instant) -> list[Term]:
    """Return all terms that possibly start at ``end`` (inclusive) or later."""
    return [
        replace(t, certainty="definite" if t.valid.es >= end else "possible")
        for t in timeline(terms)
        if t.valid.ls >= end and not t.valid.start_unknown
    ]


def first(terms: Iterable[Term]) -> list[Term]:
    """Return the term that starts earliest, all of them when starts are equal."""
    return nth(terms, 1)


def last(terms: Iterable[Term], n: int = 1) -> list[Term]:
    """Return the term with the latest (or n-th latest) start, all of them when starts are equal."""
    groups = _groups(terms)
    return _chosen(groups, len(groups) - n)


def nth(terms: Iterable[Term], n: int) -> list[Term]:
    """Return the term with the n-th start (1-based), all of them when starts are equal."""
    return _chosen(_groups(terms), n - 1)


def next_(terms: Iterable[Term], anchor: Instant, n: int = 1) -> list[Term]:
    """Return the term with the n-th start later than ``anchor`` (exclusive), or all such."""
    return nth((t for t in terms if t.start > anchor), n)


def previous(terms: Iterable[Term], anchor: Instant, n: int = 1) -> list[Term]:
    """Return the term with the n-th last start before ``anchor`` (exclusive), or all such."""
    return last((t for t in terms if t.start < anchor), n)


def _groups(terms: Iterable[Term]) -> list[list[Term]]:
    return [list(group) for _, group in groupby(timeline(terms), key=lambda t: t.start)]


def _chosen(groups: Sequence[list[Term]], index: int) -> list[Term]:
    """Return one group; definite if no neighbour's start may fall on the other side of it."""
    if not 0 <= index < len(groups):
        return []
    group = groups[index]
    low = min(t.valid.es for t in group)
    high = max(t.valid.ls for t in group)
    earlier = max((t.valid.ls for g in groups[:index] for t in g), default=low - 1)
    later = min((t.valid.es for g in groups[index + 1 :] for t in g), default=high + 1)
    sure = earlier < low and high < later
    return [replace(t, certainty="definite" if sure else "possible") for t in group]


def count(terms: Iterable[Term], of: Side | OneOf["terms"]) -> int:
    """Return how many distinct subjects or objects there are, or how many terms."""
    if of == "terms":
        return sum(1 for _ in terms)
    return len({object_token(t.value(of)) for t in terms})


def overlapping(terms: Iterable[Term], others: Sequence[Term]) -> list[Term]:
    """Return the terms that possibly share an instant with one of ``others``; touching is not."""
    found: list[Term] = []
    for term in timeline(terms):
        sure = [_shares(term.valid, other.valid) for other in others]
        if any(sure):
            best: Certainty = "definite" if "definite" in sure else "possible"
            found.append(replace(term, certainty=best))
    return found


def gaps(terms: Iterable[Term]) -> list[tuple[Validity, Term, Term]]:
    """Return the stretches between terms in which certainly none holds, each with its neighbours.

    What is before the first and after the last is not between any. Precise to the coarsest
    granule at both borders.
    """
    found: list[tuple[Validity, Term, Term]] = []
    last: Term | None = None
    for term in timeline(terms):
        if last is not None and last.valid.le < term.valid.es:
            found.append((_gap(last.valid.le, term.valid.es), last, term))
        if last is None or term.valid.le > last.valid.le:
            last = term
    return found


def _gap(start: Instant, end: Instant) -> Validity:
    unit = finer(alignment(start), alignment(end))
    first, final = granule(start, unit), granule(end - 1, unit)
    return Validity(first.start, first.end - 1, final.start + 1, final.end, unit, unit)


def edge(term: Term, side: Edge, horizon: Instant | None = None) -> Term | None:
    """Return a term as the instant of its start or end alone, or None if it has none.

    An end at or after ``horizon`` is none.
    """
    v = term.valid if horizon is None else term.valid.cut(horizon)
    if side == "start" and not v.start_open and v.dated:
        return replace(term, valid=Validity(v.es, v.ls, v.es + 1, v.ls + 1))
    if side == "end" and not (v.end_open or v.end_unknown):
        return replace(term, valid=Validity(v.ee - 1, v.le - 1, v.ee, v.le))
    return None


def _shares(a: Validity, b: Validity) -> Certainty | None:
    if not (a.es < b.le and b.es < a.le):
        return None
    return "definite" if a.ls < b.ee and b.ls < a.ee else "possible"
