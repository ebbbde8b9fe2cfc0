"""Times of a question to filters: dates as written, and clauses that name a fact or an event.

Belongs here: ``When`` and the anchors of ``Order``. Must not: relation linking, arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import TypeAlias, cast

from kgqa.language import wording
from kgqa.language.lexicon import weight
from kgqa.language.question.frame import Clause, Frame
from kgqa.language.question.goals import Core, Goals, Placed, core_of
from kgqa.language.question.items import Item, Name, Time, Word, is_word, wording_of
from kgqa.model.question import Edge, Goal, Mention, Moment, Order, Question, Term, When
from kgqa.temporal import DateSpan
from kgqa.temporal.interval import Interval

Relation: TypeAlias = OneOf[
    "at", "during", "between", "throughout", "before", "after", "since", "until"
]

_ROLES: dict[str, Relation] = {
    "from": "between", "between": "between", "through": "until", "during": "during",
    "since": "since", "until": "until", "by": "until", "before": "before", "after": "after",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timing:
    """Hold what one clause may mean: a filter or a neighbour, how likely it is, and why."""

    when: When | None
    order: Order | None
    score: float
    why: str


def written(date: DateSpan, text: str, throughout: bool = False) -> When:
    """Return the filter of a date phrase: the word before it says how it bounds."""
    relation = _ROLES.get(date.role, "at")
    if date.role == "from" and date.term != date.validity:
        relation = "since"
    if throughout and relation in {"at", "during", "between"}:
        relation = "throughout"
    span = Interval(date.validity.es, date.validity.le)
    return When(relation, Moment(text[date.lead : date.end].strip(), span=span))


class Clauses:
    """Read temporal clauses beside one main goal."""

    def __init__(self, goals: Goals, text: str) -> None:
        self._goals = goals
        self._text = text

    def read(self, clause: Clause, frame: Frame, core: Core, goal: Goal) -> Timing | None:
        """Return the best reading of a clause, or None if nothing in it is known."""
        items = [i for i in clause.items if not isinstance(i, Time)]
        names = [i for i in items if isinstance(i, Name)]
        inner = core_of(items, None, ())
        options: list[Timing | None] = []
        if len(names) == 1 and _plain(inner):
            options.append(self._holder(clause, frame, goal, names[0].term))
        options.append(self._fact(clause, items, inner, core))
        if len(names) == 1 and isinstance(names[0].term, Mention):
            moment = Moment(wording_of(items, self._text), mention=names[0].term)
            options.append(Timing(When(_relation(clause), moment), None, 0.3, "a node's own time"))
        known = [o for o in options if o is not None]
        return max(known, key=lambda o: o.score, default=None)

    def _holder(
        self, clause: Clause, frame: Frame, goal: Goal, term: Mention | Question
    ) -> Timing | None:
        """Read "before POLK" and "before becoming MAYOR": another value of the same pattern."""
        boolean = frame.asked == "boolean"
        swapped = _swap(goal, term, "subject" if boolean else goal.wanted)
        relation = goal.relations[0].key if goal.relations else None
        if relation is None:
            return None
        if not self._goals.probe.holds(relation, swapped.subject, swapped.object):
            return None
        label = _label(term)
        several = frame.plural or boolean or frame.asked not in {"nodes", "start", "end", "span"}
        if clause.relation in {"before", "after"} and (clause.near or not several):
            kind: OneOf["next", "previous"] = "next" if clause.relation == "after" else "previous"
            n = frame.order[1] if frame.order and frame.order[0] in {"nth", "next"} else 1
            why = f"{clause.relation} {label!r}: the neighbour of that holder"
            return Timing(None, Order(kind, n, term), 1.0, why)
        moment = Moment(wording_of(clause.items, self._text), goal=swapped, edge=_edge(clause))
        why = f"{clause.relation} {label!r}: relative to that holder's terms"
        return Timing(When(_relation(clause), moment), None, 0.95, why)

    def _fact(
        self, clause: Clause, items: Sequence[Item], inner: Core, core: Core
    ) -> Timing | None:
        """Read "while X was Y", "when she was mayor", "after the merger": another fact."""
        own = bool(items) and (isinstance(items[0], Name) or not _subjectless(items))
        terms = inner.terms
        if (not own or not terms) and core.terms:
            first = next((p for p in core.terms if isinstance(p.term, Mention)), core.terms[0])
            terms = (Placed(first.term, "agent"), *terms)
        if not terms and not inner.words:
            return None
        found = self._goals.closed(replace(inner, terms=terms))
        if not found or found[0].score < 0.4:
            return None
        best = found[0]
        moment = Moment(wording_of(items, self._text), goal=best.goal, edge=_edge(clause))
        return Timing(When(_relation(clause), moment), None, best.score, best.why)


def _plain(core: Core) -> bool:
    """Tell whether the words of a clause say no more than that something is held."""
    return all(weight(w) < 1 for w in core.words)


def _subjectless(items: Sequence[Item]) -> bool:
    """Tell whether a clause borrows its subject: a pronoun, "becoming …", "the merger"."""
    first = items[0]
    if is_word(first, *wording.PRONOUNS):
        return True
    return isinstance(first, Word) and (
        first.tag == "VBG" or not any(isinstance(i, Name) for i in items)
    )


def _edge(clause: Clause) -> Edge | None:
    """Return what of a fact a clause is about: its start ("when she became …"), its end, or all."""
    lemmas = {i.lemma for i in clause.items if isinstance(i, Word)}
    if lemmas & wording.ENDING:
        return "end"
    return "start" if lemmas & wording.STARTING else None


def _swap(goal: Goal, term: Term, side: str) -> Goal:
    return replace(goal, subject=term) if side == "subject" else replace(goal, object=term)


def _relation(clause: Clause) -> Relation:
    return cast(Relation, clause.relation)


def _label(term: Term) -> str:
    return term.text if isinstance(term, Mention | Question) else "?"
