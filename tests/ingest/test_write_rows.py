"""Rows from a program: one batch, all or nothing, one document a source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from letters import Letters

from kgqa import BaseOptions, Claim, KBase, Literal, Node, Ref
from kgqa.errors import InputError
from kgqa.temporal import parse

ROW = {"subject": "Cicero", "relation": "consul of", "object": "Rome", "valid": "-0063"}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KBase]:
    with KBase.create(tmp_path / "a.kg", embedder=Letters()) as made:
        yield made


def test_rows_nodes_and_claims_are_the_same_thing(kb: KBase) -> None:
    kb.write([ROW], source="rows")
    claim = Claim(Ref("Cicero"), "consul of", Ref("Rome"), parse("-0063"))
    kb.write([claim, Node("cicero", "Cicero", "person")], source="values")
    (line,) = kb.timeline("Cicero").lines
    assert (line.subject, line.valid) == ("Cicero", "-0063")
    assert kb.stats()["facts"] == 1
    assert kb.stats()["claims"] == 2
    assert kb.nodes("person")[0].id == "cicero"


def test_the_same_again_is_a_no_op(kb: KBase) -> None:
    assert kb.write([ROW]).changed
    again = kb.write([ROW])
    assert not again.changed
    assert kb.stats()["facts"] == 1


def test_a_source_is_one_document(kb: KBase) -> None:
    kb.write([ROW], source="a")
    kb.write([{**ROW, "object": "Cilicia"}], source="b")
    assert {d.path for d in kb.documents()} == {"api:a", "api:b"}
    kb.delete("api:a")
    assert [line.object for line in kb.timeline("Cicero").lines] == ["Cilicia"]


def test_literal_relations_and_values(kb: KBase) -> None:
    kb.write([{"subject": "Lviv", "relation": "population", "object": 206113, "valid": "1910"}])
    assert kb.timeline("Lviv").lines[0].object == "206113"


def test_a_generator_will_do(kb: KBase) -> None:
    kb.write(({**ROW, "subject": f"S{n}"} for n in range(3)), source="g")
    assert kb.stats()["facts"] == 3


BAD: list[tuple[Any, str, str]] = [
    (5, "row.type", "item 2 is a int"),
    ("Cicero", "row.type", "item 2 is a str"),
    ({"subject": "a", "relation": "r"}, "row.object", "item 2: 'object'"),
    ({"name": "x"}, "row.no_kind", "item 2: neither"),
    ({**ROW, "valid": "0000"}, "time.invalid", "item 2: year 0000"),
    (Node(5, "x"), "input.type", "item 2.id is str"),  # type: ignore[arg-type]
    (Claim(Ref("a"), "r", Literal(object())), "input.type", "item 2.object"),  # type: ignore[arg-type]
    ({**ROW, "note": object()}, "row.properties", "item 2: a property"),
    ({**ROW, "note": "\ud800"}, "row.properties", "item 2: a property"),
    (Node("a", "A", properties={"n": [float("inf")]}), "row.properties", "item 2: a property"),
    (Claim(Ref("a"), "r", Literal(float("nan"))), "input.type", "item 2.object"),
    ({**ROW, "subject": "\ud800"}, "input.type", "item 2"),
]


@pytest.mark.parametrize(("item", "code", "message"), BAD)
def test_all_or_nothing(item: Any, code: str, message: str, kb: KBase) -> None:
    with pytest.raises(InputError) as caught:
        kb.write([ROW, item])
    assert caught.value.code == code
    assert caught.value.message.startswith(message)
    assert kb.stats()["claims"] == 0


def test_a_base_of_documents_takes_no_rows(tmp_path: Path) -> None:
    with KBase.create(tmp_path / "d.kg", BaseOptions(form="documents"), embedder=Letters()) as kb:
        with pytest.raises(InputError) as caught:
            kb.write([ROW])
        assert caught.value.code == "wrong_kb_form"
