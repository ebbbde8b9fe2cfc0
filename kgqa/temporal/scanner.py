"""Find date phrases in running English prose.

Belongs here: where phrases may begin, and which numbers are years. Must not: what a phrase
means (``english`` and its grammar). Left to right, the longest phrase at each place, none
inside another. Bare numbers of three or four digits are years only where their neighbours
say so; eras are read in capitals only.
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
from kgqa.temporal.relative import RELATIVE
from kgqa.temporal.words import (
    CARDINALS,
    DIRECTIONS,
    MONTHS,
    ORDINALS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    Token,
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
)
_LEANING = (
    rf"|(?:{_words(DIRECTIONS)})\s(?=(?:{_UNIT}|{_NAMES}|{_words(SEASONS)}|\d|few|couple|{_NUMBER})\b)"
    rf"|(?:an?|{_NUMBER})\s(?=(?:few|couple\sof|{_UNIT}|{_NAMES})\b)"
    r"|yesterday|today|tomorrow|(?:day|week|month|year|weekend)\s(?=before|after|of|to|commencing)"
    r"|(?:rest|remainder|earlier|later|within|less|more)\s"
)
_TRIGGER = re.compile(rf"(?<![\w$£€#.,:/])(?:{_ALWAYS})", re.ASCII)
_TRIGGER_LEANING = re.compile(rf"(?<![\w$£€#.,:/])(?:{_ALWAYS}{_LEANING})", re.ASCII)

_LEAD = re.compile(
    rf"(?:^|[^\w])({_words(LEADS).replace(' ', chr(92) + 's+')})\s+(?:the\s+)?(?:year\s+)?$"
)
_STRONG = frozenset(["in", "since", "during", "until", "till", "by", "throughout", "circa", "year"])
_BEFORE_YEAR = re.compile(
    r"(?:\b(?:born|died|founded|established|published|elected|ended|began|dated|reigned|ruled"
    r"|autumn|fall|late|early|mid)\s+|\b(?:b|d|r|fl|est|pub)\.\s*|\(\s*|[(\[][^()\[\]]{0,40},\s+)$"
)
_THE = re.compile(r"\bthe\s+$")
_LIST = re.compile(r"\s*(?:,|;|and|or|&|,\s*and|,\s*or|to)\s*")
_COUNTED = frozenset(
    [
        "km",
        "miles",
        "mile",
        "metres",
        "meters",
        "feet",
        "foot",
        "ft",
        "m",
        "cm",
        "mm",
        "kg",
        "lb",
        "lbs",
        "pounds",
        "dollars",
        "euros",
        "people",
        "men",
        "women",
        "soldiers",
        "troops",
        "children",
        "persons",
        "inhabitants",
        "copies",
        "votes",
        "seats",
        "points",
        "years",
        "days",
        "months",
        "weeks",
        "hours",
        "minutes",
        "seconds",
        "times",
        "acres",
        "hectares",
        "tons",
        "tonnes",
        "cases",
        "percent",
        "per",
        "million",
        "billion",
        "thousand",
        "hundred",
        "degrees",
        "bc",
    ]
)
_FUNCTION = frozenset(
    [
        "a",
        "an",
        "and",
        "or",
        "but",
        "nor",
        "to",
        "of",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "without",
        "as",
        "is",
        "was",
        "were",
        "are",
        "be",
        "been",
        "had",
        "has",
        "have",
        "did",
        "does",
        "do",
        "he",
        "she",
        "it",
        "they",
        "we",
        "i",
        "you",
        "his",
        "her",
        "its",
        "their",
        "this",
        "that",
        "these",
        "those",
        "the",
        "when",
        "while",
        "who",
        "whom",
        "whose",
        "which",
        "where",
        "what",
        "why",
        "how",
        "there",
        "then",
        "than",
        "until",
        "till",
        "since",
        "after",
        "before",
        "during",
        "through",
        "under",
        "over",
        "between",
        "against",
        "because",
        "if",
        "so",
        "not",
        "no",
        "onwards",
        "onward",
        "also",
        "would",
        "could",
        "should",
        "may",
        "might",
        "must",
        "will",
        "shall",
        "can",
        "became",
        "came",
        "being",
        "having",
        "into",
        "upon",
        "about",
        "only",
        "just",
        "still",
        "both",
        "all",
        "each",
    ]
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
            place = max(found.start() + 1, _word_end(low, found.start()))
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
    best: Phrase | None = None
    for phrase in phrases(frame, 0, joined_by_and=role == "between"):
        if best is None or phrase.end > best.end:
            used = frame.tokens[: phrase.end]
            if _plausible(text, low, used, earlier, role):
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


def _plausible(
    text: str, low: str, used: list[Token], earlier: list[DateSpan], role: Role | None
) -> bool:
    """Tell whether tokens that read as a date are one, by their shape and neighbours."""
    end = used[-1].end
    after = low[end : end + 24]
    if re.match(r"[\d%]|,\d{3}|[.:/\u2013\u2014-]\d", after):
        return False
    eras = [text[t.start : t.end] for t in used if t.kind == "era" and "." not in t.text]
    if not all(era.isupper() for era in eras):
        return False
    last = used[-1]
    if last.kind == "num" and len(last.text) == 3 and _counted(after):
        return False
    kinds = [t.kind for t in used]
    if "word" not in kinds and "era" not in kinds and "decade" not in kinds:
        if kinds == ["num"]:
            return _year_like(low, used[0], after, earlier, role)
        if used[0].kind == "num" and len(used) == 3:
            return _pair_like(used, after, role)
    words = [t for t in used if t.kind == "word"]
    if (
        len(used) <= 2
        and len(words) == 1
        and words[0].text in MONTHS
        and len(words) == len([t for t in used if t.text != "."])
    ):
        return role is not None and text[words[0].start].isupper()
    if words and all(t.text in ("may", "march", "mar", "sat", "sun", "second") for t in words):
        return text[words[0].start].isupper() or any(len(t.text) == 4 for t in used)
    return True


def _pair_like(used: list[Token], after: str, role: Role | None) -> bool:
    a, mark, b = used
    years = len(a.text) == 4 and len(b.text) in (2, 4)
    if mark.text in ("-", "\u2013", "\u2014", "/"):
        return (years and 1000 <= a.value <= 2200) or len(b.text) == 4 or role is not None
    return role in ("from", "between") or (years and not _counted(after))


def _year_like(
    low: str, token: Token, after: str, earlier: list[DateSpan], role: Role | None
) -> bool:
    """Tell whether a bare number is a year."""
    digits, value = len(token.text), token.value
    if token.spelled:
        return role is not None and 1000 <= value <= 2200
    before = low[max(0, token.start - 50) : token.start]
    word = re.search(r"(\w+)\s+(?:the\s+)?$", before)
    lead = word[1] if word else ""
    if lead == "year":
        return True
    counted = _counted(after)
    if digits == 3:
        return lead in _STRONG and not counted and value >= 100
    if not 1000 <= value <= 2999 or _unit_follows(after):
        return False
    if lead in _STRONG and not (_THE.search(before) and counted):
        return True
    if role is not None and not counted:
        return True
    if _THE.search(before):
        follows = re.match(r"\s+([a-z]+)", after)
        return value <= 2200 and bool(follows and not follows[1].endswith("s"))
    if earlier and _LIST.fullmatch(low, earlier[-1].end, token.start):
        precision = earlier[-1].validity.start_precision
        return precision in YEARS and not counted
    if _BEFORE_YEAR.search(before):
        return not counted
    return bool(re.match(r"\s*\)", after) and re.search(r"[,(]\s*$", before))


def _unit_follows(after: str) -> bool:
    follows = re.match(r"[\s-]+([a-z]+)", after)
    return bool(follows and follows[1] in _COUNTED)


def _counted(after: str) -> bool:
    """Tell whether a noun that a number may count follows."""
    follows = re.match(r"\s+([a-z]+)", after)
    return bool(follows and follows[1] not in _FUNCTION)
