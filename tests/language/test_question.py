"""What analysis refuses, what it leaves unread, and what holds for every question."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from velmar import BASE, LEXICON

from kgqa.errors import InputError
from kgqa.language.question import analyse, explain_question
from kgqa.language.question.analysis import impossible_date
from kgqa.model.question import Goal, Mention, Question, Unknown
from kgqa.temporal import Interval, parse


def _best(text: str) -> Question:
    return analyse(text, LEXICON, BASE)[0]


def _goal(text: str) -> Goal:
    goal = _best(text).goal
    assert goal is not None
    return goal


def _node(term: object) -> str:
    assert isinstance(term, Mention)
    return term.candidates[0].node


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "question.empty"),
        (" \n\t ", "question.empty"),
        ("Who was mayor? " * 4_000, "question.too_long"),
        ("Who was mayor of Saltharbour on 30 February 1990?", "question.bad_date"),
        ("Who was mayor of Saltharbour on February 30, 1990?", "question.bad_date"),
        ("Who was mayor of Saltharbour on 1990-13-01?", "question.bad_date"),
        ("Who was mayor of Saltharbour on 1990-02-30?", "question.bad_date"),
        ("Who was mayor of Saltharbour on 31st of June?", "question.bad_date"),
        ("Who was mayor of Saltharbour in 1815 after 1820?", "question.contradictory_times"),
        ("Who was mayor of Norrin after 1820 and before 1810?", "question.contradictory_times"),
    ],
)  # fmt: skip
def test_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        analyse(text, LEXICON, BASE)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("on 30 February 1990", "30 February 1990"),
        ("on 29 Feb 1900?", "29 Feb 1900"),
        ("on 29 Feb 2000?", None),
        ("on 29 February 1500", None),
        ("on June 31, 1990", "June 31, 1990"),
        ("on 2023-02-29.", "2023-02-29"),
        ("on 15 March 44 BC", None),
        ("may 99 people", None),
        ("in May 1990 and 2001-12", None),
    ],
)
def test_impossible_date(text: str, bad: str | None) -> None:
    assert impossible_date(text) == bad


@pytest.mark.parametrize(
    "text",
    [
        "¿Quién era el alcalde?",
        "Wer regierte die Stadt im Sommer?",
        "asdf qwer zxcv uiop",
        "?!",
        "12 34",
        "Who invented the zeppelin?",
    ],
)
def test_not_understood(text: str) -> None:
    (only,) = analyse(text, LEXICON, BASE)
    assert only.goal is None
    assert only.why
    assert only.text == text
    assert explain_question(only) == "asked: nodes\ngoal: none"


@pytest.mark.parametrize(
    "text",
    [
        "Who was the dentist of Saltharbour?",
        "Who was mayor of Saltharbour during the Great Frost?",
        "Who painted Saltharbour?",
        "Who was mayor of Saltharbour before Zork Nobody?",
        "When did the successor of Ada Corvin as First Minister of Velmar take office?",
        "Who became mayor of Saltharbour first, Ada Corvin or Bram Tolliver?",
        "How old was Ada Corvin in 1900?",
        "What did Dorn Vasski Jr. do after 1903?",
    ],
)
def test_words_left_over_keep_a_reading_low(text: str) -> None:
    assert all(q.score < 0.5 for q in analyse(text, LEXICON, BASE))


def test_a_name_may_be_settled() -> None:
    text = "Which party did Jonas Rook belong to in 1952?"
    readings = analyse(text, LEXICON, BASE, nodes={"jonas rook": "rook-2"})
    goal = readings[0].goal
    assert goal is not None
    assert [c.node for c in readings[0].mentions[0].candidates] == ["rook-2"]


def test_a_settled_name_that_the_base_does_not_hold_keeps_its_id() -> None:
    readings = analyse("Who was Zork's spouse?", LEXICON, BASE, nodes={"Zork": "z"})
    assert {c.node for q in readings for m in q.mentions for c in m.candidates} == {"z"}


def test_relative_times_count_from_the_reference() -> None:
    text = "Who was mayor of Saltharbour last year?"
    day = parse("1912-06-01")
    best = analyse(text, LEXICON, BASE, reference=Interval(day.es, day.le))[0]
    assert [w.moment.span for w in best.when] == [parse("1911").hull]
    assert analyse(text, LEXICON, BASE)[0].when == ()


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("in 1905", "at"),
        ("on 3 May 1905", "at"),
        ("during 1905", "during"),
        ("between 1901 and 1905", "between"),
        ("from 1901 to 1905", "between"),
        ("from 1901", "since"),
        ("since 1901", "since"),
        ("until 1905", "until"),
        ("by 1905", "until"),
        ("before 1905", "before"),
        ("after 1905", "after"),
        ("throughout 1905", "throughout"),
        ("throughout the whole of 1905", "throughout"),
        ("as of 1905", "at"),
        ("at any time between 1901 and 1905", "between"),
        ("in the 1900s", "at"),
        ("in 50 BC", "at"),
    ],
)
def test_times(text: str, relation: str) -> None:
    best = _best(f"Who was mayor of Saltharbour {text}?")
    assert [w.relation for w in best.when] == [relation]
    assert best.score > 0.9


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Who was the first mayor of Saltharbour?", ("first", 1)),
        ("Who was the earliest mayor of Saltharbour?", ("first", 1)),
        ("Who was the latest mayor of Saltharbour?", ("last", 1)),
        ("Who was the penultimate mayor of Saltharbour?", ("last", 2)),
        ("Who was the second to last mayor of Saltharbour?", ("last", 2)),
        ("Who was the last but one mayor of Saltharbour?", ("last", 2)),
        ("Who was the twelfth mayor of Saltharbour?", ("nth", 12)),
        ("Who was the 21st mayor of Saltharbour?", ("nth", 21)),
        ("Who was the next mayor of Saltharbour after 1907?", ("first", 1)),
        ("Who was the previous mayor of Saltharbour before 1907?", ("last", 1)),
        ("Who was the previous mayor of Saltharbour?", ("last", 2)),
        ("Who was mayor of Saltharbour immediately after 1907?", ("first", 1)),
        ("Who was mayor of Saltharbour just before 1907?", ("last", 1)),
        ("Who was mayor of Saltharbour after Ada Corvin?", ("next", 1)),
        ("Who was the second mayor of Saltharbour after Ada Corvin?", ("next", 2)),
        ("Who took over as mayor of Saltharbour from Ada Corvin?", ("next", 1)),
        ("Who replaced Ada Corvin as mayor of Saltharbour?", ("next", 1)),
        ("Who preceded Bram Tolliver as mayor of Saltharbour?", ("previous", 1)),
        ("Who was succeeded by Bram Tolliver as mayor of Saltharbour?", ("previous", 1)),
        ("Who was Bram Tolliver succeeded by as mayor of Saltharbour?", ("next", 1)),
        ("Who was the predecessor of Bram Tolliver as mayor of Saltharbour?", ("previous", 1)),
    ],
)
def test_order(text: str, order: tuple[str, int]) -> None:
    best = _best(text)
    assert best.order is not None
    assert (best.order.kind, best.order.n) == order
    assert best.goal is not None
    assert best.goal.relations[0].key == "mayor of"
    assert _node(best.goal.object) == "harbour"


def test_after_a_holder_means_all_of_them_where_the_wording_is_plural() -> None:
    best = _best("Who were the mayors of Saltharbour after Ada Corvin?")
    assert best.order is None
    assert best.plural
    (when,) = best.when
    assert when.relation == "after"
    assert when.moment.goal is not None
    assert _node(when.moment.goal.subject) == "ada"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("When did Ada Corvin become mayor of Saltharbour?", "start"),
        ("On what date did Ada Corvin become mayor of Saltharbour?", "start"),
        ("Until when was Ada Corvin mayor of Saltharbour?", "end"),
        ("When did Ada Corvin stop being mayor of Saltharbour?", "end"),
        ("During which period was Ada Corvin mayor of Saltharbour?", "span"),
        ("In which years was Ada Corvin mayor of Saltharbour?", "span"),
        ("For how long was Ada Corvin mayor of Saltharbour?", "duration"),
        ("How many terms did Ada Corvin serve as mayor of Saltharbour?", "times"),
        ("Has Ada Corvin ever been mayor of Saltharbour?", "boolean"),
        ("Count the mayors of Saltharbour.", "count"),
        ("What is the number of mayors of Saltharbour?", "count"),
        ("Name the mayors of Saltharbour.", "timeline"),
        ("Give me a list of the mayors of Saltharbour.", "timeline"),
        ("Tell me when Ada Corvin became mayor of Saltharbour.", "start"),
    ],
)
def test_asked(text: str, asked: str) -> None:
    best = _best(text)
    assert best.asked == asked
    assert best.score > 0.7
    assert best.goal is not None
    assert best.goal.relations[0].key == "mayor of"


PLACES = st.sampled_from([("Saltharbour", "harbour"), ("Oxley-on-Sea", "oxley")])
ASKING = st.sampled_from(
    ["Who was mayor of {}", "who was the mayor of {}", "{} had whom as mayor",
     "Name the mayor of {}",
     "Which person was mayor of {}", "Please tell me who was mayor of {}", "{}'s mayor was who",
     "As far as is known, who was mayor of {}", "Who served as mayor of {}"]
)  # fmt: skip
TIMES = st.sampled_from(["in 1905", "on 4 March 1906", "in March 44 BC", "between 1900 and 1910"])


@given(PLACES, ASKING, TIMES, st.booleans())
def test_one_pattern_many_wordings(
    place: tuple[str, str], asking: str, time: str, fronted: bool
) -> None:
    said = asking.replace("{}", place[0])
    text = (
        f"{time[0].upper()}{time[1:]}, {said[0].lower()}{said[1:]}?"
        if fronted
        else f"{said} {time}?"
    )
    goal = _goal(text)
    assert [g.key for g in goal.relations] == ["mayor of"]
    assert (_node(goal.object), goal.wanted) == (place[1], "subject")
    assert isinstance(goal.subject, Unknown)
    assert len(_best(text).when) == 1


def _readings_or_error(text: str) -> list[Question]:
    try:
        readings = analyse(text, LEXICON, BASE)
    except InputError as refused:
        error: InputError | None = refused
        readings = []
    else:
        error = None
    assert bool(readings) != (error is not None and error.code.startswith("question."))
    return readings


WORDS = st.sampled_from(
    "who what which when where how long many was were did the of in before after while until mayor "
    "Saltharbour Ada Corvin office held as first next successor 's , ? 1905 44 BC spouse that man "
    "list timeline under since by from to number been often year not and".split()
)


@settings(max_examples=150)
@given(st.lists(WORDS, min_size=1, max_size=14).map(" ".join))
@example("before")
@example("who was the man who")
@example("what number of")
@example("'s 's 's")
@example("list")
@example("COUNT")
@example("number of")
@example("how many")
@example("in which year")
def test_any_words_give_readings_or_a_typed_error(text: str) -> None:
    readings = _readings_or_error(text)
    if not readings:
        return
    assert 1 <= len(readings) <= 8
    scores = [q.score for q in readings]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] >= 0
    assert scores[0] <= 1
    assert all(q.text == text and q.why for q in readings)
    assert all(explain_question(q) for q in readings)
    assert analyse(text, LEXICON, BASE) == readings


@settings(max_examples=60)
@given(st.text(max_size=120))
def test_any_text_gives_readings_or_a_typed_error(text: str) -> None:
    readings = _readings_or_error(text)
    if not readings:
        return
    assert readings
    assert all(q == replace(q) for q in readings)
