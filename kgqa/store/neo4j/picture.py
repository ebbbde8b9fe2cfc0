"""The graph that people look at: entities and what is said of them, as of now.

Belongs here: keeping ``:Entity``, ``:Literal``, their relationships, ``PART_OF`` and ``MENTIONS``
in line with the rows. Must not: reading answers from it; rows are the truth, and ``verifying``
compares. What was on record earlier is in the rows alone. Ends are shown as answers read them
(stated elsewhere, or stopped by a later holder), so that a statement over the picture sees the
world that an answer sees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kgqa.errors import FaultError
from kgqa.model.ids import object_token
from kgqa.model.things import Fact, Literal, Node
from kgqa.store import queries, rows
from kgqa.store.facts import Facts
from kgqa.store.neo4j import cypher
from kgqa.store.neo4j.cypher import OTHER, Cypher, short
from kgqa.store.neo4j.session import Transaction
from kgqa.store.neo4j.snapshot import Neo4jSnapshot
from kgqa.store.neo4j.statements import FRESH
from kgqa.store.queries import slices
from kgqa.store.rows import Record
from kgqa.store.state import Cache
from kgqa.temporal import printing
from kgqa.temporal.interval import BEGIN, END, Validity

_PART = 5_000
_NOTHING: Mapping[str, Mapping[Any, Record]] = {table: {} for table in FRESH}

_ENTITIES = (
    "UNWIND $rows AS r MERGE (e:Entity {kb: $kb, id: r.id}) SET e = r, e:@label "
    "WITH e, labels(e) AS held WHERE size(held) > 2 RETURN e.id, held"
)
_UNLABEL = "UNWIND $ids AS id MATCH (e:Entity {kb: $kb, id: id}) REMOVE e:@label"
_GONE = "UNWIND $ids AS id MATCH (e:Entity {kb: $kb, id: id}) DETACH DELETE e"
_DROP = "UNWIND $ns AS n MATCH ()-[t:@type {kb: $kb, n: n}]->() DELETE t"
_LITERALS = "UNWIND $rows AS r MERGE (l:Literal {kb: $kb, token: r.token}) SET l = r"
_DRAW = (
    "UNWIND $rows AS r MATCH (a:Entity {kb: $kb, id: r.subject}) MATCH (b:@label {kb: $kb, @key}) "
    "MERGE (a)-[t:@type {kb: $kb, n: r.shown.n}]->(b) SET t = r.shown RETURN count(*)"
)
_LONELY = (
    "MATCH (l:Literal) USING INDEX l:Literal(kb, token) WHERE l.kb = $kb AND l.token IN $tokens "
    "AND NOT EXISTS { (l)<--() } DELETE l"
)
_OPEN = (
    "UNWIND $pairs AS p MATCH (f:Fact) USING INDEX f:Fact(kb, @side, relation, es) "
    "WHERE f.kb = $kb AND f.@side = p[0] AND f.relation = p[1] AND f.es IS NOT NULL "
    "AND f.le = $end AND f.recorded_to = $end RETURN f.n, f.subject, f.relation, f.object"
)
_OF_RELATIONS = (
    "UNWIND $keys AS key MATCH (f:Fact) USING INDEX f:Fact(kb, relation, es, ee) "
    "WHERE f.kb = $kb AND f.relation = key AND f.es IS NOT NULL AND f.ee IS NOT NULL "
    "AND f.le = $end AND f.recorded_to = $end RETURN f.n"
)
_PARTS = (
    "UNWIND $ids AS id MATCH (c:Chunk {kb: $kb, id: id, recorded_to: $end}) "
    "MATCH (d:Document {kb: $kb, id: c.document, recorded_to: $end}) "
    "MERGE (c)-[:PART_OF {kb: $kb}]->(d)"
)
_OF_DOCUMENTS = (
    "UNWIND $ids AS id MATCH (c:Chunk) USING INDEX c:Chunk(kb, document, ordinal) "
    "WHERE c.kb = $kb AND c.document = id AND c.ordinal IS NOT NULL AND c.recorded_to = $end "
    "RETURN c.id"
)
_CUT_OFF = (
    "UNWIND $ids AS id MATCH (c:Chunk)-[t:@type]->() USING INDEX c:Chunk(kb, id, recorded_to) "
    "WHERE c.kb = $kb AND c.id = id AND c.recorded_to IS NOT NULL DELETE t"
)
_MENTIONED = (
    "UNWIND $ids AS id MATCH (k:Claim) USING INDEX k:Claim(kb, chunk) "
    "WHERE k.kb = $kb AND k.chunk = id AND k.recorded_to = $end RETURN id, k.fact"
)
_MENTIONS = (
    "UNWIND $rows AS r MATCH (c:Chunk {kb: $kb, id: r[0], recorded_to: $end}) "
    "MATCH (e:Entity {kb: $kb, id: r[1]}) MERGE (c)-[:MENTIONS {kb: $kb}]->(e)"
)


class Picture:
    """Draw what a transaction has written up to a revision.

    ``types`` are the relationship types that have a schema; other relations are ``OTHER``.
    """

    def __init__(self, tx: Transaction, kb: str, revision: int, types: Collection[str]) -> None:
        def run(statement: str, parameters: Mapping[str, Any]) -> list[Record]:
            return tx.rows(statement, **parameters)

        self._tx = tx
        self._kb = kb
        self._state = Neo4jSnapshot(run, kb, revision, Cache())
        self._types = frozenset(types)
        self._fresh = _NOTHING

    def _run(self, statement: Cypher | str, **parameters: Any) -> list[Record]:
        return self._tx.rows(statement, kb=self._kb, **parameters)

    def draw(
        self,
        touched: Mapping[str, Collection[Record]],
        fresh: Mapping[str, Mapping[Any, Record]] = _NOTHING,
    ) -> None:
        """Bring the picture in line with the rows that were touched (``statements.TOUCHED``).

        ``fresh`` are those that need not be read (``statements.FRESH``).
        """
        self._fresh = fresh
        nodes = {row[0] for row in touched["nodes"]}
        kept = self._entities(nodes)
        facts = {row[0] for row in touched["facts"]} | {fact for fact, _ in touched["claims"]}
        self._facts(facts | self._beside(touched), set(touched["facts"]))
        gone = [short(name) for name in nodes - kept]
        for part in slices(gone, _PART):
            self._run(_GONE, ids=part)
        self._passages(touched)

    # Entities.

    def _entities(self, ids: Iterable[str]) -> set[str]:
        """Draw the nodes that are on record; return which those are."""
        kept: set[str] = set()
        for part in slices(sorted(ids), _PART):
            nodes = self._nodes(part)
            kept |= {node.id for node in nodes}
            groups, former = defaultdict(list), defaultdict(list)
            for node in nodes:
                groups[cypher.label(node.kind or "")].append(entity(self._kb, node))
            for wanted, shown in groups.items():
                for name, held in self._run(cypher.text(_ENTITIES, label=wanted), rows=shown):
                    for label in set(held) - {"Entity", wanted}:
                        former[label].append(name)
            for label, names in former.items():
                self._run(cypher.text(_UNLABEL, label=label), ids=names)
        return kept

    def _nodes(self, ids: Collection[str]) -> list[Node]:
        fresh = self._fresh["nodes"]
        found = [fresh[name] for name in ids if name in fresh]
        if len(found) < len(ids):
            others = self._state.where().among("n.id", [name for name in ids if name not in fresh])
            where = queries.recorded(others, "n", self._known)
            found += self._state.select("nodes", rows.NODE, where)
        return list(map(rows.node, found))

    @property
    def _known(self) -> int:
        return self._state.known(None)

    # Facts.

    def _facts(self, ns: Collection[int], touched: set[Record]) -> None:
        """Draw the facts with these numbers; take away those of touched rows that are no more."""
        current: dict[str, int] = {}
        rows_now: set[Record] = set()
        for part in slices(sorted(ns), _PART):
            for name, *row in self._current(part):
                current[name] = row[0]
                rows_now.add(tuple(row))
        # First, and by whole rows: an erasure may give a number that went to another fact.
        drop: dict[str, list[int]] = defaultdict(list)
        for n, _, relation, _ in touched - rows_now:
            drop[self._type(relation)].append(n)
        for kind, gone in drop.items():
            for part in slices(gone, _PART):
                self._run(cypher.text(_DROP, type=kind), ns=part)
        for names in slices(current, _PART):
            self._draw({name: current[name] for name in names})
        tokens = {short(row[3]) for row in touched if not row[3].startswith("n:")}
        if drop and tokens:
            self._run(_LONELY, tokens=sorted(tokens))

    def _current(self, ns: Collection[int]) -> list[Record]:
        """Return the columns FRESH of the facts with these numbers that are on record."""
        fresh = self._fresh["facts"]
        found = [fresh[n] for n in ns if n in fresh]
        if len(found) < len(ns):
            others = self._state.where().among("n.n", [n for n in ns if n not in fresh])
            where = queries.recorded(others, "n", self._known)
            found += self._state.select("facts", ", ".join(FRESH["facts"]), where)
        return found

    def _beside(self, touched: Mapping[str, Collection[Record]]) -> set[int]:
        """Return the open facts whose end may be read differently now."""
        found: set[int] = set()
        rules = self._state.declared().items()
        few_objects = {short(key) for key, rule in rules if rule.max_objects is not None}
        few_subjects = {short(key) for key, rule in rules if rule.max_subjects is not None}
        facts = {tuple(map(short, row[1:])) for row in touched["facts"]}
        by_subject = {(subject, relation) for subject, relation, _ in facts}
        by_object = {(token, relation) for _, relation, token in facts if relation in few_subjects}
        for side, pairs, limited in (
            ("subject", by_subject, few_objects), ("object", by_object, few_subjects),
        ):  # fmt: skip
            statement = cypher.text(_OPEN, side=side)
            for part in slices(sorted(pairs), _PART):
                for n, *fact in self._run(statement, pairs=part, end=END):
                    # Without a limit, only facts of the same three give one another an end.
                    if fact[1] in limited or tuple(fact) in facts:
                        found.add(n)
        keys = [short(key) for (key,) in touched["relations"]]
        if keys:
            found |= {n for (n,) in self._run(_OF_RELATIONS, keys=keys, end=END)}
        return found

    def _type(self, relation: str) -> str:
        kind = cypher.relationship(relation)
        return kind if kind in self._types else OTHER

    def _draw(self, ns: Mapping[str, int]) -> None:
        """Draw facts by id, each with the number of its row."""
        groups: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
        literals: dict[str, dict[str, Any]] = {}
        for fact in Facts(self._state).by_id(list(ns), None):
            value = isinstance(fact.object, Literal)
            if isinstance(fact.object, Literal):
                token = short(object_token(fact.object))
                literals[token] = literal(self._kb, token, fact.object)
            groups[self._type(fact.relation), value].append(
                {
                    "subject": short(fact.subject),
                    "object": short(object_token(fact.object) if value else str(fact.object)),
                    "shown": relationship(self._kb, ns[fact.id], fact),
                }
            )
        if literals:
            self._run(_LITERALS, rows=list(literals.values()))
        for (kind, value), drawn in groups.items():
            label, key = ("Literal", _TOKEN) if value else ("Entity", _ID)
            statement = cypher.text(_DRAW, type=kind, label=label, key=key)
            ((count,),) = self._run(statement, rows=drawn)
            if count != len(drawn):
                raise FaultError(
                    f"{len(drawn) - count} facts of {self._kb!r} have no entity to stand at",
                    code="store.corrupt", hint="run kgqa verify",
                )  # fmt: skip

    # Passages.

    def _passages(self, touched: Mapping[str, Collection[Record]]) -> None:
        chunks = {short(row[0]) for row in touched["chunks"]}
        documents = [short(row[0]) for row in touched["documents"]]
        for part in slices(documents, _PART):
            chunks |= {name for (name,) in self._run(_OF_DOCUMENTS, ids=part, end=END)}
        for part in slices(sorted(chunks), _PART):
            # Of all versions: those that were replaced or deleted are no part of anything now.
            self._run(cypher.text(_CUT_OFF, type="PART_OF"), ids=part)
            self._run(_PARTS, ids=part, end=END)
        chunks |= {short(chunk) for _, chunk in touched["claims"] if chunk}
        for part in slices(sorted(chunks), _PART):
            self._run(cypher.text(_CUT_OFF, type="MENTIONS"), ids=part)
            pairs = self._run(_MENTIONED, ids=part, end=END)
            sides = self._sides({fact for _, fact in pairs})
            mentions = {(chunk, side) for chunk, fact in pairs for side in sides.get(fact, ())}
            if mentions:
                self._run(_MENTIONS, rows=sorted(mentions), end=END)

    def _sides(self, facts: Collection[int]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for part in slices(facts, _PART):
            for _, n, subject, _, token in self._current(part):
                sides = [subject, *([token[2:]] if token.startswith("n:") else [])]
                found[n] = [short(side) for side in sides]
        return found


_ID = Cypher("id: r.object")
_TOKEN = Cypher("token: r.object")


# What is shown. An empty list is none: the import tool cannot write one (``sheets``).


def entity(kb: str, node: Node) -> dict[str, Any]:
    """Return the properties of a node's entity."""
    bounds = [term.bounds for term in node.existence]
    return {
        "kb": kb,
        "id": short(node.id),
        "name": node.label,
        "kind": node.kind,
        "aliases": [alias.label for alias in node.aliases] or None,
        "exists": [printing.format(term) for term in node.existence] or None,
        "es": min((b[0] for b in bounds), default=BEGIN),
        "le": max((b[3] for b in bounds), default=END),
    }


def literal(kb: str, token: str, value: Literal) -> dict[str, Any]:
    """Return the properties of a literal's node."""
    return {"kb": kb, "token": token, "name": str(value.value)}


def _when(valid: Validity) -> str:
    return printing.format(valid) if valid.dated else "undated"


def relationship(kb: str, n: int, fact: Fact) -> dict[str, Any]:
    """Return the properties of a fact's relationship."""
    es, ls, ee, le = fact.valid.bounds
    documents = {source.document for source in fact.sources if source.document}
    chunks = {source.chunk for source in fact.sources if source.chunk}
    return {
        "kb": kb, "n": n, "id": fact.id, "relation": fact.relation,
        "es": es, "ls": ls, "ee": ee, "le": le, "valid": _when(fact.valid),
        "documents": sorted(documents) or None, "chunks": sorted(chunks) or None,
    }  # fmt: skip
