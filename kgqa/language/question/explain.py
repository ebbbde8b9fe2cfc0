"""A reading in lines that a person can check.

Belongs here: printing. Must not: choosing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kgqa.model.question import Goal, Mention, Moment, Question, Term, Unknown
from kgqa.temporal import format_span


def explain_question(question: Question) -> str:
    """Return a reading as text, one part a line, nested parts indented; ends without a newline."""
    return "\n".join(_lines(question))


def _lines(question: Question) -> Iterator[str]:
    extra: list[str] = [question.unit] if question.unit else []
    extra += ["several"] if question.plural else []
    yield f"asked: {question.asked}" + (f" ({', '.join(extra)})" if extra else "")
    if question.goal is None:
        yield "goal: none"
    else:
        yield from _goal("goal", question.goal)
    for when in question.when:
        yield from _moment(f"when: {when.relation}", when.moment)
    if question.order:
        order = question.order
        yield f"order: {order.kind}" + (f" {order.n}" if order.n != 1 else "")
        if order.anchor is not None:
            yield from _term("  from", order.anchor)


def _goal(title: str, goal: Goal) -> Iterator[str]:
    names = [g.key + (" (inverted)" if g.inverted else "") for g in goal.relations]
    yield f"{title}: {' | '.join(names) or 'any relation'}, answer on the {goal.wanted} side"
    yield from _term("  subject", goal.subject)
    yield from _term("  object", goal.object)


def _term(title: str, term: Term) -> Iterator[str]:
    if isinstance(term, Unknown):
        yield f"{title}: ?" + (f" ({term.kind})" if term.kind else "")
    elif isinstance(term, Mention):
        best = term.candidates[0]
        more = f" and {len(term.candidates) - 1} more" if len(term.candidates) > 1 else ""
        yield f"{title}: {term.text!r} = {best.node} ({best.why}{more})"
    else:
        yield f"{title}: {term.text!r} is asked first"
        yield from ("    " + line for line in _lines(term))


def _moment(title: str, moment: Moment) -> Iterator[str]:
    if moment.span is not None:
        yield f"{title} {format_span(moment.span)} {moment.text!r}"
    elif moment.mention is not None:
        yield f"{title} the time of {moment.mention.candidates[0].node} {moment.text!r}"
    elif moment.goal is not None:
        yield f"{title} {moment.text!r}"
        yield from ("  " + line for line in _goal("fact", moment.goal))
