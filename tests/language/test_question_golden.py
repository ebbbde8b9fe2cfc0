"""Every question of golden/questions.txt reads as golden/readings.txt says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from velmar import BASE, LEXICON

from kgqa.language.question import analyse, explain_question

GOLDEN = Path(__file__).parent / "golden"
QUESTIONS = (GOLDEN / "questions.txt").read_text("utf-8").splitlines()


def _blocks() -> dict[str, str]:
    blocks = (GOLDEN / "readings.txt").read_text("utf-8").strip().split("\n\n")
    return {head.removeprefix("? "): body for head, _, body in (b.partition("\n") for b in blocks)}


def _read(question: str) -> str:
    return explain_question(analyse(question, LEXICON, BASE)[0])


@pytest.mark.skipif("KGQA_WRITE_GOLDEN" not in os.environ, reason="writes the golden file anew")
def test_write() -> None:
    text = "\n\n".join(f"? {q}\n{_read(q)}" for q in QUESTIONS)
    assert (GOLDEN / "readings.txt").write_text(text + "\n", "utf-8") > 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_reading(question: str) -> None:
    assert _read(question) == _blocks()[question]


def test_every_reading_has_a_question() -> None:
    assert set(_blocks()) == set(QUESTIONS)
    assert len(QUESTIONS) >= 60
