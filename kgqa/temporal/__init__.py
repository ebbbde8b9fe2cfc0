"""Time: integers, calendars, and text to and from validity.

Belongs here: instants, intervals, the four bounds of a Validity, Allen's relations; ISO 8601,
EDTF and English date phrases; printing. Must not: nodes, facts, stores, ``datetime``. May
import ``kgqa.errors`` only. English loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgqa.temporal.dates import AsOf, parse_any, parse_as_of, parse_end_points, parse_instant_span
from kgqa.temporal.interval import (
    ALWAYS,
    BEGIN,
    END,
    UNBOUNDED,
    UNDATED,
    Allen,
    Instant,
    Interval,
    Validity,
    allen,
    merge,
)
from kgqa.temporal.printing import describe, format, format_instant, format_span  # noqa: A004
from kgqa.temporal.terms import parse, parse_strict_edtf

if TYPE_CHECKING:
    from kgqa.temporal.english import parse_english
    from kgqa.temporal.scanner import DateSpan, scan

__all__ = [
    "ALWAYS",
    "BEGIN",
    "END",
    "UNBOUNDED",
    "UNDATED",
    "Allen",
    "AsOf",
    "DateSpan",
    "Instant",
    "Interval",
    "Validity",
    "allen",
    "describe",
    "format",
    "format_instant",
    "format_span",
    "merge",
    "parse",
    "parse_any",
    "parse_as_of",
    "parse_end_points",
    "parse_english",
    "parse_instant_span",
    "parse_strict_edtf",
    "scan",
]

_LATER = {"parse_english": "english", "scan": "scanner", "DateSpan": "scanner"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
