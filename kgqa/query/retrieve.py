"""Evidence for a text: seeds from names, words and vectors, fused; hops; all filtered by time.

Belongs here: search, rank fusion, the threshold. Must not: computing answers. The filter is
in every search's pattern, never applied after a top-k (DESIGN 2.5).
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kgqa.errors import UnavailableError
from kgqa.model.answer import Evidence, Mode, Scope, Step
from kgqa.model.ids import name_key
from kgqa.model.things import Chunk, Document, Fact, Node
from kgqa.protocols import Embedder, Hit, Pattern, Reader
from kgqa.query.display import Display
from kgqa.query.scope import pattern
from kgqa.query.world import World
from kgqa.temporal.interval import UNDATED, Certainty, Validity

RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
COSINE = 0.5
"""A vector hit from here on is a match; below it, and without shared words, it is noise.

Calibrated with MiniLM on 132 TimeQA questions against 14 articles: 98 % of the questions about
an article have such a passage, 9 % of those about other articles do.
"""
COVERAGE = 0.5
"""A text hit with this share of the query's content words is a match (there: 83 % and 2 %)."""
HOPS = {"fast": 0, "deep": 2}
_PATHS = 200
_CONTENT = re.compile(r"\w{2,}")
_STOP = frozenset(
    _CONTENT.findall(
        "a an and any are as at be been by did do does during for from had has have he her his "
        "how in is it its many much of on or she that the their then there they this to was "
        "were what when where which while who whom whose why will with long often first last "
        "before after between until since list all name"
    )
)
"""Words of questions that say nothing of their subject."""


@dataclass(frozen=True, slots=True)
class Request:
    """Hold a search: its text, the linked nodes, the facts that the reading of it found.

    ``facts`` match by graph. ``missing``: the linked subject and relation have no fact then,
    so that everything found is only context.
    """

    text: str
    k: int
    mode: Mode = "deep"
    nodes: tuple[str, ...] = ()
    facts: tuple[tuple[Fact, Certainty], ...] = ()
    missing: bool = False


@dataclass(slots=True)
class _Found:
    """Gather one item over the searches that found it."""

    label: str
    ranks: dict[str, int] = field(default_factory=dict)
    strength: float = 0.0
    path: tuple[str, ...] = ()
    certainty: Certainty | None = None


class Search:
    """Run one search over one reader under one scope."""

    def __init__(
        self, reader: Reader, embedder: Embedder | None, scope: Scope, display: Display
    ) -> None:
        self.reader = reader
        self.embedder = embedder
        self.scope = scope
        self.display = display
        self._world = World(reader, scope)
        self.steps: list[Step] = []
        self.errors: list[dict[str, Any]] = []
        self._found: dict[str, _Found] = {}
        self._facts: dict[str, Fact] = {}
        self._passages = reader.meta().get("passages", "validity")

    def run(self, request: Request) -> list[Evidence]:
        """Return up to ``k`` matching items, best first; context items only if nothing matches.

        Several rounds widen the searches until k items may be shown or none are left.
        """
        if request.k < 1 or not request.text.strip():
            return []
        wanted = max(2 * request.k, 20)
        while True:
            self._found.clear()
            exhausted = self._seeds(request, wanted)
            shown = self._ranked(request)
            if len(shown) >= request.k or exhausted:
                return shown[: request.k]
            wanted *= 4

    def _seeds(self, request: Request, wanted: int) -> bool:
        """Run every search; return whether none of them has more to give."""
        self._graph(request)
        words = self._words(request, wanted)
        vectors = self._vectors(request, wanted)
        return words < wanted and vectors < wanted

    def _graph(self, request: Request) -> None:
        start = time.perf_counter()
        for rank, (fact, certainty) in enumerate(request.facts, 1):
            found = self._note(f"fact:{fact.id}", "graph", rank, 1.0)
            found.certainty = certainty
            self._facts[f"fact:{fact.id}"] = fact
        nearby = 0
        if request.nodes:
            nearby = self._nearby(request)
        self._step("graph", start, matched=len(request.facts), nearby=nearby)

    def _nearby(self, request: Request) -> int:
        """Note the facts at and around the linked nodes, the closest and best worded first."""
        hops = max(HOPS[request.mode], 1)
        p = pattern(self.scope, self.scope.asked)
        reached = self.reader.expand(request.nodes, hops, p, _PATHS)
        words = _content(request.text)
        self.display.fetch_facts(f for r in reached for f in r.facts)
        ranked: dict[str, tuple[tuple[int, float, str], tuple[str, ...], Fact]] = {}
        for r in reached:
            fact = r.facts[-1]
            path = tuple(f"fact:{f.id}" for f in r.facts)
            text = " ".join(self.display.fact(f) for f in r.facts)
            key = (len(path), -_coverage(words, text), fact.id)
            label = path[-1]
            if label not in ranked or key < ranked[label][0]:
                ranked[label] = (key, path, fact)
        for rank, (label, (key, path, fact)) in enumerate(
            sorted(ranked.items(), key=lambda item: item[1][0]), 1
        ):
            found = self._note(label, "hops", rank, -key[1])
            found.path = found.path or path
            self._facts[label] = fact
        return len(ranked)

    def _words(self, request: Request, wanted: int) -> int:
        start = time.perf_counter()
        hits = self.reader.find(request.text, wanted, self._pattern())
        self.display.fetch(f"{h.kind}:{h.id}" for h in hits)
        words = _content(request.text)
        for rank, hit in enumerate(hits, 1):
            strength = _coverage(words, self._raw(hit)) / COVERAGE * 0.5
            self._note(f"{hit.kind}:{hit.id}", "text", rank, min(strength, 1.0))
        self._step("text", start, found=len(hits), how=hits.how)
        return len(hits)

    def _vectors(self, request: Request, wanted: int) -> int:
        start = time.perf_counter()
        if self.embedder is None:
            self._step("vectors", start, skipped="the base has no index")
            return 0
        try:
            vector = self.embedder.embed([request.text])[0]
        except UnavailableError as error:
            self.errors = [error.to_dict()]
            self._step("vectors", start, skipped=error.message)
            return 0
        hits = self.reader.nearest(vector, wanted, self._pattern())
        self.display.fetch(f"{h.kind}:{h.id}" for h in hits)
        for rank, hit in enumerate(hits, 1):
            strength = max(hit.score, 0.0) / COSINE * 0.5
            self._note(f"{hit.kind}:{hit.id}", "vector", rank, min(strength, 1.0))
        self._step("vectors", start, found=len(hits), how=hits.how)
        return len(hits)

    def _pattern(self) -> Pattern:
        """Return what passages and node hits must hold at.

        Undated ones pass: whether they may be shown is decided sentence by sentence.
        """
        return replace(pattern(self.scope, self.scope.asked), undated="include")

    def _raw(self, hit: Hit) -> str:
        item = self.display.item_at(f"{hit.kind}:{hit.id}")
        if isinstance(item, Chunk):
            return self.display.passage(item.text)[0] + " " + " ".join(item.section)
        if isinstance(item, Node):
            names = [a.label for a in self.display.aliases(item)]
            return " ".join([self.display.name(item), *names, item.kind or ""])
        return ""

    def _note(self, label: str, search: str, rank: int, strength: float) -> _Found:
        found = self._found.setdefault(label, _Found(label))
        found.ranks.setdefault(search, rank)
        found.strength = max(found.strength, strength)
        return found

    def _ranked(self, request: Request) -> list[Evidence]:
        """Return what matches, fused and worded; only context where nothing can match."""
        start = time.perf_counter()
        searches = {s for f in self._found.values() for s in f.ranks}
        best = max(len(searches), 1) / (RRF + 1)
        shown: list[Evidence] = []
        below = 0
        for found in self._found.values():
            fused = sum(1 / (RRF + rank) for rank in found.ranks.values()) / best
            matched = found.strength >= 0.5
            if not matched and not request.missing:
                below += 1
                continue
            score = 0.5 * fused + (0.5 if "graph" in found.ranks else 0.0)
            evidence = self._evidence(found, round(min(score, 1.0), 6))
            if evidence is None:
                continue
            if request.missing:
                evidence = replace(evidence, flags=(*evidence.flags, "context"))
            shown.append(evidence)
        shown.sort(key=lambda e: (-e.score, e.certainty != "definite", e.label))
        self._step("fusion", start, searches=sorted(searches), matched=len(shown), below=below)
        return shown

    def _evidence(self, found: _Found, score: float) -> Evidence | None:
        item = self._facts.get(found.label) or self.display.item_at(found.label)
        if isinstance(item, Fact):
            valid, dated = item.valid, item.valid.dated
        elif isinstance(item, Chunk):
            if self._unpublished(item):
                return None
            valid, dated = item.validity, item.validity.dated
        elif isinstance(item, Node) and self._world.begun(item):
            valid = item.existence[0] if item.existence else UNDATED
            dated = valid.dated
        else:
            return None
        made = self.display.evidence(item, valid, found.certainty or self._certainty(valid))
        dated = dated or (isinstance(item, Chunk) and self.display.passage(item.text)[1])
        if not made.text or (not dated and self.scope.undated == "exclude"):
            return None
        flags = () if dated else ("undated",)
        by = tuple(sorted(found.ranks))
        return replace(made, score=score, found_by=by, path=found.path, flags=flags)

    def _unpublished(self, chunk: Chunk) -> bool:
        """Tell whether a passage came out too late, in a base whose setting says that counts."""
        horizon = self.scope.horizon
        if horizon is None or self._passages != "published":
            return False
        document = self.display.item_at(f"document:{chunk.document}")
        published = document.published if isinstance(document, Document) else None
        return published is not None and published.es >= horizon

    def _certainty(self, valid: Validity) -> Certainty:
        span = self.scope.asked
        return "definite" if span is None else valid.certainty(span)

    def _step(self, name: str, start: float, **detail: Any) -> None:
        self.steps.append(Step(name, round((time.perf_counter() - start) * 1000, 3), detail))


def _content(text: str) -> frozenset[str]:
    """Return the content words of a text, keyed as names are."""
    return frozenset(w for w in _CONTENT.findall(name_key(text)) if w not in _STOP)


def _coverage(words: frozenset[str], text: str) -> float:
    """Return the share of the words that a text has; plural and past forms count as the word."""
    if not words:
        return 0.0
    have = {_stem(w) for w in _CONTENT.findall(name_key(text))}
    return sum(_stem(w) in have for w in words) / len(words)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def digest(items: Sequence[Evidence], display: Display) -> str:
    """Return the digest of evidence: a fixed line, then numbered section paths and texts."""
    lines = ["Retrieval evidence answer:"]
    for number, evidence in enumerate(items, 1):
        lines.append(f"[{number}] {_place(evidence, display)}")
        lines.append(evidence.text)
    return "\n".join(lines)


def _place(evidence: Evidence, display: Display) -> str:
    item = evidence.item
    if not isinstance(item, Chunk):
        return "Fact" if isinstance(item, Fact) else "Node"
    parts = [display.passage(part)[0] for part in item.section]
    return " > ".join(p for p in parts if p) or _title(item, display)


def _title(chunk: Chunk, display: Display) -> str:
    document = display.item_at(f"document:{chunk.document}")
    title = document.title if isinstance(document, Document) else ""
    return display.passage(title)[0] or "Document"
