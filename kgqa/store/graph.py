"""Claims and the facts that they support, within one write.

Belongs here: opening, closing and moving claims; facts follow. Must not: nodes (``nodes``),
documents, transactions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kgqa.model.ids import fact_id, object_token, relation_key
from kgqa.model.things import Claim, Ref
from kgqa.store import rows, sums
from kgqa.store.queries import marks, slices
from kgqa.store.refs import Refs
from kgqa.temporal.interval import END, Instant, Validity


class Open(NamedTuple):
    """One claim to be put on record: the fact it supports, then its own columns."""

    subject: str
    relation: str
    object: str
    valid: Validity
    own: tuple[Any, ...]
    """The columns _OWN."""
    how: str


class Held(NamedTuple):
    """One claim on record."""

    n: int
    fact: int
    subject_ref: int
    object_ref: int
    recorded_from: int


_HELD = "c.n, c.fact, c.subject_ref, c.object_ref, c.recorded_from"
_OWN = (
    "document, subject_ref, object_ref, chunk, span_start, span_end, line, confidence, properties"
)


class Graph:
    """Change claims; keep a fact's current version exactly while a current claim supports it."""

    def __init__(self, connection: sqlite3.Connection, revision: int, refs: Refs) -> None:
        self._db = connection
        self._revision = revision
        self._refs = refs
        self._loose: set[int] = set()
        self._closed: set[int] = set()
        self.opened = 0

    @property
    def changed(self) -> int:
        """Return how many claims this write closed or opened."""
        return len(self._closed) + self.opened

    # Closing.

    def held(self, condition: str, parameters: Sequence[Any]) -> list[Held]:
        """Return current claims ``c`` of current facts ``f`` that a condition selects."""
        return [
            Held(*row)
            for row in self._db.execute(
                f"SELECT {_HELD} FROM facts f CROSS JOIN claims c ON c.fact = f.n "
                f"WHERE f.recorded_to = {END} AND c.recorded_to = {END} AND {condition}",
                parameters,
            )
        ]

    def of_document(self, document: str) -> list[Held]:
        """Return the current claims of a document."""
        return [
            Held(*row)
            for row in self._db.execute(
                f"SELECT {_HELD} FROM claims c WHERE document = ? AND recorded_to = {END}",
                (document,),
            )
        ]

    def about(self, node: str) -> list[Held]:
        """Return the current claims whose fact has a node as subject or object."""
        found = self.held("f.subject = ?", (node,)) + self.held("f.object = ?", ("n:" + node,))
        return list(dict.fromkeys(found))

    def close(self, claims: Iterable[Held]) -> None:
        """Take claims off the record as of this revision."""
        claims = list(claims)
        self._refs.load({n for c in claims for n in (c.subject_ref, c.object_ref) if n})
        for claim in claims:
            self._loose.add(claim.fact)
            self._use(claim.subject_ref, claim.object_ref, -1)
        now = self._revision
        self._db.executemany(
            sums.until("claims"),
            [(now, c.n) for c in claims if c.recorded_from < now],
        )
        self._closed |= {c.n for c in claims if c.recorded_from < now}
        # What this very write opened leaves no trace.
        made = [(c.n,) for c in claims if c.recorded_from == now]
        self._db.executemany("DELETE FROM claims WHERE n = ?", made)
        self.opened -= len(made)

    def _use(self, subject_ref: int, object_ref: int, by: int) -> None:
        self._refs[subject_ref].uses += by
        if object_ref:
            self._refs[object_ref].uses += by

    # Opening.

    def state(self, claims: Iterable[Claim], refs: Mapping[Ref, int], source: str) -> None:
        """Put a source's claims on record, their refs interned and resolved."""
        wanted = []
        for c in claims:
            subject_ref = refs[c.subject]
            if isinstance(c.object, Ref):
                object_ref = refs[c.object]
                token = "n:" + self._refs[object_ref].node
            else:
                object_ref = 0
                token = rows.clean(object_token(c.object))
            wanted.append(
                Open(
                    self._refs[subject_ref].node,
                    relation_key(rows.clean(c.relation)),
                    token,
                    c.valid,
                    (
                        source, subject_ref, object_ref, c.chunk, *rows.span_columns(c.span),
                        c.line, c.confidence + 0.0, rows.properties_dump(c.properties),
                    ),
                    rows.clean(rows.how(c.valid)),
                )
            )  # fmt: skip
        self.open(wanted)

    def open(self, claims: Sequence[Open]) -> None:
        """Put claims on record; those that are already stay as they are."""
        ids = [fact_id(c.subject, c.relation, c.object, c.valid) for c in claims]
        facts: dict[str, int] = {}
        for part in slices(dict.fromkeys(ids)):
            facts.update(
                self._db.execute(
                    f"SELECT id, n FROM facts WHERE id IN ({marks(part)}) AND recorded_to = {END}",
                    part,
                )
            )
        held = self._support(facts.values())
        next_fact, next_claim = self._following("facts"), self._following("claims")
        new_facts, new_claims, again = [], [], []
        for c, name in zip(claims, ids, strict=True):
            fact = facts.get(name)
            if fact is None:
                fact = facts[name] = next_fact
                next_fact += 1
                new_facts.append(
                    (fact, name, c.subject, c.relation, c.object, *c.valid.bounds, self._revision)
                )
            key = (fact, *c.own)
            known = held.get(key)
            if known is None:
                held[key] = next_claim, END
                row = (*c.own[:3], c.how, *c.own[3:])
                total = sums.current((name, *row), self._revision)
                new_claims.append((next_claim, fact, *row, self._revision, END, total))
                next_claim += 1
            elif known[1] != END:
                held[key] = known[0], END
                again.append(known[0])
            else:
                continue
            self._use(c.own[1], c.own[2], 1)
        self._db.executemany(
            f"INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {END})", new_facts
        )
        self._db.executemany(
            "INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", new_claims
        )
        self._db.executemany(sums.until("claims"), [(END, n) for n in again])
        self._closed -= set(again)
        self.opened += len(new_claims)

    def _support(self, facts: Iterable[int]) -> dict[tuple[Any, ...], tuple[int, int]]:
        """Return claims by fact and content, current ones and those that this write closed."""
        found: dict[tuple[Any, ...], tuple[int, int]] = {}
        for part in slices(facts):
            for n, until, *key in self._db.execute(
                f"SELECT n, recorded_to, fact, {_OWN} FROM claims "
                f"WHERE fact IN ({marks(part)}) AND recorded_to IN ({END}, {self._revision})",
                part,
            ):
                found[tuple(key)] = n, until
        return found

    def _following(self, table: str) -> int:
        found: int = self._db.execute(f"SELECT coalesce(max(n), 0) + 1 FROM {table}").fetchone()[0]
        return found

    # Moving.

    def move(self, claims: Sequence[Held], end: tuple[Instant, Instant] | None = None) -> None:
        """Let claims support the facts that their refs now mean, or that end at ``(ee, le)``."""
        moved = []
        for part in slices(claims):
            columns = ", ".join(f"c.{name.strip()}" for name in _OWN.split(","))
            for relation, token, es, ls, ee, le, how, *own in self._db.execute(
                f"SELECT f.relation, f.object, f.es, f.ls, f.ee, f.le, c.how, {columns} "
                "FROM claims c JOIN facts f ON f.n = c.fact "
                f"WHERE c.n IN ({marks(part)}) ORDER BY c.n",
                [c.n for c in part],
            ):
                meant = "n:" + self._refs[own[2]].node if own[2] else token
                term = rows.validity(es, ls, ee, le, how)
                if end:
                    term = replace(term, ee=end[0], le=end[1], end_precision=None, text="")
                moved.append(
                    Open(self._refs[own[1]].node, relation, meant, term, tuple(own), rows.how(term))
                )
        self.close(claims)
        self.open(moved)

    def relink(self, changed: Mapping[int, str]) -> None:
        """Move the claims of refs that no longer mean the node they are mapped to."""
        found: dict[int, Held] = {}
        for node in set(changed.values()):
            for claim in self.about(node):
                if claim.subject_ref in changed or claim.object_ref in changed:
                    found[claim.n] = claim
        self.move(list(found.values()))

    def settle(self) -> None:
        """Close the facts that lost their last claim. The last step of a write."""
        gone: list[tuple[int, int]] = []
        for part in slices(self._loose):
            gone += self._db.execute(
                f"SELECT n, recorded_from FROM facts f WHERE n IN ({marks(part)}) "
                "AND NOT EXISTS (SELECT 1 FROM claims c "
                f"WHERE c.fact = f.n AND c.recorded_to = {END})",
                part,
            )
        now = self._revision
        self._db.executemany(
            "UPDATE facts SET recorded_to = ? WHERE n = ?",
            [(now, n) for n, since in gone if since < now],
        )
        self._db.executemany(
            "DELETE FROM facts WHERE n = ?", [(n,) for n, since in gone if since == now]
        )
        self._loose.clear()
