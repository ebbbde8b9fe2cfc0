"""What the graph knows around a name: the support that readings of a question are scored by.

Belongs here: small, bounded, cached look-ups for one analysis. Must not: time (a reading is
supported if it ever held), answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kgqa.language.lexicon import agreement, content
from kgqa.model.question import Candidate, Mention, Side, Term
from kgqa.model.things import Fact, Node
from kgqa.protocols import Pattern, Reader

_SAMPLE = 200
_NODES = 8


def nodes_of(term: Term) -> list[str]:
    """Return the nodes that a term may mean; none if only its own answer will tell."""
    return [c.node for c in term.candidates[:_NODES]] if isinstance(term, Mention) else []


class Probe:
    """Look around names in one state of a base; every look-up is made once."""

    def __init__(self, reader: Reader, known_at: int | None = None) -> None:
        self.reader = reader
        self._known_at = known_at
        self._facts: dict[tuple[str, Side], list[Fact]] = {}
        self._one: dict[tuple[str | None, str, str | None], bool] = {}
        self._kinds: dict[str, str | None] = {}

    def facts(self, node: str, side: Side) -> list[Fact]:
        """Return up to 200 facts in which the node stands on a side."""
        key = (node, side)
        if key not in self._facts:
            pattern = (
                Pattern(subject=node, known_at=self._known_at, limit=_SAMPLE)
                if side == "subject"
                else Pattern(object=node, known_at=self._known_at, limit=_SAMPLE)
            )
            self._facts[key] = self.reader.match(pattern)
        return self._facts[key]

    def relations(self, term: Term) -> list[tuple[str, Side, int]]:
        """Return (relation, side of the term, count in the sample), commonest first."""
        counts: Counter[tuple[str, Side]] = Counter()
        sides: tuple[Side, Side] = ("subject", "object")
        for node in nodes_of(term):
            for side in sides:
                counts.update((f.relation, side) for f in self.facts(node, side))
        return sorted(((r, s, n) for (r, s), n in counts.items()), key=lambda x: (-x[2], x[:2]))

    def holds(self, relation: str, subject: Term | None, object_: Term | None) -> bool:
        """Tell whether any fact fits; a side without known nodes fits anything."""
        subjects: Sequence[str | None] = (nodes_of(subject) if subject else []) or (None,)
        objects: Sequence[str | None] = (nodes_of(object_) if object_ else []) or (None,)
        return any(self._exists(s, relation, o) for s in subjects for o in objects)

    def _exists(self, subject: str | None, relation: str, object_: str | None) -> bool:
        key = (subject, relation, object_)
        if key not in self._one:
            pattern = Pattern(
                subject=subject, relation=relation, object=object_, known_at=self._known_at, limit=1
            )
            self._one[key] = bool(self.reader.match(pattern))
        return self._one[key]

    def between(self, a: Term, b: Term) -> list[tuple[str, Side]]:
        """Return (relation, side of ``a``) of the facts that join two names."""
        found: set[tuple[str, Side]] = set()
        for x in nodes_of(a):
            for y in nodes_of(b):
                for s, o, side in ((x, y, "subject"), (y, x, "object")):
                    pattern = Pattern(subject=s, object=o, known_at=self._known_at, limit=50)
                    found.update((f.relation, side) for f in self.reader.match(pattern))  # type: ignore[misc]
        return sorted(found)

    def kind_across(self, term: Term, relation: str, side: Side) -> str | None:
        """Return the kind of what stands across from a term in a relation, by the first fact."""
        other: Side = "object" if side == "subject" else "subject"
        for node in nodes_of(term):
            for fact in self.facts(node, side):
                value = fact.object if other == "object" else fact.subject
                if fact.relation == relation:
                    return self.kind(value) if isinstance(value, str) else "literal"
        return None

    def kind(self, node: str) -> str | None:
        """Return a node's kind."""
        if node not in self._kinds:
            self._kinds.update((n.id, n.kind) for n in self._load([node]))
            self._kinds.setdefault(node, None)
        return self._kinds[node]

    def _load(self, ids: Iterable[str]) -> list[Node]:
        items = self.reader.get([f"node:{i}" for i in ids], self._known_at)
        return [n for n in items.values() if isinstance(n, Node)]

    def beside(self, term: Term, words: Sequence[str], span: tuple[int, int]) -> Mention | None:
        """Return the neighbours of a name that the words describe ("Lincoln … president")."""
        ids = {
            value
            for node in nodes_of(term)
            for fact in self.facts(node, "subject")
            if isinstance(value := fact.object, str)
        }
        return described(self._load(sorted(ids)[:_SAMPLE]), words, span)

    def anywhere(self, words: Sequence[str], span: tuple[int, int]) -> Mention | None:
        """Return the nodes of the base whose names hold all the words, by text search."""
        pattern = Pattern(items=("node",), known_at=self._known_at, limit=30)
        hits = self.reader.find(" ".join(words), 30, pattern)
        return described(self._load(h.id for h in hits), words, span)


def described(nodes: Sequence[Node], words: Sequence[str], span: tuple[int, int]) -> Mention | None:
    """Return a mention for the nodes whose labels hold every one of the words, the fullest."""
    found = []
    for node in nodes:
        label = content(node.label)
        if words and all(agreement((w,), label) for w in words):
            score = agreement(tuple(words), label)
            found.append(
                Candidate(node.id, node.label, node.kind, round(0.5 + 0.25 * score, 4), "partial")
            )
    best = max((c.score for c in found), default=0.0)
    found = sorted((c for c in found if c.score == best), key=lambda c: c.node)
    return Mention(" ".join(words), *span, tuple(found[:_NODES])) if found else None
