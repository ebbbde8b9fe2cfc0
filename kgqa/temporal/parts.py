"""Parts and blurs of a date: early 1790s, mid-July 1789, the second half of 1900, circa 44 BC.

Belongs here: rules that wrap another date. Must not: dates of their own.
"""

from __future__ import annotations

from dataclasses import replace

from kgqa.temporal.frame import Frame, Partial, Read, Rules, atoms, longest, settle
from kgqa.temporal.interval import Interval
from kgqa.temporal.moments import Moment, subunits, third
from kgqa.temporal.words import WEEKDAYS

_PARTS = {
    "early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2,
}  # fmt: skip
_HALVES = {"first": 0, "former": 0, "second": 1, "latter": 1}
_CIRCA = ("circa", "ca", "c", "about", "around", "approximately", "roughly", "perhaps", "probably")


def _part(f: Frame, i: int) -> Read | None:
    """early 19th century, the late 1790s, mid-July 1789, the end of March 1815."""
    i = f.skip(i, "the")
    part = _PARTS.get(f.text(i))
    if part is None:
        return None
    if f.text(i) not in ("early", "mid", "late") and f.text(i + 1) != "of":
        return None
    j = f.skip(f.skip(i + 1, "-"), "of", "in")
    # Two parts in one ("mid to late 1790s") run from the first to the second.
    until = part
    if f.text(j) == "to" and f.text(j + 1) in _PARTS:
        until, j = _PARTS[f.text(j + 1)], f.skip(j + 2, "-")
    for piece, end in atoms(f, f.skip(j, "the")):
        moment = settle(f, piece)
        if moment and moment.precision not in ("day", "week") and moment.lower == moment.top:
            first = Moment.of(third(moment.span, part), moment.precision)
            last = Moment.of(third(moment.span, until), moment.precision)
            return (Moment.between(first, last), end) if part <= until else None
    return None


def _half(f: Frame, i: int) -> Read | None:
    """the first half of 1900, the third quarter of the 18th century."""
    i = f.skip(i, "the")
    pieces = {"half": 2, "third": 3, "quarter": 4}.get(f.text(i + 1), 0)
    nth = _HALVES.get(f.text(i)) if pieces == 2 else f.at(i).value - 1
    if f.text(i) == "last" and pieces:
        nth = pieces - 1
    if not pieces or nth is None or not 0 <= nth < pieces:
        return None
    for piece, end in atoms(f, f.skip(f.skip(i + 2, "of"), "the")):
        moment = settle(f, piece)
        if moment and moment.precision not in ("day", "week") and moment.lower == moment.top:
            marks = subunits(moment.span)
            size = (len(marks) - 1) / pieces
            start, stop = marks[int(nth * size)], marks[int((nth + 1) * size)]
            return Moment.of(Interval(start, stop), moment.precision), end
    return None


def _circa(f: Frame, i: int) -> Read | None:
    """circa 1790, c. 480 BC, around June 1815."""
    if f.text(i) not in _CIRCA:
        return None
    found = longest(f, f.skip(f.skip(i + 1, "."), "the"))
    if not found:
        return None
    moment, end = found
    if f.text(i) in ("perhaps", "probably"):
        return replace(moment, uncertain=True), end
    return moment.circa(), end


def _weekday_alone(f: Frame, i: int) -> Read | None:
    """Friday: the last one before the reference."""
    name = WEEKDAYS.get(f.text(i))
    if not name or f.within("day") is None:
        return None
    return Partial(weekday=name), i + 1


PARTS: Rules = {"ord": (_half,), "word": (_part, _half, _circa, _weekday_alone)}
