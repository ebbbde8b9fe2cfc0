"""Relations as words: shapes of labels, kinship of words, sides, inverses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.language.lexicon import (
    Lexicon,
    Phrase,
    Role,
    agreement,
    content,
    kinship,
    root,
    shape_of,
    stands_as_subject,
)
from kgqa.model.things import Relation


@pytest.mark.parametrize(
    ("label", "shape", "words"),
    [
        ("held office", "verb", ("held", "office")),
        ("governs", "verb", ("governs",)),
        ("works for", "prep", ("works",)),
        ("holds the position of", "prep", ("holds", "position")),
        ("is owned by", "by", ("owned",)),
        ("is the chair of", "of", ("chair",)),
        ("is a member of the", "of", ("member",)),
        ("head of government", "noun", ("head", "government")),
        ("Head_Of-State", "noun", ("head", "state")),
        ("of", "noun", ("of",)),
    ],
)
def test_labels(label: str, shape: str, words: tuple[str, ...]) -> None:
    assert shape_of(label) == shape
    assert content(label) == words


@pytest.mark.parametrize(
    ("a", "b", "close"),
    [
        ("governs", "governed", 1.0),
        ("ruler", "ruled", 0.9),
        ("dictatorship", "dictator", 0.9),
        ("membership", "member", 0.9),
        ("presidency", "president", 0.9),
        ("husband", "married", 0.75),
        ("where", "born", 0.0),
        ("governer", "governor", 0.9),
        ("parlament", "parliament", 0.8),
        ("cat", "cut", 0.0),
    ],
)
def test_kinship(a: str, b: str, close: float) -> None:
    assert kinship(a, b) == close
    assert kinship(b, a) == close


def test_agreement_counts_both_ways() -> None:
    assert agreement(("office", "hold"), ("held", "office")) == pytest.approx(1)
    assert agreement(("office",), ("held", "office")) < 1
    assert agreement(("dentist",), ("held", "office")) == 0
    assert agreement((), ("held",)) == agreement(("held",), ()) == 0


@pytest.mark.parametrize(
    ("label", "role", "subject"),
    [
        ("governed", "agent", True),
        ("governed", "passive", False),
        ("governed", "possessor", False),
        ("born in", "passive", True),
        ("owned by", "agent", False),
        ("owned by", "possessor", True),
        ("chair of", "possessor", False),
        ("spouse", "possessor", True),
        ("spouse", "complement", None),
    ],
)
def test_sides(label: str, role: Role, subject: bool | None) -> None:
    phrase = Phrase("r", label, content(label), shape_of(label))
    assert stands_as_subject(phrase, role) is subject
    backwards = Phrase("r", label, content(label), shape_of(label), inverse=True)
    assert stands_as_subject(backwards, role) is (None if subject is None else not subject)


LEXICON = Lexicon.of(
    [
        Relation("child of", "child of", ("son of",), "parent of"),
        Relation("parent of", "parent of"),
        Relation("married to", "married to", ("spouse",), "married to"),
        Relation("consul of", "consul of", ("consul",)),
        Relation("ruled", "ruled", (), "ruled by"),
    ]
)


def test_inverses() -> None:
    assert LEXICON.symmetric("married to")
    assert not LEXICON.symmetric("ruled")
    assert LEXICON.converse("child of") == "parent of"
    assert LEXICON.converse("parent of") == "child of"
    assert LEXICON.converse("ruled") is None
    assert LEXICON.converse("married to") is None


def test_read_is_best_first_and_keeps_to_the_keys_given() -> None:
    assert [r.relation for r in LEXICON.read(("ruler",))] == ["ruled"]
    assert [r.relation for r in LEXICON.read(("father",))] == ["child of", "parent of"]
    assert LEXICON.read(("father",), ["ruled"]) == []
    assert LEXICON.best(("zebra",), "ruled") is None


def test_a_relation_that_was_never_declared_speaks_through_its_key() -> None:
    best = LEXICON.best(("plays",), "plays for")
    assert best is not None
    assert best.phrase.shape == "prep"


def test_a_noun_beside_its_own_phrase_reads_as_that() -> None:
    shapes = {p.text: p.shape for p in LEXICON.phrases("consul of")}
    assert shapes == {"consul of": "of", "consul": "of"}


@given(st.text(st.characters(categories=["Ll"]), min_size=1, max_size=14))
def test_roots_begin_words(word: str) -> None:
    assert word.startswith(root(word))
    assert kinship(word, word) == 1.0
