"""The rules of time: options to a Scope."""

from __future__ import annotations

import pytest
from samples import offices
from small_base import Base

from kgqa.errors import InputError
from kgqa.model.answer import AskOptions
from kgqa.query.scope import asking, incident, pattern, scope_of
from kgqa.temporal import parse_instant_span
from kgqa.temporal.interval import Interval

NOW = parse_instant_span("2024-05-01").start


def test_omitted_as_of_is_the_whole_base() -> None:
    scope = scope_of(Base(), AskOptions(), NOW)
    assert scope.as_of is None
    assert scope.horizon is None
    assert scope.asked is None
    assert scope.revision == 3
    assert pattern(scope).begun_before is None


def test_as_of_is_a_granule_with_a_horizon() -> None:
    scope = scope_of(Base(), AskOptions(as_of="1815-06"), NOW)
    assert scope.as_of is not None
    assert scope.as_of.precision == "month"
    assert scope.horizon == parse_instant_span("1815-06").end
    assert scope.asked == parse_instant_span("1815-06")


def test_now_is_read_once() -> None:
    scope = scope_of(Base(), AskOptions(as_of="now"), NOW)
    assert scope.asked == Interval(NOW, NOW + 1)


@pytest.mark.parametrize("text", ["", "null", "0000", "-44-03-15", "2023-02-29", "18150618"])
def test_bad_times_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        scope_of(Base(), AskOptions(as_of=text), NOW)


@pytest.mark.parametrize(
    ("known", "revision"),
    [(0, 0), (2, 2), (9, 3), ("2", 2), ("r12", 3), ("r1", 1), ("1970-01-01T00:00:02", 2),
     ("1970", 3), ("1969", 0), ("now", 3)],
)  # fmt: skip
def test_known_at_is_a_revision_or_an_instant(known: str | int, revision: int) -> None:
    """Revision n of the sample base was written n seconds after 1970 began."""
    scope = scope_of(Base(), AskOptions(known_at=known), NOW)
    assert scope.known_at == revision
    assert scope.revision == revision


@pytest.mark.parametrize("known", [-1, True, 1.5, "yesterday"])
def test_bad_known_at_is_refused(known: object) -> None:
    with pytest.raises(InputError):
        scope_of(Base(), AskOptions(known_at=known), NOW)  # type: ignore[arg-type]


def test_undated_policy_is_the_bases_unless_given() -> None:
    strict = Base(settings={"undated": "exclude"})
    assert scope_of(strict, AskOptions(), NOW).undated == "exclude"
    assert scope_of(strict, AskOptions(undated="include"), NOW).undated == "include"
    assert scope_of(Base(), AskOptions(), NOW).undated == "include"


def test_question_time_is_cut_before_the_horizon() -> None:
    scope = scope_of(Base(), AskOptions(as_of="1815"), NOW)
    year = parse_instant_span("1815")
    inside = asking(scope, Interval(year.start - 5, year.end + 5), "around 1815")
    assert inside is not None
    assert inside.time == Interval(year.start - 5, year.end)
    assert inside.asked == inside.time
    assert inside.time_text == "around 1815"
    assert asking(scope, Interval(year.end, year.end + 5), "1816") is None


def test_match_policy_alters_only_the_time_of_as_of() -> None:
    scope = scope_of(Base(), AskOptions(as_of="1815", as_of_match="end"), NOW)
    span = parse_instant_span("1815")
    assert pattern(scope, span).match == "end"
    inside = asking(scope, span, "1815")
    assert inside is not None
    assert pattern(inside, span).match == "overlaps"
    every = scope_of(Base(), AskOptions(as_of="1815", as_of_match="all"), NOW)
    assert pattern(every, span).match == "overlaps"


def test_incident_facts_are_once_each() -> None:
    base = offices()
    scope = scope_of(base, AskOptions(), NOW)
    found = incident(base, "ada", pattern(scope))
    assert sorted(f.relation for f in found) == ["held office", "held office", "spouse"]
