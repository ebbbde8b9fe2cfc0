"""A reader seen through a scope: what had begun by then, and what was known.

Belongs here: narrowing every look-up to what had begun and was known. Must not: names of
things that had begun; a question may use one that came later (DESIGN 2.4 hides it from
answers, not from asking).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kgqa.model.answer import Scope
from kgqa.model.things import Fact, Item, Node
from kgqa.protocols import Hits, NameHit, Pattern, Reader

_PAGE = 256


class World:
    """Read the scope's world only, so that nothing hints at what is later."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope
        self._begun: dict[str, bool] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def begun(self, node: Node) -> bool:
        """Tell whether a node is of this world: it had begun to exist, or a fact of it had.

        A declared node of which nothing says when it existed always is; one that only facts
        name (a placeholder) is as old as the first of them.
        """
        horizon = self._scope.horizon
        if horizon is None or any(v.es < horizon for v in node.existence):
            return True
        if node.declared and not node.existence:
            return True
        if node.id not in self._begun:
            either = (Pattern(subject=node.id, limit=1), Pattern(object=node.id, limit=1))
            self._begun[node.id] = any(self.match(one) for one in either)
        return self._begun[node.id]

    def match(self, pattern: Pattern) -> list[Fact]:
        """Return the facts that fit, had begun before the horizon and were known."""
        within = replace(pattern, begun_before=self._scope.horizon, known_at=self._scope.known_at)
        return self._reader.match(within)

    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]:
        """Return items as known, without nodes that had not begun."""
        found = self._reader.get(labels, self._scope.known_at)
        return {
            label: item
            for label, item in found.items()
            if not isinstance(item, Node) or self.begun(item)
        }

    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]:
        """Return the nodes of this world that bear names, at whatever time they bore them."""
        hits = self._reader.names(keys, self._scope.known_at)
        here = self._here(hit.node for hit in hits)
        return [hit for hit in hits if hit.node in here]

    def find(self, text: str, k: int, pattern: Pattern) -> Hits:
        """Return the best ``k`` node hits as known; the search widens until ``k`` have begun."""
        wanted, within = k, replace(pattern, known_at=self._scope.known_at)
        while True:
            hits = self._reader.find(text, wanted, within)
            here = self._here(hit.id for hit in hits if hit.kind == "node")
            kept = [hit for hit in hits if hit.kind != "node" or hit.id in here]
            if len(kept) >= k or len(hits) < wanted:
                return Hits(kept[:k], hits.how)
            wanted *= 4

    def nodes(self, pattern: Pattern) -> list[Node]:
        """Return the nodes by id that fit and had begun, in pages as the pattern says."""
        limit, page = pattern.limit, replace(pattern, order="id", limit=_PAGE)
        found: list[Node] = []
        while limit is None or len(found) < limit:
            read = self._reader.nodes(page)
            found += [node for node in read if self.begun(node)]
            if len(read) < _PAGE:
                break
            page = replace(page, after=read[-1].id)
        return found[:limit]

    def _here(self, ids: Iterable[str]) -> set[str]:
        labels = [f"node:{node}" for node in dict.fromkeys(ids)]
        if self._scope.horizon is None:
            return {label.removeprefix("node:") for label in labels}
        return {label.removeprefix("node:") for label in self.get(labels)}
