"""Documents and chunks within one write, and their text index.

Belongs here: versions of documents and chunks. Must not: what they say (``graph``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kgqa.errors import ConflictError
from kgqa.model.things import Chunk, Document
from kgqa.store import hooks, rows, sums
from kgqa.store.tables import Tables
from kgqa.temporal.interval import END

_COLUMNS = {"documents": rows.DOCUMENT_SAID, "chunks": rows.CHUNK_SAID}


class Papers:
    """Change documents and chunks."""

    def __init__(self, tables: Tables, revision: int) -> None:
        self._tables = tables
        self._revision = revision
        self._closed: dict[str, set[int]] = {"documents": set(), "chunks": set()}
        self._opened: Counter[str] = Counter()

    @property
    def counts(self) -> Counter[str]:
        """Return how many versions this write closed or opened, by noun."""
        return self._opened + Counter({table: len(ns) for table, ns in self._closed.items()})

    def state(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Put documents and chunks on record; another version of the same id replaces it.

        Raises ConflictError (``store.conflict``) for a document id with another text.
        """
        papers, parts = list(documents), list(chunks)
        self._versions("documents", [rows.document_row(d) for d in papers])
        titles = {d.id: rows.clean(d.title) for d in papers}
        missing = list({c.document for c in parts} - set(titles))
        titles.update(self._tables.select("documents", "id, title", id=missing, recorded_to=END))
        self._versions("chunks", [rows.chunk_row(c, titles.get(c.document, "")) for c in parts])
        hooks.reached("text")

    def _versions(self, table: str, wanted: list[tuple[Any, ...]]) -> None:
        last = {row[0]: row for row in wanted}
        held: dict[str, tuple[int, int, tuple[Any, ...]]] = {}
        for n, until, *before in self._tables.select(
            table, f"n, recorded_to, {_COLUMNS[table]}",
            id=list(last), recorded_to=(END, self._revision),
        ):  # fmt: skip
            if until == END or before[0] not in held:
                held[before[0]] = n, until, tuple(before)
        fresh, closed, again = [], [], []
        for name, row in last.items():
            n, until, earlier = held.get(name, (0, 0, ()))
            if earlier == row and until == END:
                continue
            if earlier == row:
                again.append(n)
                continue
            if until == END:
                if table == "documents" and earlier[4] != row[4]:
                    raise ConflictError(
                        f"document {name!r} is on record with another text",
                        code="store.conflict", hint="give the new text an id of its own",
                    )  # fmt: skip
                closed.append(n)
            fresh.append(row)
        self._tables.until(table, END, again)
        self._closed[table] -= set(again)
        self._close(table, closed)
        self._insert(table, fresh)

    def _insert(self, table: str, fresh: list[tuple[Any, ...]]) -> None:
        if not fresh:
            return
        n = self._tables.last(table)
        now = self._revision
        self._tables.insert(
            table,
            f"n, {_COLUMNS[table]}, sum, recorded_from, recorded_to",
            [(n + i, *row, sums.current(row, now), now, END) for i, row in enumerate(fresh, 1)],
        )
        self._opened[table] += len(fresh)

    def _close(self, table: str, ns: Iterable[int]) -> None:
        ns = list(ns)
        self._closed[table] |= set(ns)
        self._tables.until(table, self._revision, ns)

    def delete(self, document: str) -> None:
        """Take a document and its chunks off the record."""
        found = self._tables.select("documents", "n", id=document, recorded_to=END)
        self._close("documents", [n for (n,) in found])
        found = self._tables.select("chunks", "n", document=document, recorded_to=END)
        self._close("chunks", [n for (n,) in found])
