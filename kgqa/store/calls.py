"""A store's reads outside a view: each call reads one state.

Belongs here: that every store reads so. Must not: what is read (``state``), how a state is held.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from kgqa.model.things import Chunk, Document, Fact, Failure, Item, Node, Relation
from kgqa.protocols import Batch, Change, Hits, Json, NameHit, Pattern, Pending, Reached
from kgqa.store.state import State

if TYPE_CHECKING:
    import numpy as np


class Calls(ABC):
    """Implement ``Reader`` by one state a call."""

    @abstractmethod
    def _state(self) -> AbstractContextManager[State]:
        """Return the newest state, held while the manager is entered."""

    @property
    def revision(self) -> int:
        """Return the newest committed revision."""
        with self._state() as s:
            return s.revision

    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]:
        """Return the things that citation labels name."""
        with self._state() as s:
            return s.get(labels, known_at)

    def nodes(self, pattern: Pattern) -> list[Node]:
        """Return nodes."""
        with self._state() as s:
            return s.nodes(pattern)

    def match(self, pattern: Pattern) -> list[Fact]:
        """Return facts."""
        with self._state() as s:
            return s.match(pattern)

    def expand(
        self, seeds: Sequence[str], hops: int, pattern: Pattern, limit: int
    ) -> list[Reached]:
        """Return paths of facts from seeds."""
        with self._state() as s:
            return s.expand(seeds, hops, pattern, limit)

    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> Hits:
        """Return the nearest embedded items."""
        with self._state() as s:
            return s.nearest(vector, k, pattern)

    def find(self, text: str, k: int, pattern: Pattern) -> Hits:
        """Return full-text hits."""
        with self._state() as s:
            return s.find(text, k, pattern)

    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]:
        """Return who bears each key."""
        with self._state() as s:
            return s.names(keys, known_at)

    def chunks(self, document: str, known_at: int | None = None) -> list[Chunk]:
        """Return a document's chunks."""
        with self._state() as s:
            return s.chunks(document, known_at)

    def relations(self) -> dict[str, Relation]:
        """Return the relations by key."""
        with self._state() as s:
            return s.relations()

    def documents(
        self, limit: int | None = None, after: str | None = None, known_at: int | None = None
    ) -> list[Document]:
        """Return documents by id."""
        with self._state() as s:
            return s.documents(limit, after, known_at)

    def failures(self) -> list[Failure]:
        """Return what could not be loaded."""
        with self._state() as s:
            return s.failures()

    def meta(self) -> dict[str, Json]:
        """Return the base's settings."""
        with self._state() as s:
            return s.meta()

    def stats(self) -> dict[str, int]:
        """Return counts by noun."""
        with self._state() as s:
            return s.stats()

    def changes(self, since: int = 0) -> list[Change]:
        """Return the revisions after ``since``."""
        with self._state() as s:
            return s.changes(since)

    def pending(self, limit: int, after: tuple[str, str] | None = None) -> list[Pending]:
        """Return items that wait for a vector."""
        with self._state() as s:
            return s.pending(limit, after)

    def batches(self) -> Iterator[Batch]:
        """Yield batches that rebuild the current state, all of one snapshot."""
        with self._state() as s:
            yield from s.batches()
