"""Day numbers and granules: proleptic Gregorian and Julian, astronomical years, integers only.

Belongs here: arithmetic of days, months, years and the spans they fill. Must not: text of any
kind, ``datetime``. May import ``kgqa.errors`` and ``interval``. (Not named like the standard
library's module of the same purpose.)
"""

from __future__ import annotations

from kgqa.errors import InputError
from kgqa.temporal.interval import (
    BEGIN,
    DAY_MS,
    END,
    Calendar,
    Instant,
    Interval,
    Numbering,
    Precision,
)

REACH = 100_000_000
"""Years either way that plain dates may name."""
FAR_REACH = 290_000_000
"""Years either way that an ``Instant`` can hold; EDTF's ``Y`` notation goes this far."""

HOUR_MS, MINUTE_MS, SECOND_MS = 3_600_000, 60_000, 1_000
CLOCK_MS: dict[Precision, int] = {
    "hour": HOUR_MS,
    "minute": MINUTE_MS,
    "second": SECOND_MS,
    "millisecond": 1,
}
YEARS: dict[Precision, int] = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}
FINENESS: tuple[Precision, ...] = (
    "millennium", "century", "decade", "year", "season", "quarter", "month", "week", "day",
    "hour", "minute", "second", "millisecond",
)  # fmt: skip
"""Precisions from coarse to fine."""

_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SLACK_MONTHS: dict[Precision, int] = {
    "week": 1, "day": 1, "month": 12, "season": 12, "quarter": 12,
    "year": 60, "decade": 120, "century": 600, "millennium": 6000,
}  # fmt: skip
_SLACK_MS: dict[Precision, int] = {
    "hour": DAY_MS,
    "minute": HOUR_MS,
    "second": MINUTE_MS,
    "millisecond": SECOND_MS,
}


def day_number(year: int, month: int, day: int, calendar: Calendar = "gregorian") -> int:
    """Return the day number (0 = 1970-01-01 Gregorian) of a date in astronomical years.

    >>> day_number(-43, 3, 15), day_number(-43, 3, 15, "julian")
    (-735160, -735162)
    """
    if month <= 2:
        year -= 1
        month += 12
    in_year = (153 * (month - 3) + 2) // 5 + day - 1
    if calendar == "julian":
        return year * 365 + year // 4 + in_year - 719470
    return year * 365 + year // 4 - year // 100 + year // 400 + in_year - 719468


def civil(number: int, calendar: Calendar = "gregorian") -> tuple[int, int, int]:
    """Return the astronomical year, month and day of a day number.

    >>> civil(-735160), civil(-735162, "julian")
    ((-43, 3, 15), (-43, 3, 15))
    """
    if calendar == "julian":
        cycle, rest = divmod(number + 719470, 1461)
        within = (rest - rest // 1460) // 365
        year = cycle * 4 + within
        in_year = rest - within * 365
    else:
        cycle, rest = divmod(number + 719468, 146097)
        within = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
        year = cycle * 400 + within
        in_year = rest - (within * 365 + within // 4 - within // 100)
    march = (5 * in_year + 2) // 153
    day = in_year - (153 * march + 2) // 5 + 1
    return (year, march + 3, day) if march < 10 else (year + 1, march - 9, day)


def is_leap(year: int, calendar: Calendar = "gregorian") -> bool:
    """Tell whether an astronomical year has a 29 February."""
    return year % 4 == 0 and (calendar == "julian" or year % 100 != 0 or year % 400 == 0)


def month_days(year: int, month: int, calendar: Calendar = "gregorian") -> int:
    """Return how many days a month has."""
    return 29 if month == 2 and is_leap(year, calendar) else _MONTH_DAYS[month - 1]


def weekday(number: int) -> int:
    """Return the day of the week, Monday = 1 to Sunday = 7."""
    return (number + 3) % 7 + 1


def week_start(year: int, week: int) -> int:
    """Return the Monday of an ISO week, unchecked: week 1 holds the year's first Thursday."""
    fourth = day_number(year, 1, 4)
    return fourth - weekday(fourth) + 1 + 7 * (week - 1)


def weeks_in(year: int) -> int:
    """Return how many ISO weeks a year has, 52 or 53."""
    return (week_start(year + 1, 1) - week_start(year, 1)) // 7


def month_of(year: int, month: int, offset: int = 0) -> tuple[int, int]:
    """Return the year and month that lie ``offset`` months on."""
    years, index = divmod(month - 1 + offset, 12)
    return year + years, index + 1


def months_span(
    year: int, month: int, count: int = 1, calendar: Calendar = "gregorian"
) -> tuple[Instant, Instant]:
    """Return ``[g0, g1)`` of ``count`` whole months from the given one.

    >>> months_span(1970, 1, 12) == (0, 365 * DAY_MS)
    True
    """
    after = month_of(year, month, count)
    return (
        day_number(year, month, 1, calendar) * DAY_MS,
        day_number(*after, 1, calendar) * DAY_MS,
    )


def shift_months(t: Instant, months: int) -> Instant:
    """Return the instant so many months on; a day the month lacks becomes its last day."""
    number, clock = divmod(t, DAY_MS)
    year, month, day = civil(number)
    year, month = month_of(year, month, months)
    return day_number(year, month, min(day, month_days(year, month))) * DAY_MS + clock


def slacken(t: Instant, precision: Precision, sign: int) -> Instant:
    """Return a bound moved outwards (-1 earlier, 1 later) by what circa allows its precision."""
    if t in (BEGIN, END - 1, END):
        return t
    if precision in _SLACK_MS:
        return t + sign * _SLACK_MS[precision]
    return shift_months(t, sign * _SLACK_MONTHS[precision])


def granule(t: Instant, precision: Precision) -> Interval:
    """Return the granule of that precision in which ``t`` lies.

    Decades and the like are ``[10n, 10n+10)``; weeks run from Monday; seasons are three months
    from March, June, September and December. Raises InputError for the two sentinels.

    >>> granule(0, "century") == Interval(*months_span(1900, 1, 1200))
    True
    """
    if t in (BEGIN, END):
        raise InputError("an open end lies in no granule", code="time.out_of_range")
    if precision in CLOCK_MS:
        size = CLOCK_MS[precision]
        start = t - t % size
        return Interval(start, start + size)
    number = t // DAY_MS
    if precision == "day":
        return Interval(number * DAY_MS, (number + 1) * DAY_MS)
    if precision == "week":
        monday = number - weekday(number) + 1
        return Interval(monday * DAY_MS, (monday + 7) * DAY_MS)
    year, month, _ = civil(number)
    if precision == "month":
        return Interval(*months_span(year, month))
    if precision == "quarter":
        return Interval(*months_span(year, month - (month - 1) % 3, 3))
    if precision == "season":
        return Interval(*months_span(*month_of(year, month, -(month % 3)), 3))
    size = YEARS[precision]
    return Interval(*months_span(year - year % size, 1, 12 * size))


def alignment(t: Instant) -> Precision:
    """Return the coarsest of year, month, day, hour, minute, second that begins at ``t``."""
    number, clock = divmod(t, DAY_MS)
    if clock:
        return next(name for name, size in CLOCK_MS.items() if clock % size == 0)
    _, month, day = civil(number)
    return "day" if day > 1 else "month" if month > 1 else "year"


def precision_of(span: Interval) -> Precision | None:
    """Return the precision of which ``span`` is one whole granule, if any.

    >>> precision_of(Interval(0, 365 * DAY_MS))
    'year'
    """
    if span.start == BEGIN or span.end == END:
        return None
    return next((p for p in reversed(FINENESS) if granule(span.start, p) == span), None)


def finer(a: Precision, b: Precision) -> Precision:
    """Return the finer of two precisions."""
    return max(a, b, key=FINENESS.index)


def to_astronomical(year: int, numbering: Numbering) -> int:
    """Return the astronomical year of a year as numbered; historical has no year 0.

    >>> to_astronomical(-44, "historical"), to_astronomical(-44, "astronomical")
    (-43, -44)
    """
    if numbering == "astronomical":
        return year
    if year == 0:
        raise InputError(
            "year 0000 does not exist in historical numbering",
            code="time.invalid",
            hint="for 1 BCE write -0001, or set year_numbering=astronomical",
        )
    return year + 1 if year < 0 else year


def from_astronomical(year: int, numbering: Numbering) -> int:
    """Return an astronomical year as numbered.

    >>> from_astronomical(0, "historical")
    -1
    """
    return year - 1 if numbering == "historical" and year <= 0 else year


def check_reach(year: int, reach: int = REACH) -> None:
    """Raise InputError (``time.out_of_range``) for a year beyond ``reach``."""
    if abs(year) > reach:
        raise InputError(
            f"year out of range: {str(year)[:40]!r}",
            code="time.out_of_range",
            hint=f"dates reach {reach // 1_000_000} million years either way",
        )
