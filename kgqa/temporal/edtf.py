"""Read one date in ISO 8601 extended or EDTF (levels 0 to 2) into a Moment.

Belongs here: the grammar of a single date. Must not: intervals and sets (``terms``), English.
Source: Library of Congress, Extended Date/Time Format, 2019; ISO 8601-2:2019. Plain years
reach 100 million, the ``Y`` notation 290 million.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kgqa.errors import InputError
from kgqa.temporal import calendars
from kgqa.temporal.calendars import FAR_REACH, REACH, day_number, month_days, months_span
from kgqa.temporal.clock import invalid, parse_clock
from kgqa.temporal.interval import DAY_MS, Calendar, Instant, Numbering, Precision
from kgqa.temporal.moments import Moment

MAX_TEXT = 200

_DATE = re.compile(
    r"(?P<q1>[?~%]?)(?P<y>Y?)(?P<sign>[+-]?)(?P<year>[0-9X]+)(?:E(?P<exp>[0-9]{1,3}))?"
    r"(?:S(?P<sig>[0-9]{1,3}))?(?P<r1>[?~%]?)"
    r"(?:-(?P<q2>[?~%]?)(?P<month>[0-9X]{2})(?P<r2>[?~%]?)"
    r"(?:-(?P<q3>[?~%]?)(?P<day>[0-9X]{2})(?P<r3>[?~%]?))?)?"
    r"(?:T(?P<clock>.*))?",
    re.ASCII,
)
_WEEK = re.compile(r"(?P<year>[+-]?[0-9]{4,})-W(?P<week>[0-9]{2})(?:-(?P<day>[0-9]))?", re.ASCII)
_ORDINAL = re.compile(r"(?P<year>[+-]?[0-9]{4,})-(?P<day>[0-9]{3})", re.ASCII)
_SHORT_YEAR = re.compile(
    r"(?P<sign>[+-]?)(?P<year>[0-9]{1,3})(?P<rest>(?:-[0-9]{2}){0,2})", re.ASCII
)
_BASIC = {
    6: "write YYYY-MM, or Y and the digits for that year",
    7: "write YYYY-DDD, or Y and the digits for that year",
    8: "write YYYY-MM-DD, or Y and the digits for that year",
}
_SEASON_MONTHS = {
    21: (3, 3), 22: (6, 3), 23: (9, 3), 24: (12, 1),
    25: (3, 3), 26: (6, 3), 27: (9, 3), 28: (12, 1),
    29: (9, 3), 30: (12, 1), 31: (3, 3), 32: (6, 3),
    33: (1, 3), 34: (4, 3), 35: (7, 3), 36: (10, 3),
    37: (1, 4), 38: (5, 4), 39: (9, 4),
    40: (1, 6), 41: (7, 6),
}  # fmt: skip
"""First month and length; a northern winter or southern summer is December of its own year."""
_UNSPECIFIED: dict[int, Precision] = {0: "year", 1: "decade", 2: "century", 3: "millennium"}


@dataclass(frozen=True, slots=True)
class Rules:
    """Say how to read a date: whose year numbers, which calendar, EDTF to the letter or not."""

    numbering: Numbering = "historical"
    calendar: Calendar = "gregorian"
    strict: bool = False


def read_date(text: str, rules: Rules) -> Moment:
    """Read one date; raises InputError (``time.invalid``, ``time.out_of_range``).

    >>> read_date("-0044-03-15", Rules()).lower // DAY_MS
    -735160
    """
    if len(text) > MAX_TEXT:
        raise invalid(f"date too long: {text[:40]!r}...", "write YYYY-MM-DD")
    found = _DATE.fullmatch(text)
    if not found:
        return _read_other(text, rules)
    parts = _Parts(found, rules, text)
    moment = parts.moment()
    return _qualify(moment, found, parts)


class _Parts:
    """The parts of a matched date, checked one by one."""

    def __init__(self, found: re.Match[str], rules: Rules, text: str) -> None:
        self.found, self.rules, self.text = found, rules, text
        self.digits: str = found["year"]
        self.negative = found["sign"] == "-"
        self.month: str | None = found["month"]
        self.day: str | None = found["day"]
        self._check_year()

    def _check_year(self) -> None:
        found, strict = self.found, self.rules.strict
        digits, sign = self.digits, found["sign"]
        if found["y"]:
            if "X" in digits or (strict and (len(digits) < 5 and not found["exp"])):
                raise invalid(
                    f"not a year: {self.text!r}", "after Y write more than four digits, no X"
                )
            if (strict and (self.month or sign == "+")) or (digits[0] == "0"):
                raise invalid(f"not a year: {self.text!r}", "write Y170000002 or Y-170000002")
            return
        if found["exp"]:
            raise invalid(f"exponent without Y: {self.text!r}", f"write Y{self.text}")
        if len(digits) < 4:
            raise _short_year(self.text)
        if strict and (len(digits) > 4 or sign == "+"):
            raise invalid(f"not an EDTF year: {self.text!r}", "write Y before a longer year")
        if len(digits) > 4 and digits[0] == "0":
            raise invalid(
                f"leading zeros beyond four digits: {self.text!r}",
                f"write {sign}{digits.lstrip('0').zfill(4)}",
            )
        if not sign and not self.month and len(digits) in _BASIC and "X" not in digits:
            raise invalid(f"basic format is ambiguous: {self.text!r}", _BASIC[len(digits)])
        if self.negative and not digits.strip("0"):
            raise invalid(f"there is no year -0000: {self.text!r}", "for 1 BCE write -0001")

    def _years(self, reverse: bool) -> Iterator[int]:
        found, numbering = self.found, self.rules.numbering
        reach = FAR_REACH if found["y"] else REACH
        holes = self.digits.count("X")
        if len(self.digits) - holes + int(found["exp"] or 0) > 12:
            calendars.check_reach(10**12, reach)
        if not holes:
            year = int(self.digits) * 10 ** int(found["exp"] or 0)
            year = calendars.to_astronomical(-year if self.negative else year, numbering)
            calendars.check_reach(year, reach)
            yield year
            return
        if holes > 4:
            raise invalid(f"too many unspecified digits: {self.text!r}", "write at most XXXX")
        template = self.digits.replace("X", "{}")
        order = range(10**holes)
        for number in reversed(order) if reverse != self.negative else order:
            year = int(template.format(*f"{number:0{holes}d}"))
            year = -year if self.negative else year
            if year == 0 and (self.negative or numbering == "historical"):
                continue
            calendars.check_reach(year, reach)
            yield calendars.to_astronomical(year, numbering)

    def moment(self) -> Moment:
        if self.month is None:
            return self._year_moment()
        if "X" not in self.month and int(self.month) > 12:
            return self._season()
        low, high = self._first(reverse=False), self._first(reverse=True)
        precision: Precision = "month" if self.day is None else "day"
        if "X" not in self.digits:
            unset = (self.month == "XX") + (self.day == "XX")
            precision = (
                "year"
                if self.month == "XX" and unset == 1 + (self.day is not None)
                else ("month" if self.day == "XX" else precision)
            )
        moment = Moment(low[0], high[0], high[1], precision)
        return self._at_clock(moment, low == high)

    def _year_moment(self) -> Moment:
        if self.found["clock"] is not None:
            raise invalid(f"a time needs a day: {self.text!r}", "write YYYY-MM-DDThh:mm:ssZ")
        holes = self.digits.count("X")
        trailing = self.digits.endswith("X" * holes)
        low, high = next(self._years(False)), next(self._years(True))
        span = (self._span(low), self._span(high))
        precision = _UNSPECIFIED.get(holes, "millennium") if trailing else "year"
        return Moment(span[0][0], span[1][0], span[1][1], precision)

    def _span(self, year: int, month: int = 1, count: int = 12) -> tuple[Instant, Instant]:
        return months_span(year, month, count, self.rules.calendar)

    def _season(self) -> Moment:
        code = int(self.month or 0)
        if code not in _SEASON_MONTHS or self.day is not None or self.found["clock"] is not None:
            raise invalid(
                f"no such month: {self.month!r} in {self.text!r}",
                "write 01 to 12, or a season or quarter 21 to 41 without a day",
            )
        month, count = _SEASON_MONTHS[code]
        low, high = next(self._years(False)), next(self._years(True))
        top = self._span(high, month, count)
        precision: Precision = "quarter" if 33 <= code <= 36 else "season"
        return Moment(self._span(low, month, count)[0], top[0], top[1], precision)

    def _first(self, reverse: bool) -> tuple[Instant, Instant]:
        """Return the first (or last) granule that the pattern allows."""
        for year in self._years(reverse):
            for month in _matches(self.month, 12, reverse):
                if self.day is None:
                    return self._span(year, month, 1)
                last = month_days(year, month, self.rules.calendar)
                for day in _matches(self.day, last, reverse):
                    start = day_number(year, month, day, self.rules.calendar) * DAY_MS
                    return start, start + DAY_MS
        raise invalid(f"no such date: {self.text!r}", "check the month and the day")

    def _at_clock(self, moment: Moment, single: bool) -> Moment:
        clock_text = self.found["clock"]
        if clock_text is None:
            return moment
        if self.day is None or not single or moment.precision != "day":
            raise invalid(f"a time needs a day: {self.text!r}", "write YYYY-MM-DDThh:mm:ssZ")
        clock = parse_clock(clock_text, strict=self.rules.strict)
        return Moment.of(clock.on(moment.lower // DAY_MS), clock.precision)


def _matches(pattern: str | None, last: int, reverse: bool) -> Iterator[int]:
    """Yield the numbers 1 to ``last`` that a two-character pattern allows."""
    tens, units = (pattern or "XX")[0], (pattern or "XX")[1]
    for number in range(last, 0, -1) if reverse else range(1, last + 1):
        ten, unit = divmod(number, 10)
        if tens in ("X", str(ten)) and units in ("X", str(unit)):
            yield number


def _qualify(moment: Moment, found: re.Match[str], parts: _Parts) -> Moment:
    marks = [found[name] for name in ("q1", "r1", "q2", "r2", "q3", "r3")]
    if found["clock"] is not None and any(marks):
        raise invalid(f"a time takes no qualifier: {found[0]!r}", "drop the ? ~ or %")
    if any(mark in ("?", "%") for mark in marks if mark):
        moment = replace(moment, uncertain=True)
    precisions: tuple[Precision, ...] = ("year", "month", "day")
    if parts.month is None or moment.precision in ("season", "quarter"):
        precisions = (moment.precision,) * 3
    for place, mark in enumerate(marks):
        if mark in ("~", "%"):
            precision = precisions[place // 2]
            if place == 5 or (place == 3 and parts.day is None):
                precision = moment.precision
            moment = moment.circa(precision)
            break
    if found["sig"]:
        moment = _significant(moment, found, parts)
    return moment


def _significant(moment: Moment, found: re.Match[str], parts: _Parts) -> Moment:
    year = int(parts.digits) * 10 ** int(found["exp"] or 0) if "X" not in parts.digits else 0
    digits = int(found["sig"])
    if parts.month or "X" in parts.digits or not 1 <= digits <= len(str(year)):
        raise invalid(f"significant digits do not fit: {found[0]!r}", "write a year such as 1950S2")
    unit = 10 ** (len(str(year)) - digits)
    low, high = year - year % unit, year - year % unit + unit - 1
    if parts.negative:
        low, high = -high, -low
    numbering = parts.rules.numbering
    if low == 0 and numbering == "historical":
        low = 1
    first = parts._span(calendars.to_astronomical(low, numbering))
    last = parts._span(calendars.to_astronomical(high, numbering))
    return replace(moment, approximate=True, wide=(first[0], last[0], last[1]))


def _read_other(text: str, rules: Rules) -> Moment:
    """Read week and ordinal dates, or say what is wrong."""
    week, ordinal = _WEEK.fullmatch(text), _ORDINAL.fullmatch(text)
    form = week or ordinal
    if form and not rules.strict and len(form["year"].lstrip("+-")) == 4:
        if rules.calendar != "gregorian":
            raise invalid(f"week and ordinal dates are Gregorian: {text!r}", "write YYYY-MM-DD")
        year = calendars.to_astronomical(int(form["year"]), rules.numbering)
        return _week(text, year, week) if week else _ordinal(text, year, int(form["day"]))
    raise refusal(text)


def _week(text: str, year: int, found: re.Match[str]) -> Moment:
    week, day = int(found["week"]), found["day"]
    if not 1 <= week <= calendars.weeks_in(year) or day in ("0", "8", "9"):
        raise invalid(
            f"no such week date: {text!r}", f"weeks run to W{calendars.weeks_in(year)}, days to 7"
        )
    start = calendars.week_start(year, week)
    if day is None:
        return Moment.of((start * DAY_MS, (start + 7) * DAY_MS), "week")
    start += int(day) - 1
    return Moment.of((start * DAY_MS, (start + 1) * DAY_MS), "day")


def _ordinal(text: str, year: int, day: int) -> Moment:
    last = 366 if calendars.is_leap(year) else 365
    if not 1 <= day <= last:
        raise invalid(f"no such day of the year: {text!r}", f"write 001 to {last}")
    start = day_number(year, 1, 1) + day - 1
    return Moment.of((start * DAY_MS, (start + 1) * DAY_MS), "day")


_TO_ASCII = str.maketrans(
    {"\u2212": "-", "\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2014": "-"}
)


def refusal(text: str) -> InputError:
    """Return the error for a text that is no date, with the likeliest correction."""
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", text).translate(_TO_ASCII)
        plain = "".join(
            str(unicodedata.digit(c)) if not c.isascii() and c.isdigit() else c for c in plain
        )
        if plain.isascii():
            return invalid(f"not plain ASCII: {text[:40]!r}", f"write {plain[:40]!r}")
    if _SHORT_YEAR.fullmatch(text):
        return _short_year(text)
    spaced = re.fullmatch(r"(.*T[0-9:.,]+) ([0-9]{2}:?[0-9]{2})", text, re.ASCII)
    if spaced:
        return invalid(
            f"not a date: {text[:40]!r}",
            f"a '+' was lost: write {spaced[1]}+{spaced[2]} (%2B in a URL)",
        )
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9].*", text, re.ASCII):
        return invalid(f"not a date: {text[:40]!r}", f"write {text[:10]}T{text[11:40]}")
    if re.fullmatch(r"[0-9]{4,}-[0-9]{2}-[0-9]{2}(Z|[+-][0-9:]+)", text, re.ASCII):
        return invalid(f"a day has no zone: {text[:40]!r}", f"write {text[:10]}")
    return invalid(
        f"not a date: {text[:40]!r}", "write YYYY, YYYY-MM or YYYY-MM-DD; -0044-03-15 is 44 BCE"
    )


def _short_year(text: str) -> InputError:
    found = _SHORT_YEAR.match(text)
    if not found:
        return invalid(f"a year needs four digits: {text!r}", "write YYYY")
    right = f"{found['sign']}{found['year'].zfill(4)}{text[found.end('year') :]}"
    return invalid(f"a year needs four digits: {text!r}", f"write {right}")
