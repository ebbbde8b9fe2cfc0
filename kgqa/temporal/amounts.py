"""English amounts of time counted from a date: two weeks ago, the past 3 years, in 5 days.

Belongs here: rules that begin with an amount. Must not: single named dates. A count keeps the
precision of what it starts from: two years before 18 June 1815 is a day, before 1815 a year.
"""

from __future__ import annotations

from typing import TypeAlias

from kgqa.temporal.calendars import finer, granule, shift_months, weekday
from kgqa.temporal.frame import Frame, Partial, Read, Rules, atoms, day_moment, longest
from kgqa.temporal.interval import BEGIN, DAY_MS, END, Instant, Precision
from kgqa.temporal.moments import Moment
from kgqa.temporal.relative import (
    DAYS_IN,
    MONTHS_IN,
    PRECISION,
    days_between,
    direction_at,
    shifted,
    unit_at,
)
from kgqa.temporal.words import WEEKDAYS

Amount: TypeAlias = list[tuple[int, str]]
_STEPS: tuple[Precision, ...] = ("day", "month", "year", "decade", "century")


def _amount(f: Frame, i: int) -> tuple[Amount, int] | None:
    """Read ``two years``, ``a few days``, ``2 years, 1 month and 21 days``."""
    parts: Amount = []
    j = i
    while True:
        count, k = _count(f, j)
        unit = unit_at(f, k)
        if not count or unit is None or (unit not in MONTHS_IN and unit not in DAYS_IN):
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
    months = sum(n * MONTHS_IN.get(unit, 0) for n, unit in amount)
    days = sum(n * DAYS_IN.get(unit, 0) for n, unit in amount)
    if months > 12 * 10_000 or days > 4_000_000:
        return END if sign > 0 else BEGIN
    return shift_months(t, sign * months) + sign * days * DAY_MS


def _count_from(base: Moment, amount: Amount, sign: int) -> Moment | None:
    """Return the granule so far from ``base``, of the precision of ``base``."""
    units: list[Precision] = [PRECISION.get(unit, "day") for _, unit in amount]
    if base.precision not in _STEPS or any(
        finer(base.precision, "day" if unit == "week" else unit) != base.precision for unit in units
    ):
        return None
    start = _moved_by(base.lower, amount, sign)
    if start in (BEGIN, END):
        return None
    return Moment.of(granule(start, base.precision), base.precision)


def _now(f: Frame) -> Moment | None:
    """Return the reference as a moment of its own precision."""
    for precision in _STEPS:
        span = f.within(precision)
        if span and f.reference == span:
            return Moment.of(span, precision)
    day = f.within("day")
    return Moment.of(day, "day") if day else None


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
        read = longest(f, j + 1)
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
    direction = direction_at(f, j)
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
            base = longest(f, end + 1)
            if not base or base[0].precision != "day":
                return None
            start, end = base[0].lower, base[1]
        elif f.text(i) == "less":
            return None  # "less than ten years" alone is a length
        return days_between(start, _moved_by(start, amount, 1), end)
    assert direction is not None
    if amount[0][1] in ("decade", "century") and len(amount) == 1:
        return _decades(f, amount[0], direction[0], end)
    if direction[0] < 0:
        return days_between(_moved_by(today.start, amount, -1), today.start, end)
    return days_between(today.end, _moved_by(today.end, amount, 1), end)


def _decades(f: Frame, part: tuple[int, str], sign: int, end: int) -> Read | None:
    count, unit = part
    near, far = shifted(f, unit, sign), shifted(f, unit, sign * min(count, 100))
    if not near or not far:
        return None
    return Moment.between(*((far, near) if sign < 0 else (near, far))), end


def _beyond(f: Frame, i: int) -> Read | None:
    """more than 2 weeks after today; more than 2 days before yesterday."""
    if (f.text(i), f.text(i + 1)) != ("more", "than"):
        return None
    found = _ago(f, i + 2)
    moment, end = found if found else (None, i)
    if not isinstance(moment, Moment):
        return None
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
    base = longest(f, k)
    if not base or base[0].precision != "day":
        return None
    if not starting and any(isinstance(p, Partial) and not p.year for p, _ in atoms(f, k)):
        return None
    return days_between(base[0].lower, _moved_by(base[0].lower, amount, 1), base[1])


AMOUNTS: Rules = {"num": (_ago, _from_on), "word": (_ago, _stretch, _beyond, _from_on)}
