"""Names to nodes: which words are names, in which order their bearers come."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_base import MemoryBase
from velmar import BASE

from kgqa.language.link import folded, link, pinned
from kgqa.model.things import Node


def _first(text: str) -> list[tuple[str, str, str]]:
    return [(m.text, m.candidates[0].node, m.candidates[0].why) for m in link(text, BASE)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who was Ada Corvin?", [("Ada Corvin", "ada", "exact")]),
        ("who was ada corvin?", [("ada corvin", "ada", "exact")]),
        ("Who was Ada Corvin's wife?", [("Ada Corvin", "ada", "exact")]),
        ("Who was B. Tolliver?", [("B. Tolliver", "bram", "alias")]),
        ("Was Fort Ilse old?", [("Fort Ilse", "harbour", "alias")]),
        ("Who owned Tin & Rope?", [("Tin & Rope", "tin", "alias")]),
        ("Who owned Lantern Company?", [("Lantern Company", "lantern", "normalised")]),
        ("Who was Mrs. Ada Corvin?", [("Mrs. Ada Corvin", "ada", "normalised")]),
        (
            "Who was velmar delegate for north coast (district 7)?",
            [("velmar delegate for north coast (district 7)", "delegate-7", "exact")],
        ),
        (
            "Was Dorn Vasski Jr. in Norrin?",
            [("Dorn Vasski Jr.", "dorn", "exact"), ("Norrin", "norrin", "exact")],
        ),
        ("Did Vasski play?", [("Vasski", "dorn", "partial")]),
        ("Did D. Vasski play?", [("D. Vasski", "dorn", "partial")]),
        ("Who was Ada Corvni?", [("Ada Corvni", "ada", "fuzzy")]),
        ("What is Norin?", [("Norin", "norrin", "fuzzy")]),
        (
            "Who was first minister of Velmar?",
            [("first minister of Velmar", "first-minister", "exact")],
        ),
        ("Who was Zork of Nowhere?", []),
        ("", []),
    ],
)  # fmt: skip
def test_link(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert _first(text) == expected


def test_the_longest_name_wins() -> None:
    names = [m.text for m in link("Was Deputy First Minister of Velmar a post?", BASE)]
    assert names == ["Deputy First Minister of Velmar"]


def test_namesakes_are_all_kept() -> None:
    (mention,) = link("Who was Jonas Rook?", BASE)
    assert [c.node for c in mention.candidates] == ["rook-1", "rook-2"]


def test_part_of_a_name_before_of_means_that_name() -> None:
    (mention,) = link("Who was First Minister?", BASE)
    assert [c.node for c in mention.candidates] == ["first-minister"]


def test_dates_are_not_names_unless_inside_one() -> None:
    base = MemoryBase([], [Node("may", "May"), Node("fair", "Fair of May 1911")])
    text = "Who won in May at the Fair of May 1911?"
    inner = text.rindex("May 1911")
    skip = [(11, 14), (inner, inner + 8)]
    assert [m.text for m in link(text, base, skip=skip)] == ["Fair of May 1911"]


def test_no_accents_no_matter() -> None:
    base = MemoryBase([], [Node("l", "Łódź Kępno")])
    (mention,) = link("Where is Lodz Kepno?", MemoryBase([], [Node("l", "Lódz Kepno")]))
    assert mention.candidates[0].why == "normalised"
    assert link("Where is Łódź Kępno?", base)[0].candidates[0].why == "exact"


def test_pinned() -> None:
    found = pinned(
        "Was Rook seen with ROOK?", [("rook", Node("rook-2", "Jonas Rook")), (" ", Node("x", "x"))]
    )
    assert [(m.text, m.candidates[0].node, m.candidates[0].why) for m in found] == [
        ("Rook", "rook-2", "given"),
        ("ROOK", "rook-2", "given"),
    ]


@given(st.text(max_size=80))
def test_mentions_lie_in_the_text_and_apart(text: str) -> None:
    mentions = link(text, BASE)
    for a, b in pairwise(mentions):
        assert a.end <= b.start
    for mention in mentions:
        assert mention.candidates
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end].startswith(mention.text[:1])


NAMES = st.sampled_from(
    ["Ada Corvin", "Harbour Gulls", "Queen Ilse", "Oxley-on-Sea", "Reform League"]
)


@given(NAMES, st.sampled_from(["{}", "who was {}?", "the {} (see {})", "«{}», {}.", "{}'s {}"]))
def test_every_written_name_is_found(name: str, frame: str) -> None:
    text = frame.replace("{}", name)
    assert [m.text for m in link(text, BASE)] == [name] * frame.count("{}")


@given(st.text(max_size=30))
def test_folding_is_stable(name: str) -> None:
    assert folded(folded(name)) == folded(name)
