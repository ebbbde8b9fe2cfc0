"""Nothing later shows: a result under as_of is the same whether the later was ever written.

Each random base is asked twice: as it is, and without what began at or after the horizon and
with every end at or after it open. Whatever a user may see must be equal.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_base import Base, chunk, fact, node

from kgqa.errors import NotFoundError
from kgqa.model.answer import AskOptions
from kgqa.model.things import Fact, Relation
from kgqa.query import history
from kgqa.query.answer import ask, search
from kgqa.query.render import to_json
from kgqa.query.scope import scope_of
from kgqa.temporal import parse_instant_span

PEOPLE = {"p1": "Ada Moor", "p2": "Ben Nash"}
SINCE = "name:cyril oak"
"""A person whom only facts name, and who is not there before the first of them."""
OFFICES = {"o1": "Harbour Master", "o2": "Town Clerk"}
RELATIONS = [Relation("held office", "held office", ("was",)), Relation("spouse", "spouse")]
QUESTIONS = (
    "Who was Harbour Master?",
    "Who was Harbour Master in 1790?",
    "Who was the first Harbour Master?",
    "Who was the last Harbour Master?",
    "Who was the next Harbour Master after Ada Moor?",
    "How many people were Harbour Master?",
    "How many people were Harbour Master between 1760 and 1840?",
    "How many times was Ada Moor Harbour Master?",
    "How long was Ada Moor Harbour Master?",
    "When did Ada Moor become Harbour Master?",
    "When did Ada Moor stop being Harbour Master?",
    "Was Ben Nash Town Clerk?",
    "Which office did Ada Moor hold?",
    "Which office did Ada Moor hold in 1800?",
    "Who was Town Clerk while Ada Moor was Harbour Master?",
    "Who was Harbour Master before 1820?",
    "Who was Harbour Master after 1770?",
    "What happened to the lighthouse?",
    "Which office did Cyril Oak hold?",
    "Was Cyril Oak Town Clerk?",
    "Who was Town Clerk before Cyril Oak?",
)

years = st.integers(1750, 1850)
rows = st.lists(
    st.tuples(
        st.sampled_from([*sorted(PEOPLE), SINCE]),
        st.sampled_from(sorted(OFFICES)),
        years,
        st.integers(1, 30) | st.none(),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:3],  # two that differ in their ends alone are one before these
)


def base(
    terms: list[tuple[str, str, int, int | None]], written: list[int], *, namesake: bool = False
) -> Base:
    """Return a base; ``namesake`` adds another Ada Moor, who lived after every horizon."""
    facts = {}
    for who, office, start, length in terms:
        end = ".." if length is None else f"<{start + length}"
        made = fact(who, "held office", office, f"{start}/{end}")
        facts[made.id] = made
    text = " ".join(f"The lighthouse was painted in {year}." for year in written)
    labels = PEOPLE | OFFICES
    nodes = [node(i, label, "person" if i in PEOPLE else "office") for i, label in labels.items()]
    if namesake:
        made = fact("p9", "held office", "o1", "1901/..")
        facts[made.id] = made
        nodes.append(node("p9", "Ada Moor", "person", "1870/1950"))
    return Base(
        list(facts.values()),
        nodes,
        [chunk("c1", text)] if text else [],
        RELATIONS,
    )


def seen(result: Any) -> Any:
    """Return what a user sees: the JSON form, without hashes and the clock."""
    text = json.dumps(to_json(result), sort_keys=True)
    return json.loads(re.sub(r"fact:\w+", "fact", text))


def cut(terms: Any, written: list[int], year: int) -> Base:
    """Return the base as it could have been written before ``year`` was over."""
    kept = [
        (who, office, start, None if length is None or start + length > year else length)
        for who, office, start, length in terms
        if start <= year
    ]
    return base(kept, [y for y in written if y <= year]) if kept else base([], written)


@pytest.mark.parametrize("question", QUESTIONS)
@settings(max_examples=6)
@given(terms=rows, year=st.integers(1755, 1845))
def test_answers(question: str, terms: Any, year: int) -> None:
    options = AskOptions(as_of=str(year))
    whole = ask(base(terms, [], namesake=True), None, question, options)
    before = ask(cut(terms, [], year), None, question, options)
    assert whole.answers == before.answers
    assert whole.text == before.text
    shown, expected = seen(whole), seen(before)
    for key in (
        "answer_items",
        "citations",
        "confidence",
        "scope",
        "conflicts",
        "choices",
        "reason",
    ):
        assert shown[key] == expected[key]


@settings(max_examples=25)
@given(terms=rows, year=st.integers(1755, 1845), written=st.lists(years, max_size=5))
def test_no_later_year_is_printed(terms: Any, year: int, written: list[int]) -> None:
    world = base(terms, written, namesake=True)
    options = AskOptions(as_of=str(year))
    scope = scope_of(world, options)
    results = [
        ask(world, None, "What happened to the lighthouse?", options),
        search(world, None, "lighthouse painted Harbour Master", 10, options),
        history.snapshot(world, scope=scope),
        history.at(world, "Ada Moor", scope),
        history.timeline(world, "o1", scope=scope),
        history.when(world, "p1", "held office", "o1", scope=scope),
        history.diff(world, "1700", str(year), scope=scope_of(world, AskOptions())),
    ]
    for result in results:
        shown = to_json(result)
        for scoped in ("scope", "start", "end"):
            shown.pop(scoped, None)
        printed = {int(y) for y in re.findall(r"\b1[78]\d\d\b", json.dumps(shown))}
        assert max(printed, default=0) <= year


@settings(max_examples=25)
@given(terms=rows, year=st.integers(1755, 1845))
def test_python_objects_are_cut_too(terms: Any, year: int) -> None:
    options = AskOptions(as_of=str(year))
    found = search(base(terms, []), None, "Who was Harbour Master?", 10, options)
    horizon = parse_instant_span(str(year)).end
    for evidence in found.items:
        if not isinstance(evidence.item, Fact):
            continue
        assert evidence.item.valid.es < horizon
        assert evidence.item.valid.end_open or evidence.item.valid.le <= horizon


@settings(max_examples=25)
@given(terms=rows, year=st.integers(1755, 1845))
def test_lists_and_histories(terms: Any, year: int) -> None:
    whole, before = base(terms, [], namesake=True), cut(terms, [], year)
    results = []
    for world in (whole, before):
        scope = scope_of(world, AskOptions(as_of=str(year)))
        found: list[Any] = [history.nodes(world, scope=scope)]
        found.append(seen(history.snapshot(world, scope=scope)))
        for name in ("Ada Moor", "Cyril Oak", "p9"):
            try:
                found.append(seen(history.timeline(world, name, scope=scope)))
            except NotFoundError as error:
                found.append(error.to_dict())
        results.append(found)
    assert results[0] == results[1]


def test_listed_nodes_are_cut() -> None:
    world = Base([], [node("n1", "Altor", "city", "1250/1990", Newgate="1920/..", Altor="1250")])
    (listed,) = history.nodes(world, scope=scope_of(world, AskOptions(as_of="1800")))
    assert [a.label for a in listed.aliases] == ["Altor"]
    assert all(v.end_open for v in listed.existence)
