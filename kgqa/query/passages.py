"""Passages by sentence: what of a text may be shown under a horizon.

Belongs here: hiding the later sentences of a text (DESIGN 2.4). Must not: finding sentences
(``kgqa.language.split``) or reading dates (``kgqa.temporal.scan``).
"""

from __future__ import annotations

from typing import Literal as OneOf

from kgqa.language.split import sentences
from kgqa.temporal import scan
from kgqa.temporal.interval import BEGIN, END, Instant, Validity

HIDDEN = "[…]"


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
