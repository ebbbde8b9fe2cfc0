"""What the rules of the English grammar share: tokens, a reference, dates with parts missing.

Belongs here: how a date with parts missing is settled. Must not: rules. A missing part is
taken from the past of the reference date, never from a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kgqa.temporal.calendars import (
    civil,
    day_number,
    granule,
    month_days,
    month_of,
    months_span,
    weekday,
)
from kgqa.temporal.interval import DAY_MS, Calendar, Interval, Precision
from kgqa.temporal.moments import Moment
from kgqa.temporal.words import Kind, Token

_PADDING = [Token("sym", "", -1, -1)] * 10


@dataclass(frozen=True, slots=True)
class Partial:
    """Hold the parts of a civil date that a text gives; the year is astronomical."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None

    def moment(self, calendar: Calendar) -> Moment | None:
        """Return the granule named, or None if parts are missing or there is no such date."""
        if self.year is None or (self.day and not self.month):
            return None
        if not self.month:
            return Moment.of(months_span(self.year, 1, 12, calendar), "year")
        if not self.day:
            return Moment.of(months_span(self.year, self.month, 1, calendar), "month")
        if self.day > month_days(self.year, self.month, calendar):
            return None
        start = day_number(self.year, self.month, self.day, calendar) * DAY_MS
        return Moment.of((start, start + DAY_MS), "day")


Piece: TypeAlias = Moment | Partial
Read: TypeAlias = tuple[Piece, int]
Rule: TypeAlias = "Callable[[Frame, int], Read | None]"
Rules: TypeAlias = dict[Kind, tuple[Rule, ...]]
"""Rules by the kind of token that they begin with, in order of preference."""


@dataclass(slots=True)
class Frame:
    """Hold the tokens and what relative phrases refer to; notes when a reference is missing."""

    tokens: list[Token]
    rules: Rules
    reference: Interval | None = None
    calendar: Calendar = "gregorian"
    wanted: bool = False
    seen: dict[int, list[Read]] = field(default_factory=dict)
    padded: list[Token] = field(init=False)

    def __post_init__(self) -> None:
        self.padded = [*self.tokens, *_PADDING]

    def at(self, i: int) -> Token:
        """Return a token, or an empty one beyond the end."""
        return self.padded[i]

    def text(self, i: int) -> str:
        """Return a token's text, or an empty string beyond the end."""
        return self.padded[i].text

    def skip(self, i: int, *words: str) -> int:
        """Return the place after an optional word."""
        return i + 1 if self.padded[i].text in words else i

    def within(self, precision: Precision) -> Interval | None:
        """Return the granule in which the whole reference lies, if there is one."""
        if self.reference is None:
            self.wanted = True
            return None
        span = granule(self.reference.start, precision)
        return span if self.reference.end <= span.end else None


def united(*tables: Rules) -> Rules:
    """Return tables of rules as one, those of earlier tables first."""
    kinds = {kind for table in tables for kind in table}
    return {kind: sum((table.get(kind, ()) for table in tables), ()) for kind in kinds}


def atoms(f: Frame, i: int) -> list[Read]:
    """Return what can be read at a token, each with its end; rules in order of preference."""
    if i not in f.seen:
        starts = (i, i + 1) if f.text(i) == "the" else (i,)
        f.seen[i] = [
            read
            for start in starts
            for rule in f.rules.get(f.padded[start].kind, ())
            if (read := rule(f, start))
        ]
    return f.seen[i]


def longest(f: Frame, i: int) -> tuple[Moment, int] | None:
    """Return the longest date at a token that names a moment, and its end."""
    best: tuple[Moment, int] | None = None
    for piece, end in atoms(f, i):
        if best is None or end > best[1]:
            moment = settle(f, piece)
            best = (moment, end) if moment else best
    return best


def settle(f: Frame, piece: Piece) -> Moment | None:
    """Return the moment a piece names; missing parts come from the reference's past."""
    if isinstance(piece, Moment):
        return piece
    if piece.year is not None:
        return piece.moment(f.calendar)
    today = f.within("day")
    if today is None:
        whole = f.within("year") if piece.month else None
        year = civil(whole.start // DAY_MS)[0] if whole else None
        return replace(piece, year=year).moment(f.calendar)
    year, month, _ = civil(today.start // DAY_MS)
    if piece.month:
        strict = piece.day is not None
        candidates = (replace(piece, year=year - back) for back in range(9))
        for moment in (c.moment(f.calendar) for c in candidates):
            if moment and moment.lower < today.start + (not strict):
                return moment
        return None
    if piece.day and piece.weekday:
        return _weekday_and_day(f, piece, year, month)
    if piece.day:
        for back in range(3):
            y, m = month_of(year, month, -back)
            moment = replace(piece, year=y, month=m).moment(f.calendar)
            if moment and moment.lower < today.start:
                return moment
    if piece.weekday:
        number = today.start // DAY_MS
        back = (weekday(number) - piece.weekday - 1) % 7 + 1
        return day_moment(number - back)
    return None


def _weekday_and_day(f: Frame, piece: Partial, year: int, month: int) -> Moment | None:
    for back in range(13):
        y, m = month_of(year, month, -back)
        moment = replace(piece, year=y, month=m).moment(f.calendar)
        if moment and weekday(moment.lower // DAY_MS) == piece.weekday:
            return moment
    return None


def day_moment(number: int, days: int = 1) -> Moment:
    """Return the moment of so many days from a day number."""
    precision: Precision = "day" if days != 7 else "week"
    return Moment.of((number * DAY_MS, (number + days) * DAY_MS), precision)
