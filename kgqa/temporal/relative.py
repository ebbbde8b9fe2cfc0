"""English dates that lean on a reference date: last year, two weeks ago, next Tuesday.

Belongs here: such rules; each reads nothing without a reference. Must not: absolute dates.
Where English allows two readings (``last Tuesday`` on a Friday) there is none here: refuse.
A count back or forth keeps the precision of what it starts from: two years before 18 June
1815 is a day, two years before 1815 a year.
"""

from __future__ import annotations

from typing import TypeAlias

from kgqa.temporal.calendars import civil, finer, granule, months_span, shift_months, weekday
from kgqa.temporal.grammar import (
    Frame,
    Partial,
    Piece,
    Read,
    Rule,
    atoms,
    day_moment,
    season_span,
    settle,
)
from kgqa.temporal.interval import BEGIN, DAY_MS, END, Instant, Interval, Precision
from kgqa.temporal.moments import Moment
from kgqa.temporal.words import DIRECTIONS, MONTHS, SEASONS, UNITS, WEEKDAYS

_MONTHS_IN: dict[str, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_DAYS_IN: dict[str, int] = {"day": 1, "week": 7, "fortnight": 14}
_PRECISION: dict[str, Precision] = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
    "decade": "decade", "century": "century",
}  # fmt: skip
Amount: TypeAlias = list[tuple[int, str]]


def unit_at(f: Frame, i: int) -> str | None:
    """Return the unit of time that a token names, singular or plural."""
    text = f.text(i)
    return UNITS.get(text) or (UNITS.get(text[:-1]) if text.endswith("s") else None)


def _shifted(f: Frame, unit: str, step: int) -> Moment | None:
    """Return the calendar unit so many steps from the one that holds the reference."""
    if unit == "weekend":
        week = f.within("week")
        return day_moment(week.start // DAY_MS + 5 + 7 * step, 2) if week else None
    if unit not in _PRECISION:
        return None
    span = f.within(_PRECISION[unit])
    if span is None:
        return None
    if unit == "century":
        # Centuries count from 1 (DESIGN T-24), granules from 0.
        year = civil(span.start // DAY_MS)[0]
        now = f.within("year")
        first = year + 1 if now is None or now.start > span.start else year - 99
        return Moment.of(months_span(first + 100 * step, 1, 1200), "century")
    if unit in _DAYS_IN:
        return day_moment(span.start // DAY_MS + _DAYS_IN[unit] * step, _DAYS_IN[unit])
    start = shift_months(span.start, _MONTHS_IN[unit] * step)
    return Moment.of(granule(start, _PRECISION[unit]), _PRECISION[unit])


def _direction(f: Frame, i: int) -> tuple[int, int] | None:
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
    found = _direction(f, i)
    unit = unit_at(f, found[1]) if found else None
    if not found or not unit or f.text(found[1]).endswith("s"):
        return None
    return _moved(f, unit, found[0], found[1] + 1)


def _moved(f: Frame, unit: str, step: int, end: int) -> Read | None:
    moment = _shifted(f, unit, step)
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
    found = _direction(f, i)
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
    found = _direction(f, i)
    if not found or f.text(found[1]) != "week":
        return None
    moment = _shifted(f, "week", found[0])
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
    direction = _direction(f, f.skip(i + 1, "of", "in"))
    if direction and f.text(direction[1]) == "month":
        month = _shifted(f, "month", direction[0])
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


def _bare_day(f: Frame, i: int) -> Read | None:
    """Friday the 22nd; the 27th."""
    name = WEEKDAYS.get(f.text(i))
    j = i + 1 if name else i
    if f.text(j) != "the" or not _is_day(f, j + 1) or f.within("day") is None:
        return None
    if not name and f.text(j + 2) in UNITS:
        return None
    return Partial(None, None, f.at(j + 1).value, name), j + 2


def _nth_weekday_now(f: Frame, nth: int, day: int, end: int) -> Read | None:
    month = f.within("month")
    if month is None or f.text(end) in ("of", "in"):
        return None
    first = month.start // DAY_MS
    number = first + (day - weekday(first)) % 7 + 7 * (nth - 1)
    return (day_moment(number), end) if number * DAY_MS < month.end else None


# Amounts -----------------------------------------------------------------------------------


def _amount(f: Frame, i: int) -> tuple[Amount, int] | None:
    """Read ``two years``, ``a few days``, ``2 years, 1 month and 21 days``."""
    parts: Amount = []
    j = i
    while True:
        count, k = _count(f, j)
        unit = unit_at(f, k)
        if not count or unit is None or (unit not in _MONTHS_IN and unit not in _DAYS_IN):
            break
        parts.append((count, unit))
        i = k + 1
        j = f.skip(f.skip(i, ","), "and")
    return (parts, i) if parts else None


def _count(f: Frame, i: int) -> tuple[int, int]:
    token = f.at(i)
    if token.kind == "num":
        return token.value, i + 1
    j = f.skip(i, "a", "an")
    if f.text(j) == "few":
        return 3, j + 1
    if f.text(j) == "couple" and f.text(j + 1) == "of":
        return 2, j + 2
    return (1, j) if j > i else (0, i)


def _moved_by(t: Instant, amount: Amount, sign: int) -> Instant:
    months = sum(n * _MONTHS_IN.get(unit, 0) for n, unit in amount)
    days = sum(n * _DAYS_IN.get(unit, 0) for n, unit in amount)
    if months > 12 * 10_000 or days > 4_000_000:
        return END if sign > 0 else BEGIN
    return shift_months(t, sign * months) + sign * days * DAY_MS


def _count_from(base: Moment, amount: Amount, sign: int) -> Moment | None:
    """Return the granule so far from ``base``, of the precision of ``base``."""
    finest: Precision = "year"
    for _, unit in amount:
        finest = finer(
            finest, {"fortnight": "day", "week": "day"}.get(unit, _PRECISION.get(unit, "day"))
        )  # type: ignore[arg-type]
    if base.precision == "week" or finer(base.precision, finest) != base.precision:
        return None
    start = _moved_by(base.lower, amount, sign)
    if start in (BEGIN, END):
        return None
    return Moment.of(granule(start, base.precision), base.precision)


def _base(f: Frame, i: int) -> tuple[Moment, int] | None:
    """Read the date an amount is counted from."""
    best: tuple[Moment, int] | None = None
    for piece, end in atoms(f, i):
        moment = settle(f, piece)
        if moment and (best is None or end > best[1]):
            best = moment, end
    return best


def _now(f: Frame) -> Moment | None:
    """Return the reference as a moment of its own precision."""
    for precision in _NOW:
        span = f.within(precision)
        if span and f.reference == span:
            return Moment.of(span, precision)
    day = f.within("day")
    return Moment.of(day, "day") if day else None


_NOW: tuple[Precision, ...] = ("day", "month", "year", "decade")


def _ago(f: Frame, i: int) -> Read | None:
    """two years ago, three weeks from tomorrow, ten years after 1815, in 3 weeks."""
    if f.text(i) == "in":
        found, base = _amount(f, i + 1), _now(f)
        moment = _count_from(base, found[0], 1) if found and base else None
        return (moment, found[1]) if found and moment else None
    found = _amount(f, i)
    if not found:
        return _weekdays_on(f, i)
    amount, j = found
    word, following = f.text(j), f.text(j + 1)
    sign = {"ago": -1, "earlier": -1, "before": -1, "later": 1, "after": 1, "from": 1}.get(word)
    if sign is None:
        return None
    if word in ("ago", "earlier", "later"):
        base, end = _now(f), j + 1
    elif word == "from" and following == "now":
        base, end = _now(f), j + 2
    else:
        read = _base(f, j + 1)
        if not read:
            return None
        base, end = read
    moment = _count_from(base, amount, sign) if base else None
    return (moment, end) if moment else None


def _weekdays_on(f: Frame, i: int) -> Read | None:
    """two Sundays from now, two Mondays ago."""
    name = WEEKDAYS.get(f.text(i + 1)) or WEEKDAYS.get(f.text(i + 1).removesuffix("s"))
    count = f.at(i)
    if not name or count.kind != "num" or not 0 < count.value < 1000:
        return None
    today = f.within("day")
    words = (f.text(i + 2), f.text(i + 3))
    sign, end = (1, i + 4) if words == ("from", "now") else (1, i + 3)
    if words[0] == "ago":
        sign = -1
    elif words[0] != "later" and words != ("from", "now"):
        return None
    if today is None:
        return None
    number = today.start // DAY_MS
    near = (sign * (name - weekday(number)) - 1) % 7 + 1
    return day_moment(number + sign * (near + 7 * (count.value - 1))), end


def _stretch(f: Frame, i: int) -> Read | None:
    """the past 3 weeks, next 2 days, the last two decades, within (the next) 5 days."""
    j = i
    within = f.text(i) == "within" or (f.text(i), f.text(i + 1)) == ("less", "than")
    if within:
        j = i + 1 if f.text(i) == "within" else i + 2
    direction = _direction(f, j)
    if not within and (not direction or not direction[0]):
        return None
    found = _amount(f, direction[1] if direction else j)
    today = f.within("day")
    if not found or today is None:
        return None
    amount, end = found
    if within:
        start = today.start
        if f.text(end) in ("from", "after", "of"):
            base = _base(f, end + 1)
            if not base or base[0].precision != "day":
                return None
            start, end = base[0].lower, base[1]
        return _range(start, _moved_by(start, amount, 1), end)
    assert direction is not None
    if amount[0][1] in ("decade", "century") and len(amount) == 1:
        return _decades(f, amount[0], direction[0], end)
    if direction[0] < 0:
        return _range(_moved_by(today.start, amount, -1), today.start, end)
    return _range(today.end, _moved_by(today.end, amount, 1), end)


def _decades(f: Frame, part: tuple[int, str], sign: int, end: int) -> Read | None:
    count, unit = part
    near, far = _shifted(f, unit, sign), _shifted(f, unit, sign * min(count, 100))
    if not near or not far:
        return None
    return Moment.between(*((far, near) if sign < 0 else (near, far))), end


def _range(start: Instant, stop: Instant, end: int) -> Read | None:
    """Return the days from ``start`` to before ``stop``, as a moment."""
    if start in (BEGIN, END) or stop in (BEGIN, END) or start >= stop:
        return None
    return Moment(start, stop - DAY_MS, stop, "day"), end


def _beyond(f: Frame, i: int) -> Read | None:
    """more than 2 weeks after today; more than 2 days before yesterday."""
    if (f.text(i), f.text(i + 1)) != ("more", "than"):
        return None
    found = _ago(f, i + 2)
    if not found or not isinstance(found[0], Moment):
        return None
    moment, end = found
    before = any(f.text(k) in ("before", "ago", "earlier") for k in range(i + 2, end))
    if before:
        return Moment(BEGIN, moment.lower - 1, moment.lower, moment.precision), end
    return Moment(moment.lower, END - 1, END, moment.precision), end


def _from_on(f: Frame, i: int) -> Read | None:
    """for 1 week from 20 December, 3 days starting from next Monday."""
    found = _amount(f, f.skip(i, "for"))
    if not found:
        return None
    amount, j = found
    j = f.skip(j, ",")
    starting = f.text(j) in ("starting", "beginning", "commencing")
    if not starting and not (f.text(i) == "for" and f.text(j) == "from"):
        return None
    k = f.skip(j + 1, "from", "on")
    base = _base(f, k)
    if not base or base[0].precision != "day":
        return None
    if not starting and any(isinstance(p, Partial) and not p.year for p, _ in atoms(f, k)):
        return None
    return _range(base[0].lower, _moved_by(base[0].lower, amount, 1), base[1])


def _rest(f: Frame, i: int) -> Read | None:
    """rest of the week, earlier this month, later in the year, the year to date."""
    if f.text(i + 1) == "to" and f.text(i + 2) == "date" and unit_at(f, i):
        whole, today = _shifted(f, unit_at(f, i) or "", 0), f.within("day")
        return _range(whole.lower, today.end, i + 3) if whole and today else None
    kind = f.text(i)
    if kind not in ("rest", "remainder", "earlier", "later"):
        return None
    j = f.skip(i + 1, "of", "in")
    k = f.skip(j, "the", "my", "our", "this", "that", "current")
    k = f.skip(k, "current")
    unit = unit_at(f, k)
    if unit is None or (k == i + 1) or (kind in ("earlier", "later") and k == j):
        return None
    whole, today = _shifted(f, unit, 0), f.within("day")
    if not whole or not today:
        return None
    if kind == "earlier":
        return _range(whole.lower, today.start, k + 1)
    return _range(today.start, whole.upper, k + 1)


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
    base = _base(f, k)
    if not base or base[0].precision != "day":
        return None
    number = base[0].lower // DAY_MS
    return day_moment(number if commencing else number - weekday(number) + 1, 7), base[1]


RELATIVE: tuple[Rule, ...] = (
    _day_words, _weekday_in_week, _unit, _named, _day_of_month, _ago, _stretch, _beyond,
    _from_on, _rest, _week_of,
)  # fmt: skip
BARE: tuple[Rule, ...] = (_bare_day, _bare_unit)
"""Rules too loose for prose: ``the week``, ``the 27th``."""
