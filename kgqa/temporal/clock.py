"""The time of day: hours to milliseconds, zones, leap seconds.

Belongs here: what follows the ``T`` of an ISO time. Must not: dates. May import
``kgqa.errors``, ``interval``, ``calendars``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgqa.errors import InputError
from kgqa.temporal.calendars import CLOCK_MS, HOUR_MS, MINUTE_MS, SECOND_MS, day_number
from kgqa.temporal.interval import DAY_MS, Instant, Precision

_CLOCK = re.compile(
    r"(?P<h>\d\d)(?::(?P<m>\d\d)(?::(?P<s>\d\d)(?:[.,](?P<f>\d+))?)?)?"
    r"(?P<zone>Z|[+-]\d\d(?::\d\d)?)?",
    re.ASCII,
)
_MAX_OFFSET = 14 * HOUR_MS

_JUNES = (1972, 1981, 1982, 1983, 1985, 1992, 1993, 1994, 1997, 2012, 2015)
_DECEMBERS = (*range(1972, 1980), 1987, 1989, 1990, 1995, 1998, 2005, 2008, 2016)
LEAP_SECOND_DAYS = frozenset(
    [day_number(year, 6, 30) for year in _JUNES] + [day_number(year, 12, 31) for year in _DECEMBERS]
)
"""The days that ended with a second 60 (UTC), as of IERS bulletin C 70."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Hold a time of day as a granule: milliseconds after 00:00 UTC of the date as written."""

    offset: int
    size: int
    precision: Precision
    zone: str | None
    leap: bool = False

    def on(self, day: int) -> tuple[Instant, Instant]:
        """Return ``[g0, g1)`` on a day number.

        Second 60 is the last second of its day, so that the date does not move.
        """
        start = day * DAY_MS + self.offset
        if self.leap and (start % DAY_MS or start // DAY_MS - 1 not in LEAP_SECOND_DAYS):
            raise invalid("no leap second there", "second 60 exists on real leap-second dates only")
        start -= self.leap * SECOND_MS
        return start, start + self.size


def invalid(message: str, hint: str) -> InputError:
    """Return the error for a date or time that cannot be."""
    return InputError(message, code="time.invalid", hint=hint)


def parse_clock(text: str, *, strict: bool = False) -> Clock:
    """Read ``hh[:mm[:ss[.fff]]][zone]``; ``strict`` wants seconds and takes no fraction.

    Finer than a millisecond is floored. Without a zone the time is UTC and ``zone`` is None.

    >>> parse_clock("00:30+01:00").offset == -30 * 60_000
    True
    """
    found = _CLOCK.fullmatch(text)
    if not found:
        raise invalid(f"not a time of day: {text[:40]!r}", _hint(text))
    h, m, s, f, zone = found.group("h", "m", "s", "f", "zone")
    if strict and (s is None or f):
        raise invalid(f"not an EDTF time: {text[:40]!r}", "write hh:mm:ss")
    hours, minutes, seconds = int(h), int(m or 0), int(s or 0)
    millis = int((f or "0")[:3].ljust(3, "0"))
    late = hours == 24 and (minutes or seconds or millis)
    if hours > 24 or late or minutes > 59 or seconds > 60:
        raise invalid(
            f"no such time of day: {text[:40]!r}", "write 00:00:00 to 23:59:59, or 24:00:00"
        )
    precision: Precision = "millisecond" if f else "second" if s else "minute" if m else "hour"
    total = hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + millis
    return Clock(total - _offset(zone), CLOCK_MS[precision], precision, zone, leap=seconds == 60)


def _offset(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    assert zone is not None
    hours, _, minutes = zone[1:].partition(":")
    size = int(hours) * HOUR_MS + int(minutes or 0) * MINUTE_MS
    if int(minutes or 0) > 59 or size > _MAX_OFFSET:
        raise invalid(f"no such zone: {zone!r}", "write Z, or -12:00 to +14:00")
    return -size if zone[0] == "-" else size


def _hint(text: str) -> str:
    if re.fullmatch(r"[\d:.,]+ \d\d:\d\d", text, re.ASCII):
        return f"write '+' before the zone (%2B in a URL): {text.replace(' ', '+')}"
    return "write hh:mm or hh:mm:ss, then Z or an offset such as +01:00"
