"""Nodes within one write: what rows say of them, and which to derive afresh.

Belongs here: node claims, and gathering what is said of a node. Must not: the rules of
derivation (``linking``), the rows of a version (``versions``), facts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from kgqa.model.things import End, Node
from kgqa.store import rows, sums
from kgqa.store.linking import PLACEHOLDER, Bearer, Derived, Statement, derive
from kgqa.store.queries import slices
from kgqa.store.refs import Merges, Refs
from kgqa.store.rows import Record
from kgqa.store.tables import Tables
from kgqa.store.versions import CURRENT, Change
from kgqa.temporal.interval import BEGIN, END, Validity

_PART = 5_000
"""How many nodes are derived at a time."""


class Nodes:
    """Change node claims; derive afresh each node that they, refs or merges touched."""

    def __init__(self, tables: Tables, revision: int, refs: Refs, merges: Merges) -> None:
        self._tables = tables
        self._revision = revision
        self._refs = refs
        self._merges = merges
        self._closed: set[int] = set()
        self.opened = 0
        self.derived = 0
        self.dirty: set[str] = set()
        """Canonical ids to derive."""

    @property
    def changed(self) -> int:
        """Return how many node claims this write closed or opened."""
        return len(self._closed) + self.opened

    # What rows say.

    def state(self, nodes: Iterable[Node], source: str) -> None:
        """Put a source's node rows on record; each replaces what it said of that node before."""
        last = {node.id: node for node in nodes}
        held: dict[str, tuple[int, int, tuple[Any, ...]]] = {}
        for n, until, node, _, *said in self._tables.select(
            "node_claims", f"n, recorded_to, {sums.SAID}",
            node=list(last), document=source, recorded_to=(END, self._revision),
        ):  # fmt: skip
            if until == END or node not in held:
                held[node] = n, until, tuple(said)
        fresh, closed, again = [], [], []
        for name, stated in last.items():
            row = (
                rows.clean(stated.label), stated.kind or "", rows.aliases_dump(stated.aliases),
                rows.terms_dump(stated.existence), rows.properties_dump(stated.properties),
            )  # fmt: skip
            n, until, before = held.get(name, (0, 0, ()))
            if before == row and until == END:
                continue
            self.dirty.add(self._merges.canonical(name))
            if before == row:
                again.append(n)
                continue
            if until == END:
                closed.append(n)
            fresh.append((name, source, *row))
        self._tables.until("node_claims", END, again)
        self._closed -= set(again)
        self._close(closed)
        self._insert_claims(fresh)

    def _insert_claims(self, fresh: Sequence[tuple[Any, ...]]) -> None:
        if not fresh:
            return
        n, now = self._tables.last("node_claims"), self._revision
        self._tables.insert(
            "node_claims",
            f"n, {sums.SAID}, sum, recorded_from, recorded_to",
            [(n + i, *row, sums.current(row, now), now, END) for i, row in enumerate(fresh, 1)],
        )
        self.opened += len(fresh)

    def _close(self, ns: Sequence[int]) -> None:
        if not ns:
            return
        self._closed |= set(ns)
        self._tables.delete("node_claims", n=ns, recorded_from=self._revision)
        self._tables.until("node_claims", self._revision, ns)

    def retract(self, **where: Any) -> None:
        """Take off the record the node rows that fit conditions."""
        found = self._tables.select("node_claims", "n, node", **where, recorded_to=END)
        self.dirty |= {self._merges.canonical(node) for _, node in found}
        self._close([n for n, _ in found])

    def end(self, node: str, end: End) -> None:
        """Give the last term of existence an end, in every row of the node that states one."""
        said = self._rows_of(self._merges.members(node))
        dated = [row for row in said if row[5]] or said[:1]
        if not dated:
            dated = [(node, "", self._label(node), "", "", "", "")]
        for name, source, label, kind, aliases, existence, properties in dated:
            terms = sorted(rows.terms_load(existence), key=lambda v: v.bounds)
            last = terms.pop() if terms else None
            es, ls = (last.es, last.ls) if last else (BEGIN, end.ee - 1)
            start = last.start_precision if last else None
            terms.append(Validity(es, ls, end.ee, end.le, start_precision=start))
            body = rows.properties(properties)
            self.state(
                [Node(name, label, kind or None, rows.aliases_load(aliases), tuple(terms), body)],
                source,
            )

    def _label(self, node: str) -> str:
        found: str = self._tables.select("nodes", "label", id=node, recorded_to=END)[0][0]
        return found

    def _rows_of(self, ids: Iterable[str]) -> list[tuple[Any, ...]]:
        return self._tables.select("node_claims", sums.SAID, node=list(ids), recorded_to=END)

    # Who bears a name.

    def bearers(self, keys: Iterable[str]) -> dict[str, list[Bearer]]:
        """Return the declared nodes under each key."""
        named = self._tables.select("names", "key, node", key=list(keys), own=1)
        versions = {
            n: Bearer(node, frozenset(rows.loads(kinds) or ()))
            for n, node, kinds in self._tables.select(
                "nodes", "n, id, kinds", n=list({n for _, n in named}), recorded_to=END
            )
        }
        found: dict[str, list[Bearer]] = {}
        for key, n in named:
            if n in versions:
                found.setdefault(key, []).append(versions[n])
        return found

    # Deriving.

    def derive(self, mentioned: set[int]) -> set[str]:
        """Derive the dirty nodes; return the keys whose bearers may have changed.

        ``mentioned`` are refs that count as used though their claims are not written yet.
        """
        affected: set[str] = set()
        for part in slices(sorted(self.dirty), _PART):
            statements = self._statements(part, mentioned)
            before = self._current(part)
            own = self._own([row[0] for row in before.values()])
            change = Change(self._revision, self._tables.last("nodes"))
            for name in part:
                derived = derive(name, statements.get(name, ()))
                row = before.get(name)
                affected |= change.of(derived, row, own.get(row[0], set()) if row else set())
            self.derived += change.derived
            change.write(self._tables)
        self.dirty.clear()
        return affected

    def _statements(self, ids: Sequence[str], mentioned: set[int]) -> dict[str, list[Statement]]:
        # An id that was merged into another has no statements of its own.
        here = [node for node in ids if node not in self._merges.winner]
        home = {member: node for node in here for member in self._merges.members(node)}
        found: dict[str, list[Statement]] = defaultdict(list)
        for node, source, label, kind, aliases, existence, properties in self._rows_of(home):
            found[home[node]].append(
                Statement(
                    0, node, label, kind, rows.aliases_load(aliases),
                    rows.terms_load(existence), rows.properties(properties), source,
                )
            )  # fmt: skip
        for n in self._refs.of_ids(home):
            ref = self._refs[n]
            if ref.uses > 0 or n in mentioned:
                found[home[ref.explicit]].append(Statement(1, ref.explicit, ref.label, ref.kind))
        keys = {i.removeprefix(PLACEHOLDER): i for i in home if i.startswith(PLACEHOLDER)}
        for n in self._refs.of_keys(keys):
            ref = self._refs[n]
            used = ref.uses > 0 or n in mentioned
            if used and ref.node == home[keys[ref.key]]:
                found[ref.node].append(Statement(2, keys[ref.key], ref.label, ref.kind))
        return found

    def derived_afresh(self, ids: Sequence[str]) -> dict[str, tuple[Derived | None, Record | None]]:
        """Return what each node derives to, and its current version in columns CURRENT."""
        statements, before = self._statements(ids, set()), self._current(ids)
        return {
            name: (derive(name, statements.get(name, ())), before.get(name))
            for name in dict.fromkeys(ids)
        }

    def _current(self, ids: Sequence[str]) -> dict[str, Record]:
        return {
            row[1]: row for row in self._tables.select("nodes", CURRENT, id=ids, recorded_to=END)
        }

    def _own(self, ns: Sequence[int]) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for n, key in self._tables.select("names", "node, key", node=ns, own=1):
            found.setdefault(n, set()).add(key)
        return found
