"""Compare what a server keeps beside rows with what it derives: the picture, search filters.

Belongs here: the second half of ``verify``; rows themselves are checked as those of a file
(``store.verifying``). Must not: repairs. Keys are read in parts, in the order of an index, and
what belongs to them is compared part by part, so that a base of any size needs little memory.
Others may write meanwhile: what differs is looked at again in a newer state, and only what still
differs is told.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeAlias

from kgqa.model.ids import object_token
from kgqa.model.things import Literal
from kgqa.protocols import Problem
from kgqa.store import queries, rows
from kgqa.store.facts import Facts
from kgqa.store.neo4j import cypher, statements
from kgqa.store.neo4j.cypher import OTHER, short
from kgqa.store.neo4j.picture import entity, literal, relationship
from kgqa.store.neo4j.snapshot import Neo4jSnapshot
from kgqa.store.queries import Where, slices
from kgqa.store.rows import Record
from kgqa.temporal.interval import BEGIN, END

View: TypeAlias = Callable[[], AbstractContextManager[Neo4jSnapshot]]
"""Give the newest state."""
Found: TypeAlias = Iterator[tuple[Any, Problem]]
"""Keys, each with what is wrong with what belongs to it."""

_AT_ONCE = 500
_FACTS = 2_000
_MOST = 1_000
"""How many problems of a part are told before it is given up."""
_LOOKS = 5
_PAUSE_SECONDS = 0.2

_BASE = "MATCH (b:Base {kb: $kb}) RETURN coalesce(b.latest, b.revision), coalesce(b.types, [])"
_ENTITY_IDS = (
    "MATCH (e:Entity) USING INDEX e:Entity(kb, id) WHERE e.kb = $kb AND e.id > $after "
    "RETURN e.id ORDER BY e.kb, e.id LIMIT $most"
)
_ENTITIES = (
    "MATCH (e:Entity) USING INDEX e:Entity(kb, id) WHERE e.kb = $kb AND e.id IN $ids "
    "RETURN e.id, properties(e), labels(e)"
)
_RELATIONSHIPS = (
    "MATCH (e:Entity)-[t]->(o) USING INDEX e:Entity(kb, id) WHERE e.kb = $kb AND e.id IN $ids "
    "AND coalesce(t.n, 0) > $after AND coalesce(t.n, 0) <= $upto "
    "RETURN coalesce(t.n, 0), properties(t), type(t), e.id, coalesce(o.id, o.token), "
    "CASE WHEN o:Literal THEN properties(o) END"
)
_TOKENS = (
    "MATCH (l:Literal) USING INDEX l:Literal(kb, token) WHERE l.kb = $kb AND l.token > $after "
    "RETURN l.token ORDER BY l.kb, l.token LIMIT $most"
)
_LONELY = (
    "MATCH (l:Literal) USING INDEX l:Literal(kb, token) WHERE l.kb = $kb AND l.token IN $tokens "
    "AND NOT EXISTS { (l)<--() } RETURN l.token, l.name"
)
_CHUNKS = (
    "MATCH (c:Chunk) USING INDEX c:Chunk(kb, n) WHERE c.kb = $kb AND c.n > $after "
    "RETURN c.n, c.id ORDER BY c.kb, c.n LIMIT $most"
)
_PASSAGES = (
    "UNWIND $ids AS id MATCH (c:Chunk) USING INDEX c:Chunk(kb, id, recorded_to) "
    "WHERE c.kb = $kb AND c.id = id AND c.recorded_to IS NOT NULL "
    "OPTIONAL MATCH (d:Document) USING INDEX d:Document(kb, id, recorded_to) "
    "WHERE d.kb = $kb AND d.id = c.document AND d.recorded_to > $at AND d.recorded_from <= $at "
    "RETURN c.id, c.recorded_from <= $at AND c.recorded_to > $at, d.n, "
    "[(c)-[:PART_OF]->(p) | p.n], [(c)-[:MENTIONS]->(e) | e.id]"
)
_ITEMS = (
    "MATCH (v:Vector) USING INDEX v:Vector(kb, kind, item, generation) WHERE v.kb = $kb "
    "AND v.kind = $kind AND v.item > $after AND v.generation IS NOT NULL "
    "RETURN v.item ORDER BY v.kb, v.kind, v.item LIMIT $most"
)


def problems(view: View) -> list[Problem]:
    """Return how what is kept beside rows differs from what they derive."""
    found: list[Problem] = []
    for part in _PARTS:
        with view() as state:
            suspects: dict[Problem, Any] = {}
            for keys in part.pages(state):
                suspects |= {problem: key for key, problem in part.differing(state, keys)}
                if len(suspects) >= _MOST:
                    break
        found += _still(view, part, suspects)
        if len(suspects) >= _MOST:
            found.append(Problem(part.name, "", f"more may differ in {part.name}: not looked at"))
    return found


def _still(view: View, part: _Part, suspects: dict[Problem, Any]) -> list[Problem]:
    """Return which problems are there still, in a state that nobody changes while it is read."""
    for _ in range(_LOOKS):
        if not suspects:
            break
        with view() as state:
            again: set[Problem] = set()
            for keys in slices(dict.fromkeys(suspects.values()), _AT_ONCE):
                again |= {problem for _, problem in part.differing(state, keys)}
            suspects = {problem: key for problem, key in suspects.items() if problem in again}
            newest, _ = _base(state)
            if newest == state.revision:
                break
        time.sleep(_PAUSE_SECONDS)
    return list(suspects)


def _base(state: Neo4jSnapshot) -> tuple[int, list[str]]:
    """Return the newest revision, published or not, and the types of relationships."""
    for newest, types in state.run(_BASE, {"kb": state.kb}):
        return newest, types
    return 0, []


def _current(state: Neo4jSnapshot, column: str, values: Collection[Any]) -> Where:
    where = state.where().among(column, list(values))
    return queries.recorded(where, "n", state.known(None))


def _stored(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if value is not None}


# Nodes, and what is said of them.


def _nodes(state: Neo4jSnapshot) -> Iterator[list[str]]:
    """Yield ids of nodes on record, then of those that are shown and are none."""
    after = ""
    while True:
        where = queries.recorded(state.where().add("n.id > ?", after), "n", state.known(None))
        found = [short(name) for (name,) in state.select("nodes", "id", where, "n.id", _AT_ONCE)]
        if not found:
            break
        yield found
        after = found[-1]
    for shown in _paged(state, _ENTITY_IDS):
        there = state.select("nodes", "id", _current(state, "n.id", shown))
        yield sorted(set(shown) - {short(name) for (name,) in there})


def _paged(state: Neo4jSnapshot, statement: str, **given: Any) -> Iterator[list[str]]:
    after = ""
    while found := state.run(
        statement, {"kb": state.kb, "after": after, "most": _AT_ONCE, **given}
    ):
        yield [key for (key,) in found]
        after = found[-1][0]


def _nodes_differing(state: Neo4jSnapshot, ids: Sequence[str]) -> Found:
    meant = {
        short(node.id): node
        for node in map(rows.node, state.select("nodes", rows.NODE, _current(state, "n.id", ids)))
    }
    shown = {
        name: (held, set(labels))
        for name, held, labels in state.run(_ENTITIES, {"kb": state.kb, "ids": list(ids)})
    }
    for name in ids:
        node = meant.get(name)
        if node is None and name in shown:
            yield name, Problem("picture", name, f"a node {name!r} is shown that is not on record")
        elif node is not None:
            labels = {"Entity", cypher.label(node.kind or "")}
            if shown.get(name) != (_stored(entity(state.kb, node)), labels):
                problem = f"node {node.id!r} is not shown as it is"
                yield name, Problem("picture", node.id, problem)
    yield from _facts_differing(state, ids)


def _facts_differing(state: Neo4jSnapshot, subjects: Sequence[str]) -> Found:
    """Yield what is wrong with facts of these subjects, in parts by their numbers."""
    _, types = _base(state)
    after, upto = -1, 0
    while upto < END:
        where = _current(state, "n.subject", subjects).add("n.n > ?", after)
        found = list(state.select("facts", "n, id", where, "n.n", _FACTS))
        upto = found[-1][0] if len(found) == _FACTS else END
        numbers = {name: n for n, name in found}
        wanted: dict[int, tuple[str, Record]] = {}
        for names in slices(numbers, _AT_ONCE):
            for fact in Facts(state).by_id(names, None):
                kind = cypher.relationship(fact.relation)
                value = fact.object if isinstance(fact.object, Literal) else None
                token = short(object_token(value) if value else str(fact.object))
                wanted[numbers[fact.id]] = fact.id, (
                    _stored(relationship(state.kb, numbers[fact.id], fact)),
                    kind if kind in types else OTHER, short(fact.subject), token,
                    _stored(literal(state.kb, token, value)) if value else None,
                )  # fmt: skip
        asked = {"kb": state.kb, "ids": list(subjects), "after": after, "upto": upto}
        for n, *drawn in state.run(_RELATIONSHIPS, asked):
            name, meant = wanted.pop(n, (None, ()))
            if name is None:
                problem = f"a fact of row {n} is shown that is not on record"
                yield drawn[2], Problem("picture", str(n), problem)
            elif tuple(drawn) != meant:
                yield meant[2], _not_shown(name)
        for name, meant in wanted.values():
            yield meant[2], _not_shown(name)
        after = upto


def _not_shown(fact: str) -> Problem:
    return Problem("picture", fact, f"fact {fact} is not shown as it is")


# Values.


def _values(state: Neo4jSnapshot) -> Iterator[list[str]]:
    return _paged(state, _TOKENS)


def _values_differing(state: Neo4jSnapshot, tokens: Sequence[str]) -> Found:
    for token, name in state.run(_LONELY, {"kb": state.kb, "tokens": list(tokens)}):
        problem = f"a value {name!r} is shown that no fact has"
        yield token, Problem("picture", token, problem)


# Passages.


def _passages(state: Neo4jSnapshot) -> Iterator[list[str]]:
    """Yield ids of passages of all versions: an old one may be drawn still."""
    after = 0
    while found := state.run(_CHUNKS, {"kb": state.kb, "after": after, "most": _AT_ONCE}):
        yield list(dict.fromkeys(name for _, name in found))
        after = found[-1][0]


def _passages_differing(state: Neo4jSnapshot, ids: Sequence[str]) -> Found:
    claims = list(state.select("claims", "chunk, fact", _current(state, "n.chunk", ids)))
    sides: dict[int, set[str]] = {}
    for ns in slices({fact for _, fact in claims}, _FACTS):
        found = state.select("facts", "n, subject, object", _current(state, "n.n", ns))
        for n, subject, token in found:
            named = {subject, *([token[2:]] if token.startswith("n:") else [])}
            sides[n] = {short(side) for side in named}
    mentioned: dict[str, set[str]] = defaultdict(set)
    for chunk, fact in claims:
        mentioned[short(chunk)] |= sides.get(fact, set())
    asked = {"kb": state.kb, "ids": list(ids), "at": state.revision}
    for name, current, document, parts, mentions in state.run(_PASSAGES, asked):
        if parts != ([document] if current and document is not None else []):
            problem = f"passage {name!r} is not shown in its document"
            yield name, Problem("picture", name, problem)
        if sorted(mentions) != sorted(mentioned[name] if current else ()):
            problem = f"passage {name!r} is not shown with what it mentions"
            yield name, Problem("picture", name, problem)


# Vectors.


def _vectors(state: Neo4jSnapshot) -> Iterator[list[tuple[str, str]]]:
    for kind in statements.FILTERED:
        for items in _paged(state, _ITEMS, kind=kind):
            yield [(kind, item) for item in items]


def _vectors_differing(state: Neo4jSnapshot, keys: Iterable[tuple[str, str]]) -> Found:
    items: dict[str, list[str]] = defaultdict(list)
    for kind, item in keys:
        items[kind].append(item)
    for kind, some in items.items():
        asked = {"kb": state.kb, "items": some, "begin": BEGIN, "end": END}
        for (item,) in state.run(statements.FILTERED[kind], asked):
            problem = f"the vector of {kind} {item!r} is searched as if it held at another time"
            yield (kind, item), Problem("vectors", item, problem)


class _Part(NamedTuple):
    """Say how keys are read, and what is compared of some of them."""

    name: str
    pages: Callable[[Neo4jSnapshot], Iterator[list[Any]]]
    differing: Callable[[Neo4jSnapshot, Sequence[Any]], Found]


_PARTS = (
    _Part("nodes and facts", _nodes, _nodes_differing),
    _Part("values", _values, _values_differing),
    _Part("passages", _passages, _passages_differing),
    _Part("vectors", _vectors, _vectors_differing),
)
