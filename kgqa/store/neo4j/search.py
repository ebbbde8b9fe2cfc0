"""Searches that rank: full text and vectors, filtered by the server before the best are taken.

Belongs here: their statements. Must not: the choice between ways (``nearby``), words
(``words``). Imports numpy, so it is itself imported on first use.

An index of vectors holds what is current, each with the hull of its item's terms. What it finds
is checked against the rows; where too few are left, all that hold are compared one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kgqa.errors import InputError, UnavailableError
from kgqa.protocols import Hit, Hits, ItemKind, Pattern
from kgqa.store.neo4j import words
from kgqa.store.neo4j.cypher import Cypher, text
from kgqa.store.neo4j.nearby import ALWAYS, Held, Span, Way
from kgqa.store.neo4j.schema import CHUNK_TEXT, NODE_TEXT, vector_index, vector_label
from kgqa.store.rows import Record
from kgqa.store.tables import MARK
from kgqa.temporal.interval import END, UNDATED

if TYPE_CHECKING:
    from kgqa.store.neo4j.snapshot import Neo4jSnapshot

_WIDER = 4
_TRIES = 3
_TIES = 50
"""How many more text hits are read than asked for, so that equal scores are ordered by id."""
_PARTS = ("chunks", "nodes", "vectors")
"""The parts of a base on which the properties of vectors depend."""

# What a pattern asks of a chunk ``c`` and a node ``n``.
_CHUNK = text(
    "c.recorded_from <= $at AND c.recorded_to > $at AND c.es < $below AND c.le > $above "
    "AND ($undated OR c.es <> $es OR c.ls <> $ls OR c.ee <> $ee OR c.le <> $le)"
)
_NODE = text(
    "n.recorded_from <= $at AND n.recorded_to > $at AND ($of IS NULL OR n.kind = $of) "
    "AND (($undated AND n.existence = '') OR EXISTS { MATCH (e:Term) "
    "USING INDEX e:Term(kb, node, es) WHERE e.kb = $kb AND e.node = n.n "
    "AND e.es < $below AND e.le > $above "
    "AND ($undated OR e.es <> $es OR e.ls <> $ls OR e.ee <> $ee OR e.le <> $le) })"
)

# Full text.
_FIND: dict[ItemKind, Cypher] = {
    "chunk": text(
        "CALL db.index.fulltext.queryNodes($index, $words) YIELD node AS c, score "
        "WITH c, score WHERE c.kb = $kb AND @holds "
        "RETURN coalesce(c.id_long, c.id), score LIMIT $limit",
        holds=_CHUNK,
    ),
    "node": text(
        "CALL db.index.fulltext.queryNodes($index, $words) YIELD node AS n, score "
        "WITH n, score WHERE n.kb = $kb AND @holds "
        "RETURN coalesce(n.id_long, n.id), score LIMIT $limit",
        holds=_NODE,
    ),
}

_TEXTS: dict[ItemKind, str] = {"chunk": CHUNK_TEXT, "node": NODE_TEXT}

# Vectors: what must be true of a vector ``v`` whose item is current.
_NEWEST = text(
    "NOT EXISTS { MATCH (w:Vector) USING INDEX w:Vector(kb, kind, item, generation) "
    "WHERE w.kb = $kb AND w.kind = $kind AND w.item = v.item "
    "AND w.generation > v.generation AND w.generation <= $active }"
)
_CHECKED: dict[ItemKind, Cypher] = {
    "chunk": text(
        "@newest AND EXISTS { MATCH (c:Chunk) USING INDEX c:Chunk(kb, id, recorded_to) "
        "WHERE c.kb = $kb AND c.id = v.item AND @holds }",
        newest=_NEWEST, holds=_CHUNK,
    ),
    "node": text(
        "@newest AND EXISTS { MATCH (n:Version) USING INDEX n:Version(kb, id, recorded_to) "
        "WHERE n.kb = $kb AND n.id = v.item AND @holds }",
        newest=_NEWEST, holds=_NODE,
    ),
    "relation": _NEWEST,
}  # fmt: skip
_EVERY = Cypher("true")
_ROWS: dict[ItemKind, Cypher] = {
    "chunk": text(
        "MATCH (c:Chunk) USING INDEX c:Chunk(kb, id, recorded_to) "
        "WHERE c.kb = $kb AND c.id IS NOT NULL AND @holds WITH c.id AS item",
        holds=_CHUNK,
    ),
    "node": text(
        "MATCH (n:Version) USING INDEX n:Version(kb, id, recorded_to) "
        "WHERE n.kb = $kb AND n.id IS NOT NULL AND @holds WITH n.id AS item",
        holds=_NODE,
    ),
    "relation": text(
        "MATCH (r:Vector) USING INDEX r:Vector(kb, kind, item, generation) WHERE r.kb = $kb "
        "AND r.kind = $kind AND r.item IS NOT NULL AND r.generation IS NOT NULL "
        "WITH DISTINCT r.item AS item"
    ),
}
# The best are checked one by one until there are enough.
_BEST = (
    "WITH v, score ORDER BY score DESC, v.item WITH v, score WHERE @checked "
    "WITH v, score LIMIT $k WITH collect([coalesce(v.item_long, v.item), score]) AS found "
    "OPTIONAL MATCH (b:Base {kb: $kb}) "
    "RETURN found, coalesce(b.latest, b.revision), coalesce(b.swept, 0)"
)
_WAYS: dict[str, str] = {
    "search": (
        "CYPHER 25 MATCH (v:@label) SEARCH v IN (VECTOR INDEX @index FOR $vector "
        "WHERE v.kb = $kb AND v.kind = $kind AND v.live = true AND v.generation <= $active "
        "AND v.es <= $latest AND v.le >= $earliest LIMIT $limit) SCORE AS score " + _BEST
    ),
    "query": (
        "CALL db.index.vector.queryNodes($index, $limit, $vector) YIELD node AS v, score "
        "WITH v, score WHERE v.kb = $kb AND v.kind = $kind AND v.live = true "
        "AND v.generation <= $active AND v.es < $below AND v.le > $above " + _BEST
    ),
    "exact": (
        "MATCH (v:Vector) USING INDEX v:Vector(@keys) "
        "WHERE v.kb = $kb AND v.kind = $kind AND v.live = true AND v.es < $below "
        "AND v.le > $above AND v:@label AND v.generation <= $active "
        "WITH v, vector.similarity.cosine(v.embedding, $vector) AS score " + _BEST
    ),
    # The newest vector of each item that this state has, replaced since or not.
    "rows": (
        "@rows OPTIONAL MATCH (v:Vector) USING INDEX v:Vector(kb, kind, item, generation) "
        "WHERE v.kb = $kb AND v.kind = $kind AND v.item = item AND v.generation <= $active "
        "AND coalesce(v.since, 0) <= $revision WITH item, collect(v) AS held "
        "OPTIONAL MATCH (o:OldVector) USING INDEX o:OldVector(kb, kind, item) "
        "WHERE o.kb = $kb AND o.kind = $kind AND o.item = item AND o.generation <= $active "
        "AND coalesce(o.since, 0) <= $revision AND o.until > $revision "
        "WITH item, held, collect(o) AS old WITH reduce(newest = null, v IN held + old | CASE "
        "WHEN newest IS NULL OR v.generation > newest.generation THEN v ELSE newest END) AS v "
        "WHERE v IS NOT NULL "
        "WITH v, vector.similarity.cosine(v.embedding, $vector) AS score " + _BEST
    ),
}
_BY_START = ("kb", "kind", "live", "es", "le")
_BY_END = ("kb", "kind", "live", "le", "es")

_DIMENSION = (
    "MATCH (v:Vector) USING INDEX v:Vector(kb, kind, item, generation) WHERE v.kb = $kb "
    "AND v.kind IS NOT NULL AND v.item IS NOT NULL AND v.generation <= $active "
    "RETURN size(v.embedding) LIMIT 1"
)
_DIMENSION_THEN = (
    "MATCH (v:OldVector) USING INDEX v:OldVector(kb, until) WHERE v.kb = $kb "
    "AND v.until > $revision AND v.generation <= $active RETURN size(v.embedding) LIMIT 1"
)
_SWEPT = "MATCH (b:Base {kb: $kb}) RETURN coalesce(b.swept, 0)"
_ENTRIES = "MATCH (v:@label) RETURN count(v)"
_BOUNDS = (
    "MATCH (v:Vector) USING INDEX v:Vector(kb, kind, live, es, le) "
    "WHERE v.kb = $kb AND v.kind = $kind AND v.live = true AND v.es < $end AND v.le <= $end "
    "RETURN collect(v.es), collect(v.le)"
)
_CHANGED = (
    "MATCH (s:Setting) USING INDEX s:Setting(kb, key, recorded_to) "
    "WHERE s.kb = $kb AND s.key IN $keys AND s.recorded_to = $end "
    "RETURN max(toInteger(s.value))"
)


def find(snapshot: Neo4jSnapshot, wanted: str, k: int, pattern: Pattern) -> Hits:
    """Return the best hits among node names and chunks by Lucene's BM25; ties by kind, then id.

    A text without a word finds nothing. Relations are not searched. ``kind`` narrows nodes.
    """
    expression = words.expression(wanted)
    if expression is None or k < 1:
        return Hits()
    asked = _asked(snapshot, pattern) | {"words": expression, "limit": k + _TIES}
    hits = [
        Hit(kind, name, score)
        for kind in pattern.items
        if kind in _FIND
        for name, score in snapshot.run(_FIND[kind], asked | {"index": _TEXTS[kind]})
    ]
    hits.sort(key=lambda h: (-h.score, h.kind, h.id))
    return Hits(hits[:k], "full text, filtered, bm25")


def nearest(snapshot: Neo4jSnapshot, vector: NDArray[np.float32], k: int, pattern: Pattern) -> Hits:
    """Return the nearest items by cosine that satisfy the pattern; ties by kind, then id.

    Which way they were found, and why, stands in ``how``. Raises InputError
    (``vectors.query``) for a vector of another length, or without a direction,
    UnavailableError (``store.view_expired``) from a view whose vectors are gone.
    """
    if k < 1:
        return Hits()
    held = snapshot.cache.get("+".join(_PARTS), snapshot, lambda: _held(snapshot))
    if not held.dimension:
        for (swept,) in snapshot.run(_SWEPT, {"kb": snapshot.kb}):
            _refuse_expired(snapshot, swept)
        return Hits()
    vector = np.asarray(vector, dtype=np.float32)
    if vector.shape != (held.dimension,) or not 0 < float(vector @ vector) < np.inf:
        raise InputError(
            f"query vector of shape {vector.shape}, zero or not finite; "
            f"the index holds {held.dimension} numbers a row",
            code="vectors.query",
            hint="embed the question with the model that made the index",
        )
    numbers = {"vector": vector.tolist(), "active": held.active, "k": k}
    asked = _asked(snapshot, pattern) | numbers
    hits: list[Hit] = []
    how: list[str] = []
    for kind in dict.fromkeys(pattern.items):
        found, way = _Search(snapshot, held, kind, asked).run()
        hits += found
        how.append(f"{kind}: {way}")
    hits.sort(key=lambda h: (-h.score, h.kind, h.id))
    return Hits(hits[:k], "; ".join(how))


def _asked(snapshot: Neo4jSnapshot, pattern: Pattern) -> dict[str, Any]:
    """Return the parameters of what a pattern asks."""
    known_at = snapshot.revision if pattern.known_at is None else pattern.known_at
    span = Span.of(pattern)
    return {
        "kb": snapshot.kb,
        "at": min(known_at, snapshot.revision),
        "revision": snapshot.revision,
        "below": span.below,
        "above": span.above,
        "of": pattern.kind,
        "undated": pattern.undated == "include",
        **dict(zip(("es", "ls", "ee", "le"), UNDATED.bounds, strict=True)),
    }


def _held(snapshot: Neo4jSnapshot) -> Held:
    active = int(snapshot.meta().get("generation") or 0)
    asked = {"kb": snapshot.kb, "active": active, "end": END, "revision": snapshot.revision}
    found = snapshot.run(_DIMENSION, asked) or snapshot.run(_DIMENSION_THEN, asked)
    if not found:
        return Held(0, active, 0)
    dimension: int = found[0][0]
    entries = snapshot.run(text(_ENTRIES, label=vector_label(dimension)), {})[0][0]
    bounds = {}
    for kind in _CHECKED:
        starts, ends = snapshot.run(_BOUNDS, asked | {"kind": kind})[0]
        bounds[kind] = np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)
    return Held(dimension, active, entries, bounds)


def _refuse_expired(snapshot: Neo4jSnapshot, swept: int) -> None:
    """Refuse a state of which vectors may have been removed, those replaced up to ``swept``."""
    if snapshot.revision < swept:
        raise UnavailableError(
            f"vectors of revision {snapshot.revision} of {snapshot.kb!r}, "
            "replaced since, are gone",
            code="store.view_expired", hint="open a new view, or ask again",
        )  # fmt: skip


class _Search:
    """Run one search over the vectors of one kind."""

    def __init__(
        self, snapshot: Neo4jSnapshot, held: Held, kind: ItemKind, asked: dict[str, Any]
    ) -> None:
        self._snapshot = snapshot
        self._held = held
        self._kind = kind
        # Relations hold always, whatever is asked of items that have a time.
        self._timed = kind != "relation"
        self._span = span = Span(asked["below"], asked["above"]) if self._timed else ALWAYS
        latest, earliest = span.widened()
        self._asked = asked | {
            "kind": kind, "index": vector_index(held.dimension), "below": span.below,
            "above": span.above, "latest": latest, "earliest": earliest,
        }  # fmt: skip

    def run(self) -> tuple[list[Hit], str]:
        """Return the hits, best first, and how they were found."""
        if self._timed and self._asked["at"] < self._snapshot.revision:
            return self._by_rows("as known then")
        k = self._asked["k"]
        plan = self._held.plan(self._kind, self._span, k, self._snapshot.cypher25)
        limit = plan.limit
        for _ in range(_TRIES if plan.way != "exact" else 0):
            hits = self._by(plan.way, limit=limit)
            if hits is None:
                return self._by_rows("the base is newer")
            if len(hits) >= k:
                return hits, f"{plan}, {limit} asked"
            limit *= _WIDER
            if limit > self._held.entries:
                break
        hits = self._by("exact", keys=_BY_END if plan.by_end else _BY_START)
        if hits is None:
            return self._by_rows("the base is newer")
        return hits, str(replace(plan, way="exact"))

    def _by_rows(self, why: str) -> tuple[list[Hit], str]:
        found, _, swept = self._found("rows", _EVERY)
        _refuse_expired(self._snapshot, swept)
        return self._hits(found), f"exact, {why}"

    def _by(self, way: Way, limit: int = 0, keys: Sequence[str] = ()) -> list[Hit] | None:
        """Return hits; None if what was searched may be ahead of this state."""
        found, newest, _ = self._found(way, _CHECKED[self._kind], limit, keys)
        if newest != self._snapshot.revision and self._changed():
            return None
        return self._hits(found)

    def _found(self, way: str, checked: Cypher, limit: int = 0, keys: Sequence[str] = ()) -> Record:
        dimension = self._held.dimension
        statement = text(
            _WAYS[way], label=vector_label(dimension), index=vector_index(dimension), keys=keys,
            rows=_ROWS[self._kind], checked=checked,
        )  # fmt: skip
        return self._snapshot.run(statement, self._asked | {"limit": limit})[0]

    def _hits(self, found: list[Any]) -> list[Hit]:
        hits = [Hit(self._kind, name, 2 * score - 1) for name, score in found]
        hits.sort(key=lambda h: (-h.score, h.id))
        return hits

    def _changed(self) -> bool:
        """Tell whether a later revision than this state's changed what vectors carry."""
        keys = [MARK + part for part in (_PARTS if self._timed else ("vectors",))]
        asked = {"kb": self._snapshot.kb, "keys": keys, "end": END}
        return (self._snapshot.run(_CHANGED, asked)[0][0] or 0) > self._snapshot.revision
