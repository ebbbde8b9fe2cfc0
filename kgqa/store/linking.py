"""From names to nodes: what a name in a row means, and what the rows of one node say together.

Belongs here: the two decisions, pure, shared by every store; neither may depend on the order in
which things were loaded. Must not: SQL, Cypher, or when to decide anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from kgqa.model.ids import name_key
from kgqa.model.things import Alias, Node
from kgqa.temporal.interval import UNDATED, Validity

PLACEHOLDER = "name:"


class Bearer(NamedTuple):
    """One declared node that bears a name, and every kind that its rows state."""

    node: str
    kinds: frozenset[str]


class Resolution(NamedTuple):
    """What a name means; ``ambiguous`` if several declared nodes bear it."""

    node: str
    ambiguous: bool


def resolve(
    key: str, kind: str, bearers: Iterable[Bearer], canonical: Callable[[str], str]
) -> Resolution:
    """Return the one declared node that bears a name, else the name's placeholder.

    ``kind`` narrows the bearers unless it is empty. A placeholder that was merged into a node
    is that node, and then nothing is ambiguous.

    >>> resolve("rome", "", [Bearer("q220", frozenset({"city"}))], lambda node: node)
    Resolution(node='q220', ambiguous=False)
    """
    found = {b.node for b in bearers if not kind or kind in b.kinds}
    if len(found) == 1:
        return Resolution(found.pop(), False)
    home = PLACEHOLDER + key
    merged = canonical(home)
    return Resolution(merged, len(found) > 1 and merged == home)


class Statement(NamedTuple):
    """What a row says of a node; ``rank``: 0 a node row, 1 a fact row with an id, 2 a name."""

    rank: int
    id: str
    label: str
    kind: str = ""
    aliases: tuple[Alias, ...] = ()
    existence: tuple[Validity, ...] = ()
    properties: Mapping[str, Any] = {}
    source: str = ""


class Derived(NamedTuple):
    """One node as its rows together say it; ``own`` are the keys of names that declare it."""

    node: Node
    own: frozenset[str]
    kinds: frozenset[str]


def derive(node: str, statements: Iterable[Statement]) -> Derived | None:
    """Return what statements about one node come to; None if there are none.

    The main label is that of the best statement: by rank, of the node's own id before one that
    was merged into it, mixed case before ALL CAPS before lower case, then by text. All other
    labels become aliases. The best statement that has a property or kind settles it.
    """
    ordered = sorted(
        statements,
        key=lambda s: (s.rank, s.id != node, label_rank(s.label), not s.kind, s.kind, s.source),
    )
    if not ordered:
        return None
    label = ordered[0].label
    names = {(s.label, UNDATED): Alias(s.label) for s in reversed(ordered)}
    merged: dict[str, Any] = {}
    for statement in reversed(ordered):
        names.update({(a.label, a.valid): a for a in statement.aliases})
        merged.update(statement.properties)
    names.pop((label, UNDATED))
    declared = [s for s in ordered if s.rank < 2]
    own = {name_key(name) for s in declared for name in (s.label, *(a.label for a in s.aliases))}
    kinds = [s.kind for s in ordered if s.kind]
    return Derived(
        Node(
            node, label, kinds[0] if kinds else None,
            tuple(sorted(names.values(), key=lambda a: (a.valid.bounds, a.label))),
            united(term for s in ordered for term in s.existence), merged, bool(declared),
        ),
        frozenset(own),
        frozenset(s.kind for s in declared if s.kind),
    )  # fmt: skip


def label_rank(label: str) -> tuple[int, str]:
    """Order labels: mixed case, ALL CAPS, lower case; then by text."""
    if label == label.lower():
        return 2, label
    return (1, label) if label == label.upper() else (0, label)


def united(terms: Iterable[Validity]) -> tuple[Validity, ...]:
    """Return terms sorted, with those that may touch or overlap made one."""
    found: list[Validity] = []
    for term in sorted(set(terms), key=lambda v: (v.bounds, v.text)):
        if found and term.es <= found[-1].le:
            last = found[-1]
            later = term if term.le > last.le else last
            found[-1] = Validity(
                last.es, min(last.ls, term.ls), max(last.ee, term.ee), later.le,
                last.start_precision, later.end_precision, "", last.calendar, last.numbering,
                last.uncertain or term.uncertain, last.approximate or term.approximate,
            )  # fmt: skip
        else:
            found.append(term)
    return tuple(found)
