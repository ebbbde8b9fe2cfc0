"""Read EDTF terms: a date, an interval, a set; to a Validity.

Belongs here: ``parse`` and its strict twin. Must not: English, printing. Extensions of EDTF,
so that any four bounds can be written: a set as an end of an interval
(``[1785..1794]/..``), and ``<`` before an end that was over exactly when that granule began
(``1885-03-04/<1889-03-04``).
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from kgqa.errors import InputError
from kgqa.temporal.clock import invalid
from kgqa.temporal.edtf import MAX_TEXT, Rules, read_date
from kgqa.temporal.interval import BEGIN, END, Calendar, Numbering, Validity
from kgqa.temporal.moments import Edge, End, Moment, Source, term

Ends: TypeAlias = Literal["inclusive", "exclusive"]

_FAR_PAST = Moment(BEGIN, BEGIN, BEGIN + 1, "year")
_FAR_FUTURE = Moment(END - 1, END - 1, END, "year")
_MAX_MEMBERS = 20


def parse(
    text: str,
    *,
    numbering: Numbering = "historical",
    calendar: Calendar = "gregorian",
    ends: Ends = "inclusive",
) -> Validity:
    """Read a date, interval or set in ISO 8601 extended or EDTF.

    A single date is start granule and inclusive end granule at once. ``ends="exclusive"``
    reads an interval's end as the first granule no longer held. Raises InputError
    (``time.invalid``, ``time.out_of_range``, ``time.inverted``).

    >>> parse("1939").bounds == parse("1939/1939").bounds
    True
    >>> parse("1885-03-04/1889-03-04", ends="exclusive") == parse("1885-03-04/<1889-03-04")
    True
    """
    text = cleaned(text)
    rules = Rules(numbering, calendar)
    source = Source(text, calendar, numbering)
    start, end, stops = _read(text, rules)
    exclusive = stops or (ends == "exclusive" and "/" in text)
    return term(start, end, source, exclusive=exclusive)


def parse_strict_edtf(text: str) -> Validity:
    """Read EDTF to the letter: astronomical years, no extension, qualifiers widen nothing.

    >>> parse_strict_edtf("1984~").hull == parse_strict_edtf("1984").hull
    True
    """
    if not isinstance(text, str) or not text or len(text) > MAX_TEXT or text.strip() != text:
        raise invalid(f"not EDTF: {str(text)[:40]!r}", "write a date without spaces around it")
    rules = Rules("astronomical", strict=True)
    start, end, _ = _read(text, rules)
    sides = [_unwidened(side) for side in (start, end)]
    first, last = sides
    if "/" in text and isinstance(first, Moment) and isinstance(last, Moment):
        if first.lower > last.top:
            raise InputError(
                f"interval ends before it starts: {text!r}",
                code="time.inverted",
                hint="swap start and end",
            )
        if "T" in text:
            raise invalid(f"an EDTF interval takes no times: {text!r}", "write days")
    return term(first, last, Source(text, "gregorian", "astronomical"))


def _unwidened(side: End) -> End:
    if not isinstance(side, Moment):
        return side
    return Moment(
        side.lower, side.top, side.upper, side.precision, side.uncertain, side.approximate
    )


def cleaned(text: str) -> str:
    """Strip ASCII whitespace; refuse what is no text, empty, or far too long to be a date."""
    if not isinstance(text, str):
        raise invalid(f"not a date: {text!r}"[:80], "give a string such as '1815-06-18'")
    text = text.strip(" \t\r\n\f\v")
    if not text:
        raise invalid("empty date", "leave the time out, or write YYYY-MM-DD")
    if len(text) > MAX_TEXT:
        raise invalid(f"date too long: {text[:40]!r}...", "write YYYY-MM-DD")
    return text


def read_end(text: str, rules: Rules) -> Moment:
    """Read one end of an interval that is dated: a date, or a one-of set."""
    if text[:1] in ("[", "{"):
        return _read_set(text, rules)
    return read_date(text, rules)


def _read(text: str, rules: Rules) -> tuple[End, End, bool]:
    """Return both ends and whether the end is marked ``<``."""
    if "/" not in text:
        moment = read_end(text, rules)
        return moment, moment, False
    start, _, end = text.partition("/")
    if "/" in end:
        raise invalid(f"more than one '/': {text!r}", "write start/end")
    stops = end.startswith("<") and not rules.strict
    return _side(start, rules), _side(end[stops:], rules), stops


def _side(text: str, rules: Rules) -> End:
    if text == "..":
        return Edge.OPEN
    if text == "":
        return Edge.UNKNOWN
    if rules.strict and text[0] in "[{":
        raise invalid(f"a set is no end of an EDTF interval: {text!r}", "write a date")
    return read_end(text, rules)


def _read_set(text: str, rules: Rules) -> Moment:
    """Read ``[a, b..c]`` or ``{...}`` as one moment, from its first to its last member."""
    closing = {"[": "]", "{": "}"}[text[0]]
    if not text.endswith(closing) or len(text) < 3:
        raise invalid(f"set not closed: {text!r}", f"end it with {closing}")
    members = [_read_member(member, rules) for member in re.split(", ?", text[1:-1])]
    if len(members) > _MAX_MEMBERS:
        raise invalid(f"too many members: {text[:40]!r}...", "write first..last")
    first = min(members, key=lambda pair: pair[0].lower)[0]
    last = max(members, key=lambda pair: pair[1].upper)[1]
    if first.lower >= last.upper:
        raise InputError(
            f"set runs backwards: {text!r}", code="time.inverted", hint="write earliest..latest"
        )
    return Moment.between(first, last)


def _read_member(text: str, rules: Rules) -> tuple[Moment, Moment]:
    first, dots, last = text.partition("..")
    if not dots:
        moment = read_date(text, rules)
        return moment, moment
    return (
        read_date(first, rules) if first else _FAR_PAST,
        read_date(last, rules) if last else _FAR_FUTURE,
    )
