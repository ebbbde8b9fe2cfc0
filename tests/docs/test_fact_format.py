"""docs/fact-format.md: its examples load, and its wrong rows fail as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kgqa.loaders import table
from kgqa.model.things import Claim, Failure, Literal, Node
from kgqa.protocols import LoadOptions
from kgqa.temporal.terms import parse

PAGE = (Path(__file__).parents[2] / "docs" / "fact-format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(csv|json)\n(.*?)```", PAGE, re.DOTALL)
WRONG = re.findall(r"^\| `([{\[].*)` \| `([a-z_.]+)` \| (.*) \|$", PAGE, re.MULTILINE)


def values(path: Path, text: str) -> list[Node | Claim | Failure]:
    path.write_text(text, encoding="utf-8")
    return [row.value for row in table.load(path, LoadOptions(), frozenset())]


@pytest.mark.parametrize("block", range(len(BLOCKS)))
def test_examples_load(block: int, tmp_path: Path) -> None:
    kind, text = BLOCKS[block]
    rows = values(tmp_path / f"rows.{kind.replace('json', 'jsonl')}", text)
    assert rows
    assert not [row for row in rows if isinstance(row, Failure)]


def test_the_json_example_says_what_the_page_says(tmp_path: Path) -> None:
    text = next(text for kind, text in BLOCKS if kind == "json")
    consul, population, node = values(tmp_path / "rows.jsonl", text)
    assert isinstance(consul, Claim)
    assert isinstance(population, Claim)
    assert isinstance(node, Node)
    assert consul.valid == parse("-0059")
    assert population.valid == parse("1910")
    assert population.object == Literal(206113)
    assert [alias.label for alias in node.aliases] == ["Octavian", "Octavianus"]


@pytest.mark.parametrize(("row", "code", "message"), WRONG)
def test_wrong_rows_fail_as_told(row: str, code: str, message: str, tmp_path: Path) -> None:
    (failure,) = values(tmp_path / "rows.jsonl", row)
    assert isinstance(failure, Failure)
    assert failure.code == code
    assert message in failure.message


def test_the_table_was_read() -> None:
    assert len(WRONG) >= 20
    assert {kind for kind, _ in BLOCKS} == {"csv", "json"}
