"""Read one English phrase of time into a Validity.

Belongs here: ranges, the words that lead a date (since, until, by), and the entrance
``parse_english``. Must not: finding phrases in prose (``scanner``). English only. What is not
said is not filled in: without a reference date, ``June`` and ``last year`` are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from kgqa.errors import InputError
from kgqa.temporal.amounts import AMOUNTS
from kgqa.temporal.calendars import FINENESS, civil, day_number
from kgqa.temporal.frame import Frame, Partial, Piece, atoms, settle, united
from kgqa.temporal.grammar import ABSOLUTE, read_year
from kgqa.temporal.interval import BEGIN, DAY_MS, END, Calendar, Interval, Validity
from kgqa.temporal.moments import Edge, End, Moment, Source, century, term
from kgqa.temporal.parts import PARTS
from kgqa.temporal.relative import BARE, RELATIVE, weekdays_in_week
from kgqa.temporal.terms import cleaned
from kgqa.temporal.words import lowered, tokens

Role: TypeAlias = Literal[
    "at", "from", "until", "since", "before", "after", "between", "by", "during", "through"
]

LEADS: dict[str, Role] = {
    "in": "at", "on": "at", "at": "at", "as of": "at", "of": "at", "dated": "at",
    "from": "from", "starting": "from", "starting in": "from", "starting on": "from",
    "beginning in": "from", "beginning on": "from", "since": "since",
    "until": "until", "till": "until", "til": "until", "up to": "until", "to": "at",
    "through": "through", "before": "before", "prior to": "before", "after": "after",
    "following": "after", "between": "between", "by": "by", "during": "during",
    "throughout": "during", "within": "during", "over": "during", "for": "during",
}  # fmt: skip
_LEAD = re.compile(
    r"("
    + "|".join(sorted((w.replace(" ", r"\s+") for w in LEADS), key=len, reverse=True))
    + r")\s+"
)
_JOINS = ("-", "\u2013", "\u2014", "to", "until", "till", "til", "through", "thru")
_PRESENT = ("present", "now", "today", "date")


@dataclass(frozen=True, slots=True)
class Bare:
    """Hold a number that begins a range and takes its meaning from the other side."""

    value: int
    ordinal: bool


@dataclass(frozen=True, slots=True)
class Phrase:
    """Hold a date, or a range where ``last`` is given, and the place where it ends.

    ``stops``: the range ends where ``last`` begins ("until 4 March").
    """

    first: Moment
    last: End | None
    end: int
    stops: bool = False


Left: TypeAlias = Piece | Bare
RULES = united(ABSOLUTE, RELATIVE, AMOUNTS, BARE, PARTS)


def parse_english(
    text: str, *, reference: Interval | None = None, calendar: Calendar = "gregorian"
) -> Validity:
    """Read an English date phrase, with or without the word that leads it.

    ``until`` a day excludes it; until a month or more means until some time in it. Raises
    InputError (``time.not_understood``), which quotes the phrase.

    >>> parse_english("from June 1815 to 1848").text
    'from June 1815 to 1848'
    """
    role, phrase = read_english(text, reference=reference, calendar=calendar)
    return apply(role, phrase, Source(cleaned(text), calendar))


def read_english(
    text: str, *, reference: Interval | None = None, calendar: Calendar = "gregorian"
) -> tuple[Role | None, Phrase]:
    """Read a whole text as one phrase: the word that leads it, and the dates."""
    text = cleaned(text)
    low = lowered(text).rstrip(" ,;:!?")
    wanted = False
    for role, start in _readings(low):
        frame = Frame(tokens(low, start), RULES, reference, calendar)
        count = len(frame.tokens) - (frame.text(len(frame.tokens) - 1) == ".")
        for phrase in phrases(frame, 0, joined_by_and=role == "between"):
            if phrase.end >= count:
                return role, phrase
        wanted = wanted or frame.wanted
    raise InputError(
        f"date not understood: {text[:60]!r}",
        code="time.not_understood",
        hint="give a reference date, or name the year"
        if wanted and reference is None
        else "write a date such as 15 March 44 BC, June 1815 or 1815-06-18",
    )


def _readings(low: str) -> Iterator[tuple[Role | None, int]]:
    """Yield the phrase as it stands, then without a leading word."""
    yield None, 0
    found = _LEAD.match(low)
    if found:
        yield LEADS[" ".join(found[1].split())], found.end()


def phrases(f: Frame, i: int, *, joined_by_and: bool = False) -> Iterator[Phrase]:
    """Yield what can be read at a token.

    A date comes before a range of the same length: ``11-2016`` is a month. The end is open in
    ``1990 to the present`` and ``1990 onwards``.
    """
    singles: list[tuple[Piece, int]] = list(atoms(f, i))
    for piece, j in singles:
        moment = settle(f, piece)
        if moment:
            if f.text(j) in ("onwards", "onward"):
                yield Phrase(moment, Edge.OPEN, j + 1)
            yield Phrase(moment, None, j)
    whole = weekdays_in_week(f, i)
    if whole and isinstance(whole[0], Moment):
        yield Phrase(whole[0], None, whole[1])
    for month, j in singles:
        if f.text(j) == "between" and isinstance(month, Partial) and month.month and not month.day:
            yield from _between_days(f, month, j + 1)
    for left, j in (*singles, *_bare(f, i)):
        until = f.text(j) in ("until", "till", "til")
        for right, end in _rights(f, left, j, joined_by_and):
            pair = _paired(f, left, right)
            if pair:
                yield Phrase(*pair, end, until and isinstance(pair[1], Moment) and _daily(pair[1]))


def _daily(moment: Moment) -> bool:
    """Tell whether a moment is exact to the day, so that ``until`` it can exclude it."""
    fine = FINENESS.index(moment.precision) >= FINENESS.index("day")
    return fine and moment.wide is None


def _bare(f: Frame, i: int) -> Iterator[tuple[Bare, int]]:
    """Yield the number that begins ``4 to 22 January``, ``44-31 BC``, ``1st-2nd century``."""
    j = f.skip(i, "the")
    token = f.at(j)
    if token.kind in ("num", "ord") and token.value:
        yield Bare(token.value, token.kind == "ord"), j + 1


def _rights(
    f: Frame, left: Left, j: int, joined_by_and: bool
) -> Iterator[tuple[Piece | Edge, int]]:
    """Yield the right sides of a range whose left side ends at ``j``."""
    join = f.text(j)
    listed = joined_by_and or (isinstance(left, Bare) and left.ordinal)
    years = isinstance(left, Partial) and left.year is not None and left.month is None
    if join not in _JOINS and not (join == "and" and listed) and not (join == "/" and years):
        return
    numeric = f.at(j + 1).kind == f.at(j + 3).kind == "num" and f.text(j + 2) in ("-", "/", ".")
    if isinstance(left, Bare) and numeric:
        return
    k = f.skip(j + 1, "the")
    if f.text(k) in _PRESENT and not f.reference:
        yield Edge.OPEN, k + (2 if f.text(k + 1) == "day" else 1)
    yield from atoms(f, j + 1)
    if isinstance(left, Partial) and years:
        yield from _short_year(f, left, j)
    if isinstance(left, Partial) and left.day:
        yield from _days(f, k)


def _short_year(f: Frame, left: Partial, j: int) -> Iterator[tuple[Partial, int]]:
    """Yield the second year of ``1914-18`` and ``1988/89``."""
    short, year = f.at(j + 1), left.year or 0
    if short.kind != "num" or len(short.text) != 2 or f.text(j) not in ("-", "\u2013", "/"):
        return
    full = year - year % 100 + short.value
    # "2011/12" may be a month as well as two years.
    if full > year and not (f.text(j) == "/" and short.value <= 12):
        yield Partial(full), j + 2


def _between_days(f: Frame, month: Partial, i: int) -> Iterator[Phrase]:
    """Yield the range of ``November between 19 and 20``."""
    first = f.at(i)
    if first.kind not in ("num", "ord") or f.text(i + 1) not in ("and", *_JOINS):
        return
    for right, end in _days(f, i + 2):
        left = replace(month, day=first.value, year=month.year or right.year)
        pair = _ordered(f, left, replace(right, month=month.month, year=left.year))
        if pair:
            yield Phrase(*pair, end)


def _days(f: Frame, k: int) -> Iterator[tuple[Partial, int]]:
    """Yield a day that takes its month from the left: ``17, 1815`` or ``17``."""
    token = f.at(k)
    if token.kind not in ("num", "ord") or not 1 <= token.value <= 31:
        return
    year = read_year(f, f.skip(k + 1, ","))
    if year:
        yield Partial(year[0], day=token.value), year[1]
    yield Partial(day=token.value), k + 1


def _paired(
    f: Frame, left: Left, right: Piece | Edge
) -> tuple[Moment, Moment | Edge | None] | None:
    """Return both ends with the parts that one takes from the other, if they are in order."""
    if isinstance(right, Edge):
        moment = None if isinstance(left, Bare) else settle(f, left)
        return (moment, right) if moment else None
    if isinstance(left, Bare):
        return _completed(f, left, right)
    if isinstance(left, Partial) and isinstance(right, Partial):
        if right.day and not right.month:
            right = replace(right, month=left.month, year=right.year or left.year)
        if left.day and not left.month:
            left = replace(left, month=right.month, year=right.year)
        if right.month and right.year is None and left.year is not None:
            right = replace(right, year=left.year)
    return _ordered(f, left, right)


def _completed(f: Frame, bare: Bare, right: Piece) -> tuple[Moment, Moment] | None:
    """Return both ends of a range whose left side is only a number."""
    number = bare.value
    if isinstance(right, Moment):
        if not bare.ordinal or right.precision != "century":
            return None
        bce = right.lower < day_number(1, 1, 1) * DAY_MS
        first = Moment.of(century(number, bce=bce), "century") if number < 100 else None
        return (first, right) if first and first.lower < right.lower else None
    if right.day and right.month and number <= 31:
        return _ordered(f, replace(right, day=number), right)
    if right.year is not None and not right.month and not bare.ordinal:
        first = Partial(1 - number if right.year <= 0 else number).moment(f.calendar)
        last = right.moment(f.calendar)
        return (first, last) if first and last and first.lower < last.lower else None
    return None


def _ordered(f: Frame, left: Piece, right: Piece) -> tuple[Moment, Moment] | None:
    last = settle(f, right)
    if _yearless(right) and not _yearless(left):
        # The right side comes after the left: "between now and 15 November".
        first = settle(f, left)
        last = _next_after(f, right, first) if first else None
    elif isinstance(left, Partial) and left.year is None and left.month and last:
        first = _last_before(f, left, last)
    else:
        first = settle(f, left)
    if not first or not last or first.widened.lower >= last.widened.upper:
        return None
    return (first, last) if first.lower <= last.lower else None


def _yearless(piece: Piece) -> bool:
    return isinstance(piece, Partial) and piece.year is None


def _next_after(f: Frame, piece: Piece, first: Moment) -> Moment | None:
    if not isinstance(piece, Partial) or not piece.month:
        return None
    year = civil(first.lower // DAY_MS)[0]
    moments = (replace(piece, year=year + n).moment(f.calendar) for n in range(9))
    return next((m for m in moments if m and m.lower >= first.lower), None)


def _last_before(f: Frame, piece: Partial, last: Moment) -> Moment | None:
    year = civil(last.lower // DAY_MS)[0]
    moments = (replace(piece, year=year - n).moment(f.calendar) for n in range(9))
    return next((m for m in moments if m and m.lower <= last.lower), None)


def apply(role: Role | None, phrase: Phrase, source: Source) -> Validity:
    """Return the term that a date or range means after the word that leads it."""
    first, last = phrase.first, phrase.last
    if last is not None:
        return term(first, last, source, exclusive=phrase.stops)
    wide = first.widened
    if role in ("since", "from"):
        return term(first, Edge.OPEN if role == "since" else Edge.UNKNOWN, source)
    if role in ("until", "through"):
        exclusive = role == "until" and _daily(first)
        return term(Edge.UNKNOWN, first, source, exclusive=exclusive)
    edge = first
    if role == "before" and wide.top > BEGIN + 1:
        edge = Moment(BEGIN, wide.top - 1, wide.top, first.precision)
    elif role == "by":
        edge = Moment(BEGIN, wide.top, wide.upper, first.precision)
    elif role == "after" and wide.upper < END:
        after = first.upper if first.wide is None else wide.lower
        edge = Moment(after, END - 1, END, first.precision)
    flagged = replace(edge, uncertain=first.uncertain, approximate=first.approximate)
    return term(flagged, flagged, source)
