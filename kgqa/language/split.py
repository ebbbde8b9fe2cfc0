"""A parsed document to its text and chunks with exact spans: pure.

Belongs here: where chunks begin and end. Must not: spaCy, dates, storage.

A chunk holds whole sentences of one section, about ``TARGET_WORDS`` of them. Its id is the hash
of the document's path, its own text, and how many equal chunks stand before it: so it outlives an
edit elsewhere in the document, and its vector with it, while equal texts of two documents are two
chunks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from kgqa.model.ids import digest
from kgqa.model.things import Chunk, Span
from kgqa.protocols import Loaded, Section
from kgqa.temporal.interval import UNDATED, Validity

TARGET_WORDS = 95
FAIR_WORDS = 60
"""From here on a chunk may end with its paragraph."""
MAX_WORDS = 120
MAX_CHARACTERS = 1_200

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-Þ\u0400-\u042f])|\n"
)
_NOT_AN_END = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|[A-Z]\.[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Rev|Hon|"
    r"Gov|Sen|Rep|No|Nos|vol|vols|pp?|cf|ca?|approx|e\.g|i\.e|vs|fl|b|d|r|ed|eds|et al|Inc|Ltd|"
    r"Co|Corp|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)\.$"
)


def split(
    loaded: Loaded, document: str, path: str, validity: Validity = UNDATED
) -> tuple[str, tuple[Chunk, ...]]:
    """Return the document's text and its chunks in order; chunks inherit ``validity``.

    The text is every heading and section, parted by blank lines. Spans are UTF-8 byte offsets
    into it: ``text.encode()[s:e].decode() == chunk.text``.
    """
    parts: list[str] = []
    chunks: list[Chunk] = []
    seen: Counter[str] = Counter()
    offset = 0  # bytes

    def put(words: str) -> int:
        nonlocal offset
        if parts:
            parts.append("\n\n")
            offset += 2
        start = offset
        parts.append(words)
        offset += len(words.encode())
        return start

    shown: tuple[str, ...] = ()
    for headings, group in groupby(loaded.sections, key=lambda section: section.path):
        for depth, heading in enumerate(headings):
            if shown[: depth + 1] != headings[: depth + 1]:
                put(heading)
        shown = headings
        body, pages = _joined(list(group))
        if not body:
            continue
        base = put(body)
        bytes_at = _Bytes(body, base)
        for start, end in pieces(body):
            text = body[start:end]
            chunks.append(
                Chunk(
                    id=digest(path, text, str(seen[text])),
                    document=document,
                    ordinal=len(chunks),
                    text=text,
                    span=Span(bytes_at(start), bytes_at(end)),
                    section=headings,
                    pages=_pages(pages, start, end),
                    validity=validity,
                )
            )
            seen[text] += 1
    return "".join(parts), tuple(chunks)


def pieces(body: str) -> Iterator[tuple[int, int]]:
    """Yield the character ranges of the chunks of one section, in order, without overlap.

    A chunk ends with a paragraph where that leaves it of a fair size, else with a sentence; a
    sentence beyond the limits is cut between words, and a word beyond them anywhere.
    """
    start = end = words = 0
    for first, last, length, opens in _units(body):
        full = words + length > MAX_WORDS or last - start > MAX_CHARACTERS
        fair = opens and words >= FAIR_WORDS
        if words and (full or fair or words >= TARGET_WORDS):
            yield start, end
            words = 0
        if not words:
            start = first
        end = last
        words += length
    if words:
        yield start, end


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the character ranges of the sentences of a text, by punctuation alone.

    >>> text = "He met Dr. A. Brown. They left."
    >>> [text[start:end] for start, end in sentences(text)]
    ['He met Dr. A. Brown.', 'They left.']
    """
    start = 0
    for mark in _SENTENCE_END.finditer(text):
        end = mark.start() + len(mark[0].rstrip())
        if mark[0] != "\n" and _NOT_AN_END.search(text[max(0, end - 12) : end]):
            continue
        yield from _trimmed(text, start, end)
        start = mark.end()
    yield from _trimmed(text, start, len(text))


def _units(body: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield sentences as (start, end, words, whether it opens a paragraph), cut to the limits."""
    at = 0
    for gap in [*_PARAGRAPH.finditer(body), None]:
        until = gap.start() if gap else len(body)
        opens = True
        for first, last in sentences(body[at:until]):
            for start, end, words in _cut(body, at + first, at + last):
                yield start, end, words, opens
                opens = False
        at = gap.end() if gap else until


def _cut(body: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    first, last, words = start, start, 0
    for word in _WORD.finditer(body, start, end):
        if words and (words == MAX_WORDS or word.end() - first > MAX_CHARACTERS):
            yield first, last, words
            words = 0
        if not words:
            first = word.start()
        while word.end() - first > MAX_CHARACTERS:
            yield first, first + MAX_CHARACTERS, 1
            first += MAX_CHARACTERS
        last = word.end()
        words += 1
    if words:
        yield first, last, words


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    stripped = text[start:end].strip()
    if stripped:
        first = text.index(stripped[0], start)
        yield first, first + len(stripped)


class _Bytes:
    """Turn rising character offsets of a text into byte offsets, in one pass over it."""

    def __init__(self, text: str, base: int) -> None:
        self._text, self._at, self._bytes = text, 0, base

    def __call__(self, offset: int) -> int:
        self._bytes += len(self._text[self._at : offset].encode())
        self._at = offset
        return self._bytes


def _joined(group: list[Section]) -> tuple[str, list[tuple[int, int]]]:
    """Return the sections of one path as one body, and where each page in it starts."""
    body = ""
    pages: list[tuple[int, int]] = []
    for section in group:
        text = section.text.strip()
        if not text:
            continue
        if body:
            # a page may end within a sentence
            body += "\n\n" if body[-1] in ".!?:\"”')" or section.page is None else "\n"
        if section.page is not None:
            pages.append((len(body), section.page))
        body += text
    return body, pages


def _pages(pages: list[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    if not pages:
        return None
    first = max((page for at, page in pages if at <= start), default=pages[0][1])
    return first, max((page for at, page in pages if at < end), default=first)
