"""Claims from prose: who, what, whom, when; and what must not be claimed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.language.aside import put_aside
from kgqa.language.clauses import between, ending, starting
from kgqa.language.extract import SpacyExtractor
from kgqa.language.split import split
from kgqa.model.things import Claim, Document, Literal
from kgqa.protocols import Loaded, Section
from kgqa.temporal import format as written
from kgqa.temporal import parse
from kgqa.temporal.interval import Interval


def claims(text: str, title: str = "notes", reference: Interval | None = None) -> list[Claim]:
    loaded = Loaded(title, "text/plain", (Section((), text),))
    whole, chunks = split(loaded, "d", "a.txt")
    document = Document("d", "a.txt", title=title, text=whole)
    found = list(SpacyExtractor()(document, chunks, reference))
    data = whole.encode()
    for claim in found:
        assert 0 < claim.confidence < 1
        assert claim.chunk in {c.id for c in chunks}
        assert claim.span is not None
        assert data[claim.span.start : claim.span.end].decode().strip()
    return found


def said(text: str, title: str = "notes", reference: Interval | None = None) -> list[str]:
    lines = []
    for c in claims(text, title, reference):
        thing = c.object.value if isinstance(c.object, Literal) else c.object.label
        lines.append(f"{c.subject.label} | {c.relation} | {thing} | {written(c.valid)}")
    return lines


READ = [
    ("From 58 BC to 50 BC Caesar governed Gaul.", ["Caesar | governed | Gaul | -0058/-0050"]),
    ("Marcus Crassus was consul in 70 BC.", ["Marcus Crassus | held office | consul | -0070"]),
    (
        "Jana Mala became chief executive of Ostrava Works in 1987 and left in 1993.",
        ["Jana Mala | chief executive of | Ostrava Works | 1987/1993"],
    ),
    (
        "Jana Mala became mayor in 1987.",
        ["Jana Mala | held office | mayor | 1987/"],
    ),
    (
        "Ostrava Works was founded in 1951 by Karel Novak.",
        ["Karel Novak | founded | Ostrava Works | 1951"],
    ),
    (
        "Ivan Petrov succeeded Jana Mala as chief executive of Ostrava Works in May 1993.",
        [
            "Ivan Petrov | succeeded | Jana Mala | 1993-05",
            "Ivan Petrov | chief executive of | Ostrava Works | 1993-05/",
            "Jana Mala | chief executive of | Ostrava Works | /1993-05",
        ],
    ),
    (
        "Ivan Petrov was succeeded by Maria Lang in 2001.",
        ["Maria Lang | succeeded | Ivan Petrov | 2001"],
    ),
    (
        "Julius Caesar was born in Rome on 12 July 100 BC.",
        ["Julius Caesar | born in | Rome | -0100-07-12"],
    ),
    ("Anna Lund died on 19 January 1977.", ["Anna Lund | died | 1977-01-19 | 1977-01-19"]),
    ("Peter Hill was born in Lyon.", ["Peter Hill | born in | Lyon | /"]),
    (
        "Ostrava Works moved its head office from Brno to Oslo in 1994.",
        [
            "Ostrava Works | head office | Brno | /1994",
            "Ostrava Works | head office | Oslo | 1994/",
        ],
    ),
    ("Samaria was renamed Sebaste in 27 BC.", ["Samaria | named | Sebaste | -0027/"]),
    ("Sebaste was called Samaria until 27 BC.", ["Sebaste | named | Samaria | /-0027"]),
    ("Peter Hill married Anna Lund in 1970.", ["Peter Hill | married | Anna Lund | 1970/"]),
    ("Peter Hill divorced Anna Lund in 1980.", ["Peter Hill | married | Anna Lund | /1980"]),
    (
        "Peter Hill, president of France from 1964 to 1971, died in Paris in 1980.",
        ["Peter Hill | president of | France | 1964/1971", "Peter Hill | died in | Paris | 1980"],
    ),
    (
        "Józef Neumann was mayor from 1911 to 1914 and again from 1919 to 1927.",
        [
            "Józef Neumann | held office | mayor | 1911/1914",
            "Józef Neumann | held office | mayor | 1919/1927",
        ],
    ),
    (
        "Peter Hill ruled Spain from 1772 until he died in 1780.",
        ["Peter Hill | ruled | Spain | 1772/1780", "Peter Hill | died | 1780 | 1780"],
    ),
    (
        "Peter Hill held Spain from 1772 until his death on 3 May 1780.",
        ["Peter Hill | held | Spain | 1772/1780-05-03"],
    ),
    ("Andriy Sadovyi has been mayor since April 2006.", [
        "Andriy Sadovyi | held office | mayor | 2006-04/..",
    ]),
    ("Peter Hill and Anna Lund won the Battle of Alesia in 1815.", [
        "Peter Hill | won | Battle of Alesia | 1815", "Anna Lund | won | Battle of Alesia | 1815",
    ]),
    (
        "Peter Hill was elected President of the United States in 1912.",
        ["Peter Hill | president of | United States | 1912/"],
    ),
    ("Norland Trust was founded in 1951 by Karel Novak. Its head office was in Oslo from 1960 to "
     "1970. The head office moved from Oslo to Brno in 1971.", [
        "Karel Novak | founded | Norland Trust | 1951",
        "Norland Trust | head office | Oslo | 1960/1970",
        "Norland Trust | head office | Oslo | /1971",
        "Norland Trust | head office | Brno | 1971/",
    ]),
    ("Rome Bank was founded in 1951 by Karel Novak. It acquired Oslo Bank in 1960. The bank bought "
     "Brno Bank in 1970.", [
        "Karel Novak | founded | Rome Bank | 1951",
        "Rome Bank | acquired | Oslo Bank | 1960",
        "Rome Bank | bought | Brno Bank | 1970",
    ]),
    ("The town of Sant Orrin was called Orrin Cross until 1993.", [
        "Sant Orrin | named | Orrin Cross | /1993",
    ]),
    ("Peter Hill founded Verrold and Sons in 1951.", [
        "Peter Hill | founded | Verrold and Sons | 1951",
    ]),
    ("Marcus Lepidus died at the end of 13 BC or early in 12 BC.", [
        "Marcus Lepidus | died | [-0013-09..-0012-04] | [-0013-09..-0012-04]",
    ]),
    ("Peter Hill was Oslo's mayor in 1990.", ["Peter Hill | mayor of | Oslo | 1990"]),
    ("Peter Hill, who lived in Paris from 1900 to 1910, died in Rome.", [
        "Peter Hill | lived in | Paris | 1900/1910", "Peter Hill | died in | Rome | /",
    ]),
    ("Essel Glassworks, bought in May 1954 by Peter Hill, was closed.", [
        "Peter Hill | bought | Essel Glassworks | 1954-05",
    ]),
    ("Peter Hill went on to be mayor of Oslo in 1990.", ["Peter Hill | mayor of | Oslo | 1990"]),
    ("In 1983 Peter Hill became the second chairman of Oslo Bank.", [
        "Peter Hill | chairman of | Oslo Bank | 1983/",
    ]),
    ("Peter Hill married Anna Lund.", ["Peter Hill | married | Anna Lund | /"]),
    ("Peter Hill was a member of the Senate from 1990 to 1995.", [
        "Peter Hill | member of | Senate | 1990/1995",
    ]),
    ("Peter Hill became mayor in 1990 until 1995.", [
        "Peter Hill | held office | mayor | 1990/1995",
    ]),
    ("Peter Hill was known as Bo Hill from 1990.", ["Peter Hill | named | Bo Hill | 1990/"]),
    ("Peter Hill played in the 1998–99 season for Oslo City.", [
        "Peter Hill | played for | Oslo City | 1998/1999",
    ]),
    ("Oslo is the capital of Norway.", ["Oslo | capital of | Norway | /"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), READ, ids=[text[:40] for text, _ in READ])
def test_what_is_read(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Peter Hill was not mayor of Oslo in 1990.",
        "Peter Hill may have been mayor of Oslo in 1990.",
        "Peter Hill would become mayor of Oslo in 1990.",
        "Peter Hill will retire in 1988.",
        "Was Peter Hill mayor of Oslo in 1990?",
        "If Peter Hill ruled Spain in 1990, the town was lost.",
        "Some say that Peter Hill ruled Spain in 1990.",
        "Peter Hill wanted to rule Spain in 1990.",
        "The 1968 treaty gave Peter Hill much to do.",
        "The company had no chief executive from 27 February 1999 to 31 August 1999.",
        "Peter Hill admired Spain.",
        "Peter Hill left in 1990.",
        "Peter Hill or Anna Lund ruled Spain in 1990.",
        "There was a war in Spain in 1990.",
        "Nobody ruled Spain in 1990.",
        "Peter Hill was the co-chair in 1990.",
        "After his victory in 1850 Peter Hill ruled Spain.",
        "The treaty of 1815 gave Spain to Peter Hill.",
        "Lwów was the country's third largest city in 1920.",
        "",
    ],
)
def test_what_must_not_be_read(text: str) -> None:
    assert said(text) == []


def test_an_elided_second_subject_does_not_take_the_first_ones_place() -> None:
    text = "The Soviet Union held Lviv from 1939 to 1941, Germany from 1941 to 1944."
    assert said(text) == ["Soviet Union | held | Lviv | 1939/1941"]


def test_pronouns_mean_the_last_of_their_sort() -> None:
    text = "Anna Lund was born in Oslo in 1950. She was mayor from 1980 to 1985."
    assert said(text)[1] == "Anna Lund | held office | mayor | 1980/1985"
    assert claims(text)[1].confidence < claims(text)[0].confidence


def test_the_title_is_what_a_document_is_about() -> None:
    text = "In 59 BC he married Calpurnia. Some years passed. Julius Caesar was killed."
    assert said(text, "Julius Caesar")[0] == "Julius Caesar | married | Calpurnia | -0059/"
    assert said(text, "Some notes")[:1] == []


def test_a_short_name_is_the_longer_one_that_was_said() -> None:
    text = "Corin Ashdale was chair in 1990. Mr Ashdale was mayor in 1995."
    assert said(text)[1] == "Corin Ashdale | held office | mayor | 1995"


def test_relative_dates_count_from_the_one_before_or_the_reference() -> None:
    text = "Anna Lund was mayor in 1985. Peter Hill was mayor in the following year."
    assert said(text)[1] == "Peter Hill | held office | mayor | 1986"
    text = "Peter Hill was mayor last year."
    assert said(text, reference=parse("1990-05-01").hull) == [
        "Peter Hill | held office | mayor | 1989"
    ]
    assert said(text) == []


def test_two_documents_do_not_share_their_names() -> None:
    extractor = SpacyExtractor()
    for title in ("a", "b"):
        whole, chunks = split(Loaded(title, "t", (Section((), "He was mayor in 1990."),)), "d", "p")
        assert list(extractor(Document("d", "p", title=title, text=whole), chunks, None)) == []


@settings(max_examples=40)
@given(st.text(st.sampled_from("ab 1945BC.,\nin from to é🜚"), max_size=80))
def test_dates_put_aside_leave_every_other_character_in_place(text: str) -> None:
    aside = put_aside(text)
    covered = [(at, at + 4) for at in aside.dates]
    for offset, character in enumerate(aside.text):
        inside = any(first - 4 <= offset < last for first, last in covered)
        if not inside:
            assert text[aside.original(offset)] == character


def test_terms_that_begin_and_end() -> None:
    year = parse("1990")
    assert written(starting(year)) == "1990/"
    assert written(ending(year)) == "/1990"
    assert between(year, parse("1995")) == parse("1990/1995")
    assert between(parse("1995"), year) is None
    assert between(year, year) == year
