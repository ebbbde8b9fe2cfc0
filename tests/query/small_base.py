"""A small base in memory for the tests of the query room: lists and full scans.

Belongs here: a Reader plain enough to read by eye, and makers of facts. Must not: SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgqa.model.ids import fact_id, name_key, object_token, relation_key
from kgqa.model.things import (
    Alias,
    Chunk,
    Document,
    Fact,
    Item,
    Literal,
    Node,
    Recorded,
    Relation,
    Source,
    Span,
)  # fmt: skip
from kgqa.protocols import Change, Hit, Hits, NameHit, Pattern, Reached
from kgqa.temporal import parse
from kgqa.temporal.interval import UNDATED, Validity


def term(text: str | None) -> Validity:
    """Return a validity from EDTF; None is undated."""
    return UNDATED if text is None else parse(text)


def fact(subject: str, relation: str, value: str | Literal, valid: str | None, **more: Any) -> Fact:
    """Return a fact between node ids, found in document ``d1``."""
    key, bounds = relation_key(relation), term(valid)
    ident = fact_id(subject, key, object_token(value), bounds)
    return Fact(ident, subject, key, value, bounds, Recorded(1), (Source("d1", line=1),), **more)


def node(
    ident: str,
    label: str,
    kind: str | None = None,
    existence: str | None = None,
    **aliases: str | None,
) -> Node:
    """Return a node; ``aliases`` maps a name to when it was used."""
    return Node(
        ident,
        label,
        kind,
        tuple(Alias(name.replace("_", " "), term(valid)) for name, valid in aliases.items()),
        (term(existence),) if existence else (),
    )


def chunk(ident: str, text: str, valid: str | None = None, section: Sequence[str] = ()) -> Chunk:
    """Return a chunk of document ``d1``."""
    span = Span(0, len(text.encode()))
    return Chunk(ident, "d1", 0, text, span, tuple(section), None, term(valid), Recorded(1))


@dataclass
class Base:
    """Read lists of facts, nodes and chunks, as one revision."""

    facts: list[Fact] = field(default_factory=list)
    nodes_: list[Node] = field(default_factory=list)
    chunks_: list[Chunk] = field(default_factory=list)
    relations_: list[Relation] = field(default_factory=list)
    settings: Mapping[str, Any] = field(default_factory=dict)
    document: Document = Document("d1", "history.md", "A history", text="")  # noqa: RUF009
    asked: list[Pattern] = field(default_factory=list)
    revision: int = 3

    def _items(self) -> dict[str, Item]:
        known = {n.id: n for n in self.nodes_}
        for f in self.facts:
            for value in (f.subject, f.object):
                if isinstance(value, str) and value not in known:
                    label = value.removeprefix("name:")
                    known[value] = Node(value, label, declared=not value.startswith("name:"))
        return {
            **{f"node:{i}": n for i, n in known.items()},
            **{f"fact:{f.id}": f for f in self.facts},
            **{f"chunk:{c.id}": c for c in self.chunks_},
            f"document:{self.document.id}": self.document,
        }

    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]:
        items = self._items()
        return {label: items[label] for label in labels if label in items}

    def _admits(self, p: Pattern, valid: Validity) -> bool:
        self.asked.append(p)
        if p.undated == "exclude" and not valid.dated:
            return False
        if p.begun_before is not None and valid.es >= p.begun_before:
            return False
        return p.valid is None or valid.matches(p.valid, p.match)

    def nodes(self, p: Pattern) -> list[Node]:
        found = []
        for item in self._items().values():
            if not isinstance(item, Node) or p.kind not in (None, item.kind):
                continue
            if any(self._admits(p, v) for v in item.existence or (UNDATED,)):
                found.append(item)
        return sorted(found, key=lambda n: n.id)[: p.limit]

    def match(self, p: Pattern) -> list[Fact]:
        found = [
            f
            for f in self.facts
            if p.subject in (None, f.subject)
            and p.relation in (None, f.relation)
            and (p.object is None or object_token(p.object) == object_token(f.object))
            and self._admits(p, f.valid)
        ]
        return sorted(found, key=lambda f: (f.valid.es, f.valid.ee, f.id))[: p.limit]

    def expand(self, seeds: Sequence[str], hops: int, p: Pattern, limit: int) -> list[Reached]:
        found: list[Reached] = []
        front: list[tuple[str, tuple[Fact, ...], str]] = [(s, (), s) for s in seeds]
        for _ in range(hops):
            front = [
                (seed, (*path, f), other)
                for seed, path, at in front
                for f in self.match(p)
                for here, other in ((f.subject, f.object), (f.object, f.subject))
                if here == at and isinstance(other, str)
                and other not in (seed, *(x for g in path for x in (g.subject, g.object)))
            ]  # fmt: skip
            found += [Reached(*x) for x in front]
        return found[:limit]

    def _hits(self, p: Pattern) -> list[tuple[str, str, str]]:
        nodes = [
            ("node", n.id, " ".join([n.label, *(a.label for a in n.aliases)]))
            for n in self.nodes_
            if any(self._admits(p, v) for v in n.existence or (UNDATED,))
        ]
        chunks = [("chunk", c.id, c.text) for c in self.chunks_ if self._admits(p, c.validity)]
        return [h for h in nodes + chunks if h[0] in p.items]

    def find(self, text: str, k: int, p: Pattern) -> Hits:
        words = set(re.findall(r"\w+", name_key(text)))
        scored = [
            (len(words & set(re.findall(r"\w+", name_key(t)))), kind, ident)
            for kind, ident, t in self._hits(p)
        ]
        ranked = sorted((s for s in scored if s[0]), key=lambda s: (-s[0], s[1], s[2]))
        best = ranked[:k]
        return Hits(Hit(kind, ident, float(n)) for n, kind, ident in best)  # type: ignore[arg-type]

    def nearest(self, vector: np.ndarray, k: int, p: Pattern) -> Hits:
        scored = [
            (float(Letters().embed([t])[0] @ vector), kind, ident)
            for kind, ident, t in self._hits(p)
        ]
        ranked = sorted(scored, key=lambda s: (-s[0], s[2]))
        return Hits(Hit(kind, ident, s) for s, kind, ident in ranked[:k])  # type: ignore[arg-type]

    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]:
        wanted = set(keys)
        hits = []
        for item in self._items().values():
            if isinstance(item, Node):
                for label, main, valid in [
                    (item.label, True, UNDATED), *((a.label, False, a.valid) for a in item.aliases)
                ]:  # fmt: skip
                    if name_key(label) in wanted:
                        hits.append(NameHit(name_key(label), item.id, label, main, valid))
        return hits

    def relations(self) -> dict[str, Relation]:
        declared = {r.key: r for r in self.relations_}
        return {f.relation: Relation(f.relation, f.relation) for f in self.facts} | declared

    def meta(self) -> dict[str, Any]:
        return dict(self.settings)

    def documents(
        self, limit: int | None = None, after: str | None = None, known_at: int | None = None
    ) -> list[Document]:
        return [self.document] if self.chunks_ else []

    def stats(self) -> dict[str, int]:
        return {"facts": len(self.facts), "nodes": len(self.nodes_), "chunks": len(self.chunks_)}

    def changes(self, since: int = 0) -> list[Change]:
        return [Change(n, n * 1000, "") for n in range(since + 1, self.revision + 1)]


class Letters:
    """Embed a text as its counts of letters: similar spelling, similar vector."""

    name, digest, dimension = "letters", "0", 26

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 26), dtype=np.float32)
        for i, text in enumerate(texts):
            for c in text.lower():
                if "a" <= c <= "z":
                    rows[i, ord(c) - 97] += 1
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(norms == 0, 1, norms)
