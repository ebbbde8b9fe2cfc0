"""English dates that stand by themselves: days, months, years, decades, centuries, seasons.

Belongs here: rules that read tokens at a place and return what they read and where it ends.
Must not: phrases relative to a reference (``relative``), ranges (``english``).
"""

from __future__ import annotations

from dataclasses import replace

from kgqa.temporal.calendars import (
    civil,
    month_days,
    months_span,
    week_start,
    weekday,
    weeks_in,
)
from kgqa.temporal.frame import Frame, Partial, Read, Rules, atoms, day_moment, settle
from kgqa.temporal.interval import DAY_MS, Precision
from kgqa.temporal.moments import Moment, century
from kgqa.temporal.words import DIRECTIONS, MONTHS, SEASONS, WEEKDAYS, Token

# Years -------------------------------------------------------------------------------------


def read_year(f: Frame, i: int) -> tuple[int, int] | None:
    """Read a year with or without its era: (astronomical year, end).

    Without an era it needs three or four digits, or the word year before it.
    """
    named = f.text(i) == "year"
    j = i + 1 if named else i
    if f.at(j).kind == "era" and f.at(j).value == 1 and f.at(j + 1).kind == "num":
        return f.at(j + 1).value, j + 2
    token = f.at(j)
    if token.kind != "num" or not 0 < token.value <= 9999:
        return None
    if f.at(j + 1).kind == "era":
        bce = f.at(j + 1).value < 0
        return (1 - token.value if bce else token.value), j + 2
    long = token.value >= 1000 if token.spelled else len(token.text) in (3, 4)
    if named or (long and token.value >= 100):
        return token.value, j + 1
    return None


def year_tail(f: Frame, i: int) -> tuple[int, int] | None:
    """Read the year that completes a day or month: ``, 1815``, ``of 1815``, ``next year``."""
    j = f.skip(f.skip(i, ","), "of", "in")
    return read_year(f, f.skip(j, "the") if f.text(j + 1) == "year" else j) or relative_year(f, j)


def relative_year(f: Frame, i: int) -> tuple[int, int] | None:
    """Read ``next year``, ``the same year`` and the like."""
    j = f.skip(i, "the")
    if f.text(j) not in DIRECTIONS or f.text(j + 1) != "year":
        return None
    now = f.within("year")
    return (civil(now.start // DAY_MS)[0] + DIRECTIONS[f.text(j)], j + 2) if now else None


def _year(f: Frame, i: int) -> Read | None:
    found = read_year(f, i)
    if found is None or f.at(i).text == "0000":
        return None
    return Partial(found[0]), found[1]


def _decade(f: Frame, i: int) -> Read | None:
    token = f.at(i)
    if token.kind != "decade":
        return None
    value, j = token.value, i + 1
    if f.at(j).kind == "era":
        if f.at(j).value < 0:
            size = 100 if value % 100 == 0 else 10
            return _years(-value - size + 2, size), j + 1
        return _years(value, 100 if value % 100 == 0 else 10), j + 1
    if value < 100:
        today = f.within("year")
        if today is None:
            return None
        year = civil(today.start // DAY_MS)[0]
        start = year - year % 100 + value
        return _years(start if start <= year else start - 100, 10), j
    # "the 1800s" may mean ten years or a hundred; the wider reading holds both. The 2000s are
    # used of their first ten years only.
    return _years(value, 100 if value % 100 == 0 and value < 2000 else 10), j


def _years(first: int, count: int) -> Moment:
    precision: Precision = "century" if count == 100 else "decade"
    return Moment.of(months_span(first, 1, 12 * count), precision)


def _century(f: Frame, i: int) -> Read | None:
    token = f.at(i)
    j = f.skip(i + 1, "-")
    unit = f.text(j)
    if token.kind != "ord" or unit not in ("century", "centuries", "millennium") or not token.value:
        return None
    era = f.at(j + 1)
    bce, end = (era.value < 0, j + 2) if era.kind == "era" else (False, j + 1)
    size = 1000 if unit == "millennium" else 100
    if token.value * size > 10_000:
        return None
    precision: Precision = "century" if size == 100 else "millennium"
    return Moment.of(century(token.value, bce=bce, size=size), precision), end


# Months and days ---------------------------------------------------------------------------


def _month_at(f: Frame, i: int) -> tuple[int, int] | None:
    month = MONTHS.get(f.text(i))
    if month is None:
        return None
    return month, f.skip(i + 1, ".")


def _day_at(f: Frame, i: int) -> tuple[int, int] | None:
    j = f.skip(i, "the")
    token = f.at(j)
    short = token.kind == "ord" or (token.kind == "num" and (token.spelled or len(token.text) < 3))
    return (token.value, j + 1) if short and 1 <= token.value <= 31 else None


def _weekday_at(f: Frame, i: int) -> tuple[int | None, int]:
    name = WEEKDAYS.get(f.text(i))
    return (name, f.skip(f.skip(i + 1, "."), ",")) if name else (None, i)


def _day_month(f: Frame, i: int) -> Read | None:
    """15 March 44 BC; Wednesday, 22 of January; the 4th of July, 1776; 16. Nov. 2016."""
    name, j = _weekday_at(f, i)
    day = _day_at(f, j)
    if day is None:
        return None
    k = f.skip(f.skip(f.skip(day[1], "."), "-", "/"), "of")
    k = f.skip(k, "the") if f.text(k + 1) in MONTHS else k
    month = _month_at(f, k)
    if month is None:
        return None
    return _dated(f, Partial(None, month[0], day[0], name), f.skip(month[1], "-", "/"), month[1])


def _month_day(f: Frame, i: int) -> Read | None:
    """March 15, 44 BCE; Monday January 12th, 2016; May the 21st."""
    name, j = _weekday_at(f, i)
    month = _month_at(f, j)
    if month is None:
        return None
    k = f.skip(month[1], "-", "/")
    day = _day_at(f, k)
    if day is None or f.at(day[1]).kind == "era" or f.text(day[1]) == ":":
        return None
    return _dated(f, Partial(None, month[0], day[0], name), day[1], day[1])


def _dated(f: Frame, partial: Partial, i: int, bare: int) -> Read:
    year = year_tail(f, i)
    return (replace(partial, year=year[0]), year[1]) if year else (partial, bare)


def _month_year(f: Frame, i: int) -> Read | None:
    """June 1815; Jun, 1970; September of 44 BC; the month of June; June."""
    i = i + 2 if (f.text(i), f.text(i + 1)) == ("month", "of") else i
    month = _month_at(f, i)
    if month is None:
        return None
    return _dated(f, Partial(None, month[0]), f.skip(month[1], "-", "/"), month[1])


def _year_month(f: Frame, i: int) -> Read | None:
    """1815 June; 2016, nov; 2019-sep-1."""
    year = read_year(f, i)
    if year is None:
        return None
    month = _month_at(f, f.skip(year[1], ",", "-", "/"))
    if month is None:
        return None
    day = _day_at(f, f.skip(month[1], "-", "/"))
    if day:
        return Partial(year[0], month[0], day[0]), day[1]
    return Partial(year[0], month[0]), month[1]


def _numeric(f: Frame, i: int) -> Read | None:
    """12/25/1990, 2015.5.13, 11/2016, 2016-11, 4/22: only where one reading is possible."""
    a, b = f.at(i), f.at(i + 2)
    mark = f.text(i + 1)
    if a.kind != "num" or b.kind != "num" or mark not in ("/", "-", ".") or a.spelled:
        return None
    if max(len(a.text), len(b.text)) > 4:
        return None
    tight = a.end == f.at(i + 1).start and f.at(i + 1).end == b.start
    c = f.at(i + 4)
    if f.text(i + 3) == mark and c.kind == "num" and tight and len(c.text) <= 4:
        found = _three(f, a, b, c)
        return (found, i + 5) if found else None
    if mark == "." and not (tight and len(a.text) + len(b.text) > 4):
        return None
    if mark == "/" and len(b.text) == 2 and len(a.text) == 4 and b.value == a.value % 100 + 1:
        return None  # "2011/12": a month, or the season of two years.
    found = _two(a, b, spaced_dash=mark == "-" and not tight)
    return (found, i + 3) if found else None


def _three(f: Frame, a: Token, b: Token, c: Token) -> Partial | None:
    if len(a.text) == 4:
        if len(b.text) > 2 or len(c.text) > 2:
            return None
        orders = [(a, b, c)]
    elif len(a.text) > 2 or len(b.text) > 2:
        return None
    elif len(c.text) == 4:
        orders = [(c, a, b), (c, b, a)]
    elif len(c.text) == 2:
        orders = [(c, a, b), (c, b, a), (a, b, c)]
    else:
        return None
    found = set()
    for y, m, d in orders:
        year = y.value if len(y.text) == 4 else _windowed(f, y.value)
        if year and 1 <= m.value <= 12:
            partial = Partial(year, m.value, d.value)
            if d.value and partial.moment(f.calendar):
                found.add(partial)
    return found.pop() if len(found) == 1 else None


def _windowed(f: Frame, short: int) -> int | None:
    """Return the year of two digits that lies within 79 years before and 20 after now."""
    now = f.within("year")
    if now is None:
        return None
    latest = civil(now.start // DAY_MS)[0] + 20
    return latest - (latest - short) % 100


def _two(a: Token, b: Token, *, spaced_dash: bool) -> Partial | None:
    if len(a.text) == 4 and len(b.text) <= 2:
        # "1904 - 08" may be a range of years; "2016 - 11" may not.
        range_like = spaced_dash and len(b.text) == 2 and b.value > a.value % 100
        return Partial(a.value, b.value) if 1 <= b.value <= 12 and not range_like else None
    if len(b.text) == 4 and len(a.text) <= 2:
        return Partial(b.value, a.value) if 1 <= a.value <= 12 else None
    pairs = {(m.value, d.value) for m, d in ((a, b), (b, a)) if 1 <= m.value <= 12}
    fits = [(m, d) for m, d in pairs if 1 <= d <= month_days(2000, m)]
    if len(fits) != 1 or len(a.text) > 2 or len(b.text) > 2:
        return None
    return Partial(None, *fits[0])


# Seasons, quarters, weeks ------------------------------------------------------------------


def season_span(year: int, first: int) -> tuple[int, int]:
    """Return a northern season: winter begins in December of the year before."""
    return months_span(year - (first == 12), first, 3)


def _season(f: Frame, i: int) -> Read | None:
    """spring 1848; the winter of 1847-48."""
    first = SEASONS.get(f.text(i))
    if first is None:
        return None
    year = year_tail(f, i + 1)
    if year is None:
        return None
    value, j = year
    if first == 12 and f.text(j) in ("-", "\u2013", "/") and f.at(j + 1).kind == "num":
        later = f.at(j + 1).value
        if later in (value + 1, (value + 1) % 100):
            return Moment.of(season_span(value + 1, 12), "season"), j + 2
    return Moment.of(season_span(value, first), "season"), j


def _quarter(f: Frame, i: int) -> Read | None:
    """Q3 2019; 2016 H2; the third quarter of 2016; the first half of 1900 is a part."""
    named = read_year(f, i)
    j = f.skip(f.skip(named[1], ",", "'"), "the") if named else i
    size, number, k = 0, f.at(j + 1).value, j + 2
    if f.text(j) in ("q", "h") and f.at(j + 1).kind == "num" and f.at(j).end == f.at(j + 1).start:
        size = 3 if f.text(j) == "q" else 6
    elif f.at(j).kind == "ord":
        number, k = f.at(j).value, f.skip(j + 1, "-")
        size = 3 if f.text(k) == "quarter" else 0
        k += 1
    if not size or not 1 <= number <= 12 // size:
        return None
    year = (named and (named[0], k)) or year_tail(f, k)
    if year is None:
        now = f.within("month") if size == 3 else None
        if now is None:
            return None
        this, month, _ = civil(now.start // DAY_MS)
        year = (this if number * 3 - 2 <= month else this - 1), k
    span = months_span(year[0], (number - 1) * size + 1, size)
    return Moment.of(span, "quarter"), year[1]


def nth_week(f: Frame, nth: int, whole: Moment) -> Moment | None:
    """Return the n-th (-1 the last) ISO week whose Thursday lies in a month or year."""
    first = whole.lower // DAY_MS
    last = whole.upper // DAY_MS
    thursday = first + (4 - weekday(first)) % 7
    if nth < 0:
        thursday = last - 1 - (weekday(last - 1) - 4) % 7
    else:
        thursday += 7 * (nth - 1)
    return day_moment(thursday - 3, 7) if thursday < last else None


def _nth_of(f: Frame, i: int) -> Read | None:
    """the third week of May 1968; the last week of July; the first Friday of next month."""
    token = f.at(i)
    nth = token.value if token.kind == "ord" else -1 if token.text == "last" else 0
    unit = f.text(i + 1)
    if not nth or not (unit in ("week", "day") or unit in WEEKDAYS):
        return None
    j = f.skip(i + 2, "of", "in")
    whole: Moment | None = None
    for piece, end in atoms(f, f.skip(j, "the")):
        moment = settle(f, piece)
        if moment and moment.precision in ("month", "year"):
            whole, j = moment, end
            break
    if whole is None:
        return None
    if unit == "week":
        found = nth_week(f, nth, whole)
    elif unit == "day":
        found = _nth_day(nth, 1, whole)
    else:
        found = _nth_weekday(nth, WEEKDAYS[unit], whole)
    return (found, j) if found else None


def _nth_day(nth: int, step: int, whole: Moment) -> Moment | None:
    number = whole.upper // DAY_MS - 1 if nth < 0 else whole.lower // DAY_MS + step * (nth - 1)
    return day_moment(number) if number * DAY_MS < whole.upper else None


def _nth_weekday(nth: int, day: int, whole: Moment) -> Moment | None:
    first, last = whole.lower // DAY_MS, whole.upper // DAY_MS - 1
    if nth < 0:
        return day_moment(last - (weekday(last) - day) % 7)
    number = first + (day - weekday(first)) % 7 + 7 * (nth - 1)
    return day_moment(number) if number <= last else None


def _week_number(f: Frame, i: int) -> Read | None:
    """week 31 of 2019; week 31."""
    number = f.at(i + 1)
    if f.text(i) != "week" or number.kind != "num" or not 1 <= number.value <= 53:
        return None
    year = year_tail(f, i + 2)
    if year is None:
        now = f.within("year")
        if now is None:
            return None
        year = civil(now.start // DAY_MS)[0], i + 2
    if number.value > weeks_in(year[0]):
        return None
    return day_moment(week_start(year[0], number.value), 7), year[1]


def _iso(f: Frame, i: int) -> Read | None:
    """-0044-03-15 and the like inside prose: a minus that touches its year is BCE."""
    year = f.at(i + 1)
    if f.text(i) != "-" or year.kind != "num" or len(year.text) != 4 or f.at(i).end != year.start:
        return None
    if not year.value or (i and f.at(i - 1).end == f.at(i).start):
        return None
    partial, j = Partial(1 - year.value), i + 2
    for name in ("month", "day"):
        part = f.at(j + 1)
        if f.text(j) != "-" or part.kind != "num" or len(part.text) != 2:
            break
        partial = replace(partial, **{name: part.value})
        j += 2
    if not 1 <= (partial.month or 1) <= 12 or partial.day == 0:
        return None
    return partial, j


ABSOLUTE: Rules = {
    "num": (_numeric, _day_month, _year_month, _quarter, _year),
    "ord": (_day_month, _nth_of, _quarter, _century),
    "decade": (_decade,),
    "era": (_year_month, _quarter, _year),
    "word": (
        _day_month, _month_day, _year_month, _month_year, _nth_of, _quarter, _season,
        _week_number, _year,
    ),
    "sym": (_iso,),
}  # fmt: skip
