"""What a base holds as a whole: counts, what waits for an index, batches that rebuild it.

Belongs here: reads that walk everything. Must not: reads that answer questions, SQL, Cypher.
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
from kgqa.store.queries import Where, recorded, slices

if TYPE_CHECKING:
    from kgqa.store.state import State

NODES_MAX = 50_000
"""How many nodes a base may have before names are no longer embedded (``embed_nodes_max``)."""
_BATCH = 5_000

_VERSIONED = ("facts", "claims", "documents", "chunks", "merges")
_KEYED = ("failures", "revisions", "tombstones")


def _current(state: State) -> Where:
    return recorded(state.where(), "n", state.known(None))


def stats(state: State) -> dict[str, int]:
    """Return counts of what is current.

    ``vectors`` are those that searches see, ``vectors_hidden`` those of an index in the making,
    ``pending`` the items whose present text has neither.
    """
    count = state.count
    found = {
        "nodes": count("nodes", _current(state).add("n.declared = 1")),
        "placeholders": count("nodes", _current(state).add("n.declared = 0")),
    }
    found.update({table: count(table, _current(state)) for table in _VERSIONED})
    found.update({table: count(table, state.seen(table)) for table in _KEYED})
    active = int(state.meta().get("generation") or 0)
    for noun, sign in (("vectors", "<="), ("vectors_hidden", ">")):
        found[noun] = count("vectors", state.where().add(f"n.generation {sign} ?", active))
    found["relations"] = len(state.relations())
    found["pending"] = sum(
        count(f"{kind}s", _waiting(state, kind)) for kind in _kinds(state)
    ) + len(_pending_relations(state, ""))
    return found


def _waiting(state: State, kind: ItemKind) -> Where:
    where = _current(state)
    held = f"v.kind = '{kind}' AND v.item = n.id AND v.digest = n.digest"
    return where.add("NOT " + where.exists("vectors", "v", held))


def _kinds(state: State) -> list[ItemKind]:
    most = state.meta().get("embed_nodes_max")
    most = NODES_MAX if most is None else int(most)
    count = state.count("nodes", _current(state), most + 1)
    return ["chunk", "node"] if count <= most else ["chunk"]


def pending(state: State, limit: int, after: tuple[str, str] | None) -> list[Pending]:
    """Return items without a vector of their present text in any generation, by (kind, id)."""
    kind_after, id_after = after or ("", "")
    found: list[Pending] = []
    for kind in (*_kinds(state), "relation"):
        if kind < kind_after or len(found) >= limit:
            continue
        start = id_after if kind == kind_after else ""
        room = limit - len(found)
        if kind == "relation":
            found += _pending_relations(state, start)[:room]
            continue
        columns = "id, title, section, text, digest" if kind == "chunk" else f"{rows.NODE}, digest"
        where = _waiting(state, kind).add("n.id > ?", start)
        for row in state.select(f"{kind}s", columns, where, "n.id", room):
            if kind == "chunk":
                text = rows.chunk_text(*row[1:4])
            else:
                text = rows.embedding_text(rows.node(row))
            found.append(Pending(kind, row[0], text, row[-1]))
    return found


def _pending_relations(state: State, after: str) -> list[Pending]:
    where = state.where().add("n.kind = 'relation'")
    held = {(item, made) for item, made in state.select("vectors", "item, digest", where)}
    found = []
    for key, relation in state.relations().items():
        text = rows.relation_text(relation)
        if key > after and (key, digest(text)) not in held:
            found.append(Pending("relation", key, text, digest(text)))
    return found


_HIDDEN = ("generation", "indexed_revision", "embedder")
"""Settings that describe vectors, which batches do not carry."""


_SOURCES = (("documents", "id"), ("claims", "document"), ("node_claims", "document"))


def batches(state: State) -> Iterator[Batch]:
    """Yield batches that rebuild the current state in an empty store.

    First declared relations and settings, then source by source its document, chunks, node rows
    and claims as they were stated, then merges.
    """
    meta = {key: value for key, value in state.meta().items() if key not in _HIDDEN}
    declared = dict(sorted(state.declared().items()))
    yield Batch(relations=tuple(declared.values()), meta=meta, note="import")
    sources = {
        source
        for table, column in _SOURCES
        for source in state.distinct(table, column, _current(state))
    }
    for source in sorted(sources):
        yield from _of_source(state, source)
    yield from _merges(state)


def _of_source(state: State, source: str) -> Iterator[Batch]:
    name = source or None
    for document in state.get([f"document:{source}"]).values():
        assert isinstance(document, Document)
        # When this base learned of it is not part of what it says.
        chunks = tuple(replace(chunk, recorded=None) for chunk in state.chunks(source))
        documents = (replace(document, recorded=None),)
        yield Batch(source=name, documents=documents, chunks=chunks, note="import")
    said = state.select(
        "node_claims", "node, label, kind, aliases, existence, properties",
        _current(state).add("n.document = ?", source), "n.node",
    )  # fmt: skip
    for part in slices((rows.node((*row, 1)) for row in said), _BATCH):
        yield Batch(source=name, nodes=tuple(part), note="import")
    for claims in slices(_claims(state, source), _BATCH):
        yield Batch(source=name, claims=tuple(claims), note="import")


CLAIM = (
    "s.label, s.explicit, s.kind, o.label, o.explicit, o.kind, f.relation, f.object, "
    "f.es, f.ls, f.ee, f.le, c.how, c.chunk, c.span_start, c.span_end, c.line, c.confidence, "
    "c.properties"
)
"""Columns of a claim joined with its fact and the refs of its subject and object."""


def _claims(state: State, source: str) -> Iterator[Claim]:
    for row in state.claim_rows(source):
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


def _merges(state: State) -> Iterator[Batch]:
    made = state.select("merges", "recorded_from, loser, winner", _current(state), "n.n")
    for _, part in groupby(made, key=lambda row: row[0]):
        yield Batch(merges=tuple(Merge(loser, winner) for _, loser, winner in part), note="import")
