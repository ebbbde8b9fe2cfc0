"""Vectors that newer ones have replaced: kept for the views that saw them, then removed.

Belongs here: what becomes of them after the write that replaces them, in parts that fit a small
server's memory. Must not: searching them (``search``), deciding what is replaced (``tables``).

A view is a revision, of which no server knows who holds it. So a vector that a flip replaces
loses its labels, and with them any part in searches of what is current, and stays as an
``:OldVector`` that was there until a revision. After KEPT_SECONDS the next flip removes it and
notes that revision at the base; a view older than that is refused (``search``). Every step may be
repeated, and what was interrupted is done by the next write of vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

from kgqa.store.neo4j import cypher
from kgqa.store.neo4j.schema import vector_label
from kgqa.store.neo4j.statements import ANY_VECTOR
from kgqa.store.rows import Record

Run: TypeAlias = Callable[..., list[Record]]
"""Run a statement with its parameters, in a transaction that reads or in one that writes."""

KEPT_SECONDS = 3_600
"""How long a view may be held before vectors that it saw are removed."""
_AT_ONCE = 2_000
_KINDS = ("chunk", "node", "relation")

_FLIPPED = "MATCH (b:Base {kb: $kb}) WHERE b.flipped IS NOT NULL RETURN b.flipped"
_DONE = "MATCH (b:Base {kb: $kb}) WHERE b.flipped = $flipped REMOVE b.flipped"
_REPLACED = (
    "MATCH (t:Vector) USING INDEX t:Vector(kb, kind, item, generation) WHERE t.kb = $kb "
    "AND t.kind = $kind AND t.item >= $after AND t.generation < $generation AND EXISTS { "
    "MATCH (w:Vector) USING INDEX w:Vector(kb, kind, item, generation) WHERE w.kb = $kb "
    "AND w.kind = $kind AND w.item = t.item AND w.generation > t.generation "
    "AND w.generation <= $generation } "
    "RETURN t.kind, t.item, t.generation ORDER BY t.kb, t.kind, t.item LIMIT $most"
)
_EACH = "UNWIND $rows AS r MATCH (t:Vector {kb: $kb, kind: r[0], item: r[1], generation: r[2]}) "
_KEEP = _EACH + "SET t:OldVector, t.until = coalesce(t.until, $revision)"
_LEAVE = _EACH + "REMOVE t:Vector, t:@label"
_EXPIRED = (
    "MATCH (t:Revision) USING INDEX t:Revision(kb, n) WHERE t.kb = $kb AND t.n IS NOT NULL "
    "AND t.wall <= $before RETURN t.n ORDER BY t.kb DESC, t.n DESC LIMIT 1"
)
_OLD = (
    "MATCH (t:OldVector) USING INDEX t:OldVector(kb, until) WHERE t.kb = $kb "
    "AND t.until <= $revision "
)
_LAST_OLD = _OLD + "RETURN t.until ORDER BY t.kb DESC, t.until DESC LIMIT 1"
_NOTE = (
    "MATCH (b:Base {kb: $kb}) SET b.swept = CASE WHEN b.swept > $revision THEN b.swept "
    "ELSE $revision END"
)
_SWEEP = _OLD + "WITH t LIMIT $most DETACH DELETE t RETURN count(*)"


def retire(read: Run, write: Run, kb: str) -> None:
    """Take away what the last flip replaced, if that is not done yet, then what was kept enough.

    ``write`` runs each statement in a transaction of its own, unless all of it is in one.
    """
    flipped = read(_FLIPPED, kb=kb)
    if not flipped:
        return
    generation, revision = flipped[0][0]
    size = read(ANY_VECTOR, kb=kb)
    leave = cypher.text(_LEAVE, label=vector_label(size[0][0] if size else 0))
    for kind in _KINDS:
        asked: dict[str, Any] = {"kind": kind, "generation": generation, "most": _AT_ONCE}
        after = ""
        while found := read(_REPLACED, kb=kb, after=after, **asked):
            rows = [list(row) for row in found]
            # In two steps: a reader who meets one half done finds the vector by one label or both.
            write(_KEEP, kb=kb, rows=rows, revision=revision)
            write(leave, kb=kb, rows=rows)
            after = found[-1][1]
    _sweep(read, write, kb)
    write(_DONE, kb=kb, flipped=[generation, revision])


def _sweep(read: Run, write: Run, kb: str) -> None:
    before = int((time.time() - KEPT_SECONDS) * 1000)
    for (expired,) in read(_EXPIRED, kb=kb, before=before):
        for (last,) in read(_LAST_OLD, kb=kb, revision=expired):
            # First: who finds less than there was must find why.
            write(_NOTE, kb=kb, revision=last)
            while write(_SWEEP, kb=kb, revision=last, most=_AT_ONCE)[0][0]:
                pass
