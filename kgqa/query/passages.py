"""Passages by sentence: what of a text may be shown under a horizon.

Belongs here: cutting text into sentences and hiding the later ones (DESIGN 2.4). Must not:
reading dates itself; ``kgqa.temporal.scan`` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal as OneOf

from kgqa.temporal import scan
from kgqa.temporal.interval import BEGIN, END, Instant, Validity

HIDDEN = "[…]"
_BREAK = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)\]]))\s+(?=[\"'“‘(\[]?[A-Z0-9])|\s*\n\s*\n\s*")
_ABBREVIATED = re.compile(
    r"(?:\b[A-Za-z]|\b(?:c|ca|cf|Dr|Mr|Mrs|Ms|St|Sr|Jr|Gen|Col|Capt|Lt|Rev|Hon|vol|no|pp|etc"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|b|d|r|fl))\.$"
)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of each sentence; an initial or an abbreviation ends none.

    >>> text = "In 44 B.C. Caesar died. Rome burned."
    >>> [text[a:b] for a, b in sentences(text)]
    ['In 44 B.C. Caesar died.', 'Rome burned.']
    """
    start = 0
    for found in _BREAK.finditer(text):
        paragraph = "\n" in found.group()
        if not paragraph and _ABBREVIATED.search(
            text[max(start, found.start() - 8) : found.start()]
        ):
            continue
        if found.start() > start:
            yield start, found.start()
        start = found.end()
    if start < len(text):
        yield start, len(text)


def shown(
    text: str, horizon: Instant | None, undated: OneOf["include", "exclude"] = "include"
) -> tuple[str, bool]:
    """Return the text with later sentences hidden, and whether what is left has a date.

    A sentence whose earliest date is at or after ``horizon`` becomes ``[…]``; neighbouring
    ones become one. ``undated="exclude"`` hides sentences without a date too. An empty
    text means that nothing may be shown.
    """
    parts: list[str] = []
    dated = hidden = False
    at = 0
    for start, end in sentences(text):
        dates = [_earliest(span.validity) for span in scan(text[start:end])]
        hide = (bool(dates) and horizon is not None and min(dates) >= horizon) or (
            not dates and undated == "exclude"
        )
        if not (hide and hidden):
            parts.append(text[at:start] + (HIDDEN if hide else text[start:end]))
        dated = dated or (bool(dates) and not hide)
        hidden, at = hide, end
    result = "".join(parts)
    return ("", False) if result.strip() in ("", HIDDEN) else (result, dated)


def _earliest(valid: Validity) -> Instant:
    """Return the earliest date that the phrase itself writes."""
    written = [t for t in valid.bounds if t not in (BEGIN, BEGIN + 1, END - 1, END)]
    return min(written, default=BEGIN)
