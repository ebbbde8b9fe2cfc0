"""Words as full-text search compares them, so that both stores find the same.

Belongs here: pure text. Must not: statements. SQLite's tokenizer (``unicode61
remove_diacritics 2``) has no twin among the analyzers of Lucene: the standard one finds neither
"Cleveland" in "Cleveland's" nor "1" in "1,000" and keeps accents, the folding one drops stop
words. So rows carry their words ready made (``tokens``), and the index only parts them at spaces.
"""

from __future__ import annotations

import re
import unicodedata

from kgqa.store import queries

_WORD = re.compile(r"[^\W_]+")
_ACCENT = re.compile("[\u0300-\u036f]")


class _Plain(dict[int, str]):
    """Map each small letter to what SQLite's tokenizer makes of it, when first asked."""

    def __missing__(self, code: int) -> str:
        letter = chr(code).casefold()
        letter = letter if len(letter) == 1 else chr(code)
        base = _ACCENT.sub("", unicodedata.normalize("NFD", letter))
        # Only Latin letters lose their accents.
        self[code] = base if base.isascii() else letter
        return self[code]


_PLAIN = _Plain()


def folded(text: str) -> str:
    """Return the words of a text in lower case, Latin ones without accents, with spaces.

    >>> folded("Zürich's (old) TOWN_HALL")
    'zurich s old town hall'
    """
    lower = text.lower()
    return " ".join(_WORD.findall(lower if lower.isascii() else lower.translate(_PLAIN)))


def chunk_tokens(title: str, section: str, text: str) -> str:
    """Return the words of a chunk: of its title, its section as stored, its text."""
    return folded(f"{title} {section} {text}")


def expression(text: str) -> str | None:
    """Return a Lucene query for any word of a text; None if it has no word.

    Letters, digits, spaces and quotes alone, in lower case: nothing that users type is syntax.

    >>> expression('Who "ruled" X_Y AND Z?')
    'who ruled "x y" and z'
    """
    words = [word for token in queries.tokens(text) if (word := folded(token))]
    return " ".join(f'"{word}"' if " " in word else word for word in words) or None
