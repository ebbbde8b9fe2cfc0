"""Named points of a write, so that a test can die exactly there.

Belongs here: the hook alone. Must not: behaviour; nothing in kgqa ever sets it.
"""

from __future__ import annotations

from collections.abc import Callable


def _nothing(name: str) -> None:
    """Do nothing."""


reached: Callable[[str], None] = _nothing
"""Called with begin, opened, text, nodes, facts, vectors, commit, done, in that order."""
