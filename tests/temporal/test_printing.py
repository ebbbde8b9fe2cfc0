"""Printing is the inverse of parsing, for every four bounds and both numberings."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.temporal import (
    ALWAYS,
    UNBOUNDED,
    UNDATED,
    Interval,
    Validity,
    describe,
    format,  # noqa: A004
    format_instant,
    format_span,
    parse,
    parse_instant_span,
)
from kgqa.temporal.calendars import FINENESS, granule
from kgqa.temporal.interval import BEGIN, DAY_MS, END, Precision

YEAR_MS = 31_556_952_000
NEAR = st.integers(-5000 * YEAR_MS, 5000 * YEAR_MS)
FAR = st.integers(-99_000_000 * YEAR_MS, 99_000_000 * YEAR_MS)
ERA = st.integers(-719_162 * DAY_MS - 3 * YEAR_MS, -719_162 * DAY_MS + 3 * YEAR_MS)
PRECISIONS = st.sampled_from(FINENESS)


@st.composite
def instants(draw: st.DrawFn) -> int:
    t = draw(st.one_of(NEAR, ERA, FAR))
    return granule(t, draw(PRECISIONS)).start


@st.composite
def validities(draw: st.DrawFn) -> Validity:
    es, ls = sorted((draw(instants()), draw(instants())))
    ee, le = sorted((draw(instants()), draw(instants())))
    start = draw(
        st.sampled_from(
            [(es, ls), (es, es), (BEGIN, BEGIN), (BEGIN, ls), (es, END - 1), (BEGIN, END - 1)]
        )
    )
    end = draw(
        st.sampled_from(
            [(ee, le), (le, le), (END, END), (ee, END), (BEGIN + 1, le), (BEGIN + 1, END)]
        )
    )
    if start[0] >= end[1]:
        start, end = (end[0], end[0]) if abs(end[0]) < END - 1 else (BEGIN, BEGIN), (END, END)
    hint: Precision = draw(PRECISIONS)
    return Validity(
        *start, *end, start_precision=hint, end_precision=draw(PRECISIONS),
        uncertain=draw(st.booleans()), approximate=draw(st.booleans()),
    )  # fmt: skip


@st.composite
def granular(draw: st.DrawFn) -> Validity:
    """Terms as sources give them: whole granules at both ends."""
    first = granule(draw(NEAR), draw(PRECISIONS))
    last = granule(first.start + draw(st.integers(0, 300 * YEAR_MS)), draw(PRECISIONS))
    unknown_end = (first.end, END)
    end = draw(st.sampled_from([(last.start + 1, last.end), (END, END), unknown_end]))
    start = draw(st.sampled_from([(first.start, first.end - 1), (BEGIN, end[0] - 1)]))
    return Validity(*start, *end, start_precision=draw(PRECISIONS))


@given(st.one_of(validities(), granular()), st.sampled_from(["historical", "astronomical"]))
@settings(max_examples=400, deadline=None)
def test_format_is_the_inverse_of_parse(validity: Validity, numbering: str) -> None:
    text = format(validity, numbering=numbering)  # type: ignore[arg-type]
    assert parse(text, numbering=numbering).bounds == validity.bounds, text  # type: ignore[arg-type]


@given(st.one_of(validities(), granular()))
@settings(max_examples=200, deadline=None)
def test_describe_always_says_something(validity: Validity) -> None:
    assert describe(validity).strip()


@given(instants(), PRECISIONS)
def test_an_instant_prints_as_its_granule(t: int, precision: Precision) -> None:
    text = format_instant(t, precision)
    if not text.startswith("["):
        assert parse_instant_span(text) == granule(t, precision)
    else:
        assert parse(text).hull == granule(t, precision)


@given(instants(), instants())
def test_a_span_prints_as_its_granules(a: int, b: int) -> None:
    if a == b:
        b += 1
    span = Interval(min(a, b), max(a, b))
    assert parse(format_span(span)).hull == span


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1885-03-04/<1889-03-04", "1885-03-04/<1889-03-04"),
        ("[1785..1794]/..", "[1785..1794]/.."),
        ("{1785, 1794}", "[1785..1794]"),
        ("2019-35", "2019-35"),
        ("1848-21", "1848-21"),
        ("2019-W05", "2019-W05"),
        ("1984?", "1984?"),
        ("1984%", "1984%"),
        ("2004-03-31~", "2004-03-31~"),
        ("156X~", "156X~"),
        ("-019X", "-019X"),
        ("1815-06-18T14:30", "1815-06-18T14:30Z"),
        ("1789/<[1790..1792-03]", "1789/<[1790-01..1792-03]"),
        ("Y12024", "Y12024"),
        ("12024-05", "12024-05"),
    ],
)
def test_printed_form(text: str, printed: str) -> None:
    assert format(parse(text)) == printed


def test_the_ends_of_time() -> None:
    assert format(UNDATED) == "/"
    assert parse("/") == UNDATED
    assert format(UNBOUNDED) == "../.."
    assert parse("../..") == UNBOUNDED
    assert format_span(ALWAYS) == "../.."
    assert format_span(Interval(BEGIN, 0)) == "../1969"
    assert format_instant(END) == format_instant(BEGIN) == ".."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1789-04-30/<1797-03-04", "from 30 April 1789 to 4 March 1797 (exclusive)"),
        ("1990/..", "since 1990"),
        ("1790~", "circa 1790"),
        ("1790%", "circa 1790 (uncertain)"),
        ("-0044-03-15", "15 March 44 BCE"),
        ("0014", "14 CE"),
        ("../1848", "until 1848"),
        ("/1848", "from an unknown date to 1848"),
        ("1848/", "from 1848 to an unknown date"),
        ("../..", "always"),
        ("/", "undated"),
        ("[..1760]", "1760 or earlier"),
        ("[1760..]", "1760 or later"),
        ("[1760..1764]", "between 1760 and 1764"),
        ("199X", "1990s"),
        ("19XX", "1900-1999"),
        ("2019-35", "Q3 2019"),
        ("1848-21", "spring 1848"),
        ("2019-W05", "week 5 of 2019"),
        ("1815-06-18T14:30:00Z", "18 June 1815, 14:30:00 UTC"),
    ],
)
def test_described(text: str, words: str) -> None:
    assert describe(parse(text)) == words
