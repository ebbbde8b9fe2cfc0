"""Names that prose made do not hide a relation that the base is asked by."""

from __future__ import annotations

import pytest
from small_base import Base, Letters, fact, node

from kgqa.model.answer import AskOptions
from kgqa.model.things import Relation
from kgqa.query.answer import ask


def rome(office: str) -> Base:
    facts = [
        fact("caesar", "high priest of", "rome", "-0063/-0044"),
        fact("lepidus", "high priest of", "rome", "-0043/-0013"),
        fact("augustus", "held office", office, "-0012-03-06/"),
    ]
    labels = {"caesar": "Caesar", "lepidus": "Lepidus", "augustus": "Augustus", "rome": "Rome"}
    nodes = [node(ident, label) for ident, label in labels.items()]
    return Base(facts, [*nodes, node(office, "high priest")], relations_=[
        Relation("held office", "held office"), Relation("high priest of", "high priest of"),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was high priest in 30 BC?", ("Lepidus",)),
        ("Who succeeded Caesar as high priest?", ("Lepidus",)),
        ("Who was high priest of Rome after Caesar?", ("Lepidus",)),
    ],
)
def test_words_of_a_known_relation_are_read_as_one(
    question: str, expected: tuple[str, ...]
) -> None:
    assert ask(rome("name:high priest"), Letters(), question, AskOptions()).answers == expected


def test_a_declared_name_is_a_name() -> None:
    found = ask(rome("priesthood"), Letters(), "Who was high priest in 10 BC?", AskOptions())
    assert found.answers == ("Augustus",)


def test_a_name_is_kept_where_the_relation_has_no_facts() -> None:
    base = rome("name:high priest")
    base.facts = base.facts[2:]
    found = ask(base, Letters(), "Who was high priest in 10 BC?", AskOptions())
    assert found.answers == ("Augustus",)
