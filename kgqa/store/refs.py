"""The words by which sources name nodes, and which nodes they mean now.

Belongs here: the table ``refs`` during one write, and merges. Must not: deciding what a name
means (``linking``) or moving claims (``graph``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeAlias

from kgqa.model.ids import name_key
from kgqa.model.things import Ref
from kgqa.store import sums
from kgqa.store.linking import PLACEHOLDER
from kgqa.store.rows import clean
from kgqa.store.tables import Tables
from kgqa.temporal.interval import END

Words: TypeAlias = tuple[str, str, str]
"""Label, kind, explicit id; empty = not given."""


class Merges:
    """Know which ids were declared to be one, as of now."""

    def __init__(self, tables: Tables) -> None:
        self.winner: dict[str, str] = dict(
            tables.select("merges", "loser, winner", recorded_to=END)
        )
        self._losers: dict[str, list[str]] = defaultdict(list)
        for loser, winner in self.winner.items():
            self._losers[winner].append(loser)

    def canonical(self, node: str) -> str:
        """Follow merges from an id."""
        while node in self.winner:
            node = self.winner[node]
        return node

    def members(self, node: str) -> list[str]:
        """Return the id and every id that was merged into it."""
        found = [node]
        for member in found:
            found += self._losers.get(member, ())
        return found

    def add(self, loser: str, winner: str) -> None:
        """Record that ``loser`` is ``winner``."""
        self.winner[loser] = winner
        self._losers[winner].append(loser)

    def remove(self, loser: str) -> None:
        """Forget what ``loser`` was merged into."""
        self._losers[self.winner.pop(loser)].remove(loser)


class _Row:
    """One row of ``refs`` in memory."""

    __slots__ = ("key", "node", "stored", "uses", "words")

    def __init__(self, words: Words, key: str, node: str, uses: int) -> None:
        self.words = words
        self.key = key
        self.node = node
        self.uses = uses
        self.stored = (node, uses)

    @property
    def label(self) -> str:
        """Return the words as written."""
        return self.words[0]

    @property
    def kind(self) -> str:
        """Return the kind that is given with them, empty if none is."""
        return self.words[1]

    @property
    def explicit(self) -> str:
        """Return the id that is given with them, empty if none is."""
        return self.words[2]


class Refs:
    """Load, make and change rows of ``refs`` within one write."""

    def __init__(self, tables: Tables, merges: Merges) -> None:
        self._tables = tables
        self._merges = merges
        self._rows: dict[int, _Row] = {}
        # By key: all rows that have it.
        self._of_key: dict[str, list[int]] = {}

    def __getitem__(self, n: int) -> _Row:
        if n not in self._rows:
            self.load([n])
        return self._rows[n]

    def load(self, ns: Iterable[int]) -> None:
        """Read rows that are not in memory yet."""
        self._select(n=[n for n in ns if n not in self._rows])

    def of_keys(self, keys: Iterable[str]) -> list[int]:
        """Return the rows that name a node by one of these keys and no id."""
        keys = list(keys)
        self._know(keys)
        return [n for key in keys for n in self._of_key[key] if not self._rows[n].explicit]

    def of_ids(self, ids: Iterable[str]) -> list[int]:
        """Return the rows that give one of these ids."""
        return self._select(explicit=[name for name in ids if name])

    def _know(self, keys: Iterable[str]) -> None:
        """Read all rows of these keys, once."""
        fresh: dict[str, list[int]] = {key: [] for key in keys if key not in self._of_key}
        self._of_key |= fresh
        for n in self._select(key=list(fresh)):
            self._of_key[self._rows[n].key].append(n)

    def _select(self, **where: Any) -> list[int]:
        found = []
        for n, label, kind, explicit, key, node, uses in self._tables.select(
            "refs", "n, label, kind, explicit, key, node, uses", **where
        ):
            found.append(n)
            if n not in self._rows:
                self._rows[n] = _Row((label, kind, explicit), key, node, uses)
        return found

    def intern(self, refs: Iterable[Ref]) -> dict[Ref, int]:
        """Return the row of each ref, made where there is none.

        A new row without an id stands at its placeholder until it is resolved.
        """
        words = {ref: (clean(ref.label), ref.kind or "", ref.id or "") for ref in refs}
        if not words:
            return {}
        keys = {label: name_key(label) for label, _, _ in words.values()}
        # A row is found by the key of its label: whoever interns asks for that key next.
        self._know(keys.values())
        known = {self._rows[n].words: n for key in keys.values() for n in self._of_key[key]}
        following = 1 + self._tables.last("refs")
        fresh = []
        for label, kind, explicit in dict.fromkeys(words.values()):
            if (label, kind, explicit) in known:
                continue
            key = keys[label]
            node = self._merges.canonical(explicit or PLACEHOLDER + key)
            known[label, kind, explicit] = following
            self._rows[following] = _Row((label, kind, explicit), key, node, 0)
            self._of_key[key].append(following)
            total = sums.of((following, label, kind, explicit, key))
            fresh.append((following, label, kind, explicit, key, node, 0, total))
            following += 1
        self._tables.insert("refs", "n, label, kind, explicit, key, node, uses, sum", fresh)
        return {ref: known[word] for ref, word in words.items()}

    def forget(self) -> None:
        """Read rows afresh from now on; nothing may wait to be written."""
        self._rows.clear()
        self._of_key.clear()

    def flush(self) -> set[str]:
        """Write what changed; return the nodes that gained or lost a name that is in use."""
        changed: set[str] = set()
        writes = []
        for n, row in self._rows.items():
            node, uses = row.stored
            if row.stored == (row.node, row.uses):
                continue
            if node != row.node or (uses > 0) != (row.uses > 0):
                changed |= {node, row.node}
            writes.append((row.node, row.uses, n))
            row.stored = (row.node, row.uses)
        self._tables.change("refs", "node, uses", writes)
        return changed
