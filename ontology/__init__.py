"""The vocabulary that every new base starts with.

Belongs here: data files and one reader of their text. Must not: parsing them.
"""

from __future__ import annotations

from importlib.resources import files


def text(name: str) -> str:
    """Return a vocabulary file as text.

    >>> text("relations.json").startswith("[")
    True
    """
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
