"""Dates of a text put aside before it is parsed, so that no parser has to know them.

Belongs here: replacing each date phrase by one plain year, and the way back. Must not: spaCy.

A tagger takes "BC" for a firm and "27" for a count (FIELD-NOTES 7). So every phrase that
``kgqa.temporal.scan`` reads becomes ``in 1900``, which any parser of English attaches well.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from kgqa.temporal import DateSpan, scan
from kgqa.temporal.interval import Interval

_YEAR = "1900"
_ADVERBIAL = re.compile(
    r"(?:last|next|this|that|same|following|previous|preceding|yesterday|today)\b|.*\b(?:ago|later|"
    r"earlier|afterwards?|before)$",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE = re.compile(r"\b(?:the|that)\s+$", re.IGNORECASE)
_ANAPHORA = re.compile(
    r"\b(?:(?:following|same|next|previous|preceding)\s+(?:year|month|week|day|decade|century|"
    r"spring|summer|autumn|winter)|\w+\s+(?:years?|months?|weeks?|days?)\s+(?:later|earlier|"
    r"afterwards?)|that\s+(?:year|month))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Aside:
    """Hold a text with years for its dates; ``dates`` by where the year begins in ``text``."""

    text: str
    dates: dict[int, DateSpan]
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]

    def original(self, offset: int) -> int:
        """Return the offset in the original text of one in ``text`` that is in no date."""
        k = bisect_right(self._starts, offset) - 1
        return self._origins[k] + offset - self._starts[k]


def put_aside(text: str, reference: Interval | None = None) -> Aside:
    """Return the text with its dates put aside; ``last year`` counts from ``reference``.

    ``the following year`` counts from the date before it in the text.

    >>> put_aside("Caesar was killed on 15 March 44 BC.").text
    'Caesar was killed in 1900.'
    """
    parts: list[str] = []
    dates: dict[int, DateSpan] = {}
    starts, origins = [0], [0]
    length = at = 0
    for span in _spans(text, reference):
        first = span.lead if at <= span.lead < span.start else span.start
        word = text[first : span.start].split(maxsplit=1)[:1]
        if not word and _ADVERBIAL.match(span.text):
            article = _ARTICLE.search(text, at, span.start)
            first = article.start() if article else first
            word = [text[first]]
        if word and word[0].lower() != "of":
            word = ["In" if word[0][0].isupper() else "in"]
        kept = text[at:first]
        mask = " ".join([*word, _YEAR])
        parts += kept, mask
        length += len(kept) + len(mask)
        dates[length - len(_YEAR)] = span
        at = span.end
        starts.append(length)
        origins.append(at)
    parts.append(text[at:])
    return Aside("".join(parts), dates, tuple(starts), tuple(origins))


def _spans(text: str, reference: Interval | None) -> list[DateSpan]:
    spans = scan(text, reference=reference)
    for phrase in _ANAPHORA.finditer(text):
        before = [s for s in spans if s.end <= phrase.start()]
        spans = [s for s in spans if not _touches(s, phrase)]
        if before:
            told = scan(text, reference=before[-1].validity.hull)
            spans += [s for s in told if _touches(s, phrase)]
            spans.sort(key=lambda s: s.start)
    return list(_disjoint(spans))


def _touches(span: DateSpan, phrase: re.Match[str]) -> bool:
    return span.start < phrase.end() and span.end > phrase.start()


def _disjoint(spans: Iterable[DateSpan]) -> Iterable[DateSpan]:
    end = 0
    for span in spans:
        if span.start >= end:
            yield span
            end = span.end
