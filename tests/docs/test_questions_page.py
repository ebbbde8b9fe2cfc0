"""docs/questions.md: its questions have the answers that it says, and what it excludes has none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from page_blocks import ROOT, page, rows

from kgqa import KBase

PAGE = page("docs/questions.md")
TABLE = list(rows(PAGE, "since when and until when."))


@pytest.fixture(scope="module")
def rome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KBase]:
    path: Path = tmp_path_factory.mktemp("questions") / "rome.kg"
    with KBase.create(path) as kb:
        kb.load(ROOT / "examples" / "rome")
        yield kb


@pytest.mark.parametrize(("kind", "question", "answers"), TABLE, ids=[row[0] for row in TABLE])
def test_answers(kind: str, question: str, answers: str, rome: KBase) -> None:
    assert "; ".join(rome.ask(question).answers) == answers


@pytest.mark.parametrize(
    "question",
    [
        "Who was never consul?",
        "Who was consul the longest?",
        "Who was consul more than twice?",
        "Who other than Cicero was consul in 63 BC?",
        "How old was Cicero in 63 BC?",
    ],
)
def test_what_is_not_computed_has_no_answers(question: str, rome: KBase) -> None:
    assert rome.ask(question).answers == ()
