"""From what a reading found to answers: values, their items, words with numbered citations.

Belongs here: one function per thing asked. Must not: reading facts, choosing readings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kgqa.model.answer import AnswerItem, Evidence, Reason
from kgqa.model.ids import object_token
from kgqa.model.question import Question
from kgqa.model.things import Literal
from kgqa.query.display import Display
from kgqa.query.durations import Duration, duration, end_date, start_date, total
from kgqa.query.evaluate import Found
from kgqa.query.operators import Term, count, gaps
from kgqa.temporal import format_instant
from kgqa.temporal.calendars import granule
from kgqa.temporal.interval import Certainty, Interval, Precision, Validity


@dataclass(frozen=True, slots=True)
class Composed:
    """Hold an answer's parts; ``lines`` pairs words with the terms that support them."""

    items: tuple[AnswerItem, ...]
    lines: tuple[tuple[str, tuple[Term, ...]], ...]
    reason: Reason | None = None


def compose(found: Found, display: Display) -> Composed:
    """Return the answers to what was asked, from the chosen terms."""
    composer = _ABSENT if found.question.absent else _BY_ASKED
    return composer[found.question.asked](found, display)


def _nodes(found: Found, display: Display) -> Composed:
    groups = _by_value(found)
    reason: Reason | None = None
    if _varies(found, groups):
        reason = "varies_with_time"
        now = Interval(found.scope.now, found.scope.now + 1)
        groups.sort(key=lambda g: not any(t.valid.possible(now) for t in g))
    elif found.question.asked != "timeline":
        groups.sort(key=lambda g: _rank(found, display, g))
    items = tuple(_item(found, display, g) for g in groups)
    lines = tuple((_words(t, display), (t,)) for g in groups for t in g)
    return Composed(items, lines, reason)


def _rank(found: Found, display: Display, group: list[Term]) -> tuple[bool, int, str]:
    """Order answers: definite before possible, then by start, then by label."""
    label = display.label(group[0].value(found.side))
    return _surest(group) != "definite", group[0].start, label


def _by_value(found: Found) -> list[list[Term]]:
    groups: dict[str, list[Term]] = {}
    for term in found.terms:
        groups.setdefault(object_token(term.value(found.side)), []).append(term)
    return list(groups.values())


def _varies(found: Found, groups: Sequence[list[Term]]) -> bool:
    """Tell whether nothing in the question says when, and the value changes."""
    question = found.question
    if question.when or question.order or found.scope.as_of or question.asked == "timeline":
        return False
    return len(groups) > 1 and len({t.valid.bounds for g in groups for t in g}) > 1


def _item(found: Found, display: Display, group: list[Term]) -> AnswerItem:
    value = group[0].value(found.side)
    return display.item(value, [t.valid for t in group], _surest(group))


def _surest(terms: Iterable[Term]) -> Certainty:
    return "definite" if any(t.certainty == "definite" for t in terms) else "possible"


def _words(term: Term, display: Display) -> str:
    """Return a term as a fact in words, or a name as a name."""
    valid = display.valid(term.valid)
    if not term.facts:
        subject, name = display.label(term.subject), display.label(term.object)
        words = f"{name} was the name" if subject == name else f"{subject} was called {name}"
        return f"{words}, {valid}"
    fact = term.facts[0]
    subject, relation = display.label(fact.subject), display.relation(fact.relation)
    words = f"{subject} {relation}: {display.label(fact.object)}, {valid}"
    return words if term.certainty == "definite" else f"{words} (possible)"


def _count(found: Found, display: Display) -> Composed:
    if found.question.asked == "times":
        number = count(found.terms, "terms")
    else:
        number = count(found.terms, found.side)
    sure: Certainty = (
        "definite" if all(t.certainty == "definite" for t in found.terms) else "possible"
    )
    items = (AnswerItem(str(number), None, None, sure),)
    lines = ((str(number), ()), *((_words(t, display), (t,)) for t in found.terms))
    return Composed(items, lines)


def _boolean(found: Found, display: Display) -> Composed:
    if found.question.order:
        goal = found.question.goal
        named = getattr(goal, found.side, None) if goal else None
        nodes = {c.node for c in getattr(named, "candidates", ())}
        yes = any(t.value(found.side) in nodes for t in found.terms)
    else:
        yes = (found.support == 2) != found.question.absent
    word = "yes" if yes else "no"
    sure = _surest(found.terms) if found.terms else "definite"
    shown = found.terms or found.joined
    lines = ((word, ()), *((_words(t, display), (t,)) for t in shown))
    return Composed((AnswerItem(word, None, None, sure),), lines)


def _dates(read: Callable[[Term, Display, Question], str | None]) -> Callable[..., Composed]:
    def compose_dates(found: Found, display: Display) -> Composed:
        items: dict[str, AnswerItem] = {}
        for term in found.terms:
            date = read(term, display, found.question)
            if date:
                valid = display.valid(term.valid)
                items.setdefault(date, AnswerItem(date, None, valid, term.certainty))
        lines = tuple((_words(t, display), (t,)) for t in found.terms)
        return Composed(tuple(items.values()), lines)

    return compose_dates


def _start(term: Term, display: Display, question: Question) -> str | None:
    valid = display.seen(term.valid)
    known = not (valid.start_open or valid.start_unknown)
    if question.unit and known and _within(valid.es, valid.ls, question.unit):
        return _in_unit(valid.es, question.unit, display)
    return start_date(valid, display.scope.numbering)


def _end(term: Term, display: Display, question: Question) -> str | None:
    valid = display.seen(term.valid)
    if question.unit and not (valid.end_open or valid.end_unknown):
        low = valid.ee if valid.ee == valid.le else valid.ee - 1
        if _within(low, max(valid.le - 1, low), question.unit):
            return _in_unit(low, question.unit, display)
    return end_date(valid, display.scope.numbering)


def _span(term: Term, display: Display, question: Question) -> str | None:
    if question.unit:
        return _start(term, display, question)
    return display.valid(term.valid) if term.valid.dated else None


def _within(low: int, high: int, unit: Precision) -> bool:
    return granule(low, unit) == granule(high, unit)


def _in_unit(instant: int, unit: Precision, display: Display) -> str:
    return format_instant(instant, unit, numbering=display.scope.numbering)


def _duration(found: Found, display: Display) -> Composed:
    horizon, unit = display.horizon, found.question.unit
    parts: list[Duration] = []
    lines: list[tuple[str, tuple[Term, ...]]] = []
    for term in found.terms:
        part = duration(term.valid, horizon)
        lines.append((_words(term, display), (term,)))
        if part:
            parts.append(part)
    whole = total(parts) if len(parts) == len(found.terms) else None
    if whole is None:
        return Composed((), (("not known: a start or an end is missing", ()), *lines))
    whole = _rounded(whole, unit)
    sure = _surest(found.terms)
    return _long(whole, sure, lines)


def _long(
    whole: Duration, sure: Certainty, lines: Iterable[tuple[str, tuple[Term, ...]]]
) -> Composed:
    item = AnswerItem(str(whole), None, None, sure, whole.words)
    return Composed((item,), ((f"{whole} ({whole.words})", ()), *lines))


def _rounded(whole: Duration, unit: str | None) -> Duration:
    """Return a duration in whole years or months, if that is the unit asked for."""
    if unit in ("year", "decade", "century"):
        return replace(whole, months=whole.months - whole.months % 12, ms=0, precision="year")
    return replace(whole, ms=0, precision="month") if unit == "month" else whole


_BY_ASKED: dict[str, Callable[[Found, Display], Composed]] = {
    "nodes": _nodes,
    "name": _nodes,
    "timeline": _nodes,
    "count": _count,
    "times": _count,
    "boolean": _boolean,
    "start": _dates(_start),
    "end": _dates(_end),
    "span": _dates(_span),
    "duration": _duration,
}


def _gap_lines(
    found: Found, display: Display
) -> list[tuple[Validity, tuple[str, tuple[Term, ...]]]]:
    """Return the times between terms in which none holds, each with words and its neighbours."""
    return [
        (gap, (f"nothing recorded: {display.valid(gap)}", (before, after)))
        for gap, before, after in gaps(found.terms)
    ]


def _no_gap(found: Found, display: Display) -> Composed:
    lines = ((_words(t, display), (t,)) for t in found.terms)
    return Composed((), (("no such time between these is certain", ()), *lines))


def _absent_spans(found: Found, display: Display) -> Composed:
    known = _gap_lines(found, display)
    items = (AnswerItem(d, None, d, "definite") for d in (display.valid(g) for g, _ in known))
    return (
        Composed(tuple(items), tuple(li for _, li in known)) if known else _no_gap(found, display)
    )


def _absent_duration(found: Found, display: Display) -> Composed:
    known = _gap_lines(found, display)
    lengths = (duration(replace(gap, ee=gap.le)) for gap, _ in known)
    whole = total(d for d in lengths if d)
    if whole is None:
        return _no_gap(found, display)
    whole = _rounded(whole, found.question.unit)
    return _long(whole, "definite", (line for _, line in known))


_ABSENT = {"span": _absent_spans, "duration": _absent_duration, "boolean": _boolean}
"""What is asked of times in which nothing holds."""


def evidence(terms: Iterable[Term], display: Display) -> list[Evidence]:
    """Return the facts (or named nodes) of terms as evidence, once each, in order."""
    items: dict[str, Evidence] = {}
    for term in terms:
        for fact in term.facts:
            made = display.evidence(fact, fact.valid, term.certainty)
            items.setdefault(made.label, made)
        node = None if term.facts else display.node(term.subject)
        if node and isinstance(term.object, Literal):
            made = display.evidence(node, term.valid, term.certainty)
            items.setdefault(made.label, replace(made, text=_words(term, display)))
        elif node:
            made = display.evidence(node, term.valid, term.certainty)
            items.setdefault(made.label, made)
    return list(items.values())


def answer_text(composed: Composed, numbers: dict[str, int]) -> str:
    """Return the words of an answer, a line a term, each with the numbers of its facts."""
    lines = []
    for words, terms in composed.lines:
        cited = sorted({numbers[key] for t in terms for key in _keys(t) if key in numbers})
        lines.append(" ".join([words, *(f"[{n}]" for n in cited)]))
    return "\n".join(lines)


def _keys(term: Term) -> list[str]:
    return [f"fact:{f.id}" for f in term.facts] or [f"node:{term.subject}"]
