"""Results as lines: what a person reads, safe to print, and the status that it means."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.doctor import Check
from kgqa.ingest.index import IndexReport
from kgqa.ingest.merge import Proposal
from kgqa.ingest.report import LoadReport
from kgqa.model.answer import (
    Answer,
    AnswerItem,
    Choice,
    Citation,
    Evidence,
    Scope,
    SearchResult,
    Step,
)
from kgqa.model.things import Alias, Document, Fact, Failure, Node, Recorded, Relation
from kgqa.protocols import Problem, Receipt
from kgqa.query.history import Diff, Line, NodeHistory, NodeLine, Snapshot, When
from kgqa.surfaces.text import clean, lines, status
from kgqa.tasks import BatchReport, Demo, Explained, Made, Shown, Verified
from kgqa.temporal import parse, parse_as_of

SCOPE = Scope(7)
THEN = Scope(7, as_of=parse_as_of("1900"), time=parse("1890").hull, time_text="in 1890", known_at=3)
FACT = Fact("f", "ada", "born in", "bern", parse("1900"), Recorded(1))
LINE = Line("…", "1900/1910", "possible", ("fact:f",), "Ada", "lived in", "Bern")
PLACE = NodeLine("bern", "Bern", "place", "1191/..")
CITATIONS = (
    Citation(
        1, "fact:f", "Ada born in: Bern, 1900", "1900", "definite",
        sources=({"document": "d", "path": "a.csv", "line": 3},),
    ),
    Citation(
        2, "chunk:c", "Ada was born.", "1950", "possible",
        sources=({"document": "d2", "pages": "4"},),
    ),
)  # fmt: skip
ANSWER = Answer(
    "who?", SCOPE, ("Ada",), (AnswerItem("Ada", "ada", "1900", "definite", "d. 1950"),),
    text="Ada [1]", citations=CITATIONS, confidence="high",
    answered_from="graph",
    trace=(Step("analyse", 1.25, {"readings": [{"asked": "nodes", "order": None}], "tried": 1}),),
)  # fmt: skip
ITEM = Evidence("fact:f", FACT, 0.5, FACT.valid, "definite", "Ada born in: Bern, 1900", "1900")
PASSAGE = Evidence(
    "chunk:c", FACT, 1.0, FACT.valid, "definite", "Bern.", "1191", flags=("context",)
)

RENDERED: list[tuple[Any, str]] = [
    (None, ""),
    ([], "nothing"),
    ({"nodes": 1, "revisions": 22}, "nodes      1\nrevisions  22"),
    (Path("a.kg"), "wrote a.kg"),
    (Path("-"), ""),
    (5, "5"),
    (ANSWER, """Ada [1]

[1] Ada born in: Bern, 1900  fact:f
    from a.csv, line 3
[2] Ada was born. (1950, possible)  chunk:c
    from d2, pages 4

confidence high; whole base; from graph"""),
    (Answer("who?", THEN, reason="ambiguous_name", choices=(Choice("a", "A", "p", "1900"),
                                                         Choice("b", "B", None, None))),
     """no answer
settle it with --node, such as: --node NAME=a

confidence none; reason ambiguous_name; as of 1900; time asked in 1890; known at revision 3; """
     "from none"),
    (SearchResult("x", SCOPE, (ITEM, PASSAGE)),
     "  1. 0.50  Ada born in: Bern, 1900  fact:f\n  2. 1.00  Bern. (1191) [context]  chunk:c"),
    (SearchResult("x", SCOPE), "nothing found"),
    (SearchResult("x", SCOPE, reason="empty_kb"), "nothing found (empty_kb)"),
    (LINE, "1900/1910                 Ada | lived in | Bern  (possible)"),
    (NodeLine("x", "X", None, None), "x  X"),
    (NodeHistory(PLACE, SCOPE, (("Berna", "undated"),), (LINE,)), """bern  Bern  (place, 1191/..)
  also Berna, undated
1900/1910                 Ada | lived in | Bern  (possible)"""),
    (Snapshot(SCOPE, (PLACE,), ()), "nothing\n0 facts, 1 nodes"),
    (Diff(SCOPE, SCOPE, (), ()), "nothing"),
    (Diff(SCOPE, SCOPE, (LINE,), (LINE,), (PLACE,), (PLACE,)),
     """- 1900/1910                 Ada | lived in | Bern  (possible)
+ 1900/1910                 Ada | lived in | Bern  (possible)
- node bern  Bern  (place, 1191/..)
+ node bern  Bern  (place, 1191/..)"""),
    (When(SCOPE, "Ada", "born in", "Bern", ()), "Ada | born in | Bern\nnothing"),
    (LoadReport({"claims": 2, "failed": 0}), "loaded: 2 claims"),
    (LoadReport({}, dry_run=True), "would load: nothing"),
    (LoadReport({"failed": 1}, (Failure("a:1", "row.json", "a:1: not JSON"),), ("Rome",), ("b",),
                ("c",), ("d: x",)),
     """loaded: 1 failed
unchanged: b
ignored (unknown format): c
ambiguous name, not linked: Rome
conflict: d: x
failed: a:1: not JSON
mend them and load again, or see: kgqa failures KB; kgqa load KB --retry PATH"""),
    (IndexReport(3, 1, 1, (("node:a", "no"),), 0.25, 9, 1),
     "indexed: 1 embedded, 1 unchanged, 1 failed, in 0.2 s, at revision 9\nfailed: node:a: no"),
    (Receipt(3, True, {"facts": 1, "nodes": 0}, ("Rome",)),
     "revision 3: 1 facts\nambiguous name, not linked: Rome"),
    (Receipt(3, True), "revision 3"),
    (Receipt(3, False), "nothing to change"),
    (Receipt(3, False, {"documents": 1}), "would change: 1 documents"),
    (Made({"facts": 0}), "made an empty base; next: kgqa load KB PATH, kgqa index KB"),
    (Verified(()), "all parts agree"),
    (Verified((Problem("facts", "f", "gone"),)), "facts: f: gone"),
    (Node("a", "Ada", "person", (Alias("A."),), (parse("1900"),)),
     "a  Ada (person)  also A.  1900"),
    (Document("d", "a.md", "A"), "d  a.md  A"),
    (Relation("r", "R", ("rr",), inverse="of", max_objects=1),
     "r  rr, max_objects 1, inverse of"),
    (FACT, "ada | born in | bern | 1900"),
    (Problem("facts", "f", "gone"), "facts: f: gone"),
    (Proposal("a", "b", "A", "B", 0.9, "similar name"), "0.90  a (A) -> b (B): similar name"),
    (BatchReport(1, 2, 0, 1, 0.5, "o"),
     "answered 1, kept 2 from before, abstained 0, failed 1, in 0.5 s: o"),
    (Check("store", True, "fine"), "ok   store: fine"),
    (Check("store", False, "bad", "mend"), "BAD  store: bad -> mend"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "text"), RENDERED)
def test_what_a_person_reads(result: Any, text: str) -> None:
    assert "\n".join(line.rstrip() for line in lines(result)) == text


def test_an_explanation_is_the_answer_and_its_trace() -> None:
    shown = list(lines(Explained(ANSWER)))
    assert shown[:1] == ["Ada [1]"]
    assert shown[-3:] == ["analyse  1.2 ms", "    readings: asked nodes", "    tried: 1"]


def test_the_demo_shows_questions_answers_and_where_it_is() -> None:
    stats = {"documents": 1, "facts": 2, "nodes": 3, "chunks": 4}
    nobody = Answer("who?", SCOPE)
    demo = Demo("x/demo.kg", stats, (Shown("who?", None, ANSWER), Shown("who?", "1900", nobody)))
    text = "\n".join(lines(demo))
    assert "A: Ada (d. 1950)\n   [1] Ada born in: Bern, 1900  (a.csv, line 3)" in text
    assert "Q: who?  (as of 1900)\nA: nothing recorded then" in text
    assert "x/demo.kg" in text


def test_the_demo_says_how_many_citations_it_leaves_out() -> None:
    many = replace(ANSWER, citations=CITATIONS * 3)
    assert "   and 3 more" in list(
        lines(
            Demo(
                "x",
                {"documents": 0, "facts": 0, "nodes": 0, "chunks": 0},
                (Shown("who?", None, many),),
            )
        )
    )


def test_passages_are_not_taken_for_an_answer() -> None:
    shown = list(lines(replace(ANSWER, answered_from="passages")))
    assert shown[:2] == ["No recorded fact answers this; the passages nearest to it:", "Ada [1]"]


STATUSES: list[tuple[Any, int]] = [
    (None, 0),
    (LoadReport({"failed": 1}), 2),
    (LoadReport({"failed": 0}), 0),
    (IndexReport(1, 0, 0, (("a", "b"),), 0.0, 1, 1), 2),
    (IndexReport(1, 1, 0, (), 0.0, 1, 1), 0),
    (Verified((Problem("a", "b", "c"),)), 70),
    (Verified(()), 0),
    ([Check("a", False, "c")], 70),
    ([Check("a", True, "c")], 0),
    ([], 0),
    (BatchReport(1, 0, 0, 1, 0.1, "o"), 2),
    (BatchReport(1, 0, 0, 0, 0.1, "o"), 0),
]


@pytest.mark.parametrize(("result", "wanted"), STATUSES)
def test_the_status_says_whether_something_failed(result: Any, wanted: int) -> None:
    assert status(result) == wanted


@given(st.text())
def test_nothing_steers_the_terminal(text: str) -> None:
    printed = list(lines(Document("d", text, text)))
    steering = [c for line in printed for c in line if unicodedata.category(c) in ("Cc", "Cs")]
    assert set(steering) <= {"\t"}
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200f"])
def test_nothing_reorders_a_line(character: str) -> None:
    assert clean(f"a{character}b") == "ab"
