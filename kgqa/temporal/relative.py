"""English dates that lean on a reference date: last year, yesterday, next Tuesday.

Belongs here: such rules; each reads nothing without a reference. Must not: absolute dates,
amounts (``amounts``). Where English allows two readings (``last Tuesday`` on a Friday) there
is none here: refuse.
"""

from __future__ import annotations

from kgqa.temporal.calendars import civil, granule, months_span, shift_months, weekday
from kgqa.temporal.frame import Frame, Partial, Read, Rules, day_moment, longest
from kgqa.temporal.grammar import season_span
from kgqa.temporal.interval import BEGIN, DAY_MS, END, Instant, Precision
from kgqa.temporal.moments import Moment
from kgqa.temporal.words import DIRECTIONS, MONTHS, SEASONS, UNITS, WEEKDAYS

MONTHS_IN: dict[str, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
DAYS_IN: dict[str, int] = {"day": 1, "week": 7, "fortnight": 14}
PRECISION: dict[str, Precision] = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
    "decade": "decade", "century": "century",
}  # fmt: skip


def unit_at(f: Frame, i: int) -> str | None:
    """Return the unit of time that a token names, singular or plural."""
    text = f.text(i)
    return UNITS.get(text) or (UNITS.get(text[:-1]) if text.endswith("s") else None)


def shifted(f: Frame, unit: str, step: int) -> Moment | None:
    """Return the calendar unit so many steps from the one that holds the reference."""
    if unit == "weekend":
        week = f.within("week")
        return day_moment(week.start // DAY_MS + 5 + 7 * step, 2) if week else None
    if unit not in PRECISION:
        return None
    span = f.within(PRECISION[unit])
    if span is None:
        return None
    if unit == "century":
        # Centuries count from 1 (DESIGN T-24), granules from 0.
        year = civil(span.start // DAY_MS)[0]
        now = f.within("year")
        first = year + 1 if now is None or now.start > span.start else year - 99
        return Moment.of(months_span(first + 100 * step, 1, 1200), "century")
    if unit in DAYS_IN:
        return day_moment(span.start // DAY_MS + DAYS_IN[unit] * step, DAYS_IN[unit])
    start = shift_months(span.start, MONTHS_IN[unit] * step)
    return Moment.of(granule(start, PRECISION[unit]), PRECISION[unit])


def direction_at(f: Frame, i: int) -> tuple[int, int] | None:
    """Read ``last``, ``the following``, ``this`` ...: (step, end)."""
    j = f.skip(i, "the")
    if f.text(j) in DIRECTIONS:
        return DIRECTIONS[f.text(j)], j + 1
    return (0, i + 1) if f.text(i) in ("my", "our") else None


def _unit(f: Frame, i: int) -> Read | None:
    """last year, this week, next month, that weekend, the week after next."""
    if f.text(i) in ("the", *UNITS):
        j = f.skip(i, "the")
        unit = unit_at(f, j)
        phrase = (f.text(j + 1), f.text(j + 2), f.text(j + 3))
        for words, step in ((("after", "next"), 2), (("before", "last"), -2)):
            for length in (2, 3):
                if unit and phrase[0] == words[0] and phrase[length - 1] == words[1]:
                    if length == 3 and phrase[1] != "the":
                        continue
                    return _moved(f, unit, step, j + 1 + length)
        return None
    found = direction_at(f, i)
    unit = unit_at(f, found[1]) if found else None
    if not found or not unit or f.text(found[1]).endswith("s"):
        return None
    return _moved(f, unit, found[0], found[1] + 1)


def _moved(f: Frame, unit: str, step: int, end: int) -> Read | None:
    moment = shifted(f, unit, step)
    return (moment, end) if moment else None


def _bare_unit(f: Frame, i: int) -> Read | None:
    """the week, the weekend, weekend: the one that holds the reference."""
    unit = unit_at(f, f.skip(i, "the"))
    j = f.skip(i, "the") + 1
    if unit is None or (j == i + 1 and unit != "weekend") or f.text(j) in ("of", "after", "before"):
        return None
    return _moved(f, unit, 0, j)


def _named(f: Frame, i: int) -> Read | None:
    """last Tuesday, this September, next spring: only where all readings agree."""
    found = direction_at(f, i)
    if not found:
        return None
    step, j = found
    name = f.text(j)
    if name in WEEKDAYS:
        today, week = f.within("day"), f.within("week")
        if today is None or week is None:
            return None
        number = week.start // DAY_MS + WEEKDAYS[name] - 1 + 7 * step
        distance = number - today.start // DAY_MS
        agreed = step == 0 or 0 < distance * step <= 7
        return (day_moment(number), j + 1) if agreed else None
    month = MONTHS.get(name) or SEASONS.get(name)
    now = f.within("year")
    if month is None or now is None:
        return None
    year = civil(now.start // DAY_MS)[0] + step
    span = months_span(year, month) if name in MONTHS else season_span(year, month)
    assert f.reference is not None
    distance = span[0] - f.reference.start
    agreed = step == 0 or 0 < distance * step <= 366 * DAY_MS
    precision: Precision = "month" if name in MONTHS else "season"
    return (Moment.of(span, precision), j + 1) if agreed else None


def _day_words(f: Frame, i: int) -> Read | None:
    """today, tomorrow, yesterday, now, the day before yesterday, the day after tomorrow."""
    steps = {"today": 0, "now": 0, "tomorrow": 1, "tmrw": 1, "yesterday": -1}
    step, j = steps.get(f.text(i)), i + 1
    if step is None:
        j = f.skip(i, "the")
        if f.text(j) != "day":
            return None
        around = {("before", "yesterday"): -2, ("after", "tomorrow"): 2, ("after", "tmrw"): 2}
        step, j = around.get((f.text(j + 1), f.text(j + 2))), j + 3
    if step is None:
        return None
    return _moved(f, "day", step, j)


def _weekday_in_week(f: Frame, i: int) -> Read | None:
    """next week on Friday, last week Sunday, Friday next week, Sunday of next week."""
    if f.text(i) in WEEKDAYS:
        week = _week_at(f, f.skip(i + 1, "of", "in"))
        return (_day_of(week[0], WEEKDAYS[f.text(i)]), week[1]) if week else None
    week = _week_at(f, i)
    if not week:
        return None
    j = f.skip(week[1], "on")
    return (_day_of(week[0], WEEKDAYS[f.text(j)]), j + 1) if f.text(j) in WEEKDAYS else None


def _week_at(f: Frame, i: int) -> tuple[Moment, int] | None:
    found = direction_at(f, i)
    if not found or f.text(found[1]) != "week":
        return None
    moment = shifted(f, "week", found[0])
    return (moment, found[1] + 1) if moment else None


def _day_of(week: Moment, day: int) -> Moment:
    return day_moment(week.lower // DAY_MS + day - 1)


def weekdays_in_week(f: Frame, i: int) -> Read | None:
    """next week between Wednesday and Friday, this week from Tue to Thu."""
    week = _week_at(f, i)
    if not week or f.text(week[1]) not in ("between", "from"):
        return None
    j = week[1] + 1
    first, last = WEEKDAYS.get(f.text(j)), WEEKDAYS.get(f.text(j + 2))
    if not first or not last or f.text(j + 1) not in ("and", "to", "until", "through"):
        return None
    return Moment.between(_day_of(week[0], first), _day_of(week[0], last)), j + 3


def _day_of_month(f: Frame, i: int) -> Read | None:
    """20th of next month, 22 this month; the second Sunday of the month spoken of."""
    token = f.at(i)
    if not _is_day(f, i):
        return None
    direction = direction_at(f, f.skip(i + 1, "of", "in"))
    if direction and f.text(direction[1]) == "month":
        month = shifted(f, "month", direction[0])
        if month is None:
            return None
        year, number, _ = civil(month.lower // DAY_MS)
        return Partial(year, number, token.value), direction[1] + 1
    if f.text(i + 1) in WEEKDAYS and token.kind == "ord":
        return _nth_weekday_now(f, token.value, WEEKDAYS[f.text(i + 1)], i + 2)
    return None


def _is_day(f: Frame, i: int) -> bool:
    token = f.at(i)
    short = token.kind == "ord" or (token.kind == "num" and (token.spelled or len(token.text) < 3))
    return short and 1 <= token.value <= 31


def _weekday_and_day(f: Frame, i: int) -> Read | None:
    """Friday the 22nd."""
    name = WEEKDAYS.get(f.text(i))
    if not name or f.text(i + 1) != "the" or not _is_day(f, i + 2) or f.within("day") is None:
        return None
    return Partial(None, None, f.at(i + 2).value, name), i + 3


def _bare_day(f: Frame, i: int) -> Read | None:
    """the 27th."""
    if f.text(i) != "the" or not _is_day(f, i + 1) or f.within("day") is None:
        return None
    return None if f.text(i + 2) in UNITS else (Partial(day=f.at(i + 1).value), i + 2)


def _nth_weekday_now(f: Frame, nth: int, day: int, end: int) -> Read | None:
    month = f.within("month")
    if month is None or f.text(end) in ("of", "in"):
        return None
    first = month.start // DAY_MS
    number = first + (day - weekday(first)) % 7 + 7 * (nth - 1)
    return (day_moment(number), end) if number * DAY_MS < month.end else None


def days_between(start: Instant, stop: Instant, end: int) -> Read | None:
    """Return the days from ``start`` to before ``stop``, as a moment."""
    if start in (BEGIN, END) or stop in (BEGIN, END) or start >= stop:
        return None
    return Moment(start, stop - DAY_MS, stop, "day"), end


def _rest(f: Frame, i: int) -> Read | None:
    """rest of the week, earlier this month, later in the year, the year to date."""
    if f.text(i + 1) == "to" and f.text(i + 2) == "date" and unit_at(f, i):
        whole, today = shifted(f, unit_at(f, i) or "", 0), f.within("day")
        return days_between(whole.lower, today.end, i + 3) if whole and today else None
    kind = f.text(i)
    if kind not in ("rest", "remainder", "earlier", "later"):
        return None
    j = f.skip(i + 1, "of", "in")
    k = f.skip(j, "the", "my", "our", "this", "that", "current")
    k = f.skip(k, "current")
    unit = unit_at(f, k)
    if unit is None or (k == i + 1) or (kind in ("earlier", "later") and k == j):
        return None
    whole, today = shifted(f, unit, 0), f.within("day")
    if not whole or not today:
        return None
    if kind == "earlier":
        return days_between(whole.lower, today.start, k + 1)
    return days_between(today.start, whole.upper, k + 1)


def _week_of(f: Frame, i: int) -> Read | None:
    """the week of November 30th, the week commencing 4 February, w/c 4 February."""
    j = f.skip(i, "the")
    commencing = (f.text(j), f.text(j + 1), f.text(j + 2)) == ("w", "/", "c")
    if commencing:
        k = j + 3
    elif f.text(j) == "week" and f.text(j + 1) in ("of", "commencing", "starting", "beginning"):
        commencing = f.text(j + 1) != "of"
        k = f.skip(j + 2, "on")
    else:
        return None
    base = longest(f, k)
    if not base or base[0].precision != "day":
        return None
    number = base[0].lower // DAY_MS
    return day_moment(number if commencing else number - weekday(number) + 1, 7), base[1]


RELATIVE: Rules = {
    "num": (_day_of_month,),
    "ord": (_day_of_month,),
    "word": (
        _day_words, _weekday_in_week, _weekday_and_day, _unit, _named, _rest, _week_of,
    ),
}  # fmt: skip
BARE: Rules = {"word": (_bare_day, _bare_unit)}
"""Rules too loose for prose: ``the week``, ``the 27th``."""
