"""What of an item may be shown under a scope, and in which words.

Belongs here: names valid at the time asked, validities cut at the horizon, the words of facts
and passages, their sources. Must not: choosing items. Nothing later shows (DESIGN 2.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from kgqa.model.answer import AnswerItem, Choice, Citation, Evidence, Scope
from kgqa.model.things import Alias, Chunk, Document, Fact, Item, Literal, Node, Source
from kgqa.protocols import Reader
from kgqa.query.durations import end_precision, start_precision
from kgqa.query.passages import shown
from kgqa.temporal import printing
from kgqa.temporal.interval import Certainty, Instant, Interval, Validity


class Display:
    """Show items of one reader under one scope.

    ``whole`` shows intervals uncut; only ``explain`` sets it.
    """

    def __init__(self, reader: Reader, scope: Scope, *, whole: bool = False) -> None:
        self.reader = reader
        self.scope = scope
        self.horizon: Instant | None = None if whole else scope.horizon
        self._items: dict[str, Item | None] = {}
        self._relations = reader.relations()

    def fetch(self, labels: Iterable[str]) -> None:
        """Read items by citation label, once each, in one call."""
        missing = sorted({label for label in labels if label not in self._items})
        if missing:
            found = self.reader.get(missing, self.scope.known_at)
            self._items.update({label: found.get(label) for label in missing})

    def fetch_facts(self, facts: Iterable[Fact]) -> None:
        """Read the nodes at both ends of facts, in one call."""
        ids: set[str] = set()
        for fact in facts:
            ids.add(fact.subject)
            if isinstance(fact.object, str):
                ids.add(fact.object)
        self.fetch(f"node:{i}" for i in ids)

    def item_at(self, label: str) -> Item | None:
        """Return an item by its citation label."""
        self.fetch([label])
        return self._items[label]

    def node(self, node: str) -> Node | None:
        """Return a node by id."""
        item = self.item_at(f"node:{node}")
        return item if isinstance(item, Node) else None

    def label(self, value: str | Literal) -> str:
        """Return the name of a node that was valid at the time asked, or a value as text."""
        if isinstance(value, Literal):
            raw = value.value
            return str(raw).lower() if isinstance(raw, bool) else str(raw)
        node = self.node(value)
        return self.name(node) if node else value.removeprefix("name:")

    def name(self, node: Node) -> str:
        """Return a node's label valid at the time asked, else its main label (DESIGN section 1).

        A name that only begins at or after the horizon is never shown.
        """
        mine = [a for a in node.aliases if a.label == node.label]
        others = [a for a in node.aliases if a.label != node.label and a.valid.dated]
        span = self.scope.asked
        if span and not _named(mine, span):
            then = [a for a in others if self._begun(a.valid) and a.valid.possible(span)]
            if then:
                return max(then, key=lambda a: (a.valid.definite(span), a.valid.es, a.label)).label
        if not mine or any(self._begun(a.valid) for a in mine):
            return node.label
        known = [a for a in node.aliases if self._begun(a.valid)]
        if not known:
            return node.label if span is None else node.id
        return max(known, key=lambda a: (a.valid.es, a.label)).label

    def aliases(self, node: Node) -> tuple[Alias, ...]:
        """Return the aliases that had begun before the horizon."""
        return tuple(a for a in node.aliases if self._begun(a.valid))

    def _begun(self, valid: Validity) -> bool:
        return self.horizon is None or valid.es < self.horizon

    def relation(self, key: str) -> str:
        """Return a relation's label."""
        relation = self._relations.get(key)
        return relation.label if relation else key

    def seen(self, valid: Validity) -> Validity:
        """Return a validity as it looked before the horizon."""
        return valid if self.horizon is None else valid.cut(self.horizon)

    def valid(self, valid: Validity) -> str:
        """Return a validity as text; an end at or after the horizon is open, ``(as of T)``.

        Every open end says so under a horizon, whether or not its end is known by now.
        """
        if not valid.dated:
            return "undated"
        seen = self.seen(valid)
        text = printing.format(seen, numbering=self.scope.numbering)
        if self.horizon is not None and self.scope.as_of and seen.end_open:
            return f"{text} (as of {self.scope.as_of.input.strip()})"
        return text

    def fact(self, fact: Fact) -> str:
        """Return a fact in words: ``subject relation: object, validity``."""
        subject, relation = self.label(fact.subject), self.relation(fact.relation)
        return f"{subject} {relation}: {self.label(fact.object)}, {self.valid(fact.valid)}"

    def evidence(
        self, item: Node | Fact | Chunk, valid: Validity, certainty: Certainty
    ) -> Evidence:
        """Return an item as evidence, cut to what may be shown; score 1, found by the graph."""
        flags = () if valid.dated else ("undated",)
        kind = "fact" if isinstance(item, Fact) else "node" if isinstance(item, Node) else "chunk"
        if isinstance(item, Fact):
            text = self.fact(item)
        else:
            text = self._node(item) if isinstance(item, Node) else self.passage(item.text)[0]
        return Evidence(
            f"{kind}:{item.id}", self._cut(item), 1.0, self.seen(valid), certainty, text,
            self.valid(valid), ("graph",), flags=flags,
        )  # fmt: skip

    def _cut(self, item: Node | Fact | Chunk) -> Node | Fact | Chunk:
        if self.horizon is None:
            return item
        if isinstance(item, Fact):
            seen = self.seen(item.valid)
            sources = tuple(replace(s, properties={}, text="") for s in item.sources)
            ended_by = None if seen.end_open else item.ended_by
            return replace(item, valid=seen, ended_by=ended_by, sources=sources)
        if isinstance(item, Chunk):
            return replace(item, text=self.passage(item.text)[0], validity=self.seen(item.validity))
        return self.cut(item)

    def cut(self, node: Node) -> Node:
        """Return a node without what only came at or after the horizon."""
        if self.horizon is None:
            return node
        existence = tuple(self.seen(v) for v in node.existence if self._begun(v))
        aliases = tuple(replace(a, valid=self.seen(a.valid)) for a in self.aliases(node))
        return replace(
            node, label=self.name(node), aliases=aliases, existence=existence, properties={}
        )

    def _node(self, node: Node) -> str:
        parts = [self.name(node), f"({node.kind})" if node.kind else "", self.existence(node) or ""]
        return " ".join(p for p in parts if p)

    def passage(self, text: str) -> tuple[str, bool]:
        """Return a text with later sentences hidden, and whether what is left has a date."""
        return shown(text, self.horizon, self.scope.undated)

    def existence(self, node: Node) -> str | None:
        """Return when a node exists, or None if that is unknown or wholly later."""
        terms = [self.valid(v) for v in node.existence if self._begun(v)]
        return ", ".join(terms) or None

    def choice(self, node: str) -> Choice:
        """Return one meaning of an ambiguous name."""
        found = self.node(node)
        if found is None:
            return Choice(node, self.label(node), None, None)
        return Choice(node, self.name(found), found.kind, self.existence(found))

    def item(self, value: str | Literal, terms: Sequence[Validity], sure: Certainty) -> AnswerItem:
        """Return an answer that is a node or a value, with when it holds."""
        valid = ", ".join(dict.fromkeys(self.valid(v) for v in terms)) or None
        if isinstance(value, Literal):
            return AnswerItem(self.label(value), None, valid, sure)
        return AnswerItem(self.label(value), value, valid, sure, self.outside(value))

    def outside(self, node: str) -> str | None:
        """Return when a node existed if that was not at the time asked: facts decide, it is told.

        None too if it only began at or after the horizon.
        """
        found, span = self.node(node), self.scope.asked
        if found is None or span is None or not found.existence:
            return None
        existence = self.existence(found)
        if existence is None or any(v.possible(span) for v in found.existence):
            return None
        return f"existed {existence}"

    def citations(self, evidence: Sequence[Evidence]) -> tuple[Citation, ...]:
        """Return numbered citations of evidence, in its order."""
        self.fetch(f"document:{d}" for e in evidence for d in _documents(e.item))
        return tuple(self._citation(i, e) for i, e in enumerate(evidence, 1))

    def _citation(self, number: int, evidence: Evidence) -> Citation:
        item, seen = evidence.item, evidence.valid
        recorded = None if isinstance(item, Node) or item.recorded is None else item.recorded.start
        time: dict[str, Any] = {"calendar": seen.calendar, "recorded": recorded}
        if seen.dated:
            starts = not (seen.start_open or seen.start_unknown)
            ends = not (seen.end_open or seen.end_unknown)
            time["start_precision"] = start_precision(seen) if starts else None
            time["end_precision"] = end_precision(seen) if ends else None
        sources: list[dict[str, Any]] = []
        if isinstance(item, Fact):
            sources = [self._source(s) for s in item.sources]
        elif isinstance(item, Chunk):
            sources = [self._place(item)]
        return Citation(
            number, evidence.label, evidence.text, evidence.when,
            evidence.certainty, time, tuple(sources),
        )  # fmt: skip

    def _source(self, source: Source) -> dict[str, Any]:
        shown_as = self._document(source.document)
        if source.line is not None:
            shown_as["line"] = source.line
        if source.chunk is not None:
            shown_as["chunk"] = source.chunk
        if source.span is not None:
            shown_as["startOffset"], shown_as["endOffset"] = source.span.start, source.span.end
        if source.properties:
            shown_as["properties"] = dict(source.properties)
        return shown_as | {"confidence": source.confidence}

    def _place(self, chunk: Chunk) -> dict[str, Any]:
        place = self._document(chunk.document)
        place |= {"chunk": chunk.id, "section": [self.passage(s)[0] for s in chunk.section]}
        if chunk.pages:
            first, last = chunk.pages
            place["pages"] = str(first) if first == last else f"{first}-{last}"
        return place | {"startOffset": chunk.span.start, "endOffset": chunk.span.end}

    def _document(self, document: str) -> dict[str, Any]:
        found = self.item_at(f"document:{document}")
        if not isinstance(found, Document):
            return {"document": document}
        title = shown(found.title, self.horizon)[0]
        return {"document": document, "path": found.path, "title": title}


def _documents(item: Item) -> Iterable[str]:
    if isinstance(item, Fact):
        return [s.document for s in item.sources]
    return [item.document] if isinstance(item, Chunk) else []


def _named(mine: Sequence[Alias], span: Interval) -> bool:
    """Tell whether the main label is itself dated as valid then."""
    return any(a.valid.dated and a.valid.possible(span) for a in mine)
