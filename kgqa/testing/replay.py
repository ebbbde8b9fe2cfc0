"""What is current after some writes: plain lists, and what each write does to them.

Belongs here: the naive state of the oracle, linking of names included. Must not: reads with a
time, code of kgqa but the input types, anything faster than it is plain.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from kgqa.model.things import Claim, End, Node, Ref, Relation
from kgqa.protocols import Batch
from kgqa.temporal.interval import BEGIN, Validity
from kgqa.testing.naive import (
    UNDATED_BOUNDS,
    Bounds,
    Origin,
    Row,
    fact_label,
    key,
    label_rank,
    relation_key,
    token,
    union,
)

Bearers: TypeAlias = dict[str, set[tuple[str, str | None]]]


class Refused(Exception):
    """What the store must refuse, changing nothing."""


class Thing(NamedTuple):
    """One node as read; ``aliases`` are (label, bounds), without the main label."""

    id: str
    label: str
    kind: str | None
    aliases: frozenset[tuple[str, Bounds]]
    existence: tuple[Bounds, ...]
    declared: bool


@dataclass
class State:
    """What is current at one revision, each thing with the revision that wrote it."""

    documents: dict[str, int] = field(default_factory=dict)
    nodes: list[tuple[int, str, Node]] = field(default_factory=list)
    claims: list[tuple[int, str, Claim]] = field(default_factory=list)
    relations: dict[str, Relation] = field(default_factory=dict)
    merges: list[tuple[int, str, str]] = field(default_factory=list)

    def content(self) -> list[str]:
        """Return what is said, without when and in which order it was written."""
        said = [entry[1:] for entry in [*self.nodes, *self.claims]]
        return sorted(map(repr, [*said, *self.merges, *self.documents, *self.relations.items()]))

    def copy(self) -> State:
        """Return a copy that can be written to."""
        return State(
            dict(self.documents), list(self.nodes), list(self.claims),
            dict(self.relations), list(self.merges),
        )  # fmt: skip


# What each write does to it.


def canonical(s: State, name: str) -> str:
    """Follow merges from an id."""
    for _, loser, winner in s.merges:
        if loser == name:
            return canonical(s, winner)
    return name


def apply(s: State, batch: Batch, number: int) -> None:
    """Apply a write as revision ``number``. Raises Refused, leaving a half-done state."""
    for gone in batch.delete:
        drop_source(s, gone)
    for label in batch.retract:
        remove(s, about(s, label))
        if label.startswith("node:"):
            name = canonical(s, label[5:])
            s.nodes = [n for n in s.nodes if canonical(s, n[2].id) != name]
    for end in batch.ends:
        _end(s, end)
    source = batch.source or ""
    for written in batch.documents:
        s.documents.setdefault(written.id, number)
    for node in batch.nodes:
        if (source, node) not in [(src, old) for _, src, old in s.nodes]:
            s.nodes = [n for n in s.nodes if (n[1], n[2].id) != (source, node.id)]
            s.nodes.append((number, source, node))
    for claim in batch.claims:
        _add(s, (number, source, claim))
    for relation in batch.relations:
        s.relations[relation.key] = relation
    for merge in batch.merges:
        loser, winner = canonical(s, merge.loser), canonical(s, merge.winner)
        if not {loser, winner} <= set(things(s)) or (loser == winner and loser == merge.loser):
            raise Refused(merge)
        if loser != winner:
            s.merges.append((number, loser, winner))
    if batch.undo is not None:
        s.merges = [m for m in s.merges if m[0] != batch.undo]


def drop_source(s: State, document: str) -> None:
    """Withdraw a document and everything that it says."""
    s.nodes = [n for n in s.nodes if n[1] != document]
    s.claims = [c for c in s.claims if c[1] != document]
    s.documents.pop(document, None)


def _add(s: State, entry: tuple[int, str, Claim]) -> None:
    """Add a claim unless its source makes it already."""
    _, source, claim = entry
    for _, other, old in s.claims:
        if other == source and old == claim and repr(old.object) == repr(claim.object):
            return
    s.claims.append(entry)


def remove(s: State, entries: list[tuple[int, str, Claim]]) -> None:
    """Take claims away, whenever written; by text, since ``Literal(1) == Literal(True)``."""
    gone = {repr(entry[1:]) for entry in entries}
    s.claims = [c for c in s.claims if repr(c[1:]) not in gone]


def about(s: State, label: str) -> list[tuple[int, str, Claim]]:
    """Return the claims that support a fact, or every fact of a node."""
    noun, _, name = label.partition(":")
    named = bearers(s)
    out = []
    for entry in s.claims:
        row = _row(s, entry[1], entry[2], named)
        is_fact = noun == "fact" and fact_label(row) == label
        sides = (("node", row.subject), row.object)
        if is_fact or (noun == "node" and ("node", canonical(s, name)) in sides):
            out.append(entry)
    return out


def _end(s: State, end: End) -> None:
    def ended(v: Validity) -> Validity:
        if v.es >= end.le:
            raise Refused(end)
        return Validity(v.es, v.ls, end.ee, end.le)

    if end.label.startswith("fact:"):
        moved = about(s, end.label)
        remove(s, moved)
        for born, source, claim in moved:
            _add(s, (born, source, replace(claim, valid=ended(claim.valid))))
    rows = [n for n in s.nodes if end.label == "node:" + canonical(s, n[2].id)]
    unknown = Validity(BEGIN, end.ee - 1, end.ee, end.le)
    stated = [n for n in rows if n[2].existence]
    for born, source, node in stated or rows:
        *first, last = sorted(node.existence, key=lambda v: v.bounds) or [unknown]
        s.nodes.remove((born, source, node))
        s.nodes.append((born, source, replace(node, existence=(*first, ended(last)))))


# What it says.


def things(s: State) -> dict[str, Thing]:
    """Return all nodes, from three kinds of row: 0 node rows, 1 explicit ids, 2 mere names.

    A mere name says something of its placeholder, or of what that was merged into.
    """
    named = bearers(s)
    rows = [(0, node) for _, _, node in s.nodes]
    for ref in _refs(s):
        if ref.id is not None:
            rows.append((1, Node(ref.id, ref.label, ref.kind)))
        elif resolve(s, ref, named) == canonical(s, "name:" + key(ref.label)):
            rows.append((2, Node("name:" + key(ref.label), ref.label, ref.kind)))
    found: dict[str, list[tuple[int, Node]]] = {}
    for rank, node in rows:
        found.setdefault(canonical(s, node.id), []).append((rank, node))
    return {name: _thing(name, about_it) for name, about_it in found.items()}


def _refs(s: State) -> list[Ref]:
    sides = [side for _, _, claim in s.claims for side in (claim.subject, claim.object)]
    return [side for side in sides if isinstance(side, Ref)]


def _thing(name: str, rows: list[tuple[int, Node]]) -> Thing:
    rows = sorted(rows, key=lambda r: (r[0], r[1].id != name, label_rank(r[1].label)))
    label = rows[0][1].label
    aliases = {(node.label, UNDATED_BOUNDS) for _, node in rows}
    aliases |= {(alias.label, alias.valid.bounds) for _, node in rows for alias in node.aliases}
    kinds = [node.kind for _, node in rows if node.kind]
    terms = union(term.bounds for _, node in rows for term in node.existence)
    return Thing(
        name, label, kinds[0] if kinds else None, frozenset(aliases - {(label, UNDATED_BOUNDS)}),
        tuple(terms), rows[0][0] < 2,
    )  # fmt: skip


def bearers(s: State) -> Bearers:
    """Return who is declared under each name: (name key, node id, kind or None)."""
    rows = [node for _, _, node in s.nodes]
    rows += [Node(r.id, r.label, r.kind) for r in _refs(s) if r.id is not None]
    kinds = {(canonical(s, node.id), node.kind) for node in rows}
    named: Bearers = {}
    for node in rows:
        name = canonical(s, node.id)
        for label in (node.label, *(alias.label for alias in node.aliases)):
            named.setdefault(key(label), set()).update(pair for pair in kinds if pair[0] == name)
    return named


def resolve(s: State, ref: Ref, named: Bearers) -> str:
    """Return the node a ref means: by id, by its one declared bearer, else a placeholder."""
    if ref.id is not None:
        return canonical(s, ref.id)
    wanted = key(ref.label)
    pairs = named.get(wanted, set())
    found = {node for node, kind in pairs if ref.kind in (None, kind)}
    return found.pop() if len(found) == 1 else canonical(s, "name:" + wanted)


def _row(s: State, source: str, claim: Claim, named: Bearers) -> Row:
    obj = claim.object
    value = token(resolve(s, obj, named) if isinstance(obj, Ref) else obj)
    origin = (source, claim.chunk, claim.line, claim.confidence)
    bounds = claim.valid.bounds
    relation = relation_key(claim.relation)
    return Row(
        resolve(s, claim.subject, named), relation, value, bounds, bounds, frozenset({origin})
    )


def stated(s: State, named: Bearers) -> list[Row]:
    """Return the facts as their sources state them, names meaning what ``named`` says."""
    sources: dict[Row, set[Origin]] = {}
    for _, source, claim in s.claims:
        row = _row(s, source, claim, named)
        sources.setdefault(row._replace(sources=frozenset()), set()).update(row.sources)
    return [row._replace(sources=frozenset(origins)) for row, origins in sources.items()]
