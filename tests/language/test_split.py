"""Chunks: exact spans, whole sentences, limits, pages, ids that outlive edits elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.language.split import MAX_CHARACTERS, MAX_WORDS, sentences, split
from kgqa.model.things import Chunk
from kgqa.protocols import Loaded, Section
from kgqa.temporal import parse

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("ab. \n\n.!?\"')éü漢🜚\u0301"),
    max_size=400,
)
SECTIONS = st.lists(
    st.builds(
        Section,
        st.lists(st.sampled_from(["A", "Bé", "漢"]), max_size=2).map(tuple),
        TEXT,
        st.none() | st.integers(1, 5),
    ),
    max_size=5,
)


def chunks(*sections: Section) -> tuple[str, tuple[Chunk, ...]]:
    return split(Loaded("T", "text/plain", sections), "d", "a.txt")


def prose(n: int, words: int = 12) -> str:
    return " ".join(
        " ".join([f"Sentence{k}", *("word" for _ in range(words - 2)), "end."]) for k in range(n)
    )


@given(SECTIONS)
def test_spans_are_exact_and_in_order(sections: list[Section]) -> None:
    text, found = chunks(*sections)
    data = text.encode()
    end = 0
    for ordinal, chunk in enumerate(found):
        assert data[chunk.span.start : chunk.span.end].decode() == chunk.text
        assert chunk.span.start >= end
        assert chunk.ordinal == ordinal
        assert chunk.text.strip()
        assert len(chunk.text.split()) <= MAX_WORDS
        assert len(chunk.text) <= MAX_CHARACTERS
        end = chunk.span.end
    assert len({chunk.id for chunk in found}) == len(found)


@given(SECTIONS)
def test_no_word_is_lost(sections: list[Section]) -> None:
    _, found = chunks(*sections)
    kept = "".join("".join(chunk.text.split()) for chunk in found)
    assert kept == "".join("".join(section.text.split()) for section in sections)


@given(SECTIONS)
def test_splitting_is_deterministic(sections: list[Section]) -> None:
    assert chunks(*sections) == chunks(*sections)


def test_a_chunk_ends_with_a_sentence_near_the_target() -> None:
    _, found = chunks(Section((), prose(40)))
    assert all(chunk.text.endswith("end.") for chunk in found)
    assert all(80 <= len(chunk.text.split()) <= MAX_WORDS for chunk in found[:-1])


def test_a_paragraph_of_fair_size_is_its_own_chunk() -> None:
    _, found = chunks(Section((), "\n\n".join([prose(6), prose(6), prose(1), prose(1)])))
    assert [len(chunk.text.split()) for chunk in found] == [72, 72, 24]


def test_what_has_no_borders_is_cut() -> None:
    _, found = chunks(Section((), "word " * 500))
    assert [len(c.text.split()) for c in found] == [120, 120, 120, 120, 20]
    _, found = chunks(Section((), "x" * 3_000 + " y"))
    assert max(len(c.text) for c in found) == MAX_CHARACTERS
    _, found = chunks(Section((), "." * 100_000))
    assert sum(len(c.text) for c in found) == 100_000


def test_chunks_never_cross_sections_and_headings_stand_in_the_text() -> None:
    text, found = chunks(
        Section(("A",), "One."), Section(("A", "B"), "Two."), Section(("A", "C"), "Three.")
    )
    assert text == "A\n\nOne.\n\nB\n\nTwo.\n\nC\n\nThree."
    assert [(c.section, c.text) for c in found] == [
        (("A",), "One."), (("A", "B"), "Two."), (("A", "C"), "Three."),
    ]  # fmt: skip


def test_pages_are_kept_and_a_sentence_may_run_over_one() -> None:
    text, found = chunks(
        Section((), "It was ruled by", 1), Section((), "", 2), Section((), "nobody.", 3)
    )
    assert text == "It was ruled by\nnobody."
    assert found[0].pages == (1, 3)
    _, found = chunks(Section((), prose(10), 1), Section((), prose(10), 2))
    assert [c.pages for c in found] == [(1, 1), (1, 2), (2, 2)]
    assert chunks(Section((), "x"))[1][0].pages is None


def test_an_edit_leaves_the_ids_of_other_chunks() -> None:
    paragraphs = [prose(6).replace("word", f"w{k}") for k in range(50)]
    _, before = chunks(Section((), "\n\n".join(paragraphs)))
    paragraphs[20] = paragraphs[20].replace("w20", "changed", 1)
    loaded = Loaded("T", "text/plain", (Section((), "\n\n".join(paragraphs)),))
    _, after = split(loaded, "other", "a.txt")
    assert len({c.id for c in after} - {c.id for c in before}) == 1
    assert len({c.id for c in before} - {c.id for c in after}) == 1
    _, elsewhere = split(loaded, "other", "b.txt")
    assert not {c.id for c in elsewhere} & {c.id for c in after}


def test_equal_chunks_of_a_document_differ_and_inherit_its_validity() -> None:
    same = Section(("A",), "The same."), Section(("B",), "The same.")
    valid = parse("1990/1995")
    _, found = split(Loaded("T", "text/plain", same), "d", "a.txt", valid)
    assert len({c.id for c in found}) == 2
    assert {c.validity for c in found} == {valid}


def test_sentences_end_at_punctuation_but_not_after_abbreviations() -> None:
    text = 'Dr. A. Brown came in c. 1790. "Who?" He left… Later\nA line. e.g. This. U.S. Army.'
    assert [text[a:b] for a, b in sentences(text)] == [
        "Dr. A. Brown came in c. 1790.", '"Who?"', "He left…", "Later", "A line. e.g. This.",
        "U.S. Army.",
    ]  # fmt: skip


def cut(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He was born in 1732. He led. He crossed the river in 1776. He died.", 4),
        ("On 15 March 44 B.C. Caesar died. Rome mourned.", 2),
        ("Born c. 100 BC. He ruled.", 2),
        ("J. Caesar met M. Antonius. They ate.", 2),
        ("“Is it so?” He wondered.", 2),
        ("First heading\n\nA paragraph", 2),
        ("one sentence without an end", 1),
        ("", 0),
    ],
)
def test_sentences(text: str, expected: int) -> None:
    assert len(cut(text)) == expected


@given(st.text(alphabet="Ab1. \n!?", max_size=60))
def test_sentences_keep_every_word_in_order(text: str) -> None:
    pieces = list(sentences(text))
    assert all(a < b for a, b in pieces)
    assert pieces == sorted(pieces)
    assert "".join("".join(text[a:b] for a, b in pieces).split()) == "".join(text.split())
