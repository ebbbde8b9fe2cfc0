"""Questions end to end over small bases: answers, words, citations, abstentions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from samples import offices, town
from small_base import Base, Letters, chunk, fact, node

from kgqa.errors import FaultError, InputError, UnavailableError
from kgqa.model.answer import Answer, AskOptions
from kgqa.model.things import Relation
from kgqa.query.answer import ask, explain, search


def answer(base: Base, question: str, **options: Any) -> Answer:
    return ask(base, Letters(), question, AskOptions(**options))


CHAIR = "Chair of the Council"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (f"Who was {CHAIR} in 1798?", ("Ben Nash",)),
        (f"Who was {CHAIR} on 4 March 1797?", ("Ben Nash",)),
        (f"Who was {CHAIR} on 3 March 1797?", ("Ada Moor",)),
        (f"Who was {CHAIR} between 1799 and 1805?", ("Ben Nash", "Cyril Oak")),
        (f"Who was the first {CHAIR}?", ("Ada Moor",)),
        (f"Who was the third {CHAIR}?", ("Cyril Oak",)),
        (f"Who was the last {CHAIR}?", ("Dorothy Pell",)),
        (f"Who was the next {CHAIR} after Ben Nash?", ("Cyril Oak",)),
        (f"When did Ben Nash become {CHAIR}?", ("1797-03-04",)),
        (f"How long was Ben Nash {CHAIR}?", ("P4Y",)),
        (f"How long was Ada Moor {CHAIR}?", ("P9Y11M31D",)),
        (f"How many people were {CHAIR} between 1790 and 1810?", ("3",)),
        (f"How many times was Ada Moor {CHAIR}?", ("2",)),
        (f"Was Ben Nash {CHAIR} in 1798?", ("yes",)),
        (f"Was Ben Nash {CHAIR} in 1805?", ("no",)),
        (f"Who was Deputy {CHAIR} while Ada Moor was {CHAIR}?", ("Ben Nash",)),
        ("Which office did Ben Nash hold in 1790?", ("Deputy Chair of the Council",)),
        (f"How many years was Ben Nash {CHAIR}?", ("P4Y",)),
        (f"In which year did Ben Nash become {CHAIR}?", ("1797",)),
        (f"Who was {CHAIR} after 1805?", ("Ada Moor", "Dorothy Pell")),
        (f"Who was {CHAIR} before 1797?", ("Ada Moor",)),
    ],
)
def test_answers(question: str, expected: tuple[str, ...]) -> None:
    found = answer(offices(), question)
    assert found.answers == expected
    assert found.answered_from == "graph"
    assert not found.abstained
    numbers = {c.number for c in found.citations}
    assert numbers
    assert {int(n) for n in re.findall(r"\[(\d+)\]", found.text)} <= numbers
    assert [i.label for i in found.answer_items] == list(found.answers)


def test_vacancy_is_no_answer_and_no_guess() -> None:
    found = answer(offices(), f"Who was {CHAIR} on 1 September 1812?")
    assert found.answers == ()
    assert found.abstained
    assert found.reason == "nothing_recorded_then"
    assert found.confidence == "none"


@pytest.mark.parametrize(
    "question",
    [
        "Which office did Zed Vane hold?",
        "Who was the spouse of Zed Vane?",
        "Who was the spouse of zed vane?",
        "How many spouses did Zed Vane have?",
    ],
)
def test_a_name_nobody_bears_is_not_passed_over(question: str) -> None:
    found = ask(offices(), None, question, AskOptions())
    assert found.answers == ()
    assert found.abstained
    assert found.reason in ("unknown_name", "below_threshold")


def test_text_cites_the_fact_with_its_interval() -> None:
    found = answer(offices(), f"Who was {CHAIR} in 1798?")
    assert found.text == ("Ben Nash held office: Chair of the Council, 1797-03-04/<1801-03-04 [1]")
    assert found.citations[0].text == found.text.removesuffix(" [1]")
    assert found.evidence[0].label == found.citations[0].label
    assert found.confidence == "high"
    assert found.kb_revision == 3


class TestAsOf:
    def test_a_question_without_time_is_asked_at_as_of(self) -> None:
        found = answer(offices(), f"Who was {CHAIR}?", as_of="1798")
        assert found.answers == ("Ben Nash",)
        assert "1797-03-04/.. (as of 1798)" in found.text
        assert "1801" not in found.text

    def test_counts_too(self) -> None:
        found = answer(offices(), f"How many people were {CHAIR}?", as_of="1798")
        assert found.answers == ("1",)

    def test_coarse_as_of_gives_every_holder(self) -> None:
        found = answer(offices(), f"Who was {CHAIR}?", as_of="1797")
        assert found.answers == ("Ada Moor", "Ben Nash")

    @pytest.mark.parametrize(
        ("policy", "expected"),
        [("start", ("Ada Moor",)), ("end", ("Ben Nash",)), ("all", ())],
    )
    def test_match_policies(self, policy: str, expected: tuple[str, ...]) -> None:
        found = answer(offices(), f"Who was {CHAIR}?", as_of="1797", as_of_match=policy)
        assert found.answers == expected

    def test_all_joins_touching_terms_first(self) -> None:
        split = Base(
            [fact("ada", "led", "x", "1790/1794"), fact("ada", "led", "x", "1795/1799")],
            [node("ada", "Ada Moor", "person"), node("x", "Firm X", "company")],
        )
        found = answer(split, "Who led Firm X?", as_of="179X", as_of_match="all")
        assert found.answers == ("Ada Moor",)
        assert found.answer_items[0].valid == "1790/1799"

    def test_question_time_replaces_as_of(self) -> None:
        found = answer(offices(), f"Who was {CHAIR} in 1791?", as_of="1798")
        assert found.answers == ("Ada Moor",)
        assert found.scope.time_text

    def test_question_time_at_or_after_it_is_outside(self) -> None:
        found = answer(offices(), f"Who was {CHAIR} in 1805?", as_of="1798")
        assert found.answers == ()
        assert found.abstained
        assert found.reason == "outside_as_of"

    def test_order_runs_over_the_world(self) -> None:
        found = answer(offices(), f"Who was the last {CHAIR}?", as_of="1798")
        assert found.answers == ("Ben Nash",)
        gone = answer(offices(), f"Who was the third {CHAIR}?", as_of="1798")
        assert gone.answers == ()

    def test_nothing_later_is_hinted_at(self) -> None:
        found = ask(offices(), None, f"Who was {CHAIR}?", AskOptions(as_of="1789"))
        assert found.answers == ()
        assert found.reason != "nothing_recorded_then"
        assert not re.search("Nash|Oak|Pell|179", found.text)

    def test_durations_run_so_far(self) -> None:
        found = answer(offices(), f"How long was Ben Nash {CHAIR}?", as_of="1798-03-03")
        assert found.answers == ("P1Y",)
        assert found.answer_items[0].note == "1 year, so far"

    def test_an_end_that_is_still_to_come_is_not_told(self) -> None:
        found = answer(offices(), f"When did Ben Nash stop being {CHAIR}?", as_of="1798")
        assert found.answers == ()
        assert "1801" not in found.text

    def test_every_read_is_filtered(self) -> None:
        base = offices()
        answer(base, "Where was the lighthouse?", as_of="1798")
        horizon = {p.begun_before for p in base.asked if p.begun_before is not None}
        assert len(horizon) == 1

    def test_digest_hides_later_sentences(self) -> None:
        found = answer(offices(), "What happened to the lighthouse?", as_of="1800")
        assert found.answered_from == "passages"
        assert found.answers == ()
        assert found.text.startswith("Retrieval evidence answer:\n[1] Works > Lighthouse\n")
        assert "rebuilt in 1795" in found.text
        assert "1815" not in found.text


def test_names_are_those_of_the_time() -> None:
    assert answer(town(), "Which country did Newgate belong to in 1800?").answers == ("Southland",)
    found = answer(town(), "Which country did Altor belong to in 1800?")
    assert found.answers == ("Southland",)
    assert found.text.startswith("Neuburg country: Southland")
    assert found.text.endswith("(Neuburg: asked as Altor)")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Newgate called in 1800?", ("Neuburg",)),
        ("What was Newgate called in 1300?", ("Altor",)),
        ("What was Newgate called in 1950?", ("Newgate",)),
    ],
)
def test_what_was_it_called(question: str, expected: tuple[str, ...]) -> None:
    found = answer(town(), question)
    assert found.answers == expected
    assert found.citations[0].label == "node:town"
    assert found.answer_items[0].certainty == "definite"
    assert found.text.startswith(f"{expected[0]} was the name, ")


def test_the_value_changes_and_no_time_is_given() -> None:
    found = answer(offices(), f"Who was {CHAIR}?")
    assert found.reason == "varies_with_time"
    assert found.answers == ("Dorothy Pell", "Ada Moor", "Ben Nash", "Cyril Oak")
    assert not found.abstained


class TestNames:
    def base(self) -> Base:
        return Base(
            [
                fact("a1", "held office", "chair", "1790/1795"),
                fact("a2", "held office", "clerk", "1800/1805"),
            ],
            [
                node("a1", "Ada Moor", "person", "1750/1821"),
                node("a2", "Ada Moor", "person"),
                node("chair", CHAIR, "office"),
                node("clerk", "Town Clerk", "office"),
            ],
        )

    def test_time_settles_which_is_meant(self) -> None:
        found = answer(self.base(), "Which office did Ada Moor hold in 1792?")
        assert found.answers == (CHAIR,)
        assert "other meanings that do not fit: Ada Moor a2" in found.text

    def test_several_that_fit_are_choices(self) -> None:
        found = answer(self.base(), "Which office did Ada Moor hold?")
        assert found.answers == ()
        assert found.abstained
        assert found.reason == "ambiguous_name"
        assert {c.id for c in found.choices} == {"a1", "a2"}
        assert found.choices[0].label == "Ada Moor"

    def test_the_caller_settles_it(self) -> None:
        found = answer(self.base(), "Which office did Ada Moor hold?", nodes={"Ada Moor": "a2"})
        assert found.answers == ("Town Clerk",)


def test_contradictions_are_reported_and_both_shown() -> None:
    base = offices()
    base.facts.append(fact("eve", "held office", "chair", "1798-01-01/<1799-01-01"))
    found = answer(base, f"Who was {CHAIR} on 1 May 1798?")
    assert set(found.answers) == {"Ben Nash", "Eve Quill"}
    assert len(found.conflicts) == 1
    assert set(found.conflicts[0]) == {c.label for c in found.citations}


def test_relation_may_require_existence() -> None:
    base = offices()
    base.relations_.append(Relation("patron of", "patron of", requires_existence="subject"))
    base.facts.append(fact("ada", "patron of", "chair", "1800/1900"))
    assert answer(base, f"Who was patron of {CHAIR} in 1810?").answers == ("Ada Moor",)
    assert answer(base, f"Who was patron of {CHAIR} in 1850?").answers == ()


def test_existence_alone_removes_nothing() -> None:
    base = offices()
    base.facts.append(fact("ada", "patron of", "chair", "1800/1900"))
    found = answer(base, f"Who was patron of {CHAIR} in 1850?")
    assert found.answers == ("Ada Moor",)
    assert found.answer_items[0].note == "existed 1750/1821"


def test_a_subject_that_did_not_exist_then_is_told() -> None:
    base = Base(
        [fact("wall", "located in", "berlin", None)],
        [node("wall", "Long Wall", "wall", "1961/1989"), node("berlin", "Berlin", "city")],
        [],
        [Relation("located in", "located in")],
    )
    asked = "Where was the Long Wall located"
    gone = ask(base, None, f"{asked} in 1995?", AskOptions())
    assert gone.answers == ("Berlin",)
    assert "(Long Wall existed 1961/1989)" in gone.text
    assert "existed" not in ask(base, None, f"{asked} in 1970?", AskOptions()).text
    assert "existed" not in ask(base, None, f"{asked}?", AskOptions(as_of="1950")).text


def test_abstentions_say_why() -> None:
    assert answer(Base(), "Who was king in 1800?").reason == "empty_kb"
    found = answer(Base(chunks_=[chunk("c", "zzz")]), "Who was king in 1800?")
    assert found.abstained
    assert found.reason in ("below_threshold", "not_understood", "unknown_name")
    assert found.text


def test_namesakes_are_one_answer_with_both_ids() -> None:
    base = Base(
        [
            fact("m1", "held office", "o", "-0050"),
            fact("m2", "held office", "o", "-0049"),
            fact("x", "held office", "o", "-0048"),
        ],
        [node("m1", "Gaius Marcellus"), node("m2", "Gaius Marcellus"), node("x", "Nero Vane")],
        [],
        [Relation("held office", "held office")],
    )
    base.nodes_.append(node("o", "Consul"))
    found = ask(base, None, "Who was Consul between 50 BC and 48 BC?", AskOptions())
    assert found.answers == ("Gaius Marcellus", "Nero Vane")
    assert [i.label for i in found.answer_items] == list(found.answers)
    assert (found.answer_items[0].id, found.answer_items[0].note) == ("m1", "also m2, -0049")
    assert {e.item.subject for e in found.evidence} == {"m1", "m2", "x"}  # type: ignore[union-attr]


def test_bad_questions_are_refused() -> None:
    with pytest.raises(InputError):
        answer(offices(), "  ")
    with pytest.raises(InputError):
        answer(offices(), "Who was chair on 30 February 1800?")


def test_a_base_without_index_says_so() -> None:
    found = ask(offices(), None, "What happened to the lighthouse?", AskOptions())
    steps = {s.name: s.detail for s in found.trace}
    assert steps["vectors"] == {"skipped": "the base has no index"}
    assert found.answered_from == "passages"


def test_an_embedder_that_is_down_degrades_and_says_so() -> None:
    class Down(Letters):
        def embed(self, texts: Any) -> Any:
            raise UnavailableError("no server", code="embedder.unreachable", hint="start it")

    for found in (
        ask(offices(), Down(), "What happened to the lighthouse?", AskOptions()),
        search(offices(), Down(), "lighthouse", 3, AskOptions()),
    ):
        assert [e["error"] for e in found.errors] == ["embedder.unreachable"]
    computed = ask(offices(), Down(), f"Who was {CHAIR} in 1798?", AskOptions())
    assert computed.answers == ("Ben Nash",)
    assert computed.errors == ()


def test_a_moment_with_an_ambiguous_name_asks_back() -> None:
    base = offices()
    base.nodes_.append(node("ada2", "Ada Moor", "person"))
    base.facts.append(fact("ada2", "held office", "chair", "1820/1825"))
    found = answer(base, f"Who was Deputy {CHAIR} while Ada Moor was {CHAIR}?")
    assert found.answers == ()
    assert found.reason == "ambiguous_name"


def test_explain_shows_whole_intervals_and_what_time_left_out() -> None:
    found = explain(offices(), None, f"Who was {CHAIR}?", AskOptions(as_of="1798"))
    assert "1797-03-04/<1801-03-04" in found.text
    operators = next(s for s in found.trace if s.name == "operators")
    assert operators.detail["left_out_by_time"] == 4
    assert "losers" in operators.detail


def test_digest_synthesis_numbers_facts_and_passages() -> None:
    found = answer(offices(), f"Who was {CHAIR} in 1798?", synthesis="digest")
    assert found.answers == ()
    assert found.text.startswith("Retrieval evidence answer:\n[1] Fact\nBen Nash held office")
    assert found.answered_from in ("both", "passages")


def test_search_returns_evidence_only() -> None:
    found = search(offices(), Letters(), "lighthouse", 5, AskOptions())
    assert found.items[0].label == "chunk:c1"
    assert found.reason is None
    outside = search(offices(), None, f"Who was {CHAIR} in 1900?", 5, AskOptions(as_of="1800"))
    assert outside.reason == "outside_as_of"
    assert search(Base(), None, "lighthouse", 5, AskOptions()).reason == "empty_kb"


def test_a_citation_that_the_store_does_not_have_is_our_fault() -> None:
    class Forgetful(Base):
        def get(self, labels: Any, known_at: int | None = None) -> dict[str, Any]:
            found = super().get(labels, known_at)
            return {k: v for k, v in found.items() if not k.startswith("fact:")}

    sample = offices()
    base = Forgetful(sample.facts, sample.nodes_, [], sample.relations_)
    with pytest.raises(FaultError, match="citations without evidence"):
        answer(base, f"Who was {CHAIR} in 1798?")


def test_what_is_known_is_bounded_for_the_reading_too() -> None:
    """known_at reaches every look-up, those of question analysis included."""
    base = offices()
    answer(base, f"Who was {CHAIR} in 1798?", known_at=2)
    assert {p.known_at for p in base.asked} == {2}
