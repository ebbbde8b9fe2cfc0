"""Pure integers for time: instants, half-open intervals, uncertain validities, Allen's relations.

Belongs here: comparison and arithmetic of bounds. Must not: parsing, formatting, calendars,
``datetime``. May import ``kgqa.errors`` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal, TypeAlias

from kgqa.errors import InputError

Instant: TypeAlias = int
"""Milliseconds on one UTC scale, proleptic Gregorian, 0 = 1970-01-01T00:00Z; only ever a bound."""

BEGIN: Instant = -(2**63 - 1)
END: Instant = 2**63 - 1
DAY_MS = 86_400_000

Precision: TypeAlias = Literal[
    "millennium", "century", "decade", "season", "quarter", "year", "month", "week", "day",
    "hour", "minute", "second", "millisecond",
]  # fmt: skip
Calendar: TypeAlias = Literal["gregorian", "julian"]
Numbering: TypeAlias = Literal["historical", "astronomical"]
Certainty: TypeAlias = Literal["definite", "possible"]
Match: TypeAlias = Literal["overlaps", "start", "end", "all"]


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """Hold a half-open span ``[start, end)`` of instants; never empty.

    Raises InputError (``time.inverted``) if ``start >= end``.

    >>> Interval(0, 10).intersect(Interval(5, 20))
    Interval(start=5, end=10)
    >>> Interval(0, 10).intersect(Interval(10, 20)) is None
    True
    """

    start: Instant
    end: Instant

    def __post_init__(self) -> None:
        if self.start >= self.end:
            raise InputError(
                f"interval ends before it starts: [{self.start}, {self.end})",
                code="time.inverted",
                hint="swap start and end",
            )

    def __contains__(self, t: Instant) -> bool:
        return self.start <= t < self.end

    def overlaps(self, other: Interval) -> bool:
        """Tell whether the two share an instant."""
        return self.start < other.end and self.end > other.start

    def intersect(self, other: Interval) -> Interval | None:
        """Return the shared span, or None if there is none."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Interval(start, end) if start < end else None


ALWAYS = Interval(BEGIN, END)


class Allen(Enum):
    """Name one of Allen's thirteen interval relations (Allen 1983); values are his letters."""

    BEFORE = "b"
    AFTER = "bi"
    MEETS = "m"
    MET_BY = "mi"
    OVERLAPS = "o"
    OVERLAPPED_BY = "oi"
    STARTS = "s"
    STARTED_BY = "si"
    DURING = "d"
    CONTAINS = "di"
    FINISHES = "f"
    FINISHED_BY = "fi"
    EQUALS = "e"

    @property
    def converse(self) -> Allen:
        """Return the relation of ``b`` to ``a``, given that of ``a`` to ``b``."""
        value = self.value
        if self is Allen.EQUALS:
            return self
        return Allen(value[:-1] if value.endswith("i") else value + "i")


def allen(a: Interval, b: Interval) -> Allen:
    """Return the one of Allen's relations that holds from ``a`` to ``b`` (half-open ends).

    >>> allen(Interval(0, 5), Interval(5, 9))
    <Allen.MEETS: 'm'>
    """
    if a.end < b.start:
        return Allen.BEFORE
    if a.end == b.start:
        return Allen.MEETS
    if b.end < a.start:
        return Allen.AFTER
    if b.end == a.start:
        return Allen.MET_BY
    starts = (a.start > b.start) - (a.start < b.start)
    ends = (a.end > b.end) - (a.end < b.end)
    return _BY_ORDER[starts, ends]


_BY_ORDER: dict[tuple[int, int], Allen] = {
    (-1, -1): Allen.OVERLAPS,
    (-1, 0): Allen.FINISHED_BY,
    (-1, 1): Allen.CONTAINS,
    (0, -1): Allen.STARTS,
    (0, 0): Allen.EQUALS,
    (0, 1): Allen.STARTED_BY,
    (1, -1): Allen.DURING,
    (1, 0): Allen.FINISHES,
    (1, 1): Allen.OVERLAPPED_BY,
}


@dataclass(frozen=True, slots=True)
class Validity:
    """Hold one term in which something holds, by four bounds (DESIGN section 1).

    ``es <= ls`` are the earliest and latest start, ``ee <= le`` the earliest and latest
    end; ends are exclusive. Equality and hash are those of the bounds. ``text`` is what the
    source wrote, ``calendar`` and ``numbering`` how it was to be read. The other fields say
    how it was given and never alter a comparison.

    Raises InputError (``time.inverted``) if ``es >= le`` or a pair is out of order.

    >>> year = Validity(0, 9, 1, 10)
    >>> year.possible(Interval(3, 4)), year.definite(Interval(3, 4)), year.definite(Interval(0, 10))
    (True, False, True)
    """

    es: Instant
    ls: Instant
    ee: Instant
    le: Instant
    start_precision: Precision | None = field(default=None, compare=False)
    end_precision: Precision | None = field(default=None, compare=False)
    text: str = field(default="", compare=False)
    calendar: Calendar = field(default="gregorian", compare=False)
    numbering: Numbering = field(default="historical", compare=False)
    uncertain: bool = field(default=False, compare=False)
    approximate: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if self.es >= self.le or self.es > self.ls or self.ee > self.le:
            raise InputError(
                f"validity ends before it starts: {self.text or self.bounds}",
                code="time.inverted",
                hint="swap start and end",
            )

    @property
    def bounds(self) -> tuple[Instant, Instant, Instant, Instant]:
        """Return ``(es, ls, ee, le)``."""
        return self.es, self.ls, self.ee, self.le

    @property
    def dated(self) -> bool:
        """Tell whether anything at all is known of the term; ``../..`` is dated, UNDATED is not."""
        return self.bounds != _UNDATED_BOUNDS

    @property
    def end_open(self) -> bool:
        """Tell whether the end is stated to be open (``..``)."""
        return self.ee == END

    @property
    def end_unknown(self) -> bool:
        """Tell whether the end exists but is not known."""
        return self.le == END and self.ee != END

    @property
    def start_open(self) -> bool:
        """Tell whether the start is stated to be open (``..``)."""
        return self.ls == BEGIN

    @property
    def start_unknown(self) -> bool:
        """Tell whether the start exists but is not known."""
        return self.es == BEGIN and self.ls != BEGIN

    @property
    def hull(self) -> Interval:
        """Return the widest span: earliest start to latest end."""
        return Interval(self.es, self.le)

    @property
    def core(self) -> Interval | None:
        """Return the span in which it certainly holds, or None if there is none."""
        return Interval(self.ls, self.ee) if self.ls < self.ee else None

    def possible(self, span: Interval) -> bool:
        """Tell whether the term may share an instant with ``span``: ``es < b and le > a``."""
        return self.es < span.end and self.le > span.start

    def definite(self, span: Interval) -> bool:
        """Tell whether the term certainly shares an instant with it: ``ls < b and ee > a``."""
        return self.ls < span.end and self.ee > span.start

    def covers_possibly(self, span: Interval) -> bool:
        """Tell whether the term may hold throughout ``span``."""
        return self.es <= span.start and self.le >= span.end

    def covers_definitely(self, span: Interval) -> bool:
        """Tell whether the term certainly holds throughout ``span``."""
        return self.ls <= span.start and self.ee >= span.end

    def matches(self, span: Interval, match: Match = "overlaps") -> bool:
        """Tell whether the term possibly holds at ``span`` under a match policy.

        ``overlaps``: at any instant of it; ``start``/``end``: at its first/last instant;
        ``all``: throughout it.
        """
        if match == "all":
            return self.covers_possibly(span)
        return self.possible(narrowed(span, match))

    def certainty(self, span: Interval, match: Match = "overlaps") -> Certainty:
        """Return how sure a match is that ``matches`` found."""
        if match == "all":
            return "definite" if self.covers_definitely(span) else "possible"
        return "definite" if self.definite(narrowed(span, match)) else "possible"

    def cut(self, end: Instant) -> Validity:
        """Return the term as it looked before ``end``: an end at or after it is open (DESIGN 2.4).

        >>> Validity(0, 0, 50, 50).cut(20).bounds == (0, 0, END, END)
        True
        """
        if self.le < end or (self.le == end and self.ee < end):
            return self
        return replace(self, ee=END, le=END, end_precision=None, text="")


_UNDATED_BOUNDS = (BEGIN, END - 1, BEGIN + 1, END)
UNDATED = Validity(*_UNDATED_BOUNDS)
"""Nothing is known: possibly always, certainly never."""
UNBOUNDED = Validity(BEGIN, BEGIN, END, END)
"""Stated to hold always (``../..``)."""


def narrowed(span: Interval, match: Match) -> Interval:
    """Return the part of ``span`` that a policy other than ``all`` looks at."""
    if match == "start" and span.start != BEGIN:
        return Interval(span.start, span.start + 1)
    if match == "end" and span.end != END:
        return Interval(span.end - 1, span.end)
    return span


def merge(spans: Iterable[Interval]) -> Iterator[Interval]:
    """Yield the union of spans as disjoint, sorted intervals; touching ones become one.

    >>> list(merge([Interval(5, 9), Interval(1, 5), Interval(20, 21)]))
    [Interval(start=1, end=9), Interval(start=20, end=21)]
    """
    current: Interval | None = None
    for span in sorted(spans):
        if current is None:
            current = span
        elif span.start <= current.end:
            current = Interval(current.start, max(current.end, span.end))
        else:
            yield current
            current = span
    if current is not None:
        yield current
