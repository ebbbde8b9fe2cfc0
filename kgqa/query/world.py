"""A reader seen through a scope: what question analysis may look at.

Belongs here: narrowing every look-up to what had begun and was known. Must not: names; a
question may use a name that came later (DESIGN 2.4 hides it from answers, not from asking).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kgqa.model.answer import Scope
from kgqa.model.things import Fact, Item
from kgqa.protocols import Hit, NameHit, Pattern, Reader


class World:
    """Read facts of the scope's world only, so that a reading hints at nothing later."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def match(self, pattern: Pattern) -> list[Fact]:
        """Return the facts that fit, had begun before the horizon and were known."""
        within = replace(pattern, begun_before=self._scope.horizon, known_at=self._scope.known_at)
        return self._reader.match(within)

    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]:
        """Return items as known."""
        return self._reader.get(labels, self._scope.known_at)

    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]:
        """Return the nodes that were known to bear names, at whatever time they bore them."""
        return self._reader.names(keys, self._scope.known_at)

    def find(self, text: str, k: int, pattern: Pattern) -> list[Hit]:
        """Return search hits as known."""
        return self._reader.find(text, k, replace(pattern, known_at=self._scope.known_at))
