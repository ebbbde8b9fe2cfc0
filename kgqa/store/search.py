"""Searches that rank: full text and vectors, filtered before the best k are taken.

Belongs here: FTS5 queries, the matrix in memory and its masks. Must not: the arithmetic of
nearest neighbours (``vectors``). Imports numpy, so it is itself imported on first use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kgqa.errors import FaultError
from kgqa.protocols import Hit, Hits, ItemKind, Pattern
from kgqa.store import queries
from kgqa.store.queries import Where
from kgqa.store.vectors import VectorIndex
from kgqa.temporal.interval import BEGIN, END, UNDATED, narrowed

if TYPE_CHECKING:
    from kgqa.store.snapshot import Snapshot

_KINDS: tuple[ItemKind, ...] = ("chunk", "node", "relation")
_FEW = 0.05
"""Share of terms under which looking at each costs less than comparing all in one pass."""
_Mask = NDArray[np.bool_]


def find(snapshot: Snapshot, text: str, k: int, pattern: Pattern) -> Hits:
    """Return the best hits among node names and chunks by BM25; ties by kind, then id.

    A text without a word finds nothing. Relations are not searched. ``kind`` narrows nodes.
    """
    expression = queries.match_expression(text)
    if expression is None or k < 1:
        return Hits()
    known_at = pattern.known_at if pattern.known_at is not None else snapshot.revision
    current = known_at >= snapshot.revision
    hits: list[Hit] = []
    for kind, table, index in (("node", "nodes", "node_text"), ("chunk", "chunks", "chunk_text")):
        if kind not in pattern.items:
            continue
        where = Where().add(f"{index} MATCH ?", expression)
        queries.recorded(where, "n", None if current else known_at)
        if kind == "node":
            queries.existing(where, pattern)
        else:
            queries.timed(where, "n", pattern)
        hits += [
            Hit(kind, name, -score)
            for name, score in snapshot.connection.execute(
                f"SELECT n.id, bm25({index}) AS score FROM {index} "
                f"JOIN {table} n ON n.n = {index}.rowid WHERE {where} "
                "ORDER BY score, n.id LIMIT ?",
                [*where.parameters, k],
            )
        ]
    hits.sort(key=lambda h: (-h.score, h.kind, h.id))
    return Hits(hits[:k], "fts5, filtered, bm25")


def nearest(snapshot: Snapshot, vector: NDArray[np.float32], k: int, pattern: Pattern) -> Hits:
    """Return the nearest items by cosine that satisfy the pattern; ties by id."""
    vectors = snapshot.cache.get("vectors", snapshot, lambda: _Vectors(snapshot))
    if k < 1 or not len(vectors.index):
        return Hits()
    vector = np.asarray(vector, dtype=np.float32)
    if pattern.known_at is None or pattern.known_at >= snapshot.revision:
        mask = _current(snapshot, vectors, pattern)
    else:
        mask = _past(snapshot, vectors, pattern)
    hits = (
        Hit(_KINDS[vectors.kinds[row]], vectors.names[row], score)
        for row, score in vectors.index.search(vector, k, mask)
    )
    return Hits(hits, f"exact, {np.count_nonzero(mask)} of {len(mask)} hold")


class _Vectors:
    """Hold the visible vectors: row i is of item ``names[i]``, of kind ``_KINDS[kinds[i]]``."""

    __slots__ = ("index", "kinds", "names", "rows")

    def __init__(self, snapshot: Snapshot) -> None:
        active = int(snapshot.meta().get("generation") or 0)
        count, size = snapshot.connection.execute(
            "SELECT count(DISTINCT kind || ':' || item), coalesce(max(length(vector)), 0) / 4 "
            "FROM vectors WHERE generation <= ?",
            (active,),
        ).fetchone()
        # Filled row by row: reading all the vectors first would hold them three times.
        matrix = np.empty((count, size), dtype=np.float32)
        keys: list[tuple[str, str]] = []
        for kind, item, vector, _ in snapshot.connection.execute(
            # With max(), SQLite takes the other columns from the row that has it.
            "SELECT kind, item, vector, max(generation) FROM vectors WHERE generation <= ? "
            "GROUP BY kind, item ORDER BY kind, item",
            (active,),
        ):
            if len(vector) != 4 * size:
                raise FaultError(
                    f"the stored vector of {kind} {item!r} has another length than others",
                    code="vectors.corrupt", hint="run kgqa verify",
                )  # fmt: skip
            matrix[len(keys)] = np.frombuffer(vector, dtype="<f4")
            keys.append((kind, item))
        kinds: tuple[str, ...] = _KINDS
        self.names = [item for _, item in keys]
        self.kinds = np.array([kinds.index(kind) for kind, _ in keys], dtype=np.int8)
        self.rows = {key: i for i, key in enumerate(keys)}
        self.index = VectorIndex([f"{kind}:{item}" for kind, item in keys], matrix)


class _Terms:
    """Hold when the embedded items of one kind hold: term i, of matrix row ``rows[i]``."""

    __slots__ = ("_by_end", "_by_start", "_ends", "_starts", "ee", "es", "kinds", "le", "ls",
                 "rows", "run")  # fmt: skip

    def __init__(self, found: list[tuple[Any, ...]], vectors: _Vectors, kind: str) -> None:
        at = vectors.rows
        kept = [
            (row, *terms) for name, *terms in found if (row := at.get((kind, name))) is not None
        ]
        columns = list(zip(*kept, strict=True)) or [()] * 6
        self.rows = np.array(columns[0], dtype=np.intp)
        self.es, self.ls, self.ee, self.le = (
            np.array(column, dtype=np.int64) for column in columns[1:5]
        )
        self.kinds = np.array(columns[5], dtype=object)
        first, count = (int(self.rows[0]), len(kept)) if kept else (0, 0)
        one_each = bool((self.rows == np.arange(first, first + count)).all())
        self.run = slice(first, first + count) if one_each else None
        self._by_start, self._by_end = np.argsort(self.es), np.argsort(self.le)
        self._starts, self._ends = self.es[self._by_start], self.le[self._by_end]

    def mask(self, size: int, pattern: Pattern) -> _Mask:
        """Return which matrix rows have a term that satisfies the pattern."""
        before, after = _edges(pattern)
        few = self._few(before, after)
        kept = self._admitted(before, after, pattern, slice(None) if few is None else few)
        if few is None and kept is not None and self.run == slice(0, size):
            return kept
        mask = np.zeros(size, dtype=bool)
        if few is not None:
            mask[self.rows[few if kept is None else few[kept]]] = True
        elif self.run is not None:
            mask[self.run] = True if kept is None else kept
        else:
            mask[self.rows if kept is None else self.rows[kept]] = True
        return mask

    def _few(self, before: int, after: int) -> NDArray[np.intp] | None:
        """Return the terms with ``es < before``, or those with ``le > after``, if they are few."""
        begun = int(np.searchsorted(self._starts, before))
        gone = int(np.searchsorted(self._ends, after, side="right"))
        lasting = len(self.rows) - gone
        if min(begun, lasting) > _FEW * len(self.rows):
            return None
        return self._by_start[:begun] if begun < lasting else self._by_end[gone:]

    def _admitted(
        self, before: int, after: int, pattern: Pattern, part: slice | NDArray[np.intp]
    ) -> _Mask | None:
        """Return which of some terms satisfy the pattern, None for all of them."""
        conditions: list[_Mask] = []
        es, le = self.es[part], self.le[part]
        if before < END:
            conditions.append(es < before)
        if after > BEGIN:
            conditions.append(le > after)
        if pattern.undated == "exclude":
            none = UNDATED.bounds
            conditions.append(
                (es != none[0]) | (self.ls[part] != none[1])
                | (self.ee[part] != none[2]) | (le != none[3])
            )  # fmt: skip
        if pattern.kind is not None:
            conditions.append(self.kinds[part] == pattern.kind)
        if not conditions:
            return None
        kept = conditions[0]
        for condition in conditions[1:]:
            kept &= condition
        return kept


def _edges(pattern: Pattern) -> tuple[int, int]:
    """Return before what a term must have begun, and after what it must end."""
    before, after = END, BEGIN
    if pattern.valid is not None and pattern.match == "all":
        before, after = pattern.valid.start + 1, pattern.valid.end - 1
    elif pattern.valid is not None:
        span = narrowed(pattern.valid, pattern.match)
        before, after = span.end, span.start
    if pattern.begun_before is not None:
        before = min(before, pattern.begun_before)
    return before, after


_CHUNK_TERMS = f"SELECT id, es, ls, ee, le, NULL FROM chunks WHERE recorded_to = {END} ORDER BY id"
_NODE_TERMS = (
    f"SELECT n.id, coalesce(e.es, {BEGIN}), coalesce(e.ls, {END - 1}), "
    f"coalesce(e.ee, {BEGIN + 1}), coalesce(e.le, {END}), n.kind "
    f"FROM nodes n LEFT JOIN existence e ON e.node = n.n WHERE n.recorded_to = {END} ORDER BY n.id"
)


def _current(snapshot: Snapshot, vectors: _Vectors, pattern: Pattern) -> _Mask:
    """Return which rows satisfy the pattern now: interval columns in memory."""
    size = len(vectors.index)
    masks: list[_Mask] = []
    for kind, part, sql in (
        ("chunk", "chunks", _CHUNK_TERMS),
        ("node", "nodes", _NODE_TERMS),
    ):
        if kind not in pattern.items:
            continue
        held = snapshot.cache.get(
            f"{part}+vectors",
            snapshot,
            lambda kind=kind, sql=sql: _Terms(  # type: ignore[misc]
                snapshot.connection.execute(sql).fetchall(), vectors, kind
            ),
        )
        if kind == "chunk" and pattern.kind is not None:
            masks.append(held.mask(size, replace(pattern, kind=None)))
        else:
            masks.append(held.mask(size, pattern))
    if "relation" in pattern.items:
        masks.append(vectors.kinds == _KINDS.index("relation"))
    if len(masks) == 1:
        return masks[0]
    return np.logical_or.reduce(masks) if masks else np.zeros(size, dtype=bool)


def _past(snapshot: Snapshot, vectors: _Vectors, pattern: Pattern) -> _Mask:
    """Return which rows satisfied the pattern as known at a past revision: by SQL."""
    mask = np.zeros(len(vectors.index), dtype=bool)
    if "relation" in pattern.items:
        mask |= vectors.kinds == _KINDS.index("relation")
    chunks = queries.timed(queries.recorded(Where(), "n", pattern.known_at), "n", pattern)
    nodes = queries.existing(queries.recorded(Where(), "n", pattern.known_at), pattern)
    for kind, table, where in (("chunk", "chunks", chunks), ("node", "nodes", nodes)):
        if kind in pattern.items:
            for (name,) in snapshot.connection.execute(
                f"SELECT n.id FROM {table} n WHERE {where}", where.parameters
            ):
                row = vectors.rows.get((kind, name))
                if row is not None:
                    mask[row] = True
    return mask
