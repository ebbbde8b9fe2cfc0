"""The entrances: as-of, end points of rows, anything a user types."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kgqa.temporal
from kgqa.errors import InputError
from kgqa.temporal import (
    UNBOUNDED,
    UNDATED,
    Interval,
    format,  # noqa: A004
    parse,
    parse_any,
    parse_as_of,
    parse_end_points,
    parse_instant_span,
)
from kgqa.temporal.calendars import day_number, months_span
from kgqa.temporal.interval import DAY_MS


def test_as_of_is_the_whole_granule_of_what_was_written() -> None:
    assert parse_instant_span("1815") == Interval(*months_span(1815, 1, 12))
    assert parse_instant_span("-0044-03") == Interval(*months_span(-43, 3))
    start = day_number(-43, 3, 15) * DAY_MS
    assert parse_instant_span(" -0044-03-15 ") == Interval(start, start + DAY_MS)
    assert parse_instant_span("-0043-03-15", numbering="astronomical").start == start
    assert parse_instant_span("-0044-03-17", calendar="julian").start == start
    assert (
        parse_instant_span("1815-06-18T14:30").end - 60_000
        == parse_instant_span("1815-06-18T14:30").start
    )


def test_as_of_echo() -> None:
    asked = parse_as_of(" 1815-06 ")
    assert (asked.input, asked.precision, asked.zone_assumed) == (" 1815-06 ", "month", False)
    assert (asked.numbering, asked.calendar) == ("historical", "gregorian")
    assert parse_as_of("1815-06-18T14:30").zone_assumed
    assert not parse_as_of("1815-06-18T14:30Z").zone_assumed
    assert not parse_as_of("1815-06-18T14:30-05:00").zone_assumed


def test_now_is_a_keyword_read_once() -> None:
    assert parse_instant_span("now", now=5) == Interval(5, 6)
    asked = parse_as_of("now")
    assert asked.precision == "millisecond"
    assert asked.span.start > parse("2024").es


@pytest.mark.parametrize(
    "text", ["", " ", "null", "None", "true", "0", "1914/1918", "[1914..1918]", "today", "Now"]
)
def test_as_of_refuses(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_as_of(text)
    assert caught.value.code == "time.invalid"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("1949", None, "1949/.."),
        ("1949", "", "1949/.."),
        ("1949", "  ", "1949/.."),
        (None, "1950-05", "../1950-05"),
        ("..", "..", "../.."),
        ("1789-04-30", "1797-03-04", "1789-04-30/1797-03-04"),
        ("1789-04-30", "<1797-03-04", "1789-04-30/<1797-03-04"),
        ("30 April 1789", "4 March 1797", "1789-04-30/1797-03-04"),
        ("15 March 44 BC", "[1785..1794]", "-0044-03-15/[1785..1794]"),
        ("12/25/1990", "circa 2000", "1990-12-25/2000~"),
    ],
)
def test_end_points_of_rows(start: str | None, end: str | None, expected: str) -> None:
    value = parse_end_points(start, end)
    assert format(value) == expected
    assert value.text


def test_exclusive_end_points() -> None:
    value = parse_end_points("1885-03-04", "1889-03-04", ends="exclusive")
    assert value == parse("1885-03-04/<1889-03-04")
    assert parse_end_points("30 April 1789", "4 March 1797", ends="exclusive") == parse(
        "1789-04-30/<1797-03-04"
    )


def test_rows_without_dates_are_undated() -> None:
    assert parse_end_points(None, " ") == UNDATED
    assert parse_end_points("..", "..") == UNBOUNDED


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [
        ("1990", "1980", "time.inverted"),
        ("1914/1918", None, "time.invalid"),
        ("since 1990", None, "time.invalid"),
        ("from 1914 to 1918", None, "time.invalid"),
        ("June", None, "time.not_understood"),
        ("1990-13", None, "time.invalid"),
        ("100000001", None, "time.out_of_range"),
        ("815", None, "time.invalid"),
        (5, None, "time.invalid"),
    ],
)
def test_end_points_refused(start: str, end: str | None, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_end_points(start, end)
    assert caught.value.code == code


def test_anything_is_iso_first() -> None:
    assert parse_any("1904-08") == parse("1904-08")
    assert parse_any("1914–18") == parse("1914/1918")
    assert parse_any("1914-1918") == parse("1914/1918")
    assert parse_any("15 March 44 BC") == parse("-0044-03-15")
    assert parse_any("last year", reference=parse_instant_span("1815-06-18")) == parse("1814")
    assert parse_any("1990/2000", ends="exclusive") == parse("1990/<2000")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0000", "time.invalid"),
        ("815", "time.invalid"),
        ("2024-02-30", "time.invalid"),
        ("1914-18", "time.invalid"),  # a month that does not exist, not a range
        ("\u22120044", "time.invalid"),
        ("last year", "time.not_understood"),
        ("the day the music died", "time.not_understood"),
        ("1990/1980", "time.inverted"),
        ("2015 to 1815", "time.not_understood"),
    ],
)
def test_anything_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_any(text)
    assert caught.value.code == code


def test_importing_the_room_is_cheap() -> None:
    code = (
        "import sys, kgqa.temporal; "
        "assert 'kgqa.temporal.english' not in sys.modules; "
        "assert kgqa.temporal.scan('in 1815')[0].text == '1815'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names() -> None:
    assert len(set(kgqa.temporal.__all__)) == len(kgqa.temporal.__all__)
    for name in kgqa.temporal.__all__:
        assert getattr(kgqa.temporal, name) is not None
    with pytest.raises(AttributeError):
        kgqa.temporal.nonsense  # noqa: B018
