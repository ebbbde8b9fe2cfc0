"""Questions about the moment of an event, and about the times in which nothing holds."""

from __future__ import annotations

import pytest
from small_base import Base, Letters, fact, node

from kgqa.model.answer import Answer, AskOptions
from kgqa.query import operators as op
from kgqa.query.answer import ask
from kgqa.temporal import format as written

_DIRECTORS = (
    ("thorne", "1891-05-01/1911-12-31"),
    ("vane", "1912-02-01/1938-06-30"),
    ("solle", "1938-07-01/1946-03-15"),
    ("ives", "1951-01-01/1974-09-30"),
    ("solle", "1974-10-01/1979-12-31"),
    ("nair", "1980-01-01/.."),
)
_LABELS = {
    "museum": "Amber Museum", "thorne": "Agnes Thorne", "vane": "Rupert Vane",
    "solle": "Ingrid Solle", "ives": "Hal Ives", "nair": "Priya Nair", "hill": "Castle Hill",
    "street": "Harbour Street", "bonn": "Clara Bonn", "dahl": "Marit Dahl",
    "school": "School of Art",
}  # fmt: skip


def museum() -> Base:
    facts = [fact(who, "director of", "museum", when) for who, when in _DIRECTORS]
    facts += [
        fact("museum", "located in", "street", "1891/1927"),
        fact("museum", "located in", "hill", "1928/.."),
        fact("ives", "spouse", "bonn", "1948-05-01/1960-02-10"),
        fact("ives", "spouse", "dahl", "1962-06-01/1999-11-03"),
        fact("bonn", "taught at", "school", "1950/1958"),
    ]
    return Base(facts, [node(ident, label) for ident, label in _LABELS.items()])


def answer(question: str, **options: str) -> Answer:
    return ask(museum(), Letters(), question, AskOptions(**options))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was director of the Amber Museum when it moved to Castle Hill?", ("Rupert Vane",)),
        ("Who was director of the Amber Museum after it moved to Castle Hill?", ("Ingrid Solle",)),
        ("Who was director of the Amber Museum when Hal Ives married Marit Dahl?", ("Hal Ives",)),
        (
            "Who was director of the Amber Museum when Clara Bonn left the School of Art?",
            ("Hal Ives",),
        ),
        ("Who was Hal Ives' spouse when he became director of the Amber Museum?", ("Clara Bonn",)),
        (
            "Who was Hal Ives' spouse when he was director of the Amber Museum?",
            ("Clara Bonn", "Marit Dahl"),
        ),
        (
            "Which people were director of the Amber Museum after Hal Ives became director?",
            ("Ingrid Solle", "Priya Nair"),
        ),
    ],
)
def test_an_event_is_a_moment_and_a_state_is_not(question: str, expected: tuple[str, ...]) -> None:
    assert answer(question).answers == expected


def test_an_end_still_to_come_is_no_moment() -> None:
    question = "Who was director of the Amber Museum when Clara Bonn left the School of Art?"
    assert answer(question, as_of="1955").answers == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was there no director of the Amber Museum?", ("1912-01", "1946-03-16/1950-12-31")),
        ("When was nobody director of the Amber Museum?", ("1912-01", "1946-03-16/1950-12-31")),
        ("How long was the Amber Museum without a director?", ("P4Y10M16D",)),
        ("How many years was the Amber Museum without a director?", ("P4Y",)),
        ("Was there no director of the Amber Museum in 1948?", ("yes",)),
        ("Was there no director of the Amber Museum in 1960?", ("no",)),
        ("Wasn't Hal Ives director of the Amber Museum in 1960?", ("yes",)),
    ],
)
def test_absence(question: str, expected: tuple[str, ...]) -> None:
    found = answer(question)
    assert found.answers == expected
    assert found.citations


def test_absence_cites_the_neighbours_of_each_gap() -> None:
    found = answer("When was there no director of the Amber Museum?")
    assert found.text.splitlines()[0] == "nothing recorded: 1912-01 [1] [2]"


def test_no_certain_gap_is_no_answer() -> None:
    for question in (
        "When was the Amber Museum nowhere located?",
        "How long was Clara Bonn no spouse?",
    ):
        found = answer(question)
        assert found.answers == ()
        assert found.text.startswith("no such time between these is certain")


@pytest.mark.parametrize(
    "question",
    [
        "Who was never director of the Amber Museum?",
        "Who was not director of the Amber Museum in 1960?",
        "Was Hal Ives not director of the Amber Museum in 1960?",
        "Who was the longest serving director of the Amber Museum?",
        "Who was director of the Amber Museum for the shortest time?",
        "Who was director of the Amber Museum more than once?",
        "Who other than Hal Ives was director of the Amber Museum in 1960?",
        "Which directors of the Amber Museum served less than ten years?",
    ],
)
def test_what_is_not_computed_is_not_answered_as_if_it_were_not_asked(question: str) -> None:
    assert answer(question).answers == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("director of the Amber Museum 1960", ("Hal Ives",)),
        ("Who was director of the Amber Museum, 1960?", ("Hal Ives",)),
        ("Who were the first 2 directors of the Amber Museum?", ()),
    ],
)
def test_a_number_is_a_year_at_the_end_and_never_passed_over(
    question: str, expected: tuple[str, ...]
) -> None:
    assert answer(question).answers == expected


def test_who_somebody_was_is_what_is_known_of_them() -> None:
    base = museum()
    base.nodes_.append(node("eve", "Eve Lund", "person"))
    base.facts += [
        fact("eve", "spouse", "ives", "1970/1972"),
        fact("eve", "born in", "hill", "1940"),
    ]
    options = AskOptions()
    assert ask(base, None, "Who was Eve Lund?", options).answers == ("Castle Hill", "Hal Ives")
    assert ask(base, None, "Who was Eve Lund in 1971?", options).answers == ("Hal Ives",)


def test_order_is_no_such_choice() -> None:
    asked = "Who was the most recent director of the Amber Museum?"
    assert answer(asked).answers == ("Priya Nair",)


def test_a_length_that_is_not_known_says_so() -> None:
    found = answer("How long has Priya Nair been director of the Amber Museum?")
    assert found.answers == ()
    assert found.text.startswith("not known: a start or an end is missing\nPriya Nair")


@pytest.mark.parametrize(
    ("first", "second", "gap"),
    [
        ("1900/1910-06-30", "1910-07-01/1920", None),
        ("1900/1911", "1912/1920", None),
        ("1900/1911", "1913/1920", "1912"),
        ("-0010/-0002", "0002/0009", "-0001/0001"),
        ("1900/1911-06", "1912-03-02/1920", "1911-07-01/1912-03-01"),
        ("1900/", "1912/1920", None),
    ],
)
def test_gaps_are_certain_and_as_coarse_as_both_borders(
    first: str, second: str, gap: str | None
) -> None:
    terms = op.coalesce([fact("a", "held", "x", first), fact("b", "held", "x", second)])
    assert [written(g) for g, _, _ in op.gaps(terms)] == ([gap] if gap else [])


@pytest.mark.parametrize(
    ("valid", "start", "end"),
    [
        ("1900/1911-06-30", "1900", "1911-06-30"),
        ("1900/..", "1900", None),
        ("../1900", None, "1900"),
        (None, None, None),
    ],
)
def test_edges_are_instants(valid: str | None, start: str | None, end: str | None) -> None:
    (term,) = op.coalesce([fact("a", "held", "x", valid)])
    edges = op.edge(term, "start"), op.edge(term, "end")
    for found, expected in zip(edges, (start, end), strict=True):
        assert (found is None) == (expected is None)
        if found and expected:
            assert found.valid.hull == fact("a", "held", "x", expected).valid.hull
