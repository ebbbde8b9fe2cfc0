"""Documents and chunks within one write, and their text index.

Belongs here: versions of documents and chunks. Must not: what they say (``graph``).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Any

from kgqa.errors import ConflictError
from kgqa.model.things import Chunk, Document
from kgqa.store import hooks, rows, sums
from kgqa.store.queries import marks, slices
from kgqa.temporal.interval import END

_COLUMNS = {"documents": rows.DOCUMENT_SAID, "chunks": rows.CHUNK_SAID}


class Papers:
    """Change documents and chunks."""

    def __init__(self, connection: sqlite3.Connection, revision: int) -> None:
        self._db = connection
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
        titles: dict[str, str] = {}
        for papers in slices(documents):
            self._versions("documents", [rows.document_row(d) for d in papers])
            titles.update({d.id: rows.clean(d.title) for d in papers})
        for part in slices(chunks):
            missing = {c.document for c in part} - set(titles)
            for names in slices(missing):
                titles.update(
                    self._db.execute(
                        f"SELECT id, title FROM documents WHERE id IN ({marks(names)}) "
                        f"AND recorded_to = {END}",
                        names,
                    )
                )
            self._versions("chunks", [rows.chunk_row(c, titles.get(c.document, "")) for c in part])
        hooks.reached("text")

    def _versions(self, table: str, wanted: list[tuple[Any, ...]]) -> None:
        last = {row[0]: row for row in wanted}
        columns = _COLUMNS[table]
        held: dict[str, tuple[int, int, tuple[Any, ...]]] = {
            row[2]: (row[0], row[1], tuple(row[2:]))
            for row in self._db.execute(
                f"SELECT n, recorded_to, {columns} FROM {table} WHERE id IN ({marks(list(last))}) "
                f"AND recorded_to IN ({END}, {self._revision}) ORDER BY recorded_to",
                list(last),
            )
        }
        fresh = []
        for name, row in last.items():
            n, until, before = held.get(name, (0, 0, ()))
            if before == row and until == END:
                continue
            if before == row:
                self._db.execute(sums.until(table), (END, n))
                self._closed[table].discard(n)
                continue
            if until == END:
                if table == "documents" and before[4] != row[4]:
                    raise ConflictError(
                        f"document {name!r} is on record with another text",
                        code="store.conflict", hint="give the new text an id of its own",
                    )  # fmt: skip
                self._close(table, [n])
            fresh.append(row)
        self._insert(table, fresh)

    def _insert(self, table: str, fresh: list[tuple[Any, ...]]) -> None:
        n: int = self._db.execute(f"SELECT coalesce(max(n), 0) FROM {table}").fetchone()[0]
        columns = _COLUMNS[table]
        self._db.executemany(
            f"INSERT INTO {table}(n, {columns}, sum, recorded_from, recorded_to) "
            f"VALUES (?, {marks(columns.split(','))}, ?, {self._revision}, {END})",
            [(n + i, *row, sums.current(row, self._revision)) for i, row in enumerate(fresh, 1)],
        )
        if table == "chunks":
            self._db.executemany(
                "INSERT INTO chunk_text(rowid, title, section, text) VALUES (?, ?, ?, ?)",
                [(n + i, *row[3:6]) for i, row in enumerate(fresh, 1)],
            )
        self._opened[table] += len(fresh)

    def _close(self, table: str, ns: Iterable[int]) -> None:
        ns = list(ns)
        self._closed[table] |= set(ns)
        self._db.executemany(sums.until(table), [(self._revision, n) for n in ns])

    def delete(self, document: str) -> None:
        """Take a document and its chunks off the record."""
        for table, column in (("documents", "id"), ("chunks", "document")):
            self._close(
                table,
                [
                    n
                    for (n,) in self._db.execute(
                        f"SELECT n FROM {table} WHERE {column} = ? AND recorded_to = {END}",
                        (document,),
                    )
                ],
            )
