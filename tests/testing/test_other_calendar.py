"""Dates as kgqa reads them, against days counted by walking over years and months (R-TM-05)."""

from __future__ import annotations

from random import Random

import pytest

from kgqa.temporal import Interval, parse, parse_instant_span
from kgqa.testing.naive import DAY, granule
from kgqa.testing.sizes import counts

FORMS = ("-{:02d}", "-{:02d}", "T{:02d}", ":{:02d}", ":{:02d}")


def written(year: int, *parts: int) -> str:
    """Return an ISO date of an astronomical year as numbered ``astronomical``."""
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    text = f"{sign}{abs(year):04d}"
    return text + "".join(form.format(p) for form, p in zip(FORMS, parts, strict=False))


def historical(year: int) -> int:
    return year if year > 0 else year - 1


@pytest.mark.parametrize("count", counts(1500, 50_000))
def test_granules_in_both_numberings(count):
    rnd = Random(count)
    for _ in range(count):
        year = rnd.choice((rnd.randrange(-3000, 3000), rnd.randrange(-(10**6), 10**6), 0, -1, 1))
        parts = (rnd.randrange(1, 13), rnd.randrange(1, 29), rnd.randrange(24),
                 rnd.randrange(60), rnd.randrange(60))[: rnd.randrange(6)]  # fmt: skip
        expected = Interval(*granule(year, *parts))
        iso = written(year, *parts)
        assert parse_instant_span(iso, numbering="astronomical") == expected, iso
        ours = written(historical(year), *parts)
        assert parse_instant_span(ours) == expected, ours
        bounds = (expected.start, expected.end - 1, expected.start + 1, expected.end)
        assert parse(ours).bounds == bounds, ours


def test_era_border_has_no_gap():
    last, first = parse_instant_span("-0001-12-31"), parse_instant_span("0001-01-01")
    assert last.end == first.start
    assert parse_instant_span("-0001-02-29").end == parse_instant_span("-0001-03-01").start


@pytest.mark.parametrize(
    ("julian", "gregorian"),
    [
        ("-0044-03-15", "-0044-03-13"),
        ("1498-06-22", "1498-07-01"),
        ("1582-10-05", "1582-10-15"),
        ("1917-10-25", "1917-11-07"),
        ("0001-01-03", "0001-01-01"),
    ],
)
def test_julian_dates_are_converted_once(julian, gregorian):
    assert parse(julian, calendar="julian") == parse(gregorian)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("0001-01-01T00:30+01:00", (0, 12, 31, 23, 30)),
        ("2000-02-29T23:30-01:00", (2000, 3, 1, 0, 30)),
        ("1970-01-01T00:00Z", (1970, 1, 1, 0, 0)),
        ("1970-01-01T00:00", (1970, 1, 1, 0, 0)),
        ("1999-12-31T14:00-10:00", (2000, 1, 1, 0, 0)),
    ],
)
def test_zones(text, utc):
    assert parse_instant_span(text).start == granule(*utc)[0]


def test_exclusive_ends():
    start, end = granule(1885, 3, 4)[0], granule(1889, 3, 4)[0]
    exclusive = parse("1885-03-04/1889-03-04", ends="exclusive")
    assert exclusive.bounds == (start, start + DAY - 1, end, end)
    assert parse("1885-03-04/1889-03-04").bounds[2:] == (end + 1, end + DAY)
