"""The graph as networkx sees it: a snapshot for users to analyse.

Belongs here: the only use of networkx. Must not: answering; the engine walks the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgqa.model.answer import Scope
from kgqa.model.ids import object_token
from kgqa.model.things import Literal
from kgqa.protocols import Reader
from kgqa.query.display import Display
from kgqa.query.scope import pattern

if TYPE_CHECKING:
    import networkx


def to_networkx(reader: Reader, scope: Scope) -> networkx.MultiDiGraph:
    """Return what holds at ``scope.as_of`` (or everything) as a MultiDiGraph.

    Nodes are keyed by id with ``label``, ``kind``, ``existence``; a literal is a node keyed
    by its type and value. Edges are keyed by fact id with ``relation``, ``label``, ``valid``.
    """
    import networkx

    graph = networkx.MultiDiGraph()
    span = scope.as_of.span if scope.as_of else None
    display = Display(reader, scope)
    facts = reader.match(pattern(scope, span))
    display.fetch_facts(facts)
    for fact in facts:
        if span and not fact.valid.matches(span, scope.as_of_match):
            continue
        ends = []
        for value in (fact.subject, fact.object):
            key = object_token(value) if isinstance(value, Literal) else value
            node = None if isinstance(value, Literal) else display.node(value)
            graph.add_node(
                key,
                label=display.label(value),
                kind="literal" if isinstance(value, Literal) else node.kind if node else None,
                existence=display.existence(node) if node else None,
            )
            ends.append(key)
        graph.add_edge(
            *ends,
            key=fact.id,
            relation=fact.relation,
            label=display.relation(fact.relation),
            valid=display.valid(fact.valid),
        )
    return graph
