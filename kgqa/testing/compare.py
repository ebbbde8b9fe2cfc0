"""Hold a store against the oracle: the same writes, then the same reads, sorted and compared.

Belongs here: the comparison, whatever draws the writes and reads. Must not: generators, rules.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from kgqa.errors import KGQAError
from kgqa.model.things import Fact, Node
from kgqa.protocols import Batch, Pattern, Reader, Store
from kgqa.testing.generate import Base, correction, pattern
from kgqa.testing.naive import Row, fact_label, token
from kgqa.testing.oracle import Oracle, select, walks
from kgqa.testing.replay import Refused, State, Thing


class Pair:
    """Write to a store and to the oracle alike; ``revisions`` are (store's, oracle's)."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.oracle = Oracle()
        self.revisions = [(store.revision, 0)]
        self._states: dict[int | None, tuple[State, list[Row]]] = {}

    def state(self, known_at: int | None) -> tuple[State, list[Row]]:
        """Return the oracle's state and facts at a revision of its own, kept until a write."""
        if known_at not in self._states:
            self._states[known_at] = (self.oracle.state(known_at), self.oracle.facts(known_at))
        return self._states[known_at]

    def write(self, step: Batch | tuple[str, ...]) -> bool:
        """Apply a step to both; tell whether it was allowed. Assert that they agree on that."""
        before = self.store.revision
        self._states.clear()
        try:
            if isinstance(step, Batch):
                self.oracle.write(step)
            else:
                self.oracle.erase(step)
        except Refused:
            try:
                self.store.write(step)  # type: ignore[arg-type]
            except KGQAError:
                assert self.store.revision == before
                return False
            raise AssertionError(f"the store must refuse {step}") from None
        if isinstance(step, Batch):
            if step.undo is not None:
                known = {oracle: store for store, oracle in self.revisions}
                step = replace(step, undo=known[step.undo])
            self.store.write(step)
        else:
            self.store.erase(step)
        changed = self.oracle.revision != self.revisions[-1][1]
        assert (self.store.revision != before) == changed, f"revision after {step}"
        if changed:
            self.revisions.append((self.store.revision, self.oracle.revision))
        return True

    def check(self, pattern: Pattern, known: int | None = None) -> None:
        """Assert that both answer a pattern alike, as of the known-th write (None: now)."""
        mine = theirs = pattern
        if known is not None:
            store, oracle = self.revisions[known]
            mine, theirs = replace(pattern, known_at=store), replace(pattern, known_at=oracle)
        found = [seen(fact) for fact in self.store.match(mine)]
        expected = [expect(row) for row in select(*self.state(theirs.known_at), theirs)]
        assert found == expected, explain(pattern, found, expected)

    def check_nodes(self, pattern: Pattern) -> None:
        """Assert that both list the same nodes under a pattern's time and kind."""
        found = sorted(seen_node(node) for node in self.store.nodes(pattern))
        expected = sorted(expect_node(thing) for thing in self.oracle.nodes(pattern))
        assert found == expected, explain(pattern, found, expected)

    def check_names(self, keys: list[str]) -> None:
        """Assert that both resolve name keys alike; every alias with its time."""
        found = {(n.key, n.node, n.label, n.main) for n in self.store.names(keys)}
        expected = {(n.key, n.node, n.label, n.main) for n in self.oracle.names(keys)}
        loose = {n for n in found | expected if n[1].startswith("name:")}
        assert {n[:2] for n in found} == {n[:2] for n in expected}
        assert found - loose == expected - loose, explain(keys, found, expected)

    def check_paths(self, seeds: list[str], hops: int, pattern: Pattern) -> None:
        """Assert that both reach the same nodes by the same facts."""
        found = paths(self.store, seeds, hops, pattern)
        state, rows = self.state(None)
        expected = walks(state, select(state, rows, pattern), seeds, hops)
        assert found == expected, explain(pattern, found, expected)

    def check_history(self, rnd: Random, of: Base) -> None:
        """Assert that both agree on revisions of a random history, and that verify is clean."""
        for step in [*of.batches, *of.batches[:1]]:
            self.write(step)
        for _ in range(8):
            self.write(correction(rnd, self.oracle, of))
        for _ in range(50):
            known = rnd.randrange(len(self.revisions))
            self.check(pattern(rnd, of), known)
        assert self.store.verify() == []


def paths(
    reader: Reader, seeds: list[str], hops: int, pattern: Pattern
) -> set[tuple[str, tuple[str, ...], str]]:
    """Return a store's expansion in the oracle's form."""
    reached = reader.expand(seeds, hops, pattern, 1_000_000)
    assert len({(r.seed, tuple(f.id for f in r.facts)) for r in reached}) == len(reached)
    return {(r.seed, tuple(f"fact:{fact.id}" for fact in r.facts), r.node) for r in reached}


def seen(fact: Fact) -> tuple[Any, ...]:
    """Return what is compared of a store's fact."""
    sources = sorted((s.document, s.chunk or "", s.line or 0, s.confidence) for s in fact.sources)
    what = (fact.subject, fact.relation, token(fact.object), fact.valid.bounds)
    return (f"fact:{fact.id}", *what, sources)


def expect(row: Row) -> tuple[Any, ...]:
    """Return what is compared of the oracle's fact."""
    sources = sorted((doc, chunk or "", line or 0, sure) for doc, chunk, line, sure in row.sources)
    return (fact_label(row), row.subject, row.relation, row.object, row.bounds, sources)


def seen_node(node: Node) -> tuple[Any, ...]:
    """Return what is compared of a store's node; of a placeholder, that it is there."""
    if not node.declared:
        return (node.id, False)
    aliases = sorted({(alias.label, alias.valid.bounds) for alias in node.aliases})
    terms = [term.bounds for term in node.existence]
    return (node.id, True, node.label, node.kind or "", aliases, terms)


def expect_node(thing: Thing) -> tuple[Any, ...]:
    """Return what is compared of the oracle's node."""
    if not thing.declared:
        return (thing.id, False)
    aliases = sorted(thing.aliases)
    return (thing.id, True, thing.label, thing.kind or "", aliases, list(thing.existence))


def explain(asked: object, found: Any, expected: Any) -> str:
    """Return what only one side says, for the message of a failure."""
    extra = [item for item in found if item not in expected]
    missing = [item for item in expected if item not in found]
    return f"{asked}\nonly the store: {extra}\nonly the oracle: {missing}"
