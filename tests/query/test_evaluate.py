"""Readings built by hand over a small base: names, moments, order, the rules of time."""

from __future__ import annotations

from typing import Any

import pytest
from samples import offices
from small_base import Base, fact, node

from kgqa.model.answer import AskOptions
from kgqa.model.question import (
    Candidate,
    Goal,
    Mention,
    Moment,
    Order,
    Question,
    RelationGuess,
    Term,
    Unknown,
    When,
)  # fmt: skip
from kgqa.model.things import Literal
from kgqa.query.evaluate import Evaluator, Found
from kgqa.query.patterns import tiers
from kgqa.query.scope import scope_of
from kgqa.temporal import parse_instant_span
from kgqa.temporal.interval import Interval

HELD = (RelationGuess("held office", 1.0, "exact"),)


def named(*nodes: str, why: str = "exact", score: float = 1.0) -> Mention:
    return Mention(nodes[0], 0, 1, tuple(Candidate(n, n, None, score, why) for n in nodes))


def holders(office: Term, **more: Any) -> Question:
    """Who held the office?"""
    return Question("?", "nodes", Goal(Unknown(), HELD, office, "subject"), **more)


def span(first: str, last: str | None = None) -> Interval:
    return Interval(parse_instant_span(first).start, parse_instant_span(last or first).end)


def during(relation: Any, first: str, last: str | None = None) -> When:
    return When(relation, Moment(first, span=span(first, last)))


def run(question: Question, base: Base | None = None, **options: Any) -> Found:
    base = base or offices()
    return Evaluator(base, scope_of(base, AskOptions(**options))).evaluate(question)


CHAIR = named("chair")


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (during("at", "1798"), ["ben"]),
        (during("between", "1800", "1802"), ["ben", "cyr"]),
        (during("throughout", "1800", "1800"), ["ben"]),
        (during("throughout", "1800", "1802"), []),
        (during("before", "1801"), ["ada", "ben"]),
        (during("after", "1800"), ["cyr", "ada", "dot"]),
        (during("since", "1805"), ["cyr", "ada", "dot"]),
        (during("until", "1795"), ["ada"]),
    ],
)
def test_written_times(when: When, expected: list[str]) -> None:
    assert list(run(holders(CHAIR, when=(when,))).values) == expected


def test_every_when_must_hold() -> None:
    both = (during("since", "1798"), during("until", "1805"))
    assert run(holders(CHAIR, when=both)).values == ("ben", "cyr")
    apart = (during("at", "1798"), during("at", "1805"))
    assert run(holders(CHAIR, when=apart)).support == 1


def test_throughout_is_cut_at_the_horizon() -> None:
    found = run(holders(CHAIR, when=(during("throughout", "1798", "1805"),)), as_of="1799")
    assert found.values == ("ben",)


class TestMoments:
    def holding(self, who: str, office: str = "chair") -> Moment:
        return Moment("while", goal=Goal(named(who), HELD, named(office), "subject"))

    def test_while_another_fact_holds(self) -> None:
        found = run(holders(named("deputy"), when=(When("during", self.holding("ben")),)))
        assert found.values == ("cyr",)
        assert [t.subject for t in found.joined] == ["ben"]

    @pytest.mark.parametrize(
        ("relation", "expected"),
        [("before", ("ada",)), ("after", ("cyr", "ada", "dot")), ("throughout", ())],
    )
    def test_other_relations_to_a_fact(self, relation: Any, expected: tuple[str, ...]) -> None:
        assert run(holders(CHAIR, when=(When(relation, self.holding("ben")),))).values == expected

    def test_during_the_life_of_a_node(self) -> None:
        base = offices()
        base.nodes_.append(node("war", "The War", "event", "1800/1802"))
        found = run(
            holders(CHAIR, when=(When("during", Moment("war", mention=named("war"))),)), base
        )
        assert found.values == ("ben", "cyr")
        early = run(
            holders(CHAIR, when=(When("during", Moment("war", mention=named("war"))),)),
            base, as_of="1799",
        )  # fmt: skip
        assert early.values == ()

    def test_during_the_facts_of_a_node_that_has_no_dates(self) -> None:
        base = offices()
        base.facts.append(fact("fair", "held in", "town", "1798"))
        moment = Moment("the fair", mention=named("fair"))
        assert run(holders(CHAIR, when=(When("during", moment),)), base).values == ("ben",)

    def test_a_moment_that_is_not_known(self) -> None:
        moment = Moment("then", mention=named("nobody"))
        assert run(holders(CHAIR, when=(When("during", moment),))).support == 1


class TestOrder:
    @pytest.mark.parametrize(
        ("order", "expected"),
        [
            (Order("first"), ("ada",)),
            (Order("nth", 2), ("ben",)),
            (Order("nth", 9), ()),
            (Order("last"), ("dot",)),
            (Order("last", 2), ("ada",)),
            (Order("next", anchor=named("ben")), ("cyr",)),
            (Order("next", 2, named("ben")), ("ada",)),
            (Order("previous", anchor=named("ben")), ("ada",)),
            (Order("next", anchor=named("ada")), ("ben", "dot")),
            (Order("next", anchor=named("eve")), ()),
        ],
    )
    def test_kinds(self, order: Order, expected: tuple[str, ...]) -> None:
        assert run(holders(CHAIR, order=order)).values == expected

    def test_an_anchor_may_be_asked_for(self) -> None:
        anchor = holders(named("deputy"), when=(during("at", "1790"),))
        found = run(holders(CHAIR, order=Order("next", anchor=anchor)))
        assert found.values == ("cyr",)

    @pytest.mark.parametrize(("kind", "expected"), [("next", ("cyr",)), ("previous", ("ben",))])
    def test_neighbours_of_a_date(self, kind: Any, expected: tuple[str, ...]) -> None:
        when = (during("after" if kind == "next" else "before", "1800"),)
        assert run(holders(CHAIR, when=when, order=Order(kind))).values == expected

    @pytest.mark.parametrize(("kind", "expected"), [("next", ("cyr",)), ("previous", ("ada",))])
    def test_neighbours_of_a_fact(self, kind: Any, expected: tuple[str, ...]) -> None:
        moment = Moment("he did", goal=Goal(named("ben"), HELD, CHAIR, "subject"))
        when = (When("after" if kind == "next" else "before", moment),)
        assert run(holders(CHAIR, when=when, order=Order(kind))).values == expected

    def test_first_within_a_time(self) -> None:
        found = run(holders(CHAIR, when=(during("between", "1795", "1805"),), order=Order("first")))
        assert found.values == ("ada",)

    def test_yes_or_no_about_order(self) -> None:
        goal = Goal(named("ben"), HELD, CHAIR, "subject")
        assert run(Question("?", "boolean", goal, order=Order("first"))).values == ("ada",)
        other = Goal(named("ben"), HELD, named("deputy"), "object")
        assert run(Question("?", "boolean", other, order=Order("first"))).values == ("deputy",)


class TestNames:
    def test_tiers_keep_equals_together(self) -> None:
        mention = Mention("x", 0, 1, (
            Candidate("a", "a", None, 1.0, "exact"), Candidate("b", "b", None, 0.97, "alias"),
            Candidate("c", "c", None, 0.7, "partial"), Candidate("d", "d", None, 0.65, "partial"),
            Candidate("e", "e", None, 0.5, "fuzzy"),
        ))  # fmt: skip
        assert [[c.node for c in group] for group in tiers(mention)] == [
            ["a", "b"],
            ["c", "d"],
            ["e"],
        ]

    def test_an_exact_name_is_not_given_up_for_a_partial_one(self) -> None:
        office = Mention("deputy", 0, 1, (
            Candidate("deputy", "deputy", None, 1.0, "exact"),
            Candidate("chair", "chair", None, 0.7, "partial"),
        ))  # fmt: skip
        found = run(holders(office, when=(during("at", "1805"),)))
        assert found.support == 1
        assert found.values == ()

    def test_a_name_without_the_pattern_gives_way(self) -> None:
        office = Mention("x", 0, 1, (
            Candidate("eve", "eve", None, 1.0, "exact"),
            Candidate("chair", "chair", None, 0.7, "partial"),
        ))  # fmt: skip
        assert run(holders(office, when=(during("at", "1798"),))).values == ("ben",)

    def test_rivals_and_those_passed_over(self) -> None:
        both = named("chair", "deputy")
        found = run(holders(both, when=(during("at", "1798"),)))
        assert {c.node for c in found.rivals} == {"chair", "deputy"}
        assert found.values == ()
        one = run(holders(both, when=(during("at", "1805"),)))
        assert one.values == ("cyr",)
        assert [c.node for c in one.passed_over] == ["deputy"]

    def test_nested_rivals_are_asked_back(self) -> None:
        inner = holders(named("chair", "deputy"), when=(during("at", "1798"),))
        outer = Question(
            "?", "nodes", Goal(inner, (RelationGuess("spouse", 1.0, ""),), Unknown(), "object")
        )
        assert {c.node for c in run(outer).rivals} == {"chair", "deputy"}


def test_nested_questions_fill_a_side() -> None:
    inner = holders(CHAIR, when=(during("at", "1791"),))
    spouse = (RelationGuess("spouse", 1.0, ""),)
    assert run(Question("?", "nodes", Goal(inner, spouse, Unknown(), "object"))).values == ("eve",)


def test_an_inverted_relation_exchanges_sides() -> None:
    spouse = (RelationGuess("spouse", 1.0, ""), RelationGuess("spouse", 1.0, "", inverted=True))
    goal = Goal(named("eve"), spouse, Unknown(), "object")
    assert run(Question("?", "nodes", goal)).values == ("ada",)


def test_no_relation_is_any_relation() -> None:
    goal = Goal(named("ben"), (), Unknown(), "object")
    found = run(Question("?", "nodes", goal, when=(during("at", "1798"),)))
    assert found.values == ("chair",)


def test_a_literal_never_stands_as_a_subject() -> None:
    base = Base([fact("town", "population", Literal(5), "1800")])
    goal = Goal(named("town"), (RelationGuess("population", 1.0, "", inverted=True),),
                Unknown(), "object")  # fmt: skip
    assert run(Question("?", "nodes", goal), base).support == 0


def test_no_goal_and_too_deep_nesting_find_nothing() -> None:
    assert run(Question("?", "nodes", None)).support == 0
    deep: Term = CHAIR
    for _ in range(6):
        deep = Question("?", "nodes", Goal(Unknown(), HELD, deep, "subject"))
    assert run(Question("?", "nodes", Goal(Unknown(), HELD, deep, "subject"))).support == 0


def test_yes_or_no_is_told_with_what_is_known_elsewhere() -> None:
    goal = Goal(named("ben"), HELD, CHAIR, "subject")
    found = run(Question("?", "boolean", goal, when=(during("at", "1805"),)))
    assert found.support == 1
    assert [t.subject for t in found.joined] == ["ben"]


def test_slices_show_whole_terms() -> None:
    base = Base([fact("a", "held office", "x", "1790/1794"),
                 fact("a", "held office", "x", "1795/1799")])  # fmt: skip
    found = run(holders(named("x"), when=(during("at", "1792"),)), base)
    assert len(found.terms[0].facts) == 1
    assert found.terms[0].valid.le == parse_instant_span("1799").end
    times = run(Question("?", "times", Goal(named("a"), HELD, named("x"), "subject")), base)
    assert len(times.terms) == 1


def test_names_of_a_node_as_terms() -> None:
    base = Base(nodes_=[node("t", "Newgate", None, None, Altor="1250/1500", Neu="1500/1900")])
    goal = Goal(named("t"), (), Unknown(), "object")
    asked = Question("?", "name", goal, when=(during("at", "1300"),))
    assert run(asked, base).values == (Literal("Altor"),)
    everything = run(Question("?", "name", goal), base)
    assert everything.values == (Literal("Altor"), Literal("Neu"))
    plain = Base(nodes_=[node("t", "Newgate")])
    assert run(Question("?", "name", goal), plain).values == (Literal("Newgate"),)
    assert run(Question("?", "name", Goal(named("z"), (), Unknown(), "object")), plain).values == ()
