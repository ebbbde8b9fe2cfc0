"""Values that no store takes, and the error for each.

Belongs here: what Python raises before a value reaches any back-end. Must not: what a back-end says
of itself (``files``, ``neo4j.faults``).
"""

from __future__ import annotations

from kgqa.errors import InputError


def typed(exc: BaseException) -> InputError | None:
    """Return the typed error for a value that is no text or no 64-bit number, else None.

    >>> typed(OverflowError()).code
    'store.number_range'
    """
    if isinstance(exc, UnicodeEncodeError):
        return InputError(
            f"an id holds a character that is no text: {exc.object[exc.start : exc.end]!r}",
            code="store.bad_text", hint="write ids in valid Unicode",
        )  # fmt: skip
    if isinstance(exc, OverflowError):
        return InputError(
            "a number does not fit into 64 bits", code="store.number_range",
            hint="write larger numbers as text",
        )  # fmt: skip
    return None
