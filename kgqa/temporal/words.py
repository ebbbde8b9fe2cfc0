"""Cut English into tokens that a grammar of dates can use; spelled numbers become numbers.

Belongs here: vocabulary and tokens. Must not: what a date is. May import nothing of kgqa.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["num", "ord", "decade", "era", "word", "sym", "other"]

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MONTHS = {name: i for i, name in enumerate(_MONTH_NAMES, 1)}
MONTHS |= {name[:3]: i for name, i in MONTHS.items()} | {"sept": 9}
WEEKDAYS = {name: i for i, name in enumerate(_DAY_NAMES, 1)}
WEEKDAYS |= {name[:3]: i for name, i in WEEKDAYS.items()}
WEEKDAYS |= {"tues": 2, "weds": 3, "thur": 4, "thurs": 4}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
UNITS = {
    "day": "day", "week": "week", "weekend": "weekend", "fortnight": "fortnight",
    "month": "month", "quarter": "quarter", "year": "year", "decade": "decade",
    "century": "century", "centurie": "century", "millennium": "millennium",
}  # fmt: skip
DIRECTIONS = {
    "last": -1, "previous": -1, "past": -1, "preceding": -1, "prior": -1,
    "this": 0, "current": 0, "same": 0, "that": 0,
    "next": 1, "coming": 1, "upcoming": 1, "following": 1,
}  # fmt: skip

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
CARDINALS = {name: i for i, name in enumerate(_ONES)}
CARDINALS |= {name: 20 + 10 * i for i, name in enumerate(_TENS)}
_ODD = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
ORDINALS = _ODD | {
    (name[:-1] + "ieth" if name.endswith("y") else name + "th"): value
    for name, value in CARDINALS.items()
    if value not in (*_ODD.values(), 0)
}
DECADES = {(name[:-1] + "ies"): value for name, value in CARDINALS.items() if name in _TENS}
DECADES |= {"tens": 10, "noughties": 2000}
_SPELLED = {*CARDINALS, *ORDINALS, *DECADES}

_TOKEN = re.compile(
    r"(?P<era>(?:b\.\s?c\.(?:\s?e\.)?|bce?|a\.\s?d\.|ad|c\.\s?e\.|ce)(?![a-z0-9]))"
    r"|(?P<ord>\d{1,3}(?:st|nd|rd|th)(?![a-z0-9]))"
    r"|(?P<decade>['\u2019]?\d0['\u2019]?s(?![a-z0-9])|\d{2,3}0['\u2019]?s(?![a-z0-9]))"
    r"|(?P<other>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?::\d+)+)"
    r"|(?P<num>\d+)"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<sym>\S)"
)
_LOWER = {code: code + 32 for code in range(65, 91)}


class Token(NamedTuple):
    """Hold one token; ``value`` is that of numbers, ordinals, decades, ``-1``/``1`` of eras."""

    kind: Kind
    text: str
    start: int
    end: int
    value: int = 0
    spelled: bool = False


def lowered(text: str) -> str:
    """Lower ASCII letters only, so that offsets stay true."""
    return text.translate(_LOWER)


def tokens(text: str, start: int = 0, stop: int | None = None) -> list[Token]:
    """Cut lowered text into tokens, spelled numbers folded into one token each.

    >>> [(t.kind, t.value) for t in tokens("nineteen seventy eight bc")]
    [('num', 1978), ('era', -1)]
    """
    found = []
    for match in _TOKEN.finditer(text, start, len(text) if stop is None else stop):
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        word = match[0]
        value = 0
        if kind == "era":
            value = -1 if word[0] == "b" else 1
        elif kind == "num":
            value = int(word) if len(word) < 12 else 0
        elif kind in ("ord", "decade"):
            value = int("".join(c for c in word if c.isdigit()))
        found.append(Token(kind, word, match.start(), match.end(), value))
    return _folded(found)


def _folded(found: list[Token]) -> list[Token]:
    result, i = [], 0
    while i < len(found):
        folded = _fold(found, i) if found[i].text in _SPELLED else None
        if folded:
            kind, value, j = folded
            text = " ".join(t.text for t in found[i:j])
            result.append(Token(kind, text, found[i].start, found[j - 1].end, value, True))
            i = j
        else:
            result.append(found[i])
            i += 1
    return result


def _fold(found: list[Token], i: int) -> tuple[Kind, int, int] | None:
    """Read a spelled number, ordinal or decade at ``i``: its kind, value and end."""
    first = _small(found, i)
    if first is None:
        return None
    kind, value, j = first
    if kind != "num":
        return first
    scaled = _scaled(found, value, j)
    if scaled:
        return scaled
    if 10 <= value <= 20:
        # A year read in two halves: nineteen seventy-eight, nineteen oh one, twenty-tens.
        k = j + 1 if _text(found, j) == "-" else j
        if _text(found, k) in ("zero", "oh"):
            unit = CARDINALS.get(_text(found, k + 1), 0)
            return ("num", value * 100 + unit, k + 2) if 0 < unit < 10 else first
        rest = _small(found, k)
        if rest and rest[0] != "ord" and rest[1] >= 10:
            return rest[0], value * 100 + rest[1], rest[2]
    return first


def _small(found: list[Token], i: int) -> tuple[Kind, int, int] | None:
    """Read a number, ordinal or decade below 100."""
    word = _text(found, i)
    if word in ORDINALS:
        return "ord", ORDINALS[word], i + 1
    if word in DECADES:
        return "decade", DECADES[word], i + 1
    if word not in CARDINALS:
        return None
    value = CARDINALS[word]
    if value >= 20:
        j = i + 2 if _text(found, i + 1) == "-" else i + 1
        unit = _text(found, j)
        if 0 < CARDINALS.get(unit, 0) < 10:
            return "num", value + CARDINALS[unit], j + 1
        if 0 < ORDINALS.get(unit, 0) < 10:
            return "ord", value + ORDINALS[unit], j + 1
    return "num", value, i + 1


def _scaled(found: list[Token], value: int, j: int) -> tuple[Kind, int, int] | None:
    """Read what follows a number as thousands and hundreds, if it is that."""
    total, scale = 0, _text(found, j)
    if scale == "thousands" and value == 2:
        return "decade", 2000, j + 1
    if scale not in ("thousand", "hundred"):
        return None
    total = value * (1000 if scale == "thousand" else 100)
    j += 1
    if scale == "thousand" and _text(found, j + 1) == "hundred":
        hundreds = CARDINALS.get(_text(found, j), 0)
        total, j = total + hundreds * 100, j + 2
    k = j + 1 if _text(found, j) == "and" else j
    rest = _small(found, k)
    if rest and total % 100 == 0:
        return rest[0], total + rest[1], rest[2]
    return "num", total, j


def _text(found: list[Token], i: int) -> str:
    return found[i].text if i < len(found) else ""
