"""What a base says, without when it was recorded: equal dumps are equal bases.

Belongs here: the dump and its comparison. Must not: stores.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, TypeAlias

from kgqa.model.things import Chunk, Document, Fact, Node, Relation
from kgqa.protocols import Pattern, Reader

Dump: TypeAlias = dict[str, dict[str, Any]]


def canonical(reader: Reader, known_at: int | None = None) -> Dump:
    """Return nodes, facts with sources, documents, chunks and relations, by id.

    Recorded times are left out and sources sorted, so the order of writing leaves no trace.
    """
    everything = Pattern(order="id", known_at=known_at)
    documents = reader.documents(known_at=known_at)
    chunks = [c for d in documents for c in reader.chunks(d.id, known_at=known_at)]
    return {
        "nodes": {node.id: _plain(node) for node in reader.nodes(everything)},
        "facts": {fact.id: _plain(fact) for fact in reader.match(everything)},
        "documents": {document.id: _plain(document) for document in documents},
        "chunks": {chunk.id: _plain(chunk) for chunk in chunks},
        "relations": {key: _plain(value) for key, value in sorted(reader.relations().items())},
    }


def _plain(thing: Node | Fact | Document | Chunk | Relation) -> dict[str, Any]:
    plain = asdict(thing)
    plain.pop("recorded", None)
    if "sources" in plain:
        plain["sources"] = sorted(plain["sources"], key=_text)
    if "aliases" in plain:
        plain["aliases"] = sorted(plain["aliases"], key=_text)
    return plain


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def difference(one: Dump, two: Dump) -> list[str]:
    """Return what one base says and the other does not, a line each; empty if they are equal."""
    lines = []
    for part in sorted(one.keys() | two.keys()):
        left, right = one.get(part, {}), two.get(part, {})
        for name in sorted(left.keys() | right.keys()):
            if left.get(name) != right.get(name):
                lines.append(f"{part} {name}: {left.get(name)} != {right.get(name)}")
    return lines
