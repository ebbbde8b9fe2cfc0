"""ISO and EDTF against the tables of the shared data and the rows of the requirements."""

from __future__ import annotations

import random
import string
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.errors import InputError
from kgqa.temporal import BEGIN, END, UNDATED, Validity, parse, parse_strict_edtf
from kgqa.temporal.calendars import civil, day_number, granule, months_span
from kgqa.temporal.clock import LEAP_SECOND_DAYS
from kgqa.temporal.interval import DAY_MS
from kgqa.testing.data import shared

BOUNDS = shared("dates", "edtf_bounds.tsv")
VALID = shared("dates", "edtf_valid.tsv")
APART = {
    "/2006": "an unknown start has no bound here; theirs is ten years before",
    "2004-06-01/": "an unknown end has no bound here; theirs is ten years on",
    "1984-06-02?/": "an unknown end has no bound here; theirs is ten years on",
}
EXCEPTIONS = {
    "[1667,1668, 1670..1672]": "a space after a comma is allowed, as the bounds table has it",
    "{-1667,1668, 1670..1672}": "a space after a comma is allowed, as the bounds table has it",
    "Y-61000/-2000": "the standard allows a Y year as the end of an interval",
}


def shown(day: int) -> str:
    year, month, of_month = civil(day)
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{of_month:02d}"


def hull(value: Validity) -> tuple[str, str]:
    lower = "-inf" if value.es == BEGIN else shown(value.es // DAY_MS)
    upper = "inf" if value.le == END else shown((value.le - 1) // DAY_MS)
    return lower, upper


@pytest.mark.skipif(BOUNDS is None, reason="shared data not found: dates/edtf_bounds.tsv")
def test_bounds_table() -> None:
    assert BOUNDS is not None
    rows = [line.split("\t") for line in BOUNDS.read_text().splitlines()[1:]]
    assert len(rows) > 80
    wrong = {
        text: hull(parse_strict_edtf(text))
        for text, lower, upper, *_ in rows
        if text not in APART and hull(parse_strict_edtf(text)) != (lower, upper)
    }
    print(f"edtf bounds: {len(rows) - len(APART) - len(wrong)} of {len(rows) - len(APART)}")
    assert wrong == {}


@pytest.mark.skipif(VALID is None, reason="shared data not found: dates/edtf_valid.tsv")
def test_validity_table() -> None:
    assert VALID is not None
    rows = [line.split("\t") for line in VALID.read_text().split("\n")[1:] if "\t" in line]
    different = set()
    for group, text in rows:
        try:
            parse_strict_edtf(text)
            accepted = True
        except InputError:
            accepted = False
        if accepted == group.startswith("invalid"):
            different.add(text)
    print(f"edtf validity: {len(rows) - len(different)} of {len(rows)}")
    assert different == set(EXCEPTIONS)
    assert len(different) <= 0.02 * len(rows)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("1939", (1939, 1940)),
        ("-0044", (-43, -42)),
        ("0001", (1, 2)),
        ("-0001", (0, 1)),
        ("+1815", (1815, 1816)),
        ("12024", (12024, 12025)),
        ("-12000", (-11999, -11998)),
        ("199X", (1990, 2000)),
        ("19XX", (1900, 2000)),
        ("1XXX", (1000, 2000)),
        ("-01XX", (-198, -98)),
        ("000X", (1, 10)),
        ("1914/1918", (1914, 1919)),
        ("1984~", (1979, 1990)),
        ("1984%", (1979, 1990)),
        ("1984?", (1984, 1985)),
        ("156X~", (1550, 1580)),
        ("16XX~", (1550, 1750)),
        ("1XXX~", (500, 2500)),
        ("1950S2", (1900, 2000)),
        ("Y17E7", (170000000, 170000001)),
        ("Y-17E7", (-169999999, -169999998)),
        ("-1950S3", (-1958, -1948)),
        ("[1667, 1670..1672]", (1667, 1673)),
    ],
)
def test_whole_years(text: str, bounds: tuple[int, int]) -> None:
    value = parse(text)
    low, high = (months_span(year, 1)[0] for year in bounds)
    assert (value.es, value.le) == (low, high)


def test_four_bounds_of_every_kind_of_end() -> None:
    low, high = months_span(1939, 1, 12)
    g0, g1 = months_span(1945, 5, 1)
    assert parse("1939").bounds == (low, high - 1, low + 1, high)
    assert parse("1939/1945-05").bounds == (low, high - 1, g0 + 1, g1)
    assert parse("1939/<1945-05").bounds == (low, high - 1, g0, g0)
    assert parse("1939/1945-05", ends="exclusive").bounds == (low, high - 1, g0, g0)
    assert parse("1939/..").bounds == (low, high - 1, END, END)
    assert parse("1939/").bounds == (low, high - 1, high, END)
    assert parse("../1945-05").bounds == (BEGIN, BEGIN, g0 + 1, g1)
    assert parse("/1945-05").bounds == (BEGIN, g0, g0 + 1, g1)
    assert parse("/..").bounds == (BEGIN, END - 1, END, END)
    assert parse("../").bounds == (BEGIN, BEGIN, BEGIN + 1, END)
    assert parse("/") == UNDATED
    assert parse("1939", ends="exclusive").bounds == parse("1939").bounds
    early, late = months_span(1935, 1)[0], months_span(1938, 1, 12)
    assert parse("[1935..1938]/..").bounds == (early, late[1] - 1, END, END)
    assert parse("1930/<[1935..1938]").bounds[2:] == (early, late[0])
    assert parse("[..1938]").bounds == (BEGIN, late[1] - 1, BEGIN + 1, late[1])
    assert parse("1985-04/1985-04-12").hull == parse("1985-04-01/1985-04-12").hull


def test_qualifiers() -> None:
    assert (parse("1984?").uncertain, parse("1984?").approximate) == (True, False)
    assert (parse("1984~").uncertain, parse("1984~").approximate) == (False, True)
    assert (parse("1984%").uncertain, parse("1984%").approximate) == (True, True)
    assert parse("2004-06-11~").hull == parse("2004-05-11/2004-07-11").hull
    assert parse("2004-06~").hull == parse("2003-06/2005-06").hull
    assert parse("2004-06-~11").hull == parse("2004-06-11~").hull
    assert parse("2004~-06-11").hull == parse("1999-06-11/2009-06-11").hull
    assert parse("2004-~06").hull == parse("2004-06~").hull
    assert parse("?2004-06-11").uncertain
    assert parse("2004-21~").hull == parse("2003-21/2005-21").hull


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2001-21", "2001-03/2001-05"),
        ("2001-24", "2001-12"),
        ("2001-29", "2001-09/2001-11"),
        ("2001-36", "2001-10/2001-12"),
        ("2001-38", "2001-05/2001-08"),
        ("2001-41", "2001-07/2001-12"),
        ("2019-W05", "2019-01-28/2019-02-03"),
        ("2019-W05-3", "2019-01-30"),
        ("1815-169", "1815-06-18"),
        ("1560-XX-25", "1560-01-25/1560-12-25"),
        ("156X-12-25", "1560-12-25/1569-12-25"),
        ("XX00-02-29", "0400-02-29/9600-02-29"),
        ("2004-06-XX", "2004-06"),
        ("2004-XX-XX", "2004"),
        ("2004-1X", "2004-10/2004-12"),
        (" 1815-06-18\n", "1815-06-18"),
    ],
)
def test_same_span(text: str, same: str) -> None:
    assert parse(text).hull == parse(same).hull


def test_times_and_zones() -> None:
    noon = day_number(1815, 6, 18) * DAY_MS + 12 * 3_600_000
    assert parse("1815-06-18T12").hull.start == noon
    assert parse("1815-06-18T12").hull.end == noon + 3_600_000
    assert parse("1815-06-18T12:00").hull.end == noon + 60_000
    assert parse("1815-06-18T12:00:00Z").hull.end == noon + 1000
    assert parse("1815-06-18T12:00:00.1239Z").es == noon + 123
    assert parse("1815-06-18T12:00:00,5").es == noon + 500
    assert parse("1815-06-18T14:00+02:00") == parse("1815-06-18T12:00Z")
    assert parse("1815-06-18T02:00-10:00") == parse("1815-06-18T12:00-00:00")
    assert parse("0001-01-01T00:30+01:00") == parse("-0001-12-31T23:30Z")
    assert parse("2000-01-01T00:00:00+14:00") == parse("1999-12-31T10:00:00")
    assert parse("1815-06-18T24:00:00") == parse("1815-06-19T00:00:00")


def test_leap_seconds() -> None:
    assert len(LEAP_SECOND_DAYS) == 27
    assert parse("2016-12-31T23:59:60Z") == parse("2016-12-31T23:59:59Z")
    assert parse("2017-01-01T01:59:60+02:00") == parse("2016-12-31T23:59:59Z")
    for text in ("2015-01-01T23:59:60Z", "2016-12-31T22:59:60Z", "2015-12-31T23:59:60Z"):
        with pytest.raises(InputError, match="leap"):
            parse(text)


def test_julian_dates_are_converted_once_and_keep_their_text() -> None:
    value = parse("-0044-03-15", calendar="julian")
    assert value == parse("-0044-03-13")
    assert (value.text, value.calendar) == ("-0044-03-15", "julian")
    assert parse("1917-10-25", calendar="julian") == parse("1917-11-07")
    assert parse("1900-02-29", calendar="julian") == parse("1900-03-13")
    assert parse("1700", calendar="julian").hull == parse("1700-01-11/1701-01-11").hull
    with pytest.raises(InputError):
        parse("2019-W05", calendar="julian")


def test_astronomical_numbering() -> None:
    assert parse("-0043-03-15", numbering="astronomical") == parse("-0044-03-15")
    assert parse("0000", numbering="astronomical") == parse("-0001")
    assert parse("000X", numbering="astronomical").hull == parse("-0001/0009").hull
    with pytest.raises(InputError):
        parse("-0000", numbering="astronomical")


REFUSED = [
    ("0000", "year 0000 does not exist"),
    ("0000-01-01", "write -0001"),
    ("+0000", "year_numbering=astronomical"),
    ("-0000", "no year -0000"),
    ("-44-03-15", "write -0044-03-15"),
    ("-099-01", "write -0099-01"),
    ("815", "write 0815"),
    ("2023-02-29", "no such date"),
    ("-0004-02-29", "no such date"),
    ("-0101-02-29", "no such date"),
    ("1815-06-31", "no such date"),
    ("1815-13", "no such month"),
    ("1815-00", "no such date"),
    ("1815-06-00", "no such date"),
    ("18150618", "write YYYY-MM-DD"),
    ("181506", "ambiguous"),
    ("1815169", "ambiguous"),
    ("1815-366", "no such day of the year"),
    ("1815-000", "no such day of the year"),
    ("1815-W54", "no such week"),
    ("1815-W01-8", "no such week"),
    ("012024", "write 12024"),
    ("2024-01-01T00:00:00 02:00", r"write '\+'"),
    ("2024-01-01 10:00", "write 2024-01-01T10:00"),
    ("2024-01-01Z", "a day has no zone"),
    ("2024-01T10:00", "a time needs a day"),
    ("2024T10:00", "a time needs a day"),
    ("2024-01-01T24:00:01", "no such time"),
    ("2024-01-01T25:00", "no such time"),
    ("2024-01-01T10:60", "no such time"),
    ("2024-01-01T10:00+15:00", "no such zone"),
    ("2024-01-01T10:00+10:99", "no such zone"),
    ("2024-01-01T1:10", "not a time"),
    ("2024-01-01T10:00:00~", "not a time"),
    ("?2024-01-01T10:00:00", "no qualifier"),
    ("\u22120044-03-15", "write '-0044-03-15'"),
    ("\uff12\uff10\uff12\uff14", "write '2024'"),
    ("\u0662\u0660\u0662\u0664", "write '2024'"),
    ("1914\u20131918", "write '1914-1918'"),
    ("caf\u00e9\u4e00", "not a date"),
    ("", "empty date"),
    ("   ", "empty date"),
    ("null", "not a date"),
    ("now", "not a date"),
    ("1/2/3", "more than one"),
    ("[1990", "not closed"),
    ("[]", "not closed"),
    ("[" + ",".join(["1990"] * 30) + "]", "too many members"),
    ("X" * 5, "unspecified digits"),
    ("XXX1-02-29", "no such date"),
    ("1950E3", "write Y1950E3"),
    ("1950S9", "significant"),
    ("199XS2", "significant"),
    ("Y0123456", "write Y170000002"),
    ("Y19X", "no X"),
    ("2001-21-01", "no such month"),
    ("2001-42", "no such month"),
    ("9" * 300, "too long"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(text)
    assert caught.value.code == "time.invalid"
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text", ["100000001", "-100000002", "999999999-01-01", "Y290000001", "Y1E20", "Y" + "9" * 50]
)
def test_out_of_range(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.code == "time.out_of_range"


@pytest.mark.parametrize("text", ["1990/1980", "[1990..1980]", "1990-05-01/<1990-05-01"])
def test_inverted(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.code == "time.inverted"


def test_what_is_no_string_is_refused() -> None:
    for value in (0, False, None, 1815):
        with pytest.raises(InputError):
            parse(value)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        parse_strict_edtf(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["2019-W05", "[1990..1991]/1995", "1990/<1995", "2004-01-01T10", "2004-01-01T10:00:00.5"],
)
def test_extensions_are_not_strict(text: str) -> None:
    parse(text)
    with pytest.raises(InputError):
        parse_strict_edtf(text)


def test_feb_29_of_every_year() -> None:
    for year in range(-2000, 2401):
        if year == 0:
            continue
        text = f"{'-' if year < 0 else ''}{abs(year):04d}-02-29"
        astronomical = year + 1 if year < 0 else year
        leap = astronomical % 4 == 0 and (astronomical % 100 != 0 or astronomical % 400 == 0)
        try:
            assert leap == (civil(parse(text).es // DAY_MS)[1:] == (2, 29))
        except InputError:
            assert not leap, text


@given(st.integers(-9999, 9999).filter(bool), st.integers(1, 12))
def test_months_keep_their_order_across_the_border(year: int, month: int) -> None:
    text = f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}"
    value = parse(text)
    assert value.hull == granule(value.es, "month")
    assert parse(f"{text}/..").es == value.es
    later = year + 1 or 1
    following = parse(f"{'-' if later < 0 else ''}{abs(later):04d}-{month:02d}")
    assert following.es > value.es
    assert civil(following.es // DAY_MS)[0] - civil(value.es // DAY_MS)[0] == 1


ALPHABET = "0123456789" * 3 + "-/.,:[]{}<?~%XYESTZW+ " + string.ascii_letters


def survive(count: int, seed: int) -> float:
    """Parse random strings; return the slowest, in seconds of this thread."""
    rng = random.Random(seed)
    slowest = 0.0
    for _ in range(count):
        text = "".join(rng.choice(ALPHABET) for _ in range(rng.randint(0, 24)))
        started = time.thread_time()
        with suppress(InputError):
            assert parse(text).es < END
        slowest = max(slowest, time.thread_time() - started)
    return slowest


def test_random_strings() -> None:
    assert survive(5000, seed=1) < 0.01


@pytest.mark.full
def test_100_000_random_strings() -> None:
    assert survive(100_000, seed=2) < 0.01


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        assert parse(text).es < END
