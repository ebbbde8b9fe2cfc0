"""English phrases: each with the EDTF term it means; refusals; the public cases."""

from __future__ import annotations

import random
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.dates import run
from kgqa.errors import InputError
from kgqa.temporal import describe, parse, parse_english, parse_instant_span
from kgqa.temporal.calendars import civil, day_number
from kgqa.temporal.interval import DAY_MS
from kgqa.testing.data import shared

CASES = shared("dates", "recognizers_english")
SUNDAY = "1815-06-18"
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

ABSOLUTE = [
    ("15 March 44 BC", "-0044-03-15"),
    ("March 15, 44 BCE", "-0044-03-15"),
    ("the 15th of March, 44 B.C.", "-0044-03-15"),
    ("44 BC", "-0044"),
    ("44 B.C.E.", "-0044"),
    ("AD 14", "0014"),
    ("A.D. 70", "0070"),
    ("14 CE", "0014"),
    ("the year 9", "0009"),
    ("in 476", "0476"),
    ("June 1815", "1815-06"),
    ("Jun, 1970", "1970-06"),
    ("Sept. 1939", "1939-09"),
    ("1815 June", "1815-06"),
    ("2019-sep-1", "2019-09-01"),
    ("July 4th, 1776", "1776-07-04"),
    ("4th of July 1776", "1776-07-04"),
    ("Wednesday, 18 June 1815", "1815-06-18"),
    ("12/25/1990", "1990-12-25"),
    ("25.12.1990", "1990-12-25"),
    ("2015/08/12", "2015-08-12"),
    ("11/2016", "2016-11"),
    ("-0044-03-15", "-0044-03-15"),
    ("nineteen seventy-eight", "1978"),
    ("nineteen oh one", "1901"),
    ("two thousand and eighteen", "2018"),
    ("one thousand seven hundred and eighty nine", "1789"),
    ("the tenth of September, two thousand", "2000-09-10"),
    ("circa 1790", "1790~"),
    ("c. 1790", "1790~"),
    ("around 480 BC", "-0480~"),
    ("c. June 1815", "1815-06~"),
    ("perhaps 1790", "1790"),
    ("the 1790s", "179X"),
    ("the 1970's", "197X"),
    ("the nineteen seventies", "197X"),
    ("the noughties", "200X"),
    ("the twenty-tens", "201X"),
    ("the 1800s", "18XX"),
    ("the 190s BC", "-019X"),
    ("the late 1790s", "[1797..1799]"),
    ("mid to late 1790s", "[1793..1799]"),
    ("early 19th century", "[1801..1833]"),
    ("the 19th century", "[1801..1900]"),
    ("nineteenth century", "[1801..1900]"),
    ("1st century BC", "[-0100..-0001]"),
    ("the 3rd millennium BC", "[-3000..-2001]"),
    ("1st\u20132nd century AD", "[0001..0100]/[0101..0200]"),
    ("the 19th and 20th centuries", "[1801..1900]/[1901..2000]"),
    ("Q3 2019", "2019-35"),
    ("2019 Q3", "2019-35"),
    ("the third quarter of 2016", "2016-35"),
    ("H1 2016", "2016-40"),
    ("spring 1848", "1848-21"),
    ("summer of 1914", "1914-22"),
    ("winter 1848", "[1847-12..1848-02]"),
    ("the winter of 1847-48", "[1847-12..1848-02]"),
    ("the first half of 1900", "1900-40"),
    ("the second half of the 19th century", "[1851..1900]"),
    ("the last quarter of the 18th century", "[1776..1800]"),
    ("mid-July 1789", "[1789-07-11..1789-07-20]"),
    ("late June 1944", "[1944-06-21..1944-06-30]"),
    ("the end of 1815", "1815-39"),
    ("the third week of May 1968", "1968-W20"),
    ("the first week of 2015", "2015-W01"),
    ("week 5 of 2019", "2019-W05"),
    ("the first Monday of September 1894", "1894-09-03"),
    ("the last Sunday of June 1815", "1815-06-25"),
    ("the last day of May 1815", "1815-05-31"),
    ("between June 1815 and 1848", "1815-06/1848"),
    ("from 1914 to 1918", "1914/1918"),
    ("1914-1918", "1914/1918"),
    ("1914\u201318", "1914/1918"),
    ("1914 through 1918", "1914/1918"),
    ("1988/89", "1988/1989"),
    ("2007/2008", "2007/2008"),
    ("2016/11", "2016-11"),
    ("2011/12", None),
    ("2016 - 11", "2016-11"),
    ("1904 - 08", "1904/1908"),
    ("Dec. 27, 2019", "2019-12-27"),
    ("in the year of 476", None),
    ("the 1790s AD", "179X"),
    ("the 1800s BC", "-18XX"),
    ("nineteen hundred", "1900"),
    ("the two thousands", "200X"),
    ("the nth century", None),
    ("more than 1790", None),
    ("44-31 BC", "-0044/-0031"),
    ("100 BC to AD 50", "-0100/0050"),
    ("15-17 June 1815", "1815-06-15/1815-06-17"),
    ("June 15-17, 1815", "1815-06-15/1815-06-17"),
    ("28 July 1914 to 11 November 1918", "1914-07-28/1918-11-11"),
    ("from 28 July to 11 November 1918", "1918-07-28/1918-11-11"),
    ("from 30 December to 2 January 1901", "1900-12-30/1901-01-02"),
    ("from 4 March 1885 until 4 March 1889", "1885-03-04/<1889-03-04"),
    ("from 1885 until 1889", "1885/1889"),
    ("since 1990", "1990/.."),
    ("from 1990", "1990/"),
    ("1990 to the present", "1990/.."),
    ("from 1990 to present day", "1990/.."),
    ("1990 onwards", "1990/.."),
    ("until 1848", "/1848"),
    ("until 4 March 1797", "/<1797-03-04"),
    ("through 1998", "/1998"),
    ("before 1900", "[..1899]"),
    ("prior to June 1815", "[..1815-05]"),
    ("after 1850", "[1851..]"),
    ("by 1860", "[..1860]"),
    ("during the 1790s", "179X"),
    ("as of 1798", "1798"),
    ("ten years after 1815", "1825"),
    ("two days before 4 July 1776", "1776-07-02"),
    ("1 year, 2 months and 3 days after 4 July 1776", "1777-09-07"),
    ("3 years before 2 BC", "-0005"),
    ("the year after 1815", None),
]

RELATIVE = [
    ("last year", "1814"),
    ("next year", "1816"),
    ("this century", "[1801..1900]"),
    ("last century", "[1701..1800]"),
    ("this decade", "181X"),
    ("the following month", "1815-07"),
    ("previous quarter", "1815-33"),
    ("June", "1815-06"),
    ("July", "1814-07"),
    ("since June", "1815-06/.."),
    ("June next year", "1816-06"),
    ("yesterday", "1815-06-17"),
    ("the day before yesterday", "1815-06-16"),
    ("the day after tomorrow", "1815-06-20"),
    ("two years ago", "1813-06-18"),
    ("a fortnight ago", "1815-06-04"),
    ("a couple of days later", "1815-06-20"),
    ("in 3 weeks", "1815-07-09"),
    ("three weeks from tomorrow", "1815-07-10"),
    ("2 years 1 month and 21 days ago", "1813-04-27"),
    ("the past 3 weeks", "[1815-05-28..1815-06-17]"),
    ("the next 2 days", "[1815-06-19..1815-06-20]"),
    ("the last two decades", "[1790..1809]"),
    ("within 5 days", "[1815-06-18..1815-06-22]"),
    ("less than 3 days after tomorrow", "[1815-06-19..1815-06-21]"),
    ("more than 2 days after today", "[1815-06-20..]"),
    ("more than 2 days before yesterday", "[..1815-06-14]"),
    ("for 3 days from today", "[1815-06-18..1815-06-20]"),
    ("a week starting tomorrow", "[1815-06-19..1815-06-25]"),
    ("the rest of the year", "[1815-06-18..1815-12-31]"),
    ("earlier this month", "[1815-06-01..1815-06-17]"),
    ("later this month", "[1815-06-18..1815-06-30]"),
    ("the year to date", "[1815-01-01..1815-06-18]"),
    ("last weekend", "[1815-06-10..1815-06-11]"),
    ("the week after next", "1815-W26"),
    ("the month after the next", "1815-08"),
    ("the week before last", "1815-W22"),
    ("Friday", "1815-06-16"),
    ("last Saturday", None),
    ("next Monday", "1815-06-19"),
    ("this Tuesday", "1815-06-13"),
    ("last week Friday", "1815-06-09"),
    ("Friday next week", "1815-06-23"),
    ("next week between Wednesday and Friday", "[1815-06-21..1815-06-23]"),
    ("two Sundays ago", "1815-06-04"),
    ("two Mondays from now", "1815-06-26"),
    ("last July", "1814-07"),
    ("last June", None),
    ("next summer", "1816-22"),
    ("this summer", "1815-22"),
    ("20th of next month", "1815-07-20"),
    ("the 27th", "1815-05-27"),
    ("Friday the 16th", "1815-06-16"),
    ("second Friday", "1815-06-09"),
    ("the first Friday of next month", "1815-07-07"),
    ("week 10", "1815-W10"),
    ("the week of 4 June", "1815-W22"),
    ("the week commencing 5 June", "1815-W23"),
    ("Q1", "1815-33"),
    ("the 70s", "177X"),
    ("05/05/71", "1771-05-05"),
    ("4/22", "1815-04-22"),
    ("between now and 15 November", "1815-06-18/1815-11-15"),
    ("between Jan 22 and now", "1815-01-22/1815-06-18"),
    ("10/25 to 01/25", "1814-10-25/1815-01-25"),
    ("November between 19 and 20", "1814-11-19/1814-11-20"),
    ("from 4 to 22 this month", "1815-06-04/1815-06-22"),
    ("early next year", "[1816-01..1816-04]"),
    ("early next week", None),
    ("31st of this month", None),
    ("fifth Sunday", None),
    ("in four business days", None),
    ("10/1", None),
]


@pytest.mark.parametrize(("phrase", "expected"), ABSOLUTE)
def test_absolute(phrase: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(InputError):
            parse_english(phrase)
        return
    assert parse_english(phrase) == parse(expected)
    assert parse_english(phrase).text == phrase
    assert parse_english(phrase.upper()) == parse(expected)


@pytest.mark.parametrize(("phrase", "expected"), RELATIVE)
def test_relative(phrase: str, expected: str | None) -> None:
    reference = parse_instant_span(SUNDAY)
    if expected is None:
        with pytest.raises(InputError):
            parse_english(phrase, reference=reference)
        return
    assert parse_english(phrase, reference=reference) == parse(expected)
    with pytest.raises(InputError) as caught:
        parse_english(phrase)
    assert caught.value.code == "time.not_understood"


@pytest.mark.parametrize(
    ("phrase", "reference", "expected"),
    [
        ("two years ago", "1815", "1813"),
        ("two years ago", "-0001", "-0003"),
        ("three years later", "-0002", "0002"),
        ("two months ago", "1815-03", "1815-01"),
        ("last year", "1815-06", "1814"),
        ("the same year", "-0044-03-15", "-0044"),
        ("June", "1815", "1815-06"),
        ("February", "0001-01-10", "-0001-02"),
        ("this century", "1800-05-01", "[1701..1800]"),
        ("29 February", "1815-06-18", "1812-02-29"),
        ("Friday", "1815-06-16", "1815-06-09"),
    ],
)
def test_the_reference_gives_the_precision(phrase: str, reference: str, expected: str) -> None:
    assert parse_english(phrase, reference=parse_instant_span(reference)) == parse(expected)


@pytest.mark.parametrize(
    ("phrase", "reference"),
    [
        ("two days ago", "1815"),
        ("yesterday", "1815-06"),
        ("last month", "1815"),
        ("Friday", "1815"),
        ("the past 3 days", "1815"),
        ("the 27th", "1815"),
        ("Q1", "1815"),
        ("last Tuesday", "1815-06"),
        ("two Mondays ago", "1815"),
        ("4 March", "18XX"),
        ("999999 years ago", "1815"),
    ],
)
def test_a_coarse_reference_fills_nothing_in(phrase: str, reference: str) -> None:
    with pytest.raises(InputError):
        parse_english(phrase, reference=parse_instant_span(reference))


@pytest.mark.parametrize(
    "phrase",
    [
        "3/7/2017", "21/04/16", "08/12,2015", "15", "hello", "31 June 1900", "29 February 1900",
        "1918 to 1914", "the 200th century", "0 BC", "June", "Christmas", "year 0", "Q5 2019",
        "the 0th century", "week 54 of 2019", "mid 18 June 1815", "second half of 18 June 1815",
        "the fifth quarter of 2016", "late to early 1790s", "the sixth Monday of June 1815",
    ],
)  # fmt: skip
def test_refused(phrase: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_english(phrase)
    assert caught.value.code == "time.not_understood"
    assert phrase in str(caught.value)


def test_the_hint_asks_for_what_is_missing() -> None:
    with pytest.raises(InputError, match="give a reference date"):
        parse_english("last year")
    with pytest.raises(InputError, match="write a date such as"):
        parse_english("someday")


def test_flags() -> None:
    assert parse_english("circa 1790").approximate
    assert parse_english("perhaps 1790").uncertain
    assert parse_english("before circa 1790").approximate
    assert parse_english("after c. 1790").es == parse("1785").es


def test_julian_phrases() -> None:
    value = parse_english("15 March 44 BC", calendar="julian")
    assert value == parse("-0044-03-13")
    assert value.calendar == "julian"


@given(st.integers(-700_000, 900_000), st.sampled_from(["{d} {m} {y}", "{m} {d}, {y}"]))
def test_every_day_is_read_in_both_orders(number: int, pattern: str) -> None:
    year, month, day = civil(number)
    era = f"{1 - year} BC" if year <= 0 else str(year) if year > 999 else f"AD {year}"
    phrase = pattern.format(d=day, m=MONTHS[month - 1], y=era)
    start = day_number(year, month, day) * DAY_MS
    value = parse_english(phrase)
    assert (value.es, value.le) == (start, start + DAY_MS)
    assert parse_english(describe(value)) == value


@pytest.mark.skipif(CASES is None, reason="shared data not found: dates/recognizers_english")
def test_public_cases() -> None:
    assert CASES is not None
    counts, lines = run(CASES)
    total = sum(counts.values())
    print(*lines, sep="\n")
    print({name: f"{count / total:.1%}" for name, count in counts.items()}, "of", total)
    assert counts["right"] >= 0.9 * total
    assert counts["wrong"] <= 0.02 * total


WORDS = [
    "0",
    "1",
    "2",
    "12",
    "31",
    "44",
    "99",
    "1815",
    "2019",
    "9999",
    "-",
    "/",
    ".",
    ",",
    "the",
    "of",
    "in",
    "from",
    "to",
    "until",
    "between",
    "and",
    "BC",
    "AD",
    "c.",
    "early",
    "late",
    "mid",
    "year",
    "month",
    "week",
    "day",
    "decade",
    "century",
    "last",
    "next",
    "this",
    "first",
    "second",
    "third",
    "half",
    "quarter",
    "Q3",
    "H1",
    "June",
    "May",
    "Monday",
    "two",
    "twenty",
    "nineteen",
    "thousand",
    "hundred",
    "few",
    "couple",
    "ago",
    "before",
    "after",
    "now",
    "rest",
    "more",
    "than",
    "less",
    "within",
    "spring",
    "1790s",
    "'40s",
    "22nd",
    "weeks",
    "years",
    "999999999999",
    "–",
    "é",
    "[",
    "<",
    "?",
]


def survive(count: int, seed: int) -> float:
    rng = random.Random(seed)
    references = [None, *(parse_instant_span(t) for t in (SUNDAY, "1815", "-0044-03-15"))]
    slowest = 0.0
    for _ in range(count):
        text = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 12)))
        started = time.thread_time()
        with suppress(InputError):
            assert describe(parse_english(text, reference=rng.choice(references)))
        slowest = max(slowest, time.thread_time() - started)
    return slowest


def test_random_words() -> None:
    assert survive(2000, seed=3) < 0.01


@pytest.mark.full
def test_100_000_random_phrases() -> None:
    assert survive(100_000, seed=4) < 0.01
