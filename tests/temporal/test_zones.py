"""Instants with offsets against a zone database (R-TM-11)."""

from __future__ import annotations

import itertools
import zoneinfo
from datetime import UTC, datetime, timedelta

import pytest

from kgqa.temporal import parse_as_of, parse_instant_span
from kgqa.temporal.interval import DAY_MS

TRANSITIONS = [
    (zone, year, month)
    for zone, months in {
        "Europe/Berlin": (3, 10),
        "America/New_York": (3, 11),
        "Australia/Sydney": (4, 10),
        "Pacific/Apia": (4, 9),
        "Asia/Kolkata": (1, 7),
        "America/St_Johns": (3, 11),
        "Pacific/Kiritimati": (1, 12),
        "Africa/Casablanca": (3, 6),
        "Asia/Tehran": (3, 9),
        "Europe/London": (3, 10),
    }.items()
    for month in months
    for year in (1996, 2011)
]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instants(zone: str, year: int, month: int) -> list[datetime]:
    """Return local times around the change of offset in a month, or its first day."""
    place = zoneinfo.ZoneInfo(zone)
    hours = [datetime(year, month, 1, tzinfo=UTC) + timedelta(hours=h) for h in range(24 * 28)]
    changes = [
        b
        for a, b in itertools.pairwise(hours)
        if a.astimezone(place).utcoffset() != b.astimezone(place).utcoffset()
    ] or hours[:1]
    steps = (-3600, -1, 0, 1, 3600, -86_400, 86_400, -1800, 1800, 59, -59, 7200, -7200)
    return [(changes[0] + timedelta(seconds=s)).astimezone(place) for s in steps]


@pytest.mark.parametrize(("zone", "year", "month"), TRANSITIONS)
def test_around_transitions(zone: str, year: int, month: int) -> None:
    try:
        local = instants(zone, year, month)
    except zoneinfo.ZoneInfoNotFoundError:
        pytest.skip("no zone database on this machine")
    for moment in local:
        expected = (moment.astimezone(UTC) - EPOCH) // timedelta(milliseconds=1)
        found = parse_as_of(moment.isoformat())
        assert found.span.start == expected, moment
        assert found.span.end == expected + 1000
        assert not found.zone_assumed


def test_there_are_five_hundred_instants() -> None:
    assert len(TRANSITIONS) * 13 >= 500


@pytest.mark.parametrize("hours", range(-12, 15))
@pytest.mark.parametrize("local", ["0001-01-01T00:00", "-0001-12-31T23:59", "2000-01-01T00:30"])
def test_offsets_move_across_borders(local: str, hours: int) -> None:
    sign = "-" if hours < 0 else "+"
    shifted = parse_instant_span(f"{local}{sign}{abs(hours):02d}:00").start
    assert parse_instant_span(f"{local}Z").start - shifted == hours * DAY_MS // 24


def test_without_a_zone_it_is_utc_and_flagged() -> None:
    plain, zoned = parse_as_of("2000-01-01T00:30"), parse_as_of("2000-01-01T00:30Z")
    assert plain.span == zoned.span
    assert (plain.zone_assumed, zoned.zone_assumed) == (True, False)
