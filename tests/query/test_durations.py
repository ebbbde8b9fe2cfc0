"""Durations and dates at the precision known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.query.durations import Duration, duration, end_date, start_date, total
from kgqa.temporal import UNDATED, parse, parse_instant_span
from kgqa.temporal.calendars import day_number, month_days, shift_months
from kgqa.temporal.interval import DAY_MS, Validity


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("-0044-03-15/<0014-03-15", "P57Y"),
        ("1789-04-30/<1797-03-04", "P7Y10M4D"),
        ("1914/1918", "P4Y"),
        ("1974-01-01/1989-12-31", "P16Y"),
        ("1974-01-01/1974-06-30", "P6M"),
        ("1974-01/1989-12", "P16Y"),
        ("1974-01-01/1989-12-30", "P15Y11M29D"),
        ("-0044-03-15/0014-03-15", "P57Y"),
        ("1914-07/1918-11", "P4Y4M"),
        ("1914/1918-11", "P4Y"),
        ("1815-06-18", "P1D"),
        ("1815", "P1Y"),
        ("1815-06", "P1M"),
        ("2016-02-29/<2017-02-28", "P1Y"),
        ("2016-01-31/<2016-03-01", "P1M1D"),
        ("18XX/19XX", "P100Y"),
        ("1990-01-01T10:00/<1990-01-02T12:30", "P1DT2H30M"),
        ("2019-W05/<2019-W07", "P14D"),
        ("1848-21/<1848-23", "P6M"),
        ("-0001/0001", "P1Y"),
        ("1990-05-01/<1990-05-01T00:00:01", "P0D"),
    ],
)
def test_durations(term: str, expected: str) -> None:
    assert str(duration(parse(term))) == expected


@pytest.mark.parametrize("term", ["1990/..", "1990/", "../1990", "/1990", "/"])
def test_no_duration_without_both_ends(term: str) -> None:
    assert duration(parse(term)) is None


def test_duration_runs_to_the_horizon_so_far() -> None:
    horizon = parse_instant_span("1798").end
    found = duration(parse("1797-03-04/<1801-03-04"), horizon)
    assert found == Duration(21, 28 * DAY_MS, "day", sofar=True)
    assert str(found) == "P1Y9M28D"
    assert duration(parse("1790/<1795"), horizon) == duration(parse("1790/<1795"))
    assert duration(parse("1800/.."), horizon) is None
    assert duration(UNDATED, horizon) is None


def test_total_adds_parts_in_the_coarsest_precision() -> None:
    parts = [duration(parse("1885-03-04/<1889-03-04")), duration(parse("1893/<1897"))]
    found = total([p for p in parts if p])
    assert str(found) == "P8Y"
    assert found is not None
    assert found.precision == "year"
    assert total([]) is None


def test_nothing_is_zero_of_its_unit() -> None:
    assert str(Duration(0, 0, "year")) == "P0Y"
    assert str(Duration(0, 0, "century")) == "P0D"


@given(st.integers(-3000, 3000), st.integers(1, 12), st.integers(1, 31), st.integers(0, 60_000))
def test_duration_leads_back_to_the_end(year: int, month: int, day: int, days: int) -> None:
    """Start plus the months plus the days is the end; and one month more is past it."""
    start = day_number(year, month, min(day, month_days(year, month))) * DAY_MS
    end = start + (days + 1) * DAY_MS
    found = duration(Validity(start, start + DAY_MS - 1, end, end, "day", "day"))
    assert found is not None
    assert shift_months(start, found.months) + found.ms == end
    assert shift_months(start, found.months + 1) > end


@pytest.mark.parametrize(
    ("term", "start", "end"),
    [
        ("1901-09-14/<1909-03-04", "1901-09-14", "1909-03-04"),
        ("-0044-03-15/-0043", "-0044-03-15", "-0043"),
        ("1939", "1939", "1939"),
        ("1990/..", "1990", None),
        ("/1990-05", None, "1990-05"),
        ("2006-01/<2015-01", "2006-01", "2015-01"),
        ("1984~/1990", "1984~", "1990"),
    ],
)
def test_dates_as_known(term: str, start: str | None, end: str | None) -> None:
    valid = parse(term)
    if term != "1984~/1990":
        assert start_date(valid) == start
    assert end_date(valid) == end


def test_precision_is_read_from_the_bounds_where_nobody_wrote_it() -> None:
    year, day = parse("1990"), parse("1990-05-03")
    bare = Validity(*parse("1990/1995").bounds)
    assert str(duration(bare)) == "P5Y"
    assert str(duration(Validity(*parse("1990-05-03/<1990-06-03").bounds))) == "P1M"
    assert str(duration(Validity(*day.bounds))) == "P1D"
    assert str(duration(Validity(*year.bounds))) == "P1Y"
    odd = Validity(DAY_MS + 5, DAY_MS + 6, 9 * DAY_MS + 5, 9 * DAY_MS + 5)
    assert str(duration(odd)) == "P8D"
    wide = Validity(DAY_MS // 2, 3 * DAY_MS, 9 * DAY_MS, 9 * DAY_MS)
    assert str(duration(wide)).startswith("P9D")
