"""What a base holds as a whole: counts, what waits for an index, batches that rebuild it.

Belongs here: reads that walk everything. Must not: reads that answer questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kgqa.model.ids import digest
from kgqa.model.things import Claim, Document, Literal, Merge, Ref, Span
from kgqa.protocols import Batch, ItemKind, Pending
from kgqa.store import rows
from kgqa.store.queries import slices
from kgqa.temporal.interval import END

if TYPE_CHECKING:
    from kgqa.store.snapshot import Snapshot

NODES_MAX = 50_000
"""How many nodes a base may have before names are no longer embedded (``embed_nodes_max``)."""
_BATCH = 5_000

_COUNTS = {
    "nodes": f"nodes WHERE recorded_to = {END} AND declared",
    "placeholders": f"nodes WHERE recorded_to = {END} AND NOT declared",
    "facts": f"facts WHERE recorded_to = {END}",
    "claims": f"claims WHERE recorded_to = {END}",
    "documents": f"documents WHERE recorded_to = {END}",
    "chunks": f"chunks WHERE recorded_to = {END}",
    "merges": f"merges WHERE recorded_to = {END}",
    "failures": "failures",
    "revisions": "revisions",
    "tombstones": "tombstones",
}


def stats(snapshot: Snapshot) -> dict[str, int]:
    """Return counts of what is current.

    ``vectors`` are those that searches see, ``vectors_hidden`` those of an index in the making,
    ``pending`` the items whose present text has neither.
    """
    one = snapshot.connection.execute
    found: dict[str, int] = {
        noun: one(f"SELECT count(*) FROM {what}").fetchone()[0] for noun, what in _COUNTS.items()
    }
    active = int(snapshot.meta().get("generation") or 0)
    found["vectors"], found["vectors_hidden"] = one(
        "SELECT count(*) FILTER (WHERE generation <= ?1), count(*) FILTER (WHERE generation > ?1) "
        "FROM vectors", (active,),
    ).fetchone()  # fmt: skip
    found["relations"] = len(snapshot.relations())
    found["pending"] = sum(
        one(f"SELECT count(*) {_waiting(kind)}").fetchone()[0] for kind in _kinds(snapshot)
    ) + len(_pending_relations(snapshot, ""))
    return found


def _waiting(kind: ItemKind) -> str:
    return (
        f"FROM {kind}s t WHERE t.recorded_to = {END} AND NOT EXISTS (SELECT 1 FROM vectors v "
        f"WHERE v.kind = '{kind}' AND v.item = t.id AND v.digest = t.digest)"
    )


def _kinds(snapshot: Snapshot) -> list[ItemKind]:
    most = snapshot.meta().get("embed_nodes_max")
    most = NODES_MAX if most is None else int(most)
    count = snapshot.connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM nodes WHERE recorded_to = {END} LIMIT ?)",
        (most + 1,),
    ).fetchone()[0]
    return ["chunk", "node"] if count <= most else ["chunk"]


def pending(snapshot: Snapshot, limit: int, after: tuple[str, str] | None) -> list[Pending]:
    """Return items without a vector of their present text in any generation, by (kind, id)."""
    kind_after, id_after = after or ("", "")
    found: list[Pending] = []
    for kind in (*_kinds(snapshot), "relation"):
        if kind < kind_after or len(found) >= limit:
            continue
        start = id_after if kind == kind_after else ""
        room = limit - len(found)
        if kind == "chunk":
            found += [
                Pending("chunk", row[0], rows.chunk_text(*row[1:4]), row[4])
                for row in snapshot.connection.execute(
                    f"SELECT t.id, t.title, t.section, t.text, t.digest {_waiting('chunk')} "
                    "AND t.id > ? ORDER BY t.id LIMIT ?",
                    (start, room),
                )
            ]
        elif kind == "node":
            columns = ", ".join(f"t.{name.strip()}" for name in rows.NODE.split(","))
            found += [
                Pending("node", row[0], rows.embedding_text(rows.node(row)), row[7])
                for row in snapshot.connection.execute(
                    f"SELECT {columns}, t.digest {_waiting('node')} "
                    "AND t.id > ? ORDER BY t.id LIMIT ?",
                    (start, room),
                )
            ]
        else:
            found += _pending_relations(snapshot, start)[:room]
    return found


def _pending_relations(snapshot: Snapshot, after: str) -> list[Pending]:
    held = set(
        snapshot.connection.execute("SELECT item, digest FROM vectors WHERE kind = 'relation'")
    )
    found = []
    for key, relation in snapshot.relations().items():
        text = rows.relation_text(relation)
        if key > after and (key, digest(text)) not in held:
            found.append(Pending("relation", key, text, digest(text)))
    return found


_HIDDEN = ("generation", "indexed_revision", "embedder")
"""Settings that describe vectors, which batches do not carry."""


def batches(snapshot: Snapshot) -> Iterator[Batch]:
    """Yield batches that rebuild the current state in an empty store.

    First declared relations and settings, then source by source its document, chunks, node rows
    and claims as they were stated, then merges.
    """
    meta = {key: value for key, value in snapshot.meta().items() if key not in _HIDDEN}
    declared = dict(sorted(snapshot.declared().items()))
    yield Batch(relations=tuple(declared.values()), meta=meta, note="import")
    sources = snapshot.connection.execute(
        f"SELECT id FROM documents WHERE recorded_to = {END} "
        f"UNION SELECT document FROM claims WHERE recorded_to = {END} "
        f"UNION SELECT document FROM node_claims WHERE recorded_to = {END} ORDER BY 1"
    ).fetchall()
    for (source,) in sources:
        yield from _of_source(snapshot, source)
    yield from _merges(snapshot)


def _of_source(snapshot: Snapshot, source: str) -> Iterator[Batch]:
    name = source or None
    for document in snapshot.get([f"document:{source}"]).values():
        assert isinstance(document, Document)
        # When this base learned of it is not part of what it says.
        chunks = tuple(replace(chunk, recorded=None) for chunk in snapshot.chunks(source))
        documents = (replace(document, recorded=None),)
        yield Batch(source=name, documents=documents, chunks=chunks, note="import")
    said = snapshot.connection.execute(
        "SELECT node, label, kind, aliases, existence, properties FROM node_claims "
        f"WHERE document = ? AND recorded_to = {END} ORDER BY node",
        (source,),
    )
    for part in slices((rows.node((*row, 1)) for row in said), _BATCH):
        yield Batch(source=name, nodes=tuple(part), note="import")
    for claims in slices(_claims(snapshot, source), _BATCH):
        yield Batch(source=name, claims=tuple(claims), note="import")


def _claims(snapshot: Snapshot, source: str) -> Iterator[Claim]:
    found = snapshot.connection.execute(
        "SELECT s.label, s.explicit, s.kind, o.label, o.explicit, o.kind, f.relation, f.object, "
        "f.es, f.ls, f.ee, f.le, c.how, c.chunk, c.span_start, c.span_end, c.line, c.confidence, "
        "c.properties FROM claims c JOIN facts f ON f.n = c.fact "
        "JOIN refs s ON s.n = c.subject_ref "
        f"LEFT JOIN refs o ON o.n = c.object_ref WHERE c.document = ? AND c.recorded_to = {END} "
        "ORDER BY coalesce(c.line, 0), c.chunk, c.span_start, f.id, s.label, o.label, c.n",
        (source,),
    )
    for row in found:
        yield Claim(
            _ref(row[0:3]),
            row[6],
            _object(row),
            rows.validity(*row[8:13]),
            row[13],
            None if row[14] is None else Span(row[14], row[15]),
            row[16],
            row[17],
            rows.properties(row[18]),
        )


def _ref(row: tuple[Any, ...]) -> Ref:
    return Ref(row[0], row[1] or None, row[2] or None)


def _object(row: tuple[Any, ...]) -> Ref | Literal:
    if row[3] is not None:
        return _ref(row[3:6])
    value = rows.object_of(row[7])
    assert isinstance(value, Literal)
    return value


def _merges(snapshot: Snapshot) -> Iterator[Batch]:
    made = snapshot.connection.execute(
        f"SELECT recorded_from, loser, winner FROM merges WHERE recorded_to = {END} ORDER BY n"
    ).fetchall()
    for _, part in groupby(made, key=lambda row: row[0]):
        yield Batch(merges=tuple(Merge(loser, winner) for _, loser, winner in part), note="import")
