"""Every result as plain JSON values: times as ISO text, never integers.

Belongs here: one function over the frozen results. Must not: choosing what a result holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import singledispatch
from pathlib import Path
from typing import Any

from kgqa.model.things import Literal, Recorded
from kgqa.protocols import Change
from kgqa.temporal.interval import END, Interval, Validity
from kgqa.temporal.printing import format as format_validity
from kgqa.temporal.printing import format_instant, format_span


@singledispatch
def plain(value: Any) -> Any:
    """Return a value as JSON can carry it: dataclasses by field, times as ISO text.

    >>> plain(Literal(3))
    3
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    return value


@plain.register
def _(value: Literal) -> Any:
    return value.value


@plain.register
def _(value: Validity) -> Any:
    return format_validity(value) if value.dated else None


@plain.register
def _(value: Interval) -> Any:
    return format_span(value)


@plain.register
def _(value: Recorded) -> Any:
    return {"from": value.start, "to": None if value.end == END else value.end}


@plain.register
def _(value: Change) -> Any:
    return {
        "revision": value.revision,
        "wall": format_instant(value.wall, "millisecond"),
        "note": value.note,
    }
