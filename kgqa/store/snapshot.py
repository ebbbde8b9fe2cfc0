"""One state of a base in a file, read.

Belongs here: the reads in SQL of ``State``. Must not: writing, connections, transactions;
whoever makes a Snapshot has begun the transaction that holds its state.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kgqa.protocols import Hits, Pattern
from kgqa.store import queries, rows, status
from kgqa.store.queries import Where
from kgqa.store.rows import Record
from kgqa.store.state import Cache, State
from kgqa.temporal.interval import END

if TYPE_CHECKING:
    import numpy as np

_MOST_K = 10_000


class Snapshot(State):
    """Read the state that ``connection``'s open transaction sees."""

    __slots__ = ("_revision", "connection")

    def __init__(self, connection: sqlite3.Connection, cache: Cache) -> None:
        # Not by way of super(): every read passes here.
        self.cache = cache
        self.connection = connection
        self._revision: int | None = None

    @property
    def revision(self) -> int:
        """Return the revision of this state; read when first needed, a plain match needs none."""
        if self._revision is None:
            self._revision = self.connection.execute(
                "SELECT coalesce(max(n), 0) FROM revisions"
            ).fetchone()[0]
        return self._revision

    def pin(self) -> None:
        """Read something: a transaction sees what is committed when it first reads."""
        self._revision = self.revision

    def known(self, known_at: int | None) -> int | None:
        """Return a past revision as it is, and None for this snapshot's own or a later one."""
        return None if known_at is None or known_at >= self.revision else known_at

    def seen(self, table: str) -> Where:
        """Return no condition: the transaction sees nothing else."""
        return Where()

    def select(
        self, table: str, columns: str, where: Where, order: str = "", limit: int | None = None
    ) -> Iterable[Record]:
        """Return columns of a table's rows in order."""
        sql = f"SELECT {columns} FROM {table} n WHERE {where}"
        if order:
            sql += f" ORDER BY {order}"
        if limit is not None:
            sql += f" LIMIT {limit:d}"
        return self.connection.execute(sql, where.parameters)

    def count(self, table: str, where: Where, most: int | None = None) -> int:
        """Return how many rows fit, ``most`` if there are more."""
        sql = f"SELECT count(*) FROM {table} n WHERE {where}"
        if most is not None:
            sql = f"SELECT count(*) FROM (SELECT 1 FROM {table} n WHERE {where} LIMIT {most:d})"
        found: int = self.connection.execute(sql, where.parameters).fetchone()[0]
        return found

    def distinct(self, table: str, column: str, where: Where) -> Iterable[Any]:
        """Return each value of a column once."""
        sql = f"SELECT DISTINCT {column} FROM {table} n WHERE {where}"
        return (value for (value,) in self.connection.execute(sql, where.parameters))

    def fact_rows(
        self, where: Where, known_at: int | None, order: str, size: int | None = None
    ) -> list[Record]:
        """Return rows FACT of the facts on record; claims of one fact follow one another."""
        queries.recorded(where, "f", known_at)
        source, limit = "facts f", where.parameters
        if size is not None:
            columns = "f.n, f.id, f.subject, f.relation, f.object, f.es, f.ls, f.ee, f.le"
            source = (
                f"(SELECT {columns}, f.recorded_from, f.recorded_to FROM facts f WHERE {where} "
                f"ORDER BY {order} LIMIT ?) f"
            )
            limit = [*where.parameters, size]
            where = Where()
        outer = queries.recorded(Where(), "c", known_at)
        return self.connection.execute(
            f"SELECT {rows.FACT} FROM {source} CROSS JOIN claims c ON c.fact = f.n "
            f"WHERE {where} AND {outer} ORDER BY {order}",
            [*limit, *outer.parameters],
        ).fetchall()

    def beside(
        self, side: str, pairs: Sequence[tuple[str, str]], known_at: int | None, closed: bool
    ) -> Iterator[tuple[tuple[str, str], Iterable[Record]]]:
        """Yield each pair with the facts that share it: es, ls, ee, le, id, the other side."""
        other = "object" if side == "subject" else "subject"
        for pair in pairs:
            where = Where().add(f"f.{side} = ? AND f.relation = ?", *pair)
            queries.recorded(where, "f", known_at)
            if closed:
                where.add(f"f.le < {END}")
            yield (
                pair,
                self.connection.execute(
                    f"SELECT f.es, f.ls, f.ee, f.le, f.id, f.{other} FROM facts f WHERE {where}",
                    where.parameters,
                ),
            )

    def name_rows(self, keys: Sequence[str], known_at: int | None) -> Iterable[Record]:
        """Return key, node id, label, main and validity of the names with these keys."""
        where = queries.recorded(Where().among("m.key", keys), "n", known_at)
        return self.connection.execute(
            "SELECT m.key, n.id, m.label, m.main, m.es, m.ls, m.ee, m.le, m.how "
            f"FROM names m CROSS JOIN nodes n ON n.n = m.node WHERE {where}",
            where.parameters,
        )

    def used(self, known: Container[str]) -> Iterator[str]:
        """Yield each relation of facts on record now, without those that are known."""
        # One index probe per relation, however many facts each has.
        for (key,) in self.connection.execute(
            "WITH RECURSIVE used(key) AS ("
            "SELECT min(relation) FROM facts UNION ALL "
            "SELECT (SELECT min(relation) FROM facts WHERE relation > used.key) FROM used "
            "WHERE used.key IS NOT NULL) SELECT key FROM used WHERE key IS NOT NULL"
        ):
            if key not in known and self._in_use(key):
                yield key

    def _in_use(self, relation: str) -> bool:
        return bool(
            self.connection.execute(
                f"SELECT 1 FROM facts WHERE relation = ? AND recorded_to = {END} LIMIT 1",
                (relation,),
            ).fetchone()
        )

    def claim_rows(self, document: str) -> Iterable[Record]:
        """Return a document's claims as stated."""
        return self.connection.execute(
            f"SELECT {status.CLAIM} FROM claims c JOIN facts f ON f.n = c.fact "
            "JOIN refs s ON s.n = c.subject_ref LEFT JOIN refs o ON o.n = c.object_ref "
            f"WHERE c.document = ? AND c.recorded_to = {END} ORDER BY "
            "coalesce(c.line, 0), c.chunk, c.span_start, f.id, s.label, o.label, c.n",
            (document,),
        )

    def find(self, text: str, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` best full-text hits that satisfy the pattern, best first."""
        from kgqa.store import search

        return search.find(self, text, min(k, _MOST_K), pattern)

    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` nearest embedded items that satisfy the pattern; exact."""
        from kgqa.store import search

        return search.nearest(self, vector, min(k, _MOST_K), pattern)
