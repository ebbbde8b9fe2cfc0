"""How long, and on which date, at the precision known.

Belongs here: dates and durations as answers print them. Must not: choosing terms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kgqa.temporal import printing
from kgqa.temporal.calendars import FINENESS, HOUR_MS, MINUTE_MS, alignment, granule, shift_months
from kgqa.temporal.interval import DAY_MS, Instant, Numbering, Precision, Validity

_AVERAGE_MONTH_MS = 30 * DAY_MS


@dataclass(frozen=True, slots=True)
class Duration:
    """Hold a calendar difference: whole months, then milliseconds, at a precision.

    ``sofar``: the term had not ended; the duration runs to the horizon.

    >>> str(Duration(94, 4 * DAY_MS, "day")), str(Duration(684, 0, "year"))
    ('P7Y10M4D', 'P57Y')
    """

    months: int
    ms: int
    precision: Precision
    sofar: bool = False

    def __str__(self) -> str:
        years, months = divmod(self.months, 12)
        days, hours, minutes, seconds = self._clock()
        date = _parts((years, "Y"), (months, "M"), (days, "D"))
        time = _parts((hours, "H"), (minutes, "M"), (seconds, "S"))
        if not date and not time:
            unit = self.precision if self.precision in ("year", "month") else "day"
            return {"year": "P0Y", "month": "P0M", "day": "P0D"}[unit]
        return "P" + date + ("T" + time if time else "")

    @property
    def words(self) -> str:
        """Return the duration in words.

        >>> Duration(94, 4 * DAY_MS, "day").words, Duration(0, 0, "year", True).words
        ('7 years, 10 months, 4 days', 'less than a year, so far')
        """
        counts = (self.months // 12, self.months % 12, *self._clock())
        names = ("year", "month", "day", "hour", "minute", "second")
        named = zip(counts, names, strict=True)
        said = [f"{n:g} {name}" + ("" if n == 1 else "s") for n, name in named if n]
        unit = self.precision if self.precision in ("year", "month") else "day"
        return ", ".join([*(said or [f"less than a {unit}"]), *(["so far"] if self.sofar else [])])

    def _clock(self) -> tuple[int, int, int, float]:
        days, rest = divmod(self.ms, DAY_MS)
        hours, rest = divmod(rest, HOUR_MS)
        minutes, rest = divmod(rest, MINUTE_MS)
        return days, hours, minutes, rest / 1000


def _parts(*parts: tuple[float, str]) -> str:
    return "".join(f"{value:g}{unit}" for value, unit in parts if value)


def duration(valid: Validity, horizon: Instant | None = None) -> Duration | None:
    """Return how long a term lasted, in the coarser of its two precisions.

    Years are subtracted on the astronomical scale, so there is no year zero to trip over.
    An inclusive end counts to the start of its granule, or through it where that completes a
    month or a year (1 January to 31 December); a term of one granule lasts that granule. A
    term not ended before ``horizon`` lasts to it, so far; None if it has no start, or no end
    and no horizon.

    >>> from kgqa.temporal import parse
    >>> str(duration(parse("-0044-03-15/<0014-03-15")))
    'P57Y'
    """
    if valid.start_open or valid.start_unknown:
        return None
    start, precision = valid.es, start_precision(valid)
    shown = valid.cut(horizon) if horizon is not None else valid
    if shown.end_open or shown.end_unknown:
        if horizon is None or horizon <= start:
            return None
        return _difference(start, horizon, precision, sofar=True)
    known = _coarser(precision, end_precision(shown))
    if shown.ee == shown.le:
        return _difference(start, shown.le, known)
    until, through = (_difference(start, end, known) for end in (shown.ee - 1, shown.le))
    return through if shown.ee - 1 <= start or _completes(through, until) else until


def _completes(through: Duration, until: Duration) -> bool:
    """Tell whether counting the last granule completes a month of days or a year of months."""
    if until.ms:
        return not through.ms
    return bool(until.months % 12) and not through.months % 12


def _difference(
    start: Instant, end: Instant, precision: Precision, *, sofar: bool = False
) -> Duration:
    unit = precision
    if unit in ("season", "quarter"):
        unit = "month"
    elif unit in ("millennium", "century", "decade"):
        unit = "year"
    elif unit == "week":
        unit = "day"
    start = granule(start, unit).start
    end = max(granule(end, unit).start, start)
    months = (end - start) // _AVERAGE_MONTH_MS + 1
    while shift_months(start, months) > end:
        months -= 1 + (shift_months(start, months) - end) // (32 * DAY_MS)
    while shift_months(start, months + 1) <= end:
        months += 1
    return Duration(months, end - shift_months(start, months), precision, sofar)


def total(durations: Iterable[Duration]) -> Duration | None:
    """Return the sum, month by month and day by day, in the coarsest precision among them."""
    parts = list(durations)
    if not parts:
        return None
    precision = min((p.precision for p in parts), key=FINENESS.index)
    return Duration(
        sum(p.months for p in parts), sum(p.ms for p in parts), precision,
        any(p.sofar for p in parts),
    )  # fmt: skip


def start_precision(valid: Validity) -> Precision:
    """Return how exactly the start is known."""
    return valid.start_precision or _width(valid.es, valid.ls + 1)


def end_precision(valid: Validity) -> Precision:
    """Return how exactly the end is known."""
    if valid.end_precision:
        return valid.end_precision
    return alignment(valid.le) if valid.ee == valid.le else _width(valid.ee - 1, valid.le)


def _width(low: Instant, high: Instant) -> Precision:
    """Return the coarsest precision whose granule at ``low`` lies within ``[low, high)``."""
    for precision in ("year", "month", "day", "hour", "minute", "second"):
        span = granule(low, precision)
        if span.start == low and span.end <= high:
            return precision
    return "day" if high - low >= DAY_MS else "millisecond"


def _coarser(a: Precision, b: Precision) -> Precision:
    return min(a, b, key=FINENESS.index)


def start_date(valid: Validity, numbering: Numbering = "historical") -> str | None:
    """Return the start as a date at the precision known, or None if open or unknown."""
    text = printing.format(valid, numbering=numbering).partition("/")[0]
    return None if text in ("", "..") else text


def end_date(valid: Validity, numbering: Numbering = "historical") -> str | None:
    """Return the end as a date at the precision known, or None if open or unknown.

    An exclusive end is the date on which it was over.

    >>> from kgqa.temporal import parse
    >>> [end_date(parse(text)) for text in ("1885-03-04/<1889-03-04", "1939", "1990/..")]
    ['1889-03-04', '1939', None]
    """
    first, slash, last = printing.format(valid, numbering=numbering).partition("/")
    text = (last if slash else first).removeprefix("<")
    return None if text in ("", "..") else text
