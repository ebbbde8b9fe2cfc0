"""From a question in English to its readings: names, times, structure, each guess with its why.

Belongs here: the entry point, bad input, and printing a reading. Must not: evaluating one.
English only. Pure over a Reader; a reading's score says how well wording and graph support it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgqa.errors import InputError
from kgqa.language import wording
from kgqa.language.lexicon import Lexicon
from kgqa.language.link import link, pinned
from kgqa.language.nlp import known
from kgqa.language.question.goals import Goals
from kgqa.language.question.items import Item, Word, itemise
from kgqa.language.question.probe import Probe
from kgqa.language.question.readings import Readings
from kgqa.model.question import Mention, Question
from kgqa.model.things import Node
from kgqa.protocols import Pattern, Reader
from kgqa.temporal import DateSpan, scan
from kgqa.temporal.interval import Interval

LONGEST = 50_000
_READ = 2_000
_MONTHS = "january february march april may june july august september october november december"
_MONTH = {m[:3]: n for n, m in enumerate(_MONTHS.split(), 1)}
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_NAMES = "|".join(f"{m[:3]}(?:{m[3:]})?" for m in _MONTHS.split())
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_NAMES})\b\.?,?(?: (\d{{1,4}})\b)?", re.I
)
_MONTH_FIRST = re.compile(
    rf"\b({_NAMES})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (\d{{3,4}})\b)?", re.I
)
_LAST_YEAR = re.compile(r"[^\d\W][\w'’]*,? ([12]\d{3})\s*[?.!]*$")
_ISO = re.compile(r"(?<![\w-])-?(\d{4,})-(\d\d)(?:-(\d\d))?(?![\w-])")


def analyse(
    text: str,
    lexicon: Lexicon,
    reader: Reader,
    *,
    reference: Interval | None = None,
    nodes: Mapping[str, str] | None = None,
) -> list[Question]:
    """Return the readings of a question, best first, at most eight, never none.

    A score below 0.5 means that the reading explains too little of the words to answer by.
    ``reference`` is what relative phrases ("last year") count from; without it they are not
    read. ``nodes`` settles names: name to node id. If nothing was understood the one reading
    has no goal and ``why`` says so.

    Raises InputError: ``question.empty``, ``question.too_long``, ``question.bad_date``,
    ``question.contradictory_times``.
    """
    asked = checked(text)
    dates = scan(asked, reference=reference)
    mentions = _mentions(asked, dates, lexicon, reader, nodes or {})
    dates = [_apart(d, mentions) for d in dates if not _covered(d, mentions)]
    dates += _bare_year(asked, dates, mentions)
    items = itemise(asked, mentions, dates)
    if not _english(items, mentions):
        return [_unread(text, mentions, "the words are not English, or not words")]
    found = Readings(asked, lexicon, Goals(lexicon, Probe(reader))).read(items)
    if not found:
        named = ", ".join(repr(m.text) for m in mentions)
        told = f"names found: {named}; no relation" if named else "no name and no relation"
        return [_unread(text, mentions, f"{told} of this base fits the words")]
    return [replace(_consistent(q, text), text=text) for q in found]


def checked(text: str) -> str:
    """Return the question's words in one line, or refuse what cannot be one."""
    if not text.strip():
        raise InputError("question is empty", code="question.empty", hint="write a question")
    if len(text) > LONGEST:
        raise InputError(
            f"question has {len(text):,} characters: '{text[:40]}…'",
            code="question.too_long",
            hint=f"shorten it to {LONGEST:,}",
        )
    line = re.sub(r"\s", " ", text)
    if bad := impossible_date(line):
        raise InputError(
            f"no such date: {bad!r}", code="question.bad_date", hint="write a day that exists"
        )
    return line[:_READ]


def impossible_date(text: str) -> str | None:
    """Return the first date in a text that no calendar has, as written.

    >>> impossible_date("Who was consul on 30 February 1990?")
    '30 February 1990'
    """
    for match in _DAY_FIRST.finditer(text):
        if not _exists(int(match[1]), _MONTH[match[2][:3].lower()], match[3]):
            return match.group().strip(" ,.")
    for match in _MONTH_FIRST.finditer(text):
        if match[3] and not _exists(int(match[2]), _MONTH[match[1][:3].lower()], match[3]):
            return match.group().strip(" ,.")
    for match in _ISO.finditer(text):
        month, day = int(match[2]), int(match[3] or 1)
        if not 1 <= month <= 12 or not _exists(day, month, match[1]):
            return match.group()
    return None


def _exists(day: int, month: int, year: str | None) -> bool:
    if not 1 <= day <= _DAYS[month - 1]:
        return False
    if (month, day) != (2, 29) or year is None:
        return True
    # BCE leap years differ by calendar and numbering; only a plain year can be refused here.
    number = int(year)
    return number % 4 == 0 and (number % 100 != 0 or number % 400 == 0 or number < 1700)


def _mentions(
    text: str, dates: Sequence[DateSpan], lexicon: Lexicon, reader: Reader, nodes: Mapping[str, str]
) -> list[Mention]:
    given = []
    for name, node in nodes.items():
        label = f"node:{node}"
        item = reader.get([label]).get(label)
        given.append((name, item if isinstance(item, Node) else Node(node, name)))
    settled = pinned(text, given)
    skip = [(d.start, d.end) for d in dates] + [(m.start, m.end) for m in settled]
    found = link(text, reader, skip=skip)
    free = [m for m in found if not _relational(m, lexicon, reader) and not _clashes(m, settled)]
    return sorted([*settled, *free], key=lambda m: m.start)


def _clashes(mention: Mention, others: Sequence[Mention]) -> bool:
    return any(mention.start < o.end and o.start < mention.end for o in others)


def _relational(mention: Mention, lexicon: Lexicon, reader: Reader) -> bool:
    """Tell whether words that look like a name rather name a relation ("consul", "President").

    Of several words in lower case that prose has made a name of ("she became prime
    minister"), only if the base knows facts of that relation.
    """
    guess = mention.candidates[0].why in {"partial", "fuzzy"}
    plain = mention.text == mention.text.lower()
    several = " " in mention.text and not guess
    if not guess and not plain:
        return False
    read = lexicon.read(mention.text.casefold().split(), least=0.85)
    if not several:
        return bool(read)
    made = all(c.node.startswith("name:") for c in mention.candidates)
    return made and any(reader.match(Pattern(relation=r.relation, limit=1)) for r in read)


def _bare_year(text: str, dates: Sequence[DateSpan], mentions: Sequence[Mention]) -> list[DateSpan]:
    """Return the year that ends a question without a preposition ("mayor of Rome 1815")."""
    found = _LAST_YEAR.search(text)
    if not found or dates:
        return []
    start, end = found.span(1)
    (year,) = scan(f"in {found[1]}")
    date = replace(year, lead=start, start=start, end=end)
    return [] if _covered(date, mentions) else [date]


def _covered(date: DateSpan, mentions: Sequence[Mention]) -> bool:
    return any(m.start < date.end and date.start < m.end for m in mentions)


def _apart(date: DateSpan, mentions: Sequence[Mention]) -> DateSpan:
    """Return the date, its leading word given up if that belongs to a name ("Duke of 1066")."""
    inside = any(m.start <= date.lead < m.end for m in mentions)
    return replace(date, lead=date.start) if inside else date


def _english(items: Sequence[Item], mentions: Sequence[Mention]) -> bool:
    words = [i.lower for i in items if isinstance(i, Word) and i.lower[:1].isalpha()]
    if not words:
        return bool(mentions)
    framing = wording.FRAMING | wording.COMMANDS | wording.TIMELINES
    if len(words) >= 4 and not any(w in framing and len(w) > 1 for w in words):
        return False
    familiar = sum(w in framing or known(w) for w in words)
    return familiar * 2 > len(words)


def _unread(text: str, mentions: Sequence[Mention], why: str) -> Question:
    return Question(text, "nodes", None, mentions=tuple(mentions), why=(why,))


def _consistent(question: Question, text: str) -> Question:
    """Refuse times of which no instant is left ("in 1815 after 1820")."""
    start, end = None, None
    for when in question.when:
        span = when.moment.span
        if span is None:
            continue
        low = span.end if when.relation == "after" else span.start
        high = span.start if when.relation == "before" else span.end
        if when.relation not in {"before", "until"}:
            start = low if start is None else max(start, low)
        if when.relation not in {"after", "since"}:
            end = high if end is None else min(end, high)
    if start is not None and end is not None and start >= end and len(question.when) > 1:
        said = ", ".join(repr(w.moment.text) for w in question.when if w.moment.span)
        raise InputError(
            f"times contradict each other: {said}",
            code="question.contradictory_times",
            hint="leave one out",
            question=text,
        )
    return question
