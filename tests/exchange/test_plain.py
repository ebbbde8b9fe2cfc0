"""The plain form of results: no integer stands for a time."""

import json
from pathlib import Path

from kgqa.exchange.plain import plain
from kgqa.model.things import Fact, Literal, Recorded
from kgqa.protocols import Change
from kgqa.temporal.interval import UNDATED, Interval
from kgqa.temporal.terms import parse


def test_times_are_texts() -> None:
    fact = Fact("f", "a", "r", Literal(3), parse("-0044-03-15/.."), Recorded(1))
    shown = plain(fact)
    assert shown["valid"] == "-0044-03-15/.."
    assert shown["object"] == 3
    assert shown["recorded"] == {"from": 1, "to": None}
    assert plain(Recorded(1, 4)) == {"from": 1, "to": 4}
    assert plain(UNDATED) is None
    assert plain(Interval(0, 86_400_000)) == "1970-01-01"
    assert plain(Change(1, 0, "load"))["wall"].startswith("1970-01-01T00:00")
    json.dumps(shown)


def test_collections_become_lists_and_objects() -> None:
    assert plain({1: (Path("a"), {"x"}), "b": frozenset()}) == {"1": ["a", ["x"]], "b": []}
