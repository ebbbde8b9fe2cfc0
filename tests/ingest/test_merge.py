"""Proposals of merges: likely pairs, the less described one loses, nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from letters import Letters

from kgqa import KBase
from kgqa.ingest.merge import MAX_BLOCK, Proposal


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KBase]:
    with KBase.create(tmp_path / "a.kg", embedder=Letters()) as made:
        yield made


def proposals(kb: KBase, *rows: dict[str, Any]) -> list[Proposal]:
    kb.write(rows)
    before = kb.stats()["revisions"]
    found = kb.proposals()
    assert kb.stats()["revisions"] == before
    return found


def test_a_placeholder_loses_to_the_declared_node(kb: KBase) -> None:
    (pair,) = proposals(
        kb,
        {"id": "caesar", "label": "Gaius Julius Caesar", "kind": "person"},
        {"subject": "Gaius Julius Cæsar", "relation": "born in", "object": "Subura"},
    )
    assert (pair.loser, pair.winner) == ("name:gaius julius cæsar", "caesar")
    assert pair.why == "similar name"
    assert 0.9 <= pair.score < 1


def test_the_same_name_in_another_order_or_by_an_alias(kb: KBase) -> None:
    found = proposals(
        kb,
        {"id": "a", "label": "Julius Caesar", "aliases": ["Divus Julius"]},
        {"id": "b", "label": "Caesar Julius"},
        {"id": "c", "label": "Divus Julius"},
    )
    assert [(p.loser, p.winner, p.why) for p in found] == [
        ("b", "a", "same name"),
        ("c", "a", "same name"),
    ]


def test_other_kinds_and_other_names_are_left_alone(kb: KBase) -> None:
    assert (
        proposals(
            kb,
            {"id": "a", "label": "Aurora", "kind": "ship"},
            {"id": "b", "label": "Aurora", "kind": "person"},
            {"id": "c", "label": "Aurora Bay District", "kind": "place"},
        )
        == []
    )


def test_words_that_many_share_say_nothing(kb: KBase) -> None:
    rows = [{"id": f"n{n}", "label": f"Number{n} Street"} for n in range(MAX_BLOCK + 1)]
    assert proposals(kb, *rows) == []


def test_best_first_then_by_id(kb: KBase) -> None:
    found = proposals(
        kb,
        {"id": "z1", "label": "Marcus Tullius Cicero"},
        {"id": "z2", "label": "Marcus Tullius Cicerro"},
        {"id": "a1", "label": "Ada Lovelace"},
        {"id": "a2", "label": "Ada Lovelace"},
    )
    assert [p.loser for p in found] == ["a1", "z1"]
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)


def test_a_proposal_confirmed_and_undone(kb: KBase) -> None:
    (pair,) = proposals(
        kb,
        {"id": "caesar", "label": "Julius Caesar"},
        {"subject": "Julius Cesar", "relation": "born in", "object": "Subura"},
    )
    receipt = kb.merge(pair.loser, pair.winner)
    assert [line.subject for line in kb.timeline("Julius Caesar").lines] == ["Julius Caesar"]
    assert kb.proposals() == []
    kb.undo(receipt.revision)
    assert kb.proposals() == [pair]
