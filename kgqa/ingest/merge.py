"""Proposals of nodes that may be one; a person confirms them, a revision records them.

Belongs here: finding likely pairs. Must not: merging (that is a Batch), deciding.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

from kgqa.model.ids import name_key
from kgqa.model.things import Node
from kgqa.protocols import Pattern, Reader

LIKELY = 90.0
MAX_BLOCK = 50


@dataclass(frozen=True, slots=True)
class Proposal:
    """Hold two nodes that may be one: the placeholder or less described one is the loser."""

    loser: str
    winner: str
    loser_label: str
    winner_label: str
    score: float
    why: str


def propose(reader: Reader) -> list[Proposal]:
    """Return likely pairs, best first, ties by id.

    Compares only nodes that share a word of a name and do not differ in kind; words shared
    by more than 50 nodes are too common to say anything. Cost grows with the number of names.
    """
    from rapidfuzz.fuzz import token_sort_ratio

    nodes = {n.id: n for n in reader.nodes(Pattern(order="id"))}
    found: dict[tuple[str, str], Proposal] = {}
    for a, b in _pairs(list(nodes.values())):
        if a.kind and b.kind and a.kind != b.kind:
            continue
        score = max(token_sort_ratio(x, y) for x in _names(a) for y in _names(b))
        if score >= LIKELY:
            loser, winner = sorted((a, b), key=_rank)
            why = "same name" if score == 100.0 else "similar name"
            pair = Proposal(loser.id, winner.id, loser.label, winner.label, score / 100, why)
            found[loser.id, winner.id] = pair
    return sorted(found.values(), key=lambda p: (-p.score, p.loser, p.winner))


def _names(node: Node) -> list[str]:
    return [name_key(node.label), *(name_key(a.label) for a in node.aliases)]


def _rank(node: Node) -> tuple[bool, int, str]:
    return node.declared, len(node.aliases) + len(node.properties), node.id


def _pairs(nodes: list[Node]) -> list[tuple[Node, Node]]:
    by_word: dict[str, list[int]] = defaultdict(list)
    for number, node in enumerate(nodes):
        for word in {w for name in _names(node) for w in name.split()}:
            by_word[word].append(number)
    numbers = {
        pair
        for block in by_word.values()
        if len(block) <= MAX_BLOCK
        for pair in combinations(block, 2)
    }
    return [(nodes[a], nodes[b]) for a, b in sorted(numbers)]
