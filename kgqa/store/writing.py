"""One write: a batch applied to an open transaction, in the order that makes it order-free.

Belongs here: what a Batch does, step by step. Must not: opening, committing, locking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kgqa.errors import ConflictError, InputError, NotFoundError
from kgqa.model.ids import fact_id
from kgqa.model.things import End, Merge, Ref
from kgqa.protocols import Batch, VectorRow
from kgqa.store import hooks, rows, sums
from kgqa.store.graph import Graph
from kgqa.store.linking import PLACEHOLDER, resolve
from kgqa.store.nodes import Nodes
from kgqa.store.papers import Papers
from kgqa.store.refs import Merges, Refs
from kgqa.store.rows import Record
from kgqa.store.tables import Tables
from kgqa.temporal.interval import END, Validity


class Writing:
    """Apply batches at one new revision; ``counts`` says what changed, empty = nothing did."""

    def __init__(self, tables: Tables, revision: int) -> None:
        self.tables = tables
        self.revision = revision
        self.merges = Merges(tables)
        self.refs = Refs(tables, self.merges)
        self.graph = Graph(tables, revision, self.refs)
        self.nodes = Nodes(tables, revision, self.refs, self.merges)
        self.papers = Papers(tables, revision)
        self._other: Counter[str] = Counter()
        self._keys: set[str] = set()
        self._moved_ids: set[str] = set()
        self.ambiguous: dict[str, None] = {}

    @property
    def counts(self) -> dict[str, int]:
        """Return how many things of each noun this write changed."""
        found = Counter(self._other) + self.papers.counts
        found["claims"] = self.graph.changed
        found["node_claims"] = self.nodes.changed
        return {noun: n for noun, n in sorted(found.items()) if n}

    @property
    def touched(self) -> list[str]:
        """Return the parts of which readers may hold copies that are old now."""
        counts = {**self.counts, "nodes": self.nodes.derived}
        nouns = ("relations", "merges", "vectors", "chunks", "nodes")
        return [noun for noun in nouns if counts.get(noun)]

    def apply(self, batch: Batch) -> None:
        """Apply all of a batch."""
        source = rows.clean(batch.source or "")
        for document in batch.delete:
            self._delete(document)
        for label in batch.retract:
            self._retract(label)
        for end in batch.ends:
            self._end(end)
        declared = {relation.key: rows.relation_dump(relation) for relation in batch.relations}
        self._other["relations"] += self._put("relations", "key, body", list(declared.items()))
        self.papers.state(batch.documents, batch.chunks)
        self.nodes.state(batch.nodes, source)
        refs = self.refs.intern(
            {ref for c in batch.claims for ref in (c.subject, c.object) if isinstance(ref, Ref)}
        )
        self._link(set(refs.values()))
        hooks.reached("nodes")
        self.graph.state(batch.claims, refs, source)
        self._finish()
        for merge in batch.merges:
            self._merge(merge)
        if batch.undo is not None:
            self._undo(batch.undo)
        if self._moved_ids:
            self._link(set())
            self._finish()
        hooks.reached("facts")
        self._vectors(batch.vectors, batch.generation)
        hooks.reached("vectors")
        self._rest(batch)

    # Names.

    def _link(self, mentioned: set[int]) -> None:
        """Derive what changed so far, then let every affected name mean what it now means.

        ``mentioned`` are the refs of claims that are about to be written.
        """
        self._soil(self.refs.flush())
        self._soil(
            self.refs[n].node for n in mentioned if self.refs[n].explicit and not self.refs[n].uses
        )
        affected = self.nodes.derive(mentioned) | self._keys
        self._keys.clear()
        affected |= {self.refs[n].key for n in mentioned if not self.refs[n].explicit}
        changed: dict[int, str] = {}
        bearers = self.nodes.bearers(sorted(affected))
        for n in self.refs.of_keys(sorted(affected)):
            ref = self.refs[n]
            meant = resolve(ref.key, ref.kind, bearers.get(ref.key, ()), self.merges.canonical)
            if meant.ambiguous and n in mentioned:
                self.ambiguous[ref.key] = None
            if meant.node != ref.node:
                changed[n] = ref.node
                ref.node = meant.node
        for n in self.refs.of_ids(sorted(self._moved_ids)):
            ref = self.refs[n]
            node = self.merges.canonical(ref.explicit)
            if node != ref.node:
                changed[n] = ref.node
                ref.node = node
        self._moved_ids.clear()
        self.graph.relink({n: node for n, node in changed.items() if self.refs[n].uses})

    def relink(self, nodes: Iterable[str], keys: Iterable[str]) -> None:
        """Derive nodes afresh and let names mean what they now mean."""
        self._soil(nodes)
        self._keys |= set(keys)
        self._moved_ids |= set(nodes)
        self._link(set())
        self._finish()

    def _finish(self) -> None:
        """Bring facts and placeholders in line with the claims."""
        self.graph.settle()
        self._soil(self.refs.flush())
        self.nodes.derive(set())

    def _soil(self, nodes: Iterable[str]) -> None:
        self.nodes.dirty |= {self.merges.canonical(node) for node in nodes}

    # Taking back.

    def _delete(self, document: str) -> None:
        self.graph.close(self.graph.of_document(document))
        self.nodes.retract(document=document)
        self.papers.delete(document)

    def _retract(self, label: str) -> None:
        noun, _, name = label.partition(":")
        if noun == "fact":
            if not self._ever("facts", name):
                raise _unknown(label)
            self.graph.close(self.graph.held(id=name))
        elif noun == "node":
            node = self.merges.canonical(name)
            if not self._ever("nodes", name):
                raise _unknown(label)
            self.nodes.retract(node=self.merges.members(node))
            self.graph.close(self.graph.about([node]))
        else:
            raise InputError(
                f"cannot retract {label!r}", code="store.bad_label",
                hint="write fact:ID or node:ID; delete documents by id",
            )  # fmt: skip

    def _ever(self, table: str, name: str) -> bool:
        return bool(self.tables.select(table, "n", id=name))

    def _end(self, end: End) -> None:
        noun, _, name = end.label.partition(":")
        if noun == "node":
            node = self.merges.canonical(name)
            if not self._current("nodes", node):
                raise _unknown(end.label)
            self.nodes.end(node, end)
        elif noun == "fact":
            self._end_fact(end, name)
        else:
            raise InputError(
                f"cannot end {end.label!r}", code="store.bad_label", hint="write fact:ID or node:ID"
            )

    def _current(self, table: str, name: str) -> bool:
        return bool(self.tables.select(table, "n", id=name, recorded_to=END))

    def _end_fact(self, end: End, name: str) -> None:
        said = self.tables.select("facts", "n, subject, relation, object, es, ls", id=name)
        if not said:
            raise _unknown(end.label)
        _, subject, relation, token, es, ls = max(said)
        ended = Validity(es, ls, end.ee, end.le)  # refuses what would end before it starts
        claims = self.graph.held(id=name)
        if claims:
            self.graph.move(claims, (end.ee, end.le))
        elif not self._current("facts", fact_id(subject, relation, token, ended)):
            raise NotFoundError(
                f"{end.label!r} is no longer on record", code="store.not_found",
                hint="search for the fact again",
            )  # fmt: skip

    # Merging.

    def _merge(self, merge: Merge) -> None:
        loser, winner = (self.merges.canonical(name) for name in (merge.loser, merge.winner))
        for name, node in ((merge.loser, loser), (merge.winner, winner)):
            if not self._current("nodes", node):
                raise _unknown(f"node:{name}")
        if loser == winner:
            if loser != merge.loser:
                return
            raise ConflictError(
                f"{merge.winner!r} is already merged into {merge.loser!r}",
                code="store.merge_cycle", hint="undo that merge first",
            )  # fmt: skip
        total = sums.current((loser, winner), self.revision)
        row = (self.tables.last("merges") + 1, loser, winner, self.revision, END, total)
        self.tables.insert("merges", "n, loser, winner, recorded_from, recorded_to, sum", [row])
        self._redirected(loser, winner)
        self.merges.add(loser, winner)

    def _undo(self, revision: int) -> None:
        made = self.tables.select("merges", "n, loser, winner, recorded_to", recorded_from=revision)
        if not made:
            can = sorted(set(self.tables.select("merges", "recorded_from", recorded_to=END)))
            listed = ", ".join(str(n) for (n,) in can) or "none"
            raise InputError(
                f"revision {revision} made no merge; only merges can be undone",
                code="store.cannot_undo", hint=f"revisions with merges to undo: {listed}",
            )  # fmt: skip
        for n, loser, winner, until in sorted(made, reverse=True):
            if until == END:
                self.tables.until("merges", self.revision, [n])
                self.merges.remove(loser)
                self._redirected(loser, winner)

    def _redirected(self, loser: str, winner: str) -> None:
        """Note what a merge made or undone may change."""
        self._other["merges"] += 1
        members = self.merges.members(loser)
        self.nodes.dirty |= {loser, self.merges.canonical(winner)}
        self._moved_ids |= set(members)
        self._keys |= {m.removeprefix(PLACEHOLDER) for m in members if m.startswith(PLACEHOLDER)}

    # The rest.

    def _put(self, table: str, columns: str, said: Sequence[Record]) -> int:
        """Write rows of a table with a key; return how many that changed."""
        if not said:
            return 0
        return self.tables.put(table, f"{columns}, sum", [(*row, sums.of(row)) for row in said])

    def _vectors(self, vectors: Iterable[VectorRow], generation: int | None) -> None:
        written = []
        for v in vectors:
            row = (v.kind, v.id, generation or 0, v.digest, v.vector.astype("<f4").tobytes())
            written.append((*row, sums.of(row)))
        if written:
            self._same_length(written)
            self._other["vectors"] += self.tables.put_vectors(written)

    def _same_length(self, written: list[Record]) -> None:
        held = self.tables.vector_size()
        lengths = {len(w[4]) // 4 for w in written} | ({held} if held is not None else set())
        if len(lengths) > 1:
            raise InputError(
                f"vectors of several lengths in one base: {sorted(lengths)}",
                code="store.vector_length",
                hint="index a base with one embedding model only",
            )

    def _rest(self, batch: Batch) -> None:
        failed = {
            rows.clean(failure.unit): (
                failure.code, rows.clean(failure.message),
                None if failure.payload is None else rows.clean(failure.payload),
            )
            for failure in batch.failures
        }  # fmt: skip
        self._other["failures"] += self._put(
            "failures", "unit, code, message, payload", [(u, *row) for u, row in failed.items()]
        )
        if batch.resolve_failures:
            self._other["failures"] += self.tables.delete(
                "failures", unit=list(batch.resolve_failures)
            )
        for key, value in batch.meta.items():
            if self._put("meta", "key, value", [(key, rows.dump(value))]):
                self._other["meta"] += 1
                if key == "generation":
                    # Newer vectors replace older ones of what now becomes visible.
                    self._other["vectors"] += 1
                    self.tables.flip(int(value or 0))


def _unknown(label: str) -> NotFoundError:
    return NotFoundError(
        f"nothing is called {label!r}", code="store.not_found",
        hint="write the label as results print it",
    )  # fmt: skip
