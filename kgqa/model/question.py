"""The analysed question: what is asked, of which fact pattern, under which temporal operators.

Belongs here: the printable tree between language and query. Must not: parsing or evaluation.
Every guess carries why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf, TypeAlias

from kgqa.temporal.interval import Interval


@dataclass(frozen=True, slots=True)
class Candidate:
    """Hold one node that a mention may mean; ``why``: exact, alias, normalised, partial, fuzzy."""

    node: str
    label: str
    kind: str | None
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Mention:
    """Hold words of the question that name something, with the nodes they may mean, best first."""

    text: str
    start: int
    end: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stand for what is asked; ``kind`` is a hint from the question word (person, place, …)."""

    kind: str | None = None


@dataclass(frozen=True, slots=True)
class RelationGuess:
    """Hold one relation that the words may mean; ``inverted`` if read from the object."""

    key: str
    score: float
    why: str
    inverted: bool = False


Side: TypeAlias = OneOf["subject", "object"]


@dataclass(frozen=True, slots=True)
class Goal:
    """Hold a fact pattern: each side a mention, an unknown, or a nested question for it.

    ``relations`` are guesses, best first; empty = any relation between or at the mentions.
    ``wanted`` is the side whose nodes answer.
    """

    subject: Term
    relations: tuple[RelationGuess, ...]
    object: Term
    wanted: Side


@dataclass(frozen=True, slots=True)
class Moment:
    """Hold a time: a span that the question writes, or one that a fact pattern has.

    ``text`` is the phrase. Exactly one of ``span`` and ``goal`` is set.
    """

    text: str
    span: Interval | None = None
    goal: Goal | None = None


@dataclass(frozen=True, slots=True)
class When:
    """Filter by time: how the asked term relates to a moment.

    at/during/between: overlaps it; throughout: covers it; before/after: wholly earlier/later
    (``before`` = starts before its start, ``after`` = starts at or after its end);
    since: ends after its start; until: starts before its end.
    """

    relation: OneOf[
        "at", "during", "between", "throughout", "before", "after", "since", "until"
    ]
    moment: Moment


@dataclass(frozen=True, slots=True)
class Order:
    """Choose by start: first, last, nth (1-based), or the neighbour of a holder.

    ``anchor`` is the mention that next/previous count from; None: the moment of ``when``.
    """

    kind: OneOf["first", "last", "nth", "next", "previous"]
    n: int = 1
    anchor: Mention | None = None


Asked: TypeAlias = OneOf[
    "nodes", "start", "end", "span", "duration", "count", "times", "boolean", "timeline"
]


@dataclass(frozen=True, slots=True)
class Question:
    """Hold one reading of a question.

    ``asked``: nodes (or literals) of the wanted side, its start, end, span, duration, the
    number of distinct things, of terms, yes/no, or the timeline. ``score`` ranks readings;
    ``why`` lists the choices made, in order.
    """

    text: str
    asked: Asked
    goal: Goal | None
    when: When | None = None
    order: Order | None = None
    mentions: tuple[Mention, ...] = ()
    score: float = 0.0
    why: tuple[str, ...] = ()


Term: TypeAlias = Mention | Unknown | Question
