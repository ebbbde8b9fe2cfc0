"""Question sets end to end on a real store: the question's text alone, exact sets of answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgqa.kbase import KBase
from kgqa.protocols import LoadOptions
from kgqa.testing.data import shared

SETS = [
    ("asof_us/us_facts.jsonl", "asof_us/us_questions.jsonl", "exclusive", 0.95),
    ("tempreason/facts.jsonl", "tempreason/questions_1876.jsonl", "inclusive", 0.90),
]


def exact(path: Path, facts: str, questions: str, ends: Any, every: int) -> float:
    """Return the share of questions whose set of answers is exactly the gold one."""
    known, asked = shared(*facts.split("/")), shared(*questions.split("/"))
    if known is None or asked is None:
        pytest.skip("the shared data is not on this machine")
    rows = [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()][::every]
    with KBase.create(path / "base.kg") as kb:
        kb.load(known, LoadOptions(ends=ends))
        right = sum(set(kb.ask(row["question"]).answers) == set(row["answers"]) for row in rows)
    return right / len(rows)


@pytest.mark.parametrize(("facts", "questions", "ends", "least"), SETS)
def test_sample(tmp_path: Path, facts: str, questions: str, ends: str, least: float) -> None:
    assert exact(tmp_path, facts, questions, ends, 15) >= least


@pytest.mark.full
@pytest.mark.parametrize(("facts", "questions", "ends", "least"), SETS)
def test_whole(tmp_path: Path, facts: str, questions: str, ends: str, least: float) -> None:
    assert exact(tmp_path, facts, questions, ends, 1) >= least
