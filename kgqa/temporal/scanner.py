"""Find date phrases in running English prose.

Belongs here: where phrases may begin. Must not: what they mean (``english``), which numbers
are years (``plausible``). Left to right, the longest phrase at each place, none inside
another; eras are read in capitals only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgqa.temporal.amounts import AMOUNTS
from kgqa.temporal.calendars import YEARS
from kgqa.temporal.english import LEADS, Phrase, Role, apply, phrases
from kgqa.temporal.frame import Frame, united
from kgqa.temporal.grammar import ABSOLUTE
from kgqa.temporal.interval import Calendar, Interval, Validity
from kgqa.temporal.moments import Source
from kgqa.temporal.parts import PARTS
from kgqa.temporal.plausible import Place, plausible
from kgqa.temporal.relative import RELATIVE
from kgqa.temporal.words import (
    CARDINALS,
    DECADES,
    DIRECTIONS,
    MONTHS,
    ORDINALS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    lowered,
    tokens,
)

_LEANING_RULES = united(ABSOLUTE, RELATIVE, AMOUNTS, PARTS)
_RULES = united(ABSOLUTE, AMOUNTS, PARTS)
_WINDOW = 80
_WALL = re.compile(r"[;()\[\]!?\"]|\n\s*\n")


def _words(*groups: object) -> str:
    words = {word for group in groups for word in group}  # type: ignore[attr-defined]
    return "|".join(sorted(words, key=lambda w: (w[0], -len(w), w)))


_UNIT = f"(?:{_words(UNITS)}|centurie)s?"
_NUMBER = _words(CARDINALS)
_NAMES = _words(MONTHS, WEEKDAYS)
_ALWAYS = (
    rf"\d+|(?:{_NAMES})\b|(?:{_words(SEASONS)})\s+(?:of\s+)?(?:the\s+year\s+)?(?=\d|ad\b)"
    r"|(?:early|mid|late|middle|beginning|end|start)\b(?=[\s-])|(?:circa|ca|c)\b(?=\.?\s?\d)"
    r"|(?:about|around|approximately|roughly)\s(?=\d|ad\b)|(?:a\.\s?d\.|ad|ce|year|week)\s(?=\d)"
    rf"|(?:{_words(ORDINALS, ('twenty', 'thirty', 'last', 'latter', 'former'))})[\s-]"
    rf"(?=(?:half|third|quarter|day|week|century|centuries|millennium|of|(?:and|to|or)\s|{_NAMES}|{_words(ORDINALS)})\b)"
    rf"|(?:an?|{_NUMBER})\s(?={_UNIT}\s(?:before|after)\s)"
    r"|[qh][1-4]\b|(?:nineteen|eighteen|seventeen|twenty)[\s-](?=[a-z])|-(?=\d{4}\b)"
    rf"|(?:one|two)\sthousand|(?:{_words(DECADES)})\b"
)
_LEANING = (
    rf"|(?:{_words(DIRECTIONS)})\s(?=(?:{_UNIT}|{_NAMES}|{_words(SEASONS)}|\d|few|couple|{_NUMBER})\b)"
    rf"|(?:an?|few|{_NUMBER})\s(?=(?:few|couple\sof|{_UNIT}|(?:{_NAMES})s?)\b)"
    rf"|for\s(?=(?:\d+|an?|few|{_NUMBER})\s{_UNIT}\b)|now\s(?=and\s|to\s|until\s)|w/c\s"
    r"|(?:yesterday|today|tomorrow|tmrw)\b|(?:day|month|year|weekend)\s(?=before|after|to)"
    r"|week\s(?=before|after|of|to|commencing|starting|beginning)"
    r"|(?:rest|remainder|earlier|later|within|less|more)\s"
)
_ALONE = r"(?<![\w$£€#.,:/])(?<!\d[-\u2013])"
_TRIGGER = re.compile(f"{_ALONE}(?:{_ALWAYS})", re.ASCII)
_TRIGGER_LEANING = re.compile(f"{_ALONE}(?:{_ALWAYS}{_LEANING})", re.ASCII)
_TWO_WORDS = re.compile(rf"(?:{_words(DIRECTIONS)})\s+(?:{_words(MONTHS, WEEKDAYS, SEASONS)})\b")
"""Where these are refused, the second word is no date by itself."""

_LEAD = re.compile(
    rf"(?:^|[^\w])({_words(LEADS).replace(' ', chr(92) + 's+')})\s+(?:the\s+)?(?:year\s+)?$"
)


@dataclass(frozen=True, slots=True)
class DateSpan:
    """Hold one date phrase found in a text.

    ``start`` and ``end`` enclose the phrase; ``lead`` is where the word that introduces it
    begins. ``validity`` is the date or range itself, ``term`` what it means under ``role``
    (``since 1990``: validity 1990, term 1990/..).
    """

    start: int
    end: int
    text: str
    validity: Validity
    term: Validity
    role: Role = "at"
    lead: int = 0


def scan(
    text: str, *, reference: Interval | None = None, calendar: Calendar = "gregorian"
) -> list[DateSpan]:
    """Find every date phrase in a text, in order; relative ones only with ``reference``.

    >>> [(s.text, s.role) for s in scan("Born in 1769, consul from 1799 to 1804.")]
    [('1769', 'at'), ('1799 to 1804', 'from')]
    """
    low = lowered(text)
    trigger = _TRIGGER_LEANING if reference else _TRIGGER
    spans: list[DateSpan] = []
    place = 0
    while found := trigger.search(low, place):
        span = _read(text, low, found.start(), spans, reference, calendar)
        if span is None:
            both = _TWO_WORDS.match(low, found.start())
            place = both.end() if both else max(found.start() + 1, _word_end(low, found.start()))
        else:
            spans.append(span)
            place = span.end
    return spans


def _word_end(low: str, start: int) -> int:
    end = start
    while end < len(low) and low[end].isalnum():
        end += 1
    return end


def _read(
    text: str,
    low: str,
    start: int,
    earlier: list[DateSpan],
    reference: Interval | None,
    calendar: Calendar,
) -> DateSpan | None:
    role, lead = _role(low, start)
    stop = _word_end(low, min(start + _WINDOW, len(low)))
    wall = _WALL.search(low, start, stop)
    found = tokens(low, start, wall.start() if wall else stop)
    frame = Frame(found, _LEANING_RULES if reference else _RULES, reference, calendar)
    listed = earlier and earlier[-1].validity.start_precision in YEARS
    place = Place(text, low, role, earlier[-1].end if listed else None)
    best: Phrase | None = None
    for phrase in phrases(frame, 0, joined_by_and=role == "between"):
        longer = best is None or phrase.end > best.end
        if longer and plausible(frame.tokens[: phrase.end], place):
            best = phrase
    if best is None:
        return None
    end = frame.tokens[best.end - 1].end
    source = Source(text[start:end], calendar)
    bare = apply(None, best, source)
    meant = bare if role in (None, "at", "during") else apply(role, best, source)
    return DateSpan(start, end, source.text, bare, meant, role or "at", lead)


def _role(low: str, start: int) -> tuple[Role | None, int]:
    found = _LEAD.search(low, max(0, start - 30), start)
    if not found:
        return None, start
    return LEADS[" ".join(found[1].split())], found.start(1)
