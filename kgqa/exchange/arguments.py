"""Arguments of the Python interface against their type hints.

Belongs here: one check that names the argument. Must not: values' meaning, conversion.
"""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache, wraps
from inspect import get_annotations, signature
from math import isfinite
from typing import Any, Literal, ParamSpec, TypeVar

from kgqa.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check a function's arguments against its hints before it runs.

    Raises InputError (``input.type``) naming the argument; a call that does not fit the
    signature raises TypeError, as always.
    """
    expected = signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        hints = _hints(function)
        for name, value in expected.bind(*args, **kwargs).arguments.items():
            if name in hints:
                check(name, value, hints[name])
        return function(*args, **kwargs)

    return call


def checked_methods(owner: type[C]) -> type[C]:
    """Check the arguments of every public method of a class, as ``checked`` does."""
    for name, member in list(vars(owner).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod):
            setattr(owner, name, classmethod(checked(member.__func__)))
        elif callable(member):
            setattr(owner, name, checked(member))
    return owner


def check(name: str, value: Any, hint: Any) -> None:
    """Check one value; dataclasses are checked by field.

    Raises InputError (``input.type``).

    >>> check("limit", "ten", int | None)
    Traceback (most recent call last):
    ...
    kgqa.errors.InputError: limit is int | None, not 'ten'; see docs/python.md
    """
    if isinstance(value, str) and not _is_text(value):
        raise InputError(
            f"{name} holds a character that is no text: {_shown(value)}", code="input.type",
            hint="leave out NUL and halves of surrogate pairs",
        )  # fmt: skip
    if not _fits(value, hint):
        wanted = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
        raise InputError(
            f"{name} is {wanted}, not {_shown(value)}", code="input.type", hint="see docs/python.md"
        )
    if is_dataclass(value) and not isinstance(value, type):
        hints = _hints(type(value))
        for field in fields(value):
            check(f"{name}.{field.name}", getattr(value, field.name), hints[field.name])
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            if is_dataclass(item):
                check(f"{name}[{number}]", item, type(item))


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


@lru_cache(maxsize=256)
def _hints(owner: Any) -> dict[str, Any]:
    """Return evaluated hints; what is only imported for type checkers is left out."""
    if isinstance(owner, type):
        return typing.get_type_hints(owner)
    found = {}
    for name, hint in get_annotations(owner).items():
        if name == "return":
            continue
        found[name] = eval(hint, owner.__globals__) if isinstance(hint, str) else hint  # noqa: S307
    return found


def _fits(value: Any, hint: Any) -> bool:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, option) for option in args)
    if origin is Literal:
        return any(type(value) is type(option) and value == option for option in args)
    if origin is tuple:
        return isinstance(value, tuple) and _all(value, args)
    if origin is not None and isinstance(origin, type):
        return _collection(value, origin, args)
    if hint is Any:
        return True
    if hint is float:
        return type(value) is int or (type(value) is float and isfinite(value))
    if hint is int:
        return type(value) is int
    if hint is str:
        return isinstance(value, str) and _is_text(value)
    if hint is None or hint is type(None):
        return value is None
    protocol = getattr(hint, "_is_protocol", False)
    return protocol or not isinstance(hint, type) or isinstance(value, hint)


def _all(values: tuple[Any, ...], args: tuple[Any, ...]) -> bool:
    if len(args) == 2 and args[1] is ...:
        return all(_fits(v, args[0]) for v in values)
    return len(values) == len(args) and all(map(_fits, values, args))


def _collection(value: Any, origin: type, args: tuple[Any, ...]) -> bool:
    if not isinstance(value, origin) or isinstance(value, (str, bytes)):
        return False
    if isinstance(value, os.PathLike):
        return "\0" not in os.fsdecode(value)
    if isinstance(value, Mapping) and len(args) == 2:
        return all(_fits(k, args[0]) and _fits(v, args[1]) for k, v in value.items())
    if isinstance(value, Sequence) and issubclass(origin, Sequence) and len(args) == 1:
        return all(_fits(v, args[0]) for v in value)
    return True


def _is_text(text: str) -> bool:
    """Tell whether a text can be stored: no NUL, no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
