"""Arguments against hints: the argument is named, right values pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from typing import Literal as OneOf

import pytest

from kgqa.errors import InputError
from kgqa.exchange.arguments import check, checked
from kgqa.model.answer import AskOptions
from kgqa.model.things import Claim, Literal, Node, Ref
from kgqa.protocols import Embedder

GOOD: list[tuple[Any, Any]] = [
    ("a", str), (1, int), (None, str | None), (1, float), (0.5, float), (True, bool),
    ("x", OneOf["x", "y"]), (Path("a"), str | os.PathLike[str]), (["a"], Sequence[str]),
    ({"a": "b"}, Mapping[str, str]), ((1, 2), tuple[int, ...]), ((1, "a"), tuple[int, str]),
    (iter([1]), Iterable[int]), (len, Callable[..., Any]), (object(), Embedder), ("x", Any),
    (AskOptions(as_of="1815"), AskOptions), (None, None),
    (Claim(Ref("a"), "r", Literal(2)), Claim),
]  # fmt: skip
BAD: list[tuple[Any, Any]] = [
    (1, str), ("1", int), (True, int), (1, bool), (b"a", str), ("z", OneOf["x", "y"]),
    ("abc", Sequence[str]), ([1], Sequence[str]), ({"a": 1}, Mapping[str, str]), (3, Callable),
    ((1, "a"), tuple[int, ...]), ((1,), tuple[int, str]), (5, str | os.PathLike[str]),
    ("\ud800", str), ("a\0", str), (Path("a\0"), str | os.PathLike[str]), ("1815", AskOptions),
    (True, float), ([1], tuple[int, ...]),
    (AskOptions(k="9"), AskOptions), (AskOptions(mode="wide"), AskOptions),  # type: ignore[arg-type]
    (Node(5, "a"), Node), (Claim(Ref("a", id=3), "r", Ref("b")), Claim),  # type: ignore[arg-type]
    (Node("a", "a", aliases=("b",)), Node),  # type: ignore[arg-type]
    (float("nan"), float), (Claim(Ref("a"), "r", Literal([1])), Claim),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("value", "hint"), GOOD)
def test_what_fits_passes(value: Any, hint: Any) -> None:
    check("x", value, hint)
    assert hint is not str or isinstance(value, str)


@pytest.mark.parametrize(("value", "hint"), BAD)
def test_what_does_not_fit_is_named(value: Any, hint: Any) -> None:
    with pytest.raises(InputError) as caught:
        check("x", value, hint)
    assert caught.value.code == "input.type"
    assert str(caught.value).startswith("x")
    assert len(str(caught.value)) < 300


def test_a_long_value_is_cut() -> None:
    with pytest.raises(InputError, match=r"x is int, not 'aaa.*\.\.\."):
        check("x", "a" * 1_000, int)


def test_a_call_is_checked_by_argument() -> None:
    @checked
    def double(number: int, times: int = 2) -> int:
        return number * times

    assert double(2) == 4
    assert double(number=2, times=3) == 6
    with pytest.raises(InputError, match="times is int, not 'x'"):
        double(2, times="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="argument"):
        double()  # type: ignore[call-arg]


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
def test_what_is_no_text_is_told_as_that(value: str) -> None:
    with pytest.raises(InputError, match="x holds a character that is no text: '"):
        check("x", value, str)
