"""One parser of times (R-TM-04): the function, the Python API and the command line agree."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa import KBase
from kgqa.errors import KGQAError
from kgqa.model.answer import AskOptions
from kgqa.query.render import scope_json
from kgqa.query.scope import scope_of
from kgqa.surfaces.cli import run
from kgqa.temporal import parse_as_of
from kgqa.testing.sizes import counts

SHAPES = ("{y}", "{y}-{m}", "{y}-{m}-{d}", "{y}-{m}-{d}T{h}:30", "{y}-{m}-{d}T{h}:30:59.5{z}")
ODD = (
    "", " ", "now", "null", "0000", "-0000", "+0000-01-01", "0", "false", "18150618", "1815-169",
    "1815-W25-7", "181506", "-44-03-15", "-099-01-01", "12024-01-01", "+12024", "01815", "1815-13",
    "2023-02-29", "1815-06-31", "1815-06-00", "-0004-02-29", "-0005-02-29", "\u22120044-03-15",
    "1815–06", "１８１５", "٠٠٤٤", "2024-01-01T00:00:00 02:00", "1815-06-18T24:00:00", "23:59:60Z",
    "1815-06-18T24:00:01", "1816-12-31T23:59:60Z", "99999999999", "Y17E8", "1815?", "1815~", "18XX",
    "1815/1816", "[1815,1816]", "15 March 44 BC", " 1815 ", "💥", "1815-21",
)  # fmt: skip


def draw(chance: random.Random) -> str:
    """Return a date that is mostly right, or one with a character changed."""
    text = chance.choice(SHAPES).format(
        y=f"{chance.choice(('', '', '-', '+'))}{chance.randrange(13_000):04d}",
        m=f"{chance.randrange(14):02d}",
        d=f"{chance.randrange(33):02d}",
        h=f"{chance.randrange(26):02d}",
        z=chance.choice(("", "Z", "+14:00", "-12:00", "-00:00", "+25:00")),
    )
    if chance.random() < 0.6:
        at = chance.randrange(len(text))
        text = (
            text[:at] + chance.choice("0123456789-+:TZ/. ?~Xa") + text[at + chance.randrange(2) :]
        )
    return text


def told(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the code and message of what it raises."""
    try:
        return call()
    except KGQAError as error:
        return error.code, error.message


@pytest.mark.parametrize("number", counts(400, 5_000))
def test_a_time_means_the_same_everywhere(
    tmp_path: Path, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "a.kg")
    chance = random.Random(number)
    texts = [t for t in ODD if t != "now"] + [draw(chance) for _ in range(number - len(ODD))]
    accepted = 0
    with KBase.create(path) as kb:
        for text in texts:
            here = told(lambda text=text: parse_as_of(text).span)
            scope = told(lambda text=text: kb.snapshot(as_of=text).scope)
            assert (scope.as_of.span if scope.__class__ is not tuple else scope) == here, text
            status = run(["snapshot", path, "--as-of", text, "--json"])
            out = capsys.readouterr().out
            shown = json.loads(out)
            if isinstance(here, tuple):
                assert (status, shown["error"], shown["message"]) == (2, *here), text
            else:
                accepted += 1
                assert status == 0
                assert shown["scope"]["as_of"] == scope_json(scope)["as_of"], text
    assert number * 0.1 < accepted < number * 0.7


def test_now_is_a_word_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "a.kg")
    with KBase.create(path) as kb, kb._store.view() as reader:
        assert scope_of(reader, AskOptions(as_of="now")).as_of is not None
    assert run(["snapshot", path, "--as-of", "now", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scope"]["as_of"]["input"] == "now"
