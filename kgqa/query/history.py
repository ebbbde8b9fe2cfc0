"""How things were and changed: at, timeline, when, diff, snapshot.

Belongs here: histories of nodes and of the whole base under a scope. Must not: questions in
words. Every result is frozen and shows only what the scope allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kgqa.errors import InputError, NotFoundError
from kgqa.model.answer import Scope
from kgqa.model.ids import name_key, object_token, relation_key
from kgqa.model.things import Fact, Literal, Node
from kgqa.protocols import Reader
from kgqa.query.display import Display
from kgqa.query.operators import Term, coalesce
from kgqa.query.scope import incident, pattern
from kgqa.query.world import World
from kgqa.temporal import parse_as_of
from kgqa.temporal.interval import Certainty


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one fact, or one term of touching facts, as shown: ``labels`` cite its facts."""

    text: str
    valid: str
    certainty: Certainty
    labels: tuple[str, ...]
    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class NodeLine:
    """Hold one node as shown: name valid then, kind, when it exists."""

    id: str
    label: str
    kind: str | None
    existence: str | None


@dataclass(frozen=True, slots=True)
class NodeHistory:
    """Hold what is known of one node: its lines in order of start, its names with when."""

    node: NodeLine
    scope: Scope
    names: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Hold every node and fact that holds under the scope; by id and by start."""

    scope: Scope
    nodes: tuple[NodeLine, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """Hold what changed from one time to another: gone held then and no more, came is new.

    The snapshot of the first time without what is gone, with what came, is that of the second.
    """

    start: Scope
    end: Scope
    gone: tuple[Line, ...]
    came: tuple[Line, ...]
    gone_nodes: tuple[NodeLine, ...] = ()
    came_nodes: tuple[NodeLine, ...] = ()


@dataclass(frozen=True, slots=True)
class When:
    """Hold the terms in which a statement held, touching ones joined, in order of start."""

    scope: Scope
    subject: str
    relation: str
    object: str
    lines: tuple[Line, ...]


def resolve(reader: Reader, text: str, known_at: int | None = None) -> str:
    """Return the id of the node that a text names: its id, ``node:<id>``, or one of its names.

    Raises NotFoundError (``name.unknown``), and InputError (``name.ambiguous``) with the ids.
    """
    plain = text.strip().removeprefix("node:")
    given, placeholder = (
        reader.get([f"node:{i}"], known_at).get(f"node:{i}")
        for i in (plain, "name:" + name_key(plain))
    )
    if isinstance(given, Node):
        return given.id
    found = sorted({h.node for h in reader.names([name_key(plain)], known_at)})
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise InputError(
            f"{text!r} names several nodes: {', '.join(found[:10])}",
            code="name.ambiguous",
            hint=f"give one of the ids, such as {found[0]!r}",
            nodes=found,
        )
    if isinstance(placeholder, Node):
        return placeholder.id
    raise NotFoundError(
        f"no node has the name or id {text!r}",
        code="name.unknown",
        hint="look for it: kgqa search KB WORDS",
    )


def resolve_relation(reader: Reader, text: str, scope: Scope) -> str:
    """Return the key of the relation that a text names: its key, its label or a synonym.

    Raises NotFoundError (``relation.unknown``), but not under a horizon: which relations come
    later must not show.
    """
    key, known = relation_key(text), reader.relations()
    named = [
        r.key for r in known.values() if key in {relation_key(n) for n in (r.label, *r.synonyms)}
    ]
    if key in known or (scope.horizon is not None and len(named) != 1):
        return key
    if len(named) == 1:
        return named[0]
    told = f", which {', '.join(sorted(named))} are called" if named else ""
    raise NotFoundError(
        f"no relation is {text!r}{told}",
        code="relation.unknown",
        hint="list them: kgqa relations KB",
    )


def at(reader: Reader, name: str, scope: Scope) -> NodeHistory:
    """Return the facts of a node that hold at ``scope.as_of``, or all of them without one."""
    node = resolve(World(reader, scope), name)
    span = scope.as_of.span if scope.as_of else None
    facts = incident(reader, node, pattern(scope, span))
    kept = [f for f in facts if span is None or f.valid.matches(span, scope.as_of_match)]
    return _history(reader, node, scope, _facts_lines(kept, Display(reader, scope), scope))


def timeline(
    reader: Reader, name: str, relation: str | None = None, *, scope: Scope
) -> NodeHistory:
    """Return the terms of a node in the scope's world, in order of start; touching ones joined."""
    node = resolve(World(reader, scope), name)
    key = resolve_relation(reader, relation, scope) if relation else None
    facts = incident(reader, node, pattern(scope, relation=key))
    lines = _lines(coalesce(facts), Display(reader, scope))
    return _history(reader, node, scope, lines)


def when(reader: Reader, subject: str, relation: str, object_: str, *, scope: Scope) -> When:
    """Return the terms in which a statement held (in the scope's world), touching ones joined.

    The object is a node's name or id, else a literal.
    """
    display = Display(reader, scope)
    holder = resolve(World(reader, scope), subject)
    key = resolve_relation(reader, relation, scope)
    found = reader.match(pattern(scope, subject=holder, relation=key))
    wanted = [f for f in found if _is_object(reader, f.object, object_, scope)]
    lines = _lines(coalesce(wanted), display)
    shown = display.label(wanted[0].object) if wanted else object_
    return When(scope, display.label(holder), display.relation(key), shown, lines)


def _is_object(reader: Reader, value: str | Literal, text: str, scope: Scope) -> bool:
    if isinstance(value, Literal):
        raw = value.value
        return text == (str(raw).lower() if isinstance(raw, bool) else str(raw))
    if value == text.removeprefix("node:") or value == "name:" + name_key(text):
        return True
    return value in {h.node for h in reader.names([name_key(text)], scope.known_at)}


def nodes(
    reader: Reader,
    kind: str | None = None,
    *,
    limit: int | None = None,
    after: str | None = None,
    scope: Scope,
) -> list[Node]:
    """Return nodes by id, those that existed at ``scope.as_of``, each cut to what may show."""
    span = scope.as_of.span if scope.as_of else None
    page = pattern(scope, span, kind=kind, limit=limit, after=after)
    found = World(reader, scope).nodes(replace(page, match=scope.as_of_match, begun_before=None))
    display = Display(reader, scope)
    return [display.cut(node) for node in found]


def snapshot(reader: Reader, limit: int | None = None, *, scope: Scope) -> Snapshot:
    """Return every node and fact that holds at ``scope.as_of``, or all of them without one."""
    facts, nodes = _holding(reader, scope, limit)
    display = Display(reader, scope)
    return Snapshot(scope, _node_lines(nodes, display), _facts_lines(facts, display, scope))


def diff(reader: Reader, start: str, end: str, name: str | None = None, *, scope: Scope) -> Diff:
    """Return what ceased and what came to hold between two times, of one node or of all.

    What holds at each is what ``snapshot`` shows there. Nothing later than the later of the
    two times shows.
    """
    first, second = (
        replace(scope, as_of=parse_as_of(text, numbering=scope.numbering, now=scope.now))
        for text in (start, end)
    )
    later = max(first, second, key=lambda s: s.horizon or 0)
    (facts_1, nodes_1), (facts_2, nodes_2) = (_holding(reader, s) for s in (first, second))
    if name is not None:
        node = resolve(World(reader, later), name)
        facts_1, facts_2 = (
            [f for f in facts if node in (f.subject, f.object)] for facts in (facts_1, facts_2)
        )
        nodes_1, nodes_2 = ([n for n in ns if n.id == node] for ns in (nodes_1, nodes_2))
    display = Display(reader, later)
    ids_1, ids_2 = {f.id for f in facts_1}, {f.id for f in facts_2}
    was, are = {n.id for n in nodes_1}, {n.id for n in nodes_2}
    return Diff(
        first,
        second,
        _facts_lines([f for f in facts_1 if f.id not in ids_2], display, first),
        _facts_lines([f for f in facts_2 if f.id not in ids_1], display, second),
        _node_lines([n for n in nodes_1 if n.id not in are], display),
        _node_lines([n for n in nodes_2 if n.id not in was], display),
    )


def _holding(
    reader: Reader, scope: Scope, limit: int | None = None
) -> tuple[list[Fact], list[Node]]:
    span = scope.as_of.span if scope.as_of else None
    p = replace(pattern(scope, span, limit=limit), match=scope.as_of_match)
    return reader.match(p), World(reader, scope).nodes(replace(p, begun_before=None))


def _history(reader: Reader, node: str, scope: Scope, lines: tuple[Line, ...]) -> NodeHistory:
    display = Display(reader, scope)
    item = display.node(node)
    if item is None:
        return NodeHistory(NodeLine(node, display.label(node), None, None), scope, (), lines)
    names = tuple((a.label, display.valid(a.valid)) for a in display.aliases(item))
    return NodeHistory(_node_lines([item], display)[0], scope, names, lines)


def _node_lines(nodes: Iterable[Node], display: Display) -> tuple[NodeLine, ...]:
    return tuple(
        NodeLine(n.id, display.name(n), n.kind, display.existence(n))
        for n in sorted(nodes, key=lambda n: n.id)
    )


def _facts_lines(facts: Iterable[Fact], display: Display, scope: Scope) -> tuple[Line, ...]:
    ordered = sorted(
        facts, key=lambda f: (f.valid.es, f.subject, f.relation, object_token(f.object), f.id)
    )
    span = scope.as_of.span if scope.as_of else None
    terms = [
        Term(
            f.subject,
            f.relation,
            f.object,
            f.valid,
            (f,),
            f.valid.certainty(span, scope.as_of_match) if span else "definite",
        )
        for f in ordered
    ]
    return _lines(terms, display)


def _lines(terms: Iterable[Term], display: Display) -> tuple[Line, ...]:
    found = list(terms)
    display.fetch_facts(f for t in found for f in t.facts)
    lines = []
    for term in found:
        subject, relation = display.label(term.subject), display.relation(term.relation)
        object_, valid = display.label(term.object), display.valid(term.valid)
        labels = tuple(f"fact:{f.id}" for f in term.facts)
        text = f"{subject} {relation}: {object_}, {valid}"
        lines.append(Line(text, valid, term.certainty, labels, subject, relation, object_))
    return tuple(lines)
