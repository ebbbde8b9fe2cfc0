"""The text of the statements over rows: it depends on names of tables and columns only.

Belongs here: templates, which index serves which condition, what is told of a changed row. Must
not: values, running anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from kgqa.store import rows
from kgqa.store.neo4j import cypher
from kgqa.store.neo4j.cypher import LABELS, LONG, Cypher
from kgqa.store.neo4j.schema import RANGE, UNIQUE, vector_label

INDEXES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    table: (*UNIQUE.get(table, ()), *RANGE.get(table, ())) for table in LABELS
}
_NUMBERS = frozenset(
    {"n", "recorded_to", "es", "ee", "le", "ordinal", "generation", "live"}
    | {"fact", "subject_ref", "object_ref", "names.node", "existence.node"}
)
CUT: Mapping[str, frozenset[str]] = {
    table: frozenset(
        column
        for columns in indexes
        for column in columns
        if not _NUMBERS & {column, f"{table}.{column}"}
    )
    for table, indexes in INDEXES.items()
}
"""By table: columns of text that an index holds, and so holds cut."""
VERSIONED = ("meta", "relations", "failures")
"""Tables with a key whose rows are versions here."""
NUMBERED = tuple(table for table, columns in UNIQUE.items() if ("n",) in columns)
"""Tables whose rows have a number."""
TOUCHED: Mapping[str, tuple[str, ...]] = {
    "documents": ("id",),
    "chunks": ("id", "document"),
    "nodes": ("id",),
    "facts": ("n", "subject", "relation", "object"),
    "claims": ("fact", "chunk"),
    "relations": ("key",),
    "vectors": ("kind", "item"),
}
"""What is told of each row that a write inserted, changed, closed or removed."""
FRESH: Mapping[str, tuple[str, ...]] = {
    "nodes": tuple(rows.NODE.split(", ")),
    "facts": ("id", *TOUCHED["facts"]),
}
"""What is kept of each current row that a write inserted, and left alone after that."""

_INSERT = "UNWIND $rows AS r CREATE (t:@label {kb: $kb, @fields})"
_INSERT_VERSION = (
    "UNWIND $rows AS r "
    "CREATE (t:@label {kb: $kb, recorded_from: $revision, recorded_to: $end, @fields})"
)
_FOUND = "MATCH (t:@label) USING INDEX t:@label(@index) WHERE t.kb = $kb AND @conditions"
_EACH = (
    "UNWIND $each AS v MATCH (t:@label) USING INDEX t:@label(@index) "
    "WHERE t.kb = $kb AND @conditions"
)
SELECT = "@found RETURN @columns"
DELETE = "@found WITH t, [@touched] AS was DETACH DELETE t RETURN was"
CLOSE = "@found AND t.recorded_from < $revision SET t.recorded_to = $revision RETURN [@touched]"
UNDO = "@found AND t.recorded_from = $revision WITH t, [@touched] AS was DELETE t RETURN was"
_LAST = (
    "MATCH (t:@label) USING INDEX t:@label(kb, n) WHERE t.kb = $kb AND t.n IS NOT NULL "
    "RETURN @place AS place, t.n AS n ORDER BY t.kb DESC, t.n DESC LIMIT 1"
)
_CHANGE = "UNWIND $rows AS r MATCH (t:@label {kb: $kb, n: r[@place]}) SET @setting"
_CHANGE_TOLD = (
    "UNWIND $rows AS r MATCH (t:@label {kb: $kb, n: r[@place]}) "
    "WITH t, r, [@touched] AS was SET @setting RETURN was, [@touched]"
)
UNTIL = (
    "UNWIND $ns AS n MATCH (t:@label {kb: $kb, n: n}) "
    "SET t.sum = t.sum + t.recorded_to - $revision, t.recorded_to = $revision RETURN [@touched]"
)
SINCE = (
    "UNWIND $ns AS n MATCH (t:@label {kb: $kb, n: n}) "
    "SET t.sum = t.sum - t.recorded_from + $revision, t.recorded_from = $revision "
    "RETURN [@touched]"
)

_PUT_VECTORS = (
    "UNWIND $rows AS r MERGE (t:Vector {kb: $kb, kind: r[0], item: r[1], generation: r[2]}) "
    "SET t:@label, t.digest = r[3], t.sum = r[5], t.item_long = r[6], t.since = $revision"
)
_AS_LIST = "@put, t.embedding = r[4]"
_AS_VECTOR = "@put WITH t, r CALL db.create.setNodeVectorProperty(t, 'embedding', r[4])"
ANY_VECTOR = (
    "MATCH (t:Vector) USING INDEX t:Vector(kb, kind, item, generation) WHERE t.kb = $kb "
    "AND t.kind IS NOT NULL AND t.item IS NOT NULL AND t.generation IS NOT NULL "
    "RETURN size(t.embedding) LIMIT 1"
)
FLIP = "MATCH (b:Base {kb: $kb}) SET b.flipped = [$generation, $revision]"
KEEP_VECTORS = (
    "UNWIND $rows AS r MATCH (t:Vector {kb: $kb, kind: r[0], item: r[1], generation: r[2]}) "
    "CREATE (o:OldVector) SET o = properties(t), o.until = $revision"
)
FORGET_VECTORS = (
    "UNWIND $items AS i MATCH (t:OldVector) USING INDEX t:OldVector(kb, kind, item) "
    "WHERE t.kb = $kb AND t.kind = $kind AND t.item = i DELETE t"
)
_OF_NODES = (
    "UNWIND $items AS i MATCH (v:Vector {kb: $kb, kind: 'node', item: i}) "
    "WHERE v.generation IS NOT NULL "
    "OPTIONAL MATCH (t:Version {kb: $kb, id: i, recorded_to: $end}) "
    "OPTIONAL MATCH (e:Term {kb: $kb, node: t.n}) WHERE e.es IS NOT NULL "
    "WITH v, t IS NOT NULL AS live, min(e.es) AS es, max(e.le) AS le "
    "WITH v, live, coalesce(es, $begin) AS es, coalesce(le, $end) AS le "
)
_OF_CHUNKS = (
    "UNWIND $items AS i MATCH (v:Vector {kb: $kb, kind: 'chunk', item: i}) "
    "WHERE v.generation IS NOT NULL "
    "OPTIONAL MATCH (t:Chunk {kb: $kb, id: i, recorded_to: $end}) "
    "WITH v, t IS NOT NULL AS live, coalesce(t.es, $begin) AS es, coalesce(t.le, $end) AS le "
)
_OF_RELATIONS = (
    "UNWIND $items AS i MATCH (v:Vector {kb: $kb, kind: 'relation', item: i}) "
    "WHERE v.generation IS NOT NULL WITH v, true AS live, $begin AS es, $end AS le "
)
_SET = "SET v.live = live, v.es = es, v.le = le"
_UNLIKE = (
    "WHERE NOT coalesce(v.live = live AND v.es = es AND v.le = le, false) RETURN DISTINCT v.item"
)
LIVE = {"node": _OF_NODES + _SET, "chunk": _OF_CHUNKS + _SET, "relation": _OF_RELATIONS + _SET}
"""By kind: keeps what a search filters vectors by, the hull of the item's current terms."""
FILTERED = {
    "node": _OF_NODES + _UNLIKE,
    "chunk": _OF_CHUNKS + _UNLIKE,
    "relation": _OF_RELATIONS + _UNLIKE,
}
"""By kind: which of the items have a vector that is filtered by something else."""


# Statements: their text depends on names of tables and columns only.

Where: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], str | None]
"""Columns that have one value, columns with a short list, the column with a long one."""


@lru_cache(maxsize=500)
def matching(table: str, template: str, where: Where, columns: tuple[str, ...]) -> Cypher:
    """Return a statement over the rows that fit, found by the index that says most of them."""
    ones, some, each = where
    known = {*ones, *some, *([each] if each else ())}
    index = max(INDEXES[table], key=lambda found: _led(found, known))
    conditions = [
        *cypher.equal(ones), *cypher.among(some), *(cypher.fits(each) if each else ()),
        *cypher.there(column for column in index if column not in known),
    ]  # fmt: skip
    found = cypher.text(
        _EACH if each else _FOUND, label=LABELS[table], index=("kb", *index),
        conditions=cypher.every(conditions),
    )  # fmt: skip
    shown = ["embedding" if column == "vector" else column for column in columns]
    return cypher.text(
        template, found=found, columns=cypher.whole("t", shown, CUT[table]),
        touched=_touched(table),
    )  # fmt: skip


def _led(index: Sequence[str], known: set[str]) -> int:
    """Return how many of its columns, from the first, an index can be asked by."""
    for i, column in enumerate(index):
        if column not in known:
            return i
    return len(index)


@lru_cache(maxsize=100)
def shift(template: str, table: str) -> Cypher:
    """Return the statement that sets a revision of the rows ``$ns``."""
    # Facts have no sum of their own: without the property, nothing is set.
    return cypher.text(template, label=LABELS[table], touched=_touched(table))


@lru_cache(maxsize=1)
def lasts() -> Cypher:
    """Return the statement that tells places in NUMBERED and the highest ``n`` in that table."""
    return cypher.union(
        cypher.text(_LAST, label=LABELS[table], place=cypher.number(place))
        for place, table in enumerate(NUMBERED)
    )


@lru_cache(maxsize=10)
def put_vectors(dimension: int, native: bool) -> Cypher:
    """Return the statement that writes the vectors ``$rows``, as a list or of the native type."""
    put = cypher.text(_PUT_VECTORS, label=vector_label(dimension))
    return cypher.text(_AS_VECTOR if native else _AS_LIST, put=put)


def _touched(table: str) -> list[Cypher]:
    return cypher.whole("t", TOUCHED.get(table, ()), CUT[table])


@lru_cache(maxsize=100)
def change(table: str, columns: tuple[str, ...]) -> Cypher:
    """Return the statement that sets columns of the rows ``$rows``; their last value is ``n``."""
    cut = [column + LONG for column in columns if column in CUT[table]]
    setting = (*columns, *cut)
    return cypher.text(
        _CHANGE_TOLD if table in TOUCHED else _CHANGE,
        label=LABELS[table], place=cypher.number(len(setting)),
        touched=_touched(table), setting=cypher.setting(setting),
    )  # fmt: skip


@lru_cache(maxsize=100)
def insert(table: str, columns: tuple[str, ...]) -> Cypher:
    """Return the statement that makes the rows ``$rows``."""
    template = _INSERT_VERSION if table in VERSIONED else _INSERT
    return cypher.text(template, label=LABELS[table], fields=cypher.fields(columns))
