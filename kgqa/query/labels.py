"""Citation labels and ids as users type them, and what they name.

Belongs here: finding the one item that a text names. Must not: names of nodes (``history``).
"""

from __future__ import annotations

from kgqa.errors import NotFoundError
from kgqa.model.things import Document
from kgqa.protocols import Reader


def label(reader: Reader, text: str) -> str:
    """Return the citation label that a text is, or that a bare id stands for.

    Raises NotFoundError (``item.not_found``).
    """
    kinds = ("node:", "fact:", "document:")
    tries = [text] if text.startswith(kinds) else [kind + text for kind in kinds]
    found = reader.get(tries)
    for one in tries:
        if one in found:
            return one
    raise unknown(text)


def document(reader: Reader, text: str) -> Document:
    """Return the document of a label, id or path. Raises NotFoundError (``item.not_found``)."""
    bare = text.removeprefix("document:")
    for one in reader.documents():
        if bare in (one.id, one.path):
            return one
    raise unknown(text)


def unknown(text: str) -> NotFoundError:
    """Return the error for a text that names nothing."""
    return NotFoundError(
        f"nothing here is called {text!r}",
        code="item.not_found",
        hint="list ids with: kgqa nodes KB, kgqa documents KB, kgqa timeline KB NAME",
    )
