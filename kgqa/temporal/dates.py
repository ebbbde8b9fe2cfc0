"""What users type for a time: ISO 8601, EDTF or English; one place for every surface.

Belongs here: the entrances ``parse_any``, ``parse_as_of``, ``parse_end_points``. Must not: any
grammar of its own.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from kgqa.errors import InputError
from kgqa.temporal.clock import invalid
from kgqa.temporal.edtf import Rules, read_date
from kgqa.temporal.interval import (
    UNDATED,
    Calendar,
    Instant,
    Interval,
    Numbering,
    Precision,
    Validity,
)
from kgqa.temporal.moments import Edge, End, Source, term
from kgqa.temporal.terms import Ends, cleaned, parse, read_end

# Dates by their shape: English must not make a range of a month that does not exist.
_DIGITS = re.compile(r"[-+]?\d+(-\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class AsOf:
    """Hold a time asked for, as answers echo it; ``zone`` is None where a time had none (UTC)."""

    input: str
    span: Interval
    precision: Precision
    numbering: Numbering = "historical"
    calendar: Calendar = "gregorian"
    zone_assumed: bool = False


def parse_as_of(
    text: str,
    *,
    numbering: Numbering = "historical",
    calendar: Calendar = "gregorian",
    now: Instant | None = None,
) -> AsOf:
    """Read the one date or time of an ``as_of``, or ``now`` (the clock, read once).

    A coarse date is its whole granule. Raises InputError.

    >>> parse_as_of("1815-06-18T14:30").zone_assumed
    True
    """
    given = text
    text = cleaned(text)
    if text == "now":
        now = time.time_ns() // 1_000_000 if now is None else now
        return AsOf(given, Interval(now, now + 1), "millisecond", numbering, calendar)
    if "/" in text or text[0] in "[{<":
        raise invalid(f"not one date: {text!r}", "give one date or time; its precision is its span")
    if text.lower() in ("null", "none", "true", "false", "nan"):
        raise invalid(f"not a date: {text!r}", "leave the time out instead")
    moment = read_date(text, Rules(numbering, calendar)).widened
    timed = re.search(r"T[0-9:.,]+$", text)
    return AsOf(given, moment.span, moment.precision, numbering, calendar, timed is not None)


def parse_instant_span(
    text: str,
    *,
    numbering: Numbering = "historical",
    calendar: Calendar = "gregorian",
    now: Instant | None = None,
) -> Interval:
    """Return the span of ``parse_as_of``.

    >>> parse_instant_span("1970").start
    0
    """
    return parse_as_of(text, numbering=numbering, calendar=calendar, now=now).span


def parse_any(
    text: str,
    *,
    reference: Interval | None = None,
    numbering: Numbering = "historical",
    calendar: Calendar = "gregorian",
    ends: Ends = "inclusive",
) -> Validity:
    """Read ISO 8601 or EDTF, else English; relative phrases need ``reference``.

    >>> parse_any("15 March 44 BC") == parse_any("-0044-03-15")
    True
    """
    text = cleaned(text)
    try:
        return parse(text, numbering=numbering, calendar=calendar, ends=ends)
    except InputError as refused:
        if refused.code != "time.invalid" or _DIGITS.fullmatch(text):
            raise
        from kgqa.temporal.english import parse_english

        try:
            return parse_english(text, reference=reference, calendar=calendar)
        except InputError as error:
            raise _likelier(text, refused, error) from None


def _likelier(text: str, iso: InputError, english: InputError) -> InputError:
    """Return the error of the notation that a text looks like."""
    spelled = re.search(r"[^\W\d_XYTZES]|[A-Z]{3}", text)
    return english if spelled or english.code != "time.not_understood" else iso


def parse_end_points(
    start: str | None,
    end: str | None,
    *,
    numbering: Numbering = "historical",
    calendar: Calendar = "gregorian",
    ends: Ends = "inclusive",
) -> Validity:
    """Return the term between two dates as rows give them; a missing one is open.

    Both missing is UNDATED: a row that says nothing is not a statement of eternity.

    >>> parse_end_points("1949", None).bounds == parse("1949/..").bounds
    True
    """
    given = [text.strip() if isinstance(text, str) else text for text in (start, end)]
    if not any(given):
        return UNDATED
    first, last = (_end_point(text, numbering, calendar) for text in given)
    text = "/".join(text or ".." for text in given)
    exclusive = ends == "exclusive" or "/<" in text
    return term(first, last, Source(text, calendar, numbering), exclusive=exclusive)


def _end_point(text: str | None, numbering: Numbering, calendar: Calendar) -> End:
    if text is None or text in ("", ".."):
        return Edge.OPEN
    text = cleaned(text).removeprefix("<")
    try:
        return read_end(text, Rules(numbering, calendar))
    except InputError as refused:
        if refused.code != "time.invalid" or _DIGITS.fullmatch(text):
            raise
        from kgqa.temporal.english import read_english

        try:
            role, phrase = read_english(text, calendar=calendar)
        except InputError as error:
            raise _likelier(text, refused, error) from None
    if phrase.last is not None or role not in (None, "at"):
        raise invalid(f"not one date: {text!r}", "give one date for each end")
    return phrase.first
