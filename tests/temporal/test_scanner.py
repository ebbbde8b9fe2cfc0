"""Dates found in prose: offsets, roles, terms, and numbers that are no years."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.temporal import format, parse, parse_instant_span, scan  # noqa: A004
from kgqa.testing.data import shared

SUNDAY = "1815-06-18"


def found(text: str, reference: str | None = None) -> list[tuple[str, str, str]]:
    spans = scan(text, reference=parse_instant_span(reference) if reference else None)
    for span in spans:
        assert text[span.start : span.end] == span.text
        assert 0 <= span.lead <= span.start < span.end <= len(text)
    return [(span.text, span.role, format(span.term)) for span in spans]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Caesar was killed on 15 March 44 BC; Octavian won at Actium on 2 September 31 BC.",
            [("15 March 44 BC", "at", "-0044-03-15"), ("2 September 31 BC", "at", "-0031-09-02")],
        ),
        (
            "He was born c. 480 B.C. and died around 425 B.C.",
            [("c. 480 B.C.", "at", "-0480~"), ("around 425 B.C.", "at", "-0425~")],
        ),
        ("From 44 to 31 BC he fought.", [("44 to 31 BC", "from", "-0044/-0031")]),
        (
            "He reigned between 27 BC and AD 14, early in the 1st century.",
            [
                ("27 BC and AD 14", "between", "-0027/0014"),
                ("early in the 1st century", "at", "[0001..0033]"),
            ],
        ),
        (
            "George (1732\u20131799) served from 30 April 1789 until March 4, 1797.",
            [
                ("1732\u20131799", "at", "1732/1799"),
                ("30 April 1789 until March 4, 1797", "from", "1789-04-30/<1797-03-04"),
            ],
        ),
        ("She has lived there since 1990.", [("1990", "since", "1990/..")]),
        (
            "It lasted until 1848, through 1850.",
            [("1848", "until", "/1848"), ("1850", "through", "/1850")],
        ),
        (
            "Who was mayor after 1990 and before 1995, or by June 2001?",
            [
                ("1990", "after", "[1991..]"),
                ("1995", "before", "[..1994]"),
                ("June 2001", "by", "[..2001-06]"),
            ],
        ),
        ("during the late 1790s", [("late 1790s", "during", "[1797..1799]")]),
        ("a professor, beginning in 1980, there", [("1980", "from", "1980/")]),
        ("in 1914, 1916 and 1918", [(y, "at", y) for y in ("1914", "1916", "1918")]),
        (
            "the 1848 revolution and the 1990 election",
            [("1848", "at", "1848"), ("1990", "at", "1990")],
        ),
        ("(born 1815) and (Paris, 1815)", [("1815", "at", "1815"), ("1815", "at", "1815")]),
        ("In the year 476 Rome fell.", [("year 476", "at", "0476")]),
        (
            "In the nineteenth century, nineteen ships.",
            [("nineteenth century", "at", "[1801..1900]")],
        ),
        ("In nineteen fourteen it began.", [("nineteen fourteen", "at", "1914")]),
        (
            "on 1990-05-01, at -0044-03-15",
            [("1990-05-01", "at", "1990-05-01"), ("-0044-03-15", "at", "-0044-03-15")],
        ),
        (
            "his 1964 retirement, the party's 2021 vote, the 2012 elections, the 1600 ships",
            [("1964", "at", "1964"), ("2021", "at", "2021"), ("2012", "at", "2012")],
        ),
        (
            "the 1988/89 final and the 2007/2008 season",
            [("1988/89", "at", "1988/1989"), ("2007/2008", "at", "2007/2008")],
        ),
        ("the 2010\u201311 season", [("2010\u201311", "at", "2010/2011")]),
        ("Since the start of the 2010\u201311 season", [("2010\u201311", "at", "2010/2011")]),
        ("two years before 1815 it was", [("two years before 1815", "at", "1813")]),
        (
            "the spring of 1848 and winter 1850",
            [("spring of 1848", "at", "1848-21"), ("winter 1850", "at", "[1849-12..1850-02]")],
        ),
        (
            "the second half of the 19th century",
            [("second half of the 19th century", "at", "[1851..1900]")],
        ),
        ("In June\n1815 it rained.", [("June\n1815", "at", "1815-06")]),
        ("In 1815.\n\n1816 men came.", [("1815", "at", "1815")]),
        ("Battle of Waterloo, 18 June 1815, was", [("18 June 1815", "at", "1815-06-18")]),
    ],
)
def test_found(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1,200 men died and 1815 people lived in room 1204.",
        "It cost $2000 or 3.1415 or 10:20, see page 1500 and #1990.",
        "He walked 1200 to 1500 km with 300 men in 300 cases by 400 votes.",
        "He may 15 times march in; an ad 15 feet tall; the may pole.",
        "In 2000 km we stop. About 1800 of them, 1500% of 1,815.",
        "The second came first, the third last; June was her name.",
        "Lot 1815-A, 1815x, A1815, 555-1815, 1/2, 2/3 and 4.22.",
        "He was 44. BC is a province. AD & CE.",
        "Last year he left; two weeks ago; yesterday; on Friday; in March.",
        "from 1200 to 1500 men",
        "On June 12, 300 men died.",
    ],
)
def test_not_found(text: str) -> None:
    assert found(text) == []


def test_relative_phrases_need_a_reference() -> None:
    text = "Last year he left. Two years ago, on the following day; in March; Yesterday, on Friday."
    assert found(text) == []
    assert found(text, "1815-06-18") == [
        ("Last year", "at", "1814"),
        ("Two years ago", "at", "1813-06-18"),
        ("following day", "at", "1815-06-19"),
        ("March", "at", "1815-03"),
        ("Yesterday", "at", "1815-06-17"),
        ("Friday", "at", "1815-06-16"),
    ]
    assert found("He will march in and may go on second thought.", "1815-06-18") == []


def test_what_is_refused_whole_is_not_read_in_part() -> None:
    text = "on 3-7-2017 we met; last Wednesday; last June; from last Tuesday on"
    assert found(text, SUNDAY) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on Friday the 16th", "1815-06-16"),
        ("for 3 days from today", "[1815-06-18..1815-06-20]"),
        ("between now and November 15th", "1815-06-18/1815-11-15"),
        ("the week starting 5 June", "1815-W23"),
        ("a few months ago", "1815-03-18"),
        ("two Sundays ago", "1815-06-04"),
        ("in the seventies", "177X"),
        ("in the noughties", "200X"),
        ("from two thousand until two thousand and fourteen", "2000/2014"),
    ],
)
def test_found_with_a_reference(text: str, expected: str) -> None:
    assert [term for _, _, term in found(text, SUNDAY)] == [expected]


def test_the_bare_date_is_kept_beside_its_term() -> None:
    (span,) = scan("It ended before 1900.")
    assert span.validity == parse("1900")
    assert span.term == parse("[..1899]")
    assert "It ended before 1900."[span.lead :].startswith("before 1900")


def test_julian_prose() -> None:
    (span,) = scan("on 15 March 44 BC", calendar="julian")
    assert span.validity == parse("-0044-03-13")


@given(st.text(max_size=200), st.sampled_from([None, "1815-06-18", "1815", "-0044"]))
def test_spans_are_in_order_and_apart(text: str, reference: str | None) -> None:
    found(text, reference)
    spans = scan(text)
    assert all(a.end <= b.start for a, b in pairwise(spans))


PIECES = st.lists(
    st.sampled_from(
        [
            "in",
            "from",
            "to",
            "until",
            "since",
            "before",
            "after",
            "between",
            "and",
            "the",
            "44",
            "BC",
            "1815",
            "June",
            "15",
            ",",
            ".",
            "(",
            ")",
            "-",
            "1790s",
            "early",
            "late",
            "19th",
            "century",
            "two",
            "years",
            "ago",
            "last",
            "year",
            "week",
            "Friday",
            "c.",
            "first",
            "half",
            "of",
            "\n\n",
        ]
    ),
    max_size=25,
)


@given(PIECES, st.sampled_from([None, "1815-06-18"]))
def test_prose_made_of_date_words(pieces: list[str], reference: str | None) -> None:
    found(" ".join(pieces), reference)


@pytest.mark.skipif(shared("roman") is None, reason="shared data not found: roman/")
def test_prose_is_scanned_fast() -> None:
    folder = shared("roman")
    assert folder is not None
    text = "\n\n".join(path.read_text() for path in sorted(folder.glob("*.txt")))
    started = time.thread_time()
    spans = scan(text)
    speed = len(text) / 1e6 / (time.thread_time() - started)
    print(f"scan: {speed:.1f} MB/s, {len(spans)} dates")
    assert speed > 1
