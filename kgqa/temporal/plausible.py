"""Tell dates in prose from numbers that only look like dates.

Belongs here: the neighbours and shapes that make a number a year. Must not: reading dates.
These are rules of thumb: a bare number is a year only where its neighbours say so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.temporal.words import MONTHS, Token

_STRONG = frozenset(["in", "since", "during", "until", "till", "by", "throughout", "circa", "year"])
_BEFORE_YEAR = re.compile(
    r"(?:\b(?:born|died|founded|established|published|elected|ended|began|dated|reigned|ruled"
    r"|autumn|fall|late|early|mid)\s+|\b(?:b|d|r|fl|est|pub)\.\s*|\(\s*|[(\[][^()\[\]]{0,40},\s+)$"
)
_DETERMINER = re.compile(r"(?:\b(?:the|an?|his|her|its|their|this|that|my|our)|['\u2019]s)\s+$")
_ABOUT = frozenset(["about", "around", "approximately", "roughly"])
_HOMONYMS = frozenset(["may", "march", "mar", "sat", "sun", "second"])
_MARKS = ("-", "\u2013", "\u2014", "/")
_JOINS = (*_MARKS, ".", "to", "until", "till", "through", "and")
_LIST = re.compile(r"\s*(?:,|;|and|or|&|,\s*and|,\s*or|to)\s*")
_COUNTED = frozenset(
    """
    km miles mile metres meters feet foot ft m cm mm kg lb lbs pounds dollars euros people men
    women soldiers troops children persons inhabitants copies votes seats points years days
    months weeks hours minutes seconds times acres hectares tons tonnes cases percent per
    million billion thousand hundred degrees bc
    """.split()
)
_FUNCTION = frozenset(
    """
    a an and or but nor to of in on at by for from with without as is was were are be been had
    has have did does do he she it they we i you his her its their this that these those the
    when while who whom whose which where what why how there then than until till since after
    before during through under over between against because if so not no onwards onward also
    would could should may might must will shall can became came being having into upon about
    only just still both all each
    """.split()
)


@dataclass(frozen=True, slots=True)
class Place:
    """Hold where tokens stand: the text, the same lowered, the leading word's role.

    ``listed`` is the end of a year just before, of which this may be the next in a list.
    """

    text: str
    low: str
    role: str | None
    listed: int | None


def plausible(used: Sequence[Token], place: Place) -> bool:
    """Tell whether tokens that read as a date are one, by their shape and neighbours."""
    after = place.text[used[-1].end : used[-1].end + 24]
    if re.match(r"[\d%]|,\d{3}|[.:/\u2013\u2014-]\d|-[A-Za-z]", after):
        return False
    eras = [place.text[t.start : t.end] for t in used if t.kind == "era" and "." not in t.text]
    if not all(era.isupper() for era in eras):
        return False
    last = used[-1]
    if last.kind == "num" and len(last.text) == 3 and _counted(after):
        return False
    kinds = [t.kind for t in used]
    if kinds == ["num"]:
        return _year_like(used[0], after, place)
    if len(kinds) == 3 and kinds[0] == kinds[2] == "num" and used[1].text in _JOINS:
        return _pair_like(used, after, place.role)
    return _worded(used, after, place)


def _worded(used: Sequence[Token], after: str, place: Place) -> bool:
    words = [t for t in used if t.kind == "word"]
    rest = [t for t in used if t.kind != "word" and t.text != "."]
    if len(words) == 1 and not rest and words[0].text in MONTHS:
        return place.role is not None and place.text[words[0].start].isupper()
    if len(words) == 1 and words[0].text in _ABOUT and [t.kind for t in rest] == ["num"]:
        return not _counted(after) and not after.lstrip().startswith("of ")
    if words and all(t.text in _HOMONYMS for t in words):
        return place.text[words[0].start].isupper() or any(len(t.text) == 4 for t in rest)
    return True


def _pair_like(used: Sequence[Token], after: str, role: str | None) -> bool:
    """Tell whether two bare numbers are a range of years, or a month and year."""
    first, join, last = used
    if first.value >= 1000:
        joined = join.text in _MARKS or role in ("from", "between") or not _counted(after)
        return 1000 <= first.value <= 2200 and joined and not _unit_follows(after)
    if join.text == ".":
        return False
    month_and_year = len(first.text) <= 2 and len(last.text) == 4
    return month_and_year or (role in ("at", "from", "between") and join.text in _MARKS)


def _year_like(token: Token, after: str, place: Place) -> bool:
    """Tell whether a bare number is a year."""
    value, low = token.value, place.low
    if place.role in ("from", "between") and re.match(r"\s+(?:to|and)\s+\d", after):
        return False  # A range of amounts: as one of years it would have been read whole.
    if token.spelled:
        return place.role is not None and 1000 <= value <= 2200 and not _counted(after)
    before = low[max(0, token.start - 50) : token.start]
    word = re.search(r"(\w+)\s+(?:the\s+)?$", before)
    lead = word[1] if word else ""
    if lead == "year":
        return True
    counted = _counted(after)
    if len(token.text) == 3:
        return lead in _STRONG and not counted and value >= 100
    if not 1000 <= value <= 2999 or _unit_follows(after):
        return False
    determined = _DETERMINER.search(before)
    if lead in _STRONG and not (determined and counted):
        return True
    if place.role is not None and not counted:
        return True
    if determined:
        # "the 1600 ships" are counted; "the 2012 elections" hardly.
        plural = re.match(r"\s+[a-z]+s\b", after)
        return (1900 if plural else 1000) <= value <= 2100
    if place.listed is not None and _LIST.fullmatch(low, place.listed, token.start):
        return not counted
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
