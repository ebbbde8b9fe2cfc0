"""The analysed question: what is asked, of which fact pattern, under which temporal operators.

Belongs here: the printable tree between language and query. Must not: parsing or evaluation.
Every guess carries why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

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
    """Hold one relation that the words may mean.

    ``inverted``: the facts have the goal's subject as their object and the reverse (only for
    relations that are their own inverse, or whose inverse is a relation of its own).
    """

    key: str
    score: float
    why: str
    inverted: bool = False


Side: TypeAlias = OneOf["subject", "object"]


@dataclass(frozen=True, slots=True)
class Goal:
    """Hold a fact pattern: each side a mention, an unknown, or a nested question for it.

    The facts of *any* of ``relations`` fit (a union: guesses that mean the same, best first;
    other guesses are other readings); empty = any relation. ``wanted`` is the side whose nodes
    answer. A goal may have an unknown on both sides ("who was consul in 59 BC").
    """

    subject: Term
    relations: tuple[RelationGuess, ...]
    object: Term
    wanted: Side


Edge: TypeAlias = OneOf["start", "end"]


@dataclass(frozen=True, slots=True)
class Moment:
    """Hold a time: a span that the question writes, that of the facts of a goal, or a node's.

    ``text`` is the phrase. Exactly one of ``span``, ``goal`` and ``mention`` is set. A
    mention means when the node existed ("during World War II"), or, where that is not
    known, when its own facts hold. ``edge`` takes of each fact only the moment at which it
    began or ended ("when she became mayor", "after he left").
    """

    text: str
    span: Interval | None = None
    goal: Goal | None = None
    mention: Mention | None = None
    edge: Edge | None = None


@dataclass(frozen=True, slots=True)
class When:
    """Filter by time: how the asked term relates to a moment.

    at/during/between: overlaps it; throughout: covers it; before/after: wholly earlier/later
    (``before`` = starts before its start, ``after`` = starts at or after its end);
    since: ends after its start; until: starts before its end.
    """

    relation: OneOf["at", "during", "between", "throughout", "before", "after", "since", "until"]
    moment: Moment


@dataclass(frozen=True, slots=True)
class Order:
    """Choose by start: first, last, nth, or the neighbour of a holder.

    ``n`` is 1-based: nth counts from the first, last from the end (2 = last but one), next
    and previous in steps. ``anchor`` stands on the wanted side: what next and previous count
    from, once for each of its terms under the goal.
    """

    kind: OneOf["first", "last", "nth", "next", "previous"]
    n: int = 1
    anchor: Mention | Question | None = None


Asked: TypeAlias = OneOf[
    "nodes", "start", "end", "span", "duration", "count", "times", "boolean", "timeline", "name"
]
Unit: TypeAlias = OneOf["day", "week", "month", "year", "decade", "century"]


@dataclass(frozen=True, slots=True)
class Question:
    """Hold one reading of a question.

    ``asked``: nodes (or literals) of the wanted side, its start, end, span, duration, the
    number of distinct things, of terms, yes/no, the timeline, or the name that the goal's
    subject bore. ``unit`` is the one that a date or duration is wanted in ("in which year").
    Every one of ``when`` must hold. ``plural``: the wording expects several answers.
    ``score`` ranks readings; ``why`` lists the choices made, in order. ``goal`` is None if
    the words were not understood. ``absent``: what is asked is when, how long or whether
    nothing of the pattern holds ("when was there no …").
    """

    text: str
    asked: Asked
    goal: Goal | None
    when: tuple[When, ...] = ()
    order: Order | None = None
    unit: Unit | None = None
    plural: bool = False
    absent: bool = False
    mentions: tuple[Mention, ...] = ()
    score: float = 0.0
    why: tuple[str, ...] = ()


Term: TypeAlias = Mention | Unknown | Question
