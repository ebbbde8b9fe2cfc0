"""One end of a term as written, and how two ends become four bounds.

Belongs here: the passage from what a date allows to a Validity (DESIGN section 1), the same
for every notation. Must not: any notation. May import ``interval``, ``calendars``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from kgqa.temporal.calendars import granule, months_span, slacken
from kgqa.temporal.interval import (
    BEGIN,
    END,
    Calendar,
    Instant,
    Interval,
    Numbering,
    Precision,
    Validity,
)


class Edge(Enum):
    """Name an end without a date: stated to be open, or existing but unknown."""

    OPEN = ".."
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """Hold what a written date allows: granules that begin in ``[lower, top]``, end by ``upper``.

    ``wide`` are the same three after circa or significant digits, None where nothing widens.
    """

    lower: Instant
    top: Instant
    upper: Instant
    precision: Precision
    uncertain: bool = False
    approximate: bool = False
    wide: tuple[Instant, Instant, Instant] | None = None

    @classmethod
    def of(cls, span: tuple[Instant, Instant] | Interval, precision: Precision) -> Moment:
        """Return the moment that is exactly one granule."""
        start, end = (span.start, span.end) if isinstance(span, Interval) else span
        return cls(start, start, end, precision)

    @classmethod
    def between(cls, first: Moment, last: Moment) -> Moment:
        """Return the moment that is one of all from ``first`` to ``last``."""
        a, b = first.widened, last.widened
        return cls(
            first.lower, last.top, last.upper, first.precision,
            first.uncertain or last.uncertain, first.approximate or last.approximate,
            (a.lower, b.top, b.upper) if first.wide or last.wide else None,
        )  # fmt: skip

    @property
    def widened(self) -> Moment:
        """Return the moment with its widening taken as its bounds."""
        if self.wide is None:
            return self
        lower, top, upper = self.wide
        return replace(self, lower=lower, top=top, upper=upper, wide=None)

    @property
    def span(self) -> Interval:
        """Return ``[lower, upper)`` as written, before any widening."""
        return Interval(self.lower, self.upper)

    def circa(self, precision: Precision | None = None) -> Moment:
        """Return the moment widened as its (or the given) precision asks, marked approximate."""
        by = precision or self.precision
        bounds = (
            slacken(self.lower, by, -1),
            slacken(self.top, by, 1),
            slacken(self.upper, by, 1),
        )
        return replace(self, approximate=True, wide=bounds)


End: TypeAlias = Moment | Edge


@dataclass(frozen=True, slots=True)
class Source:
    """Say how a text was to be read, for the Validity that comes of it."""

    text: str = ""
    calendar: Calendar = "gregorian"
    numbering: Numbering = "historical"


def term(start: End, end: End, source: Source, *, exclusive: bool = False) -> Validity:
    """Return the Validity between two ends.

    ``exclusive`` reads the end's granule as the first that is no longer held. Raises
    InputError (``time.inverted``) if it would end before it can start.
    """
    start = start.widened if isinstance(start, Moment) else start
    end = end.widened if isinstance(end, Moment) else end
    es, ls = _start(start)
    ee, le = _end(end, exclusive)
    if end is Edge.UNKNOWN:
        ee = END - 1 if start is Edge.UNKNOWN else min(ls + 1, END - 1)
    if start is Edge.UNKNOWN:
        ls = max(ee - 1, BEGIN + 1)
    if start is Edge.UNKNOWN and end is Edge.UNKNOWN:
        ls, ee = END - 1, BEGIN + 1
    dated = [side for side in (start, end) if isinstance(side, Moment)]
    return Validity(
        es, ls, ee, le,
        start_precision=start.precision if isinstance(start, Moment) else None,
        end_precision=end.precision if isinstance(end, Moment) else None,
        text=source.text, calendar=source.calendar, numbering=source.numbering,
        uncertain=any(side.uncertain for side in dated),
        approximate=any(side.approximate for side in dated),
    )  # fmt: skip


def _start(side: End) -> tuple[Instant, Instant]:
    if isinstance(side, Moment):
        return side.lower, side.upper - 1
    return BEGIN, BEGIN


def _end(side: End, exclusive: bool) -> tuple[Instant, Instant]:
    if not isinstance(side, Moment):
        return END, END
    if exclusive:
        return max(side.lower, BEGIN + 1), side.top
    return side.lower + 1, side.upper


def century(ordinal: int, *, bce: bool = False, size: int = 100) -> tuple[Instant, Instant]:
    """Return the n-th century (or, with ``size`` 1000, millennium) as historians count it.

    The 19th century is 1801 to 1900; the 1st century BCE is 100 to 1 BCE.

    >>> century(19) == months_span(1801, 1, 1200)
    True
    """
    first = -ordinal * size + 1 if bce else (ordinal - 1) * size + 1
    return months_span(first, 1, 12 * size)


def third(span: Interval, part: int) -> Interval:
    """Return the early (0), middle (1) or late (2) third of a granule, in its whole subunits.

    Ten years and more are cut at years, less at months, then days. A month is cut after the
    10th and the 20th; elsewhere the middle takes what does not divide.

    >>> third(granule(0, "month"), 1) == Interval(10 * 86_400_000, 20 * 86_400_000)
    True
    """
    units = subunits(span)
    count = len(units) - 1
    size = 10 if 28 <= count <= 31 else count // 3
    cuts = (0, size, 20 if size == 10 else count - size, count)
    return Interval(units[cuts[part]], units[cuts[part + 1]])


def subunits(span: Interval) -> list[Instant]:
    """Return the bounds of the years, months or days that make up a span."""
    days = (span.end - span.start) // 86_400_000
    unit: Precision = "year" if days > 1000 else "month" if days > 80 else "day"
    marks, t = [span.start], span.start
    while t < span.end:
        t = granule(t, unit).end
        marks.append(t)
    return marks
