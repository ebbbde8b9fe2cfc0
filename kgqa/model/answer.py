"""What is asked of a question or search and what it gives back: options, evidence, scope, answer.

Belongs here: these values. Must not: computing or printing them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from typing import Literal as OneOf

from kgqa.model.things import Chunk, Fact, Node
from kgqa.temporal.dates import AsOf
from kgqa.temporal.interval import Certainty, Instant, Interval, Match, Numbering, Validity

Mode: TypeAlias = OneOf["fast", "deep"]
Synthesis: TypeAlias = OneOf["graph", "digest"]
Confidence: TypeAlias = OneOf["high", "medium", "low", "none"]
Reason: TypeAlias = OneOf[
    "empty_kb", "no_match", "filtered_by_as_of", "below_threshold", "outside_as_of",
    "ambiguous_name", "unknown_name", "nothing_recorded_then", "varies_with_time", "not_understood",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """Say how to ask or search; times are texts, read once at the border.

    ``known_at``: a revision (an integer, or ``r12``) or an instant. ``nodes`` settles what a
    name means. ``undated`` and ``mode`` None = the base's setting. ``k``: how many
    items of evidence.
    """

    as_of: str | None = None
    known_at: str | int | None = None
    mode: Mode | None = None
    synthesis: Synthesis = "graph"
    nodes: Mapping[str, str] = field(default_factory=dict)
    numbering: Numbering = "historical"
    calendar: OneOf["gregorian", "julian"] = "gregorian"
    as_of_match: Match = "overlaps"
    undated: OneOf["include", "exclude"] | None = None
    k: int = 10


@dataclass(frozen=True, slots=True)
class Scope:
    """Say what bounded an answer: as_of, the time asked, known_at; echoed in every result.

    ``as_of`` None = the whole base. ``revision`` is the one that was read. ``time`` is the
    span that the question itself asks about, ``time_text`` its words. ``now`` is the clock,
    read once per call.
    """

    revision: int
    as_of: AsOf | None = None
    as_of_match: Match = "overlaps"
    time: Interval | None = None
    time_text: str | None = None
    known_at: int | None = None
    numbering: Numbering = "historical"
    undated: OneOf["include", "exclude"] = "include"
    now: Instant = 0

    @property
    def horizon(self) -> Instant | None:
        """Return the instant from which on nothing may show, or None."""
        return self.as_of.span.end if self.as_of else None

    @property
    def asked(self) -> Interval | None:
        """Return the time asked: the question's own, else as_of's, else None."""
        if self.time:
            return self.time
        return self.as_of.span if self.as_of else None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Hold one item that was found, with why and when it holds.

    ``label`` is its citation label (``fact:<id>``); ``score`` lies in [0, 1]; ``found_by``
    names the searches; ``path`` lists the labels of the facts from a seed. ``item``,
    ``valid``, ``when`` (the validity as text) and ``text`` are as may be shown under the
    scope. ``flags``: ``undated``, ``context``.
    """

    label: str
    item: Node | Fact | Chunk
    score: float
    valid: Validity
    certainty: Certainty
    text: str
    when: str
    found_by: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """Hold one answer: a node id (None for values), its label, when it holds, how sure."""

    label: str
    id: str | None = None
    valid: str | None = None
    certainty: Certainty = "definite"
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Hold one reading of an ambiguous name."""

    id: str
    label: str
    kind: str | None
    valid: str | None


@dataclass(frozen=True, slots=True)
class Citation:
    """Hold one cited item as it is shown: number in the text, label, words, when it holds.

    ``time`` is the validity in parts (precision, calendar, recorded revision), ``sources``
    where it comes from.
    """

    number: int
    label: str
    text: str
    valid: str
    certainty: Certainty
    time: dict[str, Any] = field(default_factory=dict)
    sources: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """Hold one stage of a run: its counts and choices, and how long it took (milliseconds)."""

    name: str
    ms: float
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold the answers as values, their text with citations, the scope, and why if there is none.

    ``answers`` are distinct strings, best first; ``answer_items`` runs parallel.
    ``answered_from``: graph, passages, both or none.
    """

    question: str
    scope: Scope
    answers: tuple[str, ...] = ()
    answer_items: tuple[AnswerItem, ...] = ()
    text: str = ""
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    confidence: Confidence = "none"
    abstained: bool = False
    reason: Reason | None = None
    choices: tuple[Choice, ...] = ()
    conflicts: tuple[tuple[str, ...], ...] = ()
    answered_from: OneOf["graph", "passages", "both", "none"] = "none"
    errors: tuple[dict[str, Any], ...] = ()
    trace: tuple[Step, ...] = ()

    @property
    def kb_revision(self) -> int:
        """Return the revision that was read."""
        return self.scope.revision


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hold evidence without an answer, best first; ``reason`` says why there is none."""

    text: str
    scope: Scope
    items: tuple[Evidence, ...] = ()
    reason: Reason | None = None
    errors: tuple[dict[str, Any], ...] = ()
    trace: tuple[Step, ...] = ()
