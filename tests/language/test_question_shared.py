"""Readings of the shared question set by operator class: what is asked, order, times, sides."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from memory_base import MemoryBase

from kgqa.language.lexicon import Lexicon
from kgqa.language.question import analyse
from kgqa.model.ids import relation_key
from kgqa.model.things import Relation
from kgqa.testing.data import shared

FOLDER = shared("asof_us")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="shared data are not on this machine")

SHAPES = {
    "when_start": ("start", "first", (), "object"),
    "after": ("nodes", "next", (), "subject"),
    "overlap_join": ("nodes", None, ("during",), "subject"),
    "overlap_join_empty": ("nodes", None, ("during",), "subject"),
    "overlaps_interval": ("nodes", None, ("between",), "subject"),
    "count_interval": ("count", None, ("between",), "subject"),
    "as_of_subject": ("nodes", None, ("at",), "subject"),
    "as_of_object": ("nodes", None, ("at",), "object"),
    "as_of_empty": ("nodes", None, ("at",), None),
    "first": ("nodes", "first", (), None),
    "before": ("nodes", "previous", (), None),
}


def _lines(name: str) -> list[dict[str, Any]]:
    assert isinstance(FOLDER, Path)
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


@cache
def _base() -> Any:
    rows = [
        (r["subject"], relation_key(r["relation"]), r["object"]) for r in _lines("us_facts.jsonl")
    ]
    return MemoryBase(rows, relations=[Relation(k, k) for k in sorted({r[1] for r in rows})])


@pytest.mark.parametrize("op", sorted(SHAPES))
def test_every_question_of_a_class_has_its_shape(op: str) -> None:
    base = _base()
    lexicon = Lexicon.of(base.relations().values())
    asked, order, whens, wanted = SHAPES[op]
    questions = [q["question"] for q in _lines("us_questions.jsonl") if q["op"] == op][:30]
    for question in questions:
        best = analyse(question, lexicon, base)[0]
        assert best.goal is not None, question
        found = (best.asked, best.order and best.order.kind, tuple(w.relation for w in best.when))
        assert found == (asked, order, whens), question
        assert wanted in {None, best.goal.wanted}, question
        assert best.score >= 0.5, question


def test_an_analysis_takes_milliseconds() -> None:
    base = _base()
    lexicon = Lexicon.of(base.relations().values())
    taken = []
    for question in [q["question"] for q in _lines("us_questions.jsonl")][::40]:
        start = time.process_time()
        analyse(question, lexicon, base)
        taken.append(time.process_time() - start)
    assert sorted(taken)[len(taken) // 2] < 0.04
