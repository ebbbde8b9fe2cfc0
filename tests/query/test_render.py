"""JSON forms: keys of the contract, strings for times, nothing later."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import offices, town

from kgqa.model.answer import AskOptions
from kgqa.query import history
from kgqa.query.answer import ask, search
from kgqa.query.render import scope_json, to_json
from kgqa.query.scope import scope_of


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for v in value.values() for n in numbers(v)]
    if isinstance(value, list):
        return [n for v in value for n in numbers(v)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_answer_has_the_keys_of_the_contract() -> None:
    found = ask(offices(), None, "Who was Chair of the Council?", AskOptions(as_of="1798"))
    shown = to_json(found)
    assert set(shown) == {
        "question", "answers", "answer_items", "text", "scope", "citations", "evidence",
        "confidence", "abstained", "reason", "choices", "conflicts", "answered_from", "errors",
        "kb_revision",
    }  # fmt: skip
    assert shown["answers"] == ["Ben Nash"]
    assert shown["answer_items"][0]["id"] == "ben"
    assert shown["kb_revision"] == 3
    assert max(numbers(shown)) < 10_000
    text = json.dumps(shown)
    assert "1801" not in text
    assert json.loads(text) == shown
    assert "trace" in to_json(found, trace=True)


def test_scope_echoes_what_was_understood() -> None:
    base = offices()
    scope = scope_of(base, AskOptions(as_of="-0044-03-15", known_at=2))
    assert scope_json(scope) == {
        "as_of": {
            "input": "-0044-03-15",
            "numbering": "historical",
            "calendar": "proleptic_gregorian",
            "precision": "day",
            "start": "-0044-03-15",
            "end": "-0044-03-16",
        },
        "as_of_match": "overlaps",
        "time": None,
        "known_at": 2,
        "revision": 2,
        "undated": "include",
    }
    coarse = scope_json(scope_of(base, AskOptions(as_of="1815")))["as_of"]
    assert (coarse["start"], coarse["end"]) == ("1815-01-01", "1816-01-01")
    timed = scope_json(scope_of(base, AskOptions(as_of="1815-06-18T14:30")))["as_of"]
    assert timed["zone"] == "assumed"
    assert timed["start"].startswith("1815-06-18T14:30")


def test_open_bounds_are_dots() -> None:
    found = ask(offices(), None, "Who was Chair of the Council before 1797?", AskOptions())
    asked = to_json(found)["scope"]["time"]
    assert (asked["start"], asked["end"]) == ("..", "1797-01-01")


@pytest.mark.parametrize("kind", ["at", "timeline", "snapshot", "diff", "when", "search"])
def test_every_result_has_a_json_form(kind: str) -> None:
    base = town()
    scope = scope_of(base, AskOptions(as_of="1800"))
    result: Any = {
        "at": lambda: history.at(base, "town", scope),
        "timeline": lambda: history.timeline(base, "town", scope=scope),
        "snapshot": lambda: history.snapshot(base, scope=scope),
        "diff": lambda: history.diff(base, "1700", "1800", scope=scope),
        "when": lambda: history.when(base, "town", "country", "south", scope=scope),
        "search": lambda: search(offices(), None, "lighthouse", 3, AskOptions(as_of="1800")),
    }[kind]()
    shown = to_json(result)
    assert json.loads(json.dumps(shown)) == shown
    assert "1918" not in json.dumps(shown)
    assert "Newgate" not in json.dumps(shown)
