"""A snapshot in others' hands: what a read raises is typed where it is raised.

Belongs here: that translation. Must not: reading itself. What the holder of a view raises is
its own and passes through the ``with`` as it is.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kgqa.protocols import Batch
from kgqa.store import files
from kgqa.store.snapshot import Snapshot
from kgqa.store.state import Cache


class View(Snapshot):
    """Read one state, raising typed errors alone."""

    __slots__ = ("path",)

    def __init__(self, connection: sqlite3.Connection, cache: Cache, path: Path) -> None:
        super().__init__(connection, cache)
        self.path = path

    def batches(self) -> Iterator[Batch]:
        """Yield batches that rebuild the current state in an empty store, without vectors."""
        try:
            yield from super().batches()
        except files.READING as exc:
            raise files.typed(exc, self.path) from exc


def _typed(read: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(read)
    def typed(self: View, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(self, *args, **kwargs)
        except files.READING as exc:
            raise files.typed(exc, self.path) from exc

    return typed


for _name in (
    "pin", "get", "nodes", "match", "expand", "nearest", "find", "names", "chunks", "relations",
    "documents", "failures", "meta", "stats", "changes", "pending",
):  # fmt: skip
    setattr(View, _name, _typed(getattr(Snapshot, _name)))
