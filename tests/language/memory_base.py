"""A small base in memory for question analysis: the part of Reader that linking asks.

Belongs here: rows to a fake reader. Must not: time (analysis never filters by it).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgqa.model.ids import fact_id, name_key, object_token, placeholder
from kgqa.model.things import Fact, Item, Literal, Node, Recorded, Relation
from kgqa.protocols import Hit, NameHit, Pattern
from kgqa.temporal import UNDATED, Validity

Row = tuple[str, str, "str | Literal"]


class MemoryBase:
    """Answer names, get, match and find over rows; everything else is missing on purpose."""

    def __init__(
        self, rows: Iterable[tuple[Any, ...]], nodes: Sequence[Node] = (),
        relations: Sequence[Relation] = (),
    ) -> None:  # fmt: skip
        self._relations = {r.key: r for r in relations}
        self._nodes: dict[str, Node] = {n.id: n for n in nodes}
        self._bearers: dict[str, list[NameHit]] = defaultdict(list)
        self._words: dict[str, set[str]] = defaultdict(set)
        self._by: dict[tuple[str, object], list[Fact]] = defaultdict(list)
        keys: dict[str, set[str]] = defaultdict(set)
        for node in nodes:
            for label in (node.label, *(a.label for a in node.aliases)):
                keys[name_key(label)].add(node.id)

        def settle(name: str) -> str:
            if name in self._nodes:
                return name
            bearers = keys.get(name_key(name), set())
            if len(bearers) == 1:
                return next(iter(bearers))
            made = placeholder(name)
            self._nodes.setdefault(made, Node(made, name, declared=False))
            return made

        for row in rows:
            subject, relation, object_ = settle(row[0]), row[1], row[2]
            value = object_ if isinstance(object_, Literal) else settle(object_)
            valid: Validity = row[3] if len(row) > 3 else UNDATED
            self._add(
                Fact(fact_id(subject, relation, object_token(value), valid), subject, relation,
                     value, valid, Recorded(1))
            )  # fmt: skip
        for node in self._nodes.values():
            for label, main in [(node.label, True), *((a.label, False) for a in node.aliases)]:
                key = name_key(label)
                self._bearers[key].append(NameHit(key, node.id, label, main, UNDATED))
                for word in re.findall(r"\w+", key):
                    self._words[word].add(node.id)

    def _add(self, fact: Fact) -> None:
        token = object_token(fact.object)
        for key in (
            ("all", None), ("s", fact.subject), ("o", token), ("r", fact.relation),
            ("so", (fact.subject, token)), ("sr", (fact.subject, fact.relation)),
            ("ro", (fact.relation, token)), ("sro", (fact.subject, fact.relation, token)),
        ):  # fmt: skip
            self._by[key].append(fact)

    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]:
        return [hit for key in keys for hit in self._bearers.get(key, ())]

    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]:
        found = ((label, self._nodes.get(label.removeprefix("node:"))) for label in labels)
        return {label: node for label, node in found if node is not None}

    def match(self, pattern: Pattern) -> list[Fact]:
        token = None if pattern.object is None else object_token(pattern.object)
        parts = [("s", pattern.subject), ("r", pattern.relation), ("o", token)]
        given = [(name, value) for name, value in parts if value is not None]
        name = "".join(n for n, _ in given)
        values = tuple(v for _, v in given)
        key: object = values[0] if len(values) == 1 else values if values else None
        return self._by.get((name or "all", key), [])[: pattern.limit]

    def find(self, text: str, k: int, pattern: Pattern) -> list[Hit]:
        words = re.findall(r"\w+", name_key(text))
        scores: dict[str, float] = defaultdict(float)
        for word in words:
            bearers = self._words.get(word, set())
            for node in bearers:
                scores[node] += 1 / (1 + len(bearers))
        ranked = sorted(scores.items(), key=lambda s: (-s[1], s[0]))
        return [Hit("node", node, score) for node, score in ranked[:k]]

    def relations(self) -> Mapping[str, Relation]:
        return self._relations
