"""What each kind of question answers, from terms chosen by hand."""

from __future__ import annotations

from typing import Any

import pytest
from samples import offices, town
from small_base import Base, fact, node

from kgqa.model.answer import AskOptions
from kgqa.model.question import Goal, Question, Unknown
from kgqa.model.things import Relation
from kgqa.query.compose import Composed, answer_text, compose, evidence
from kgqa.query.conflicts import conflicts
from kgqa.query.display import Display
from kgqa.query.evaluate import Found
from kgqa.query.operators import coalesce
from kgqa.query.scope import scope_of

GOAL = Goal(Unknown(), (), Unknown(), "subject")


def composed(
    asked: Any, *valid: str | None, unit: Any = None, as_of: str | None = None
) -> Composed:
    base = Base([fact("a", "r", "x", v) for v in valid])
    scope = scope_of(base, AskOptions(as_of=as_of))
    question = Question("?", asked, GOAL, unit=unit)
    found = Found(question, scope, tuple(coalesce(base.facts)), (), "subject", 2)
    return compose(found, Display(base, scope))


def answers(*args: Any, **kwargs: Any) -> list[str]:
    return [item.label for item in composed(*args, **kwargs).items]


@pytest.mark.parametrize(
    ("asked", "valid", "unit", "expected"),
    [
        ("start", "1901-09-14/<1909-03-04", None, ["1901-09-14"]),
        ("start", "1901-09-14/<1909-03-04", "month", ["1901-09"]),
        ("start", "1901-09-14/<1909-03-04", "year", ["1901"]),
        ("start", "1901/<1909", "day", ["1901"]),
        ("start", "../1909", "year", []),
        ("start", None, None, []),
        ("end", "1901-09-14/<1909-03-04", None, ["1909-03-04"]),
        ("end", "1901-09-14/<1909-03-04", "year", ["1909"]),
        ("end", "1901/1909-03", "year", ["1909"]),
        ("end", "1901/1909", "month", ["1909"]),
        ("end", "1901/..", None, []),
        ("span", "1885-03-04/<1889-03-04", None, ["1885-03-04/<1889-03-04"]),
        ("span", "1885-03-04/<1889-03-04", "year", ["1885"]),
        ("span", None, None, []),
        ("duration", "1885-03-04/<1889-06-01", None, ["P4Y2M28D"]),
        ("duration", "1885-03-04/<1889-06-01", "year", ["P4Y"]),
        ("duration", "1885-03-04/<1889-06-01", "month", ["P4Y2M"]),
        ("duration", "1885/..", None, []),
        ("count", "1885/..", None, ["1"]),
        ("times", "1885/..", None, ["1"]),
        ("boolean", "1885/..", None, ["yes"]),
        ("nodes", "1885/..", None, ["a"]),
        ("timeline", "1885/..", None, ["a"]),
    ],
)
def test_what_is_asked(
    asked: str, valid: str | None, unit: str | None, expected: list[str]
) -> None:
    assert answers(asked, valid, unit=unit) == expected


def test_several_terms() -> None:
    terms = ("1885/1888", "1893/1896")
    assert answers("start", *terms) == ["1885", "1893"]
    assert answers("duration", *terms) == ["P6Y"]
    assert answers("times", *terms) == ["2"]
    assert answers("count", *terms) == ["1"]
    assert composed("nodes", *terms).items[0].valid == "1885/1888, 1893/1896"
    assert answers("duration", "1885/1888", "1893/..") == []


def test_under_as_of_ends_are_open() -> None:
    assert answers("end", "1885/1896", as_of="1890") == []
    assert answers("span", "1885/1896", as_of="1890") == ["1885/.. (as of 1890)"]
    assert answers("duration", "1885/1896", as_of="1890") == ["P6Y"]


def test_timelines_keep_the_order_of_time() -> None:
    base = town()
    scope = scope_of(base, AskOptions())
    facts = [f for f in base.facts if f.relation == "country"]
    question = Question("?", "timeline", GOAL)
    found = Found(question, scope, tuple(coalesce(facts)), (), "object", 2)
    items = compose(found, Display(base, scope)).items
    assert [i.label for i in items] == ["Northland", "Southland", "Eastland"]
    assert [i.id for i in items] == ["north", "south", "east"]


def test_definite_answers_come_first() -> None:
    base = Base([fact("a", "r", "x", "1790/1797"), fact("b", "r", "x", "1797-01-01/1801-01-01")])
    scope = scope_of(base, AskOptions(as_of="1797-05-01"))
    terms = coalesce(base.facts)
    span = scope.asked
    assert span is not None
    from kgqa.query.operators import at

    found = Found(Question("?", "nodes", GOAL), scope, tuple(at(terms, span)), (), "subject", 2)
    made = compose(found, Display(base, scope))
    assert [(i.label, i.certainty) for i in made.items] == [("b", "definite"), ("a", "possible")]
    assert made.lines[1][0].endswith("(possible)")


def test_words_are_numbered_by_their_facts() -> None:
    base = offices()
    scope = scope_of(base, AskOptions())
    terms = coalesce([base.facts[0], base.facts[2]])
    found = Found(Question("?", "count", GOAL), scope, tuple(terms), (), "subject", 2)
    display = Display(base, scope)
    cited = evidence(terms, display)
    text = answer_text(compose(found, display), {e.label: i for i, e in enumerate(cited, 1)})
    assert text.split("\n") == [
        "2",
        "Ada Moor held office: Chair of the Council, 1790-04-30/<1797-03-04 [1]",
        "Ben Nash held office: Chair of the Council, 1797-03-04/<1801-03-04 [2]",
    ]


class TestConflicts:
    RELATIONS = {  # noqa: RUF012
        "spouse": Relation("spouse", "spouse", max_objects=1),
        "consul": Relation("consul", "consul", max_subjects=2),
    }

    def found(self, *facts: Any) -> tuple[tuple[str, ...], ...]:
        return conflicts([fact(*f) for f in facts], self.RELATIONS)

    def test_too_many_objects(self) -> None:
        clash = self.found(("a", "spouse", "x", "1800/1810"), ("a", "spouse", "y", "1805/1812"))
        assert len(clash) == 1
        assert len(clash[0]) == 2

    def test_up_to_the_maximum_is_no_conflict(self) -> None:
        two = [(who, "consul", "rome", "-0059-01-01/-0059-12-31") for who in "ab"]
        assert self.found(*two) == ()
        assert len(self.found(*two, ("c", "consul", "rome", "-0059-03-01/-0059-04-01"))) == 1

    def test_what_only_may_overlap_is_no_conflict(self) -> None:
        assert (
            self.found(("a", "spouse", "x", "1800/1805"), ("a", "spouse", "y", "1805/1810")) == ()
        )
        assert self.found(("a", "spouse", "x", "1800"), ("a", "spouse", "y", "1800")) == ()

    def test_the_same_value_twice_is_no_conflict(self) -> None:
        assert (
            self.found(("a", "spouse", "x", "1800/1810"), ("a", "spouse", "x", "1802/1812")) == ()
        )

    def test_undeclared_relations_never_conflict(self) -> None:
        assert self.found(("a", "knew", "x", "1800/1810"), ("a", "knew", "y", "1800/1810")) == ()


def test_existence_that_is_not_known() -> None:
    base = Base(nodes_=[node("t", "Newgate")])
    scope = scope_of(base, AskOptions())
    assert Display(base, scope).existence(base.nodes_[0]) is None
