"""Day numbers against convertdate and the vectors of REQUIREMENTS 3b; granules; numbering."""

from __future__ import annotations

import random

import pytest
from convertdate import gregorian as their_gregorian
from convertdate import julian as their_julian
from hypothesis import given
from hypothesis import strategies as st

from kgqa.errors import InputError
from kgqa.temporal import calendars
from kgqa.temporal.calendars import (
    FAR_REACH,
    FINENESS,
    alignment,
    check_reach,
    civil,
    day_number,
    finer,
    from_astronomical,
    granule,
    is_leap,
    month_days,
    precision_of,
    shift_months,
    slacken,
    to_astronomical,
    week_start,
    weekday,
    weeks_in,
)
from kgqa.temporal.interval import BEGIN, DAY_MS, END, Interval, Precision

JULIAN_DAY_OF_EPOCH = 2440588
DAYS = st.integers(-100_000_000_000, 100_000_000_000)
INSTANTS = st.integers(-(10**15), 10**15)


@pytest.mark.parametrize(
    ("date", "day", "julian_day"),
    [
        ((-43, 3, 15), -735160, 1705428),
        ((0, 12, 31), -719163, 1721425),
        ((1, 1, 1), -719162, 1721426),
        ((0, 2, 29), -719469, 1721119),
        ((-4, 2, 29), -720930, 1719658),
        ((-30, 9, 2), -730241, 1710347),
        ((-489, 9, 12), -897878, 1542710),
        ((1815, 6, 18), -56445, 2384143),
    ],
)
def test_vectors_of_the_requirements(date: tuple[int, int, int], day: int, julian_day: int) -> None:
    assert day_number(*date) == day == julian_day - JULIAN_DAY_OF_EPOCH
    assert civil(day) == date


@pytest.mark.parametrize(
    ("julian", "gregorian"),
    [
        ((-43, 3, 15), (-43, 3, 13)),
        ((1815, 6, 18), (1815, 6, 30)),
        ((-584, 5, 28), (-584, 5, 22)),
        ((1498, 6, 22), (1498, 7, 1)),
        ((1582, 10, 5), (1582, 10, 15)),
        ((1752, 9, 3), (1752, 9, 14)),
        ((1917, 10, 25), (1917, 11, 7)),
    ],
)
def test_julian_dates(julian: tuple[int, int, int], gregorian: tuple[int, int, int]) -> None:
    assert civil(day_number(*julian, "julian")) == gregorian


def agree_with_convertdate(numbers: list[int]) -> None:
    """Compare both calendars with another implementation, day by day."""
    for number in numbers:
        julian_day = number + JULIAN_DAY_OF_EPOCH - 0.5
        for ours, theirs in (("gregorian", their_gregorian), ("julian", their_julian)):
            year, month, day = civil(number, ours)  # type: ignore[arg-type]
            assert day_number(year, month, day, ours) == number  # type: ignore[arg-type]
            assert theirs.to_jd(year, month, day) == julian_day, (ours, year, month, day)


def test_day_numbers_equal_convertdate_sampled() -> None:
    rng = random.Random(20)
    agree_with_convertdate([rng.randrange(-1_400_000, 600_000) for _ in range(3000)])


@pytest.mark.full
def test_day_numbers_equal_convertdate() -> None:
    agree_with_convertdate(list(range(-719_162 - 550_000, -719_162 + 550_000)))


@given(DAYS, st.sampled_from(["gregorian", "julian"]))
def test_civil_is_the_inverse_and_days_follow_one_another(number: int, calendar: str) -> None:
    date, following = civil(number, calendar), civil(number + 1, calendar)  # type: ignore[arg-type]
    assert day_number(*date, calendar) == number  # type: ignore[arg-type]
    assert date < following
    assert following[2] in (1, date[2] + 1)


def test_29_february_exists_in_leap_years_only() -> None:
    for year in range(-2000, 2401):
        leap = day_number(year, 3, 1) - day_number(year, 2, 28) == 2
        assert leap == is_leap(year) == (month_days(year, 2) == 29)
        assert (day_number(year, 3, 1, "julian") - day_number(year, 2, 28, "julian") == 2) == (
            is_leap(year, "julian")
        )
    assert is_leap(0)
    assert is_leap(-4)
    assert is_leap(-400)
    assert not is_leap(-100)
    assert is_leap(-100, "julian")


def test_the_era_border_has_no_gap() -> None:
    assert day_number(1, 1, 1) - day_number(0, 12, 31) == 1


@given(st.integers(-(10**8), 10**8), st.sampled_from(["historical", "astronomical"]))
def test_numbering_is_one_to_one(year: int, numbering: str) -> None:
    written = from_astronomical(year, numbering)  # type: ignore[arg-type]
    assert to_astronomical(written, numbering) == year  # type: ignore[arg-type]
    if numbering == "historical":
        assert written != 0
        assert (written > 0) == (year > 0)


def test_year_zero_is_refused_with_the_hint() -> None:
    with pytest.raises(InputError) as caught:
        to_astronomical(0, "historical")
    assert str(caught.value) == (
        "year 0000 does not exist in historical numbering; for 1 BCE write -0001, "
        "or set year_numbering=astronomical"
    )


@given(INSTANTS, st.sampled_from(FINENESS))
def test_a_granule_holds_its_instants_and_no_others(t: int, precision: Precision) -> None:
    span = granule(t, precision)
    assert t in span
    assert granule(span.start, precision) == granule(span.end - 1, precision) == span
    assert granule(span.end, precision).start == span.end
    assert granule(span.start - 1, precision).end == span.start


@given(INSTANTS)
def test_alignment_is_the_coarsest_granule_that_begins_there(t: int) -> None:
    names: list[Precision] = ["year", "month", "day", "hour", "minute", "second", "millisecond"]
    start = granule(t, "second").start
    assert alignment(start) == next(p for p in names if granule(start, p).start == start)


@given(INSTANTS, st.sampled_from(FINENESS))
def test_precision_of_finds_a_granule_again(t: int, precision: Precision) -> None:
    span = granule(t, precision)
    found = precision_of(span)
    assert found is not None
    assert granule(t, found) == span


def test_precision_of_what_is_no_granule() -> None:
    assert precision_of(Interval(0, 5)) is None
    assert precision_of(Interval(BEGIN, 0)) is None
    with pytest.raises(InputError):
        granule(END, "year")


@given(DAYS)
def test_weeks(number: int) -> None:
    assert weekday(number + 1) == weekday(number) % 7 + 1
    year = civil(number)[0]
    assert weekday(week_start(year, 1)) == 1
    assert civil(week_start(year, 1) + 3)[0] == year
    assert civil(week_start(year, 1) - 4)[0] == year - 1
    assert weeks_in(year) in (52, 53)


def test_known_weekdays() -> None:
    assert weekday(0) == 4
    assert civil(week_start(2019, 5)) == (2019, 1, 28)
    assert weeks_in(2015) == 53


@given(INSTANTS, st.integers(-5000, 5000))
def test_shifting_months_keeps_the_day_or_takes_the_last(t: int, months: int) -> None:
    year, month, day = civil(t // DAY_MS)
    moved = shift_months(t, months)
    to_year, to_month, to_day = civil(moved // DAY_MS)
    assert (to_year * 12 + to_month) - (year * 12 + month) == months
    assert to_day == min(day, month_days(to_year, to_month))
    assert moved % DAY_MS == t % DAY_MS


def test_slack_leaves_open_ends_alone() -> None:
    assert slacken(BEGIN, "year", -1) == BEGIN
    assert slacken(END, "day", 1) == END
    assert slacken(0, "hour", 1) == DAY_MS


def test_reach() -> None:
    check_reach(-calendars.REACH)
    with pytest.raises(InputError) as caught:
        check_reach(calendars.REACH + 1)
    assert caught.value.code == "time.out_of_range"
    assert abs(day_number(FAR_REACH + 6000, 1, 1) * DAY_MS) < END


def test_finer() -> None:
    assert finer("year", "day") == finer("day", "year") == "day"
