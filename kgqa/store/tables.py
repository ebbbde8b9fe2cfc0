"""The rows of a base within one write: all that the logic of writing sees of a back-end.

Belongs here: the protocol that every back-end implements, and the tables by name. Must not: SQL,
Cypher, decisions about what is true. Tables and columns are those of ``schema``; what a back-end
derives from rows on its own (text indexes, a graph to look at) is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from kgqa.store.rows import Record

KEYS = {
    "meta": ("key",),
    "relations": ("key",),
    "failures": ("unit",),
    "tombstones": ("label",),
    "revisions": ("n",),
    "vectors": ("kind", "item", "generation"),
}
"""Tables whose rows have a key of their own instead of versions: its columns come first."""

MARK = "_touched:"
"""How keys of settings begin that tell which revision last changed a part of the base."""


class Tables(Protocol):
    """Read and change rows inside an open write transaction; it sees what it wrote itself.

    Rows of tables outside KEYS have a number ``n`` of their own, given by the caller: ``last``
    tells the highest. Conditions are given by column, a value or a list of values of which one
    must fit; at most one list may be long.
    """

    def select(self, table: str, columns: str, **where: Any) -> list[Record]:
        """Return the columns of the rows that fit every condition, in any order."""
        ...

    def last(self, table: str) -> int:
        """Return the highest ``n`` in a table, 0 if it is empty."""
        ...

    def insert(self, table: str, columns: str, rows: Iterable[Record]) -> None:
        """Add rows; none of them may be there yet."""
        ...

    def change(self, table: str, columns: str, rows: Iterable[Record]) -> None:
        """Set columns of rows; the last value of each record is the row's ``n``."""
        ...

    def put(self, table: str, columns: str, rows: Sequence[Record]) -> int:
        """Write rows of a table with a key, one a key; return how many that changed."""
        ...

    def put_vectors(self, rows: Sequence[Record]) -> int:
        """Write rows of ``vectors``, all columns; return how many that changed."""
        ...

    def vector_size(self) -> int | None:
        """Return how many numbers the vectors of this base have; None if there are none."""
        ...

    def until(self, table: str, revision: int, ns: Iterable[int]) -> None:
        """Set ``recorded_to`` of rows, keeping their sums."""
        ...

    def since(self, table: str, revision: int, ns: Iterable[int]) -> None:
        """Set ``recorded_from`` of rows, keeping their sums."""
        ...

    def delete(self, table: str, **where: Any) -> int:
        """Remove the rows that fit every condition; return how many."""
        ...

    def flip(self, generation: int) -> None:
        """Drop the vectors that newer ones up to a generation replace."""
        ...
