"""Claims and the facts that they support, within one write.

Belongs here: opening, closing and moving claims; facts follow. Must not: nodes (``nodes``),
documents, transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kgqa.model.ids import fact_id, object_token, relation_key
from kgqa.model.things import Claim, Ref
from kgqa.store import rows, sums
from kgqa.store.refs import Refs
from kgqa.store.tables import Tables
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


_HELD = "n, fact, subject_ref, object_ref, recorded_from"
_FACT = "n, id, subject, relation, object, es, ls, ee, le, recorded_from, recorded_to"
_CLAIM = (
    "n, fact, document, subject_ref, object_ref, how, chunk, span_start, span_end, line, "
    "confidence, properties, recorded_from, recorded_to, sum"
)
_OWN = (
    "document, subject_ref, object_ref, chunk, span_start, span_end, line, confidence, properties"
)


class Graph:
    """Change claims; keep a fact's current version exactly while a current claim supports it."""

    def __init__(self, tables: Tables, revision: int, refs: Refs) -> None:
        self._tables = tables
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

    def held(self, **where: Any) -> list[Held]:
        """Return the current claims of the current facts that fit conditions."""
        facts = self._tables.select("facts", "n", **where, recorded_to=END)
        return self._claims(fact=[n for (n,) in facts])

    def of_document(self, document: str) -> list[Held]:
        """Return the current claims of a document."""
        return self._claims(document=document)

    def about(self, nodes: Iterable[str]) -> list[Held]:
        """Return the current claims whose fact has one of the nodes as subject or object."""
        nodes = list(nodes)
        found = self.held(subject=nodes) + self.held(object=["n:" + node for node in nodes])
        return list(dict.fromkeys(found))

    def _claims(self, **where: Any) -> list[Held]:
        return [
            Held(*row) for row in self._tables.select("claims", _HELD, **where, recorded_to=END)
        ]

    def close(self, claims: Iterable[Held]) -> None:
        """Take claims off the record as of this revision."""
        claims = list(claims)
        self._refs.load({n for c in claims for n in (c.subject_ref, c.object_ref) if n})
        for claim in claims:
            self._loose.add(claim.fact)
            self._use(claim.subject_ref, claim.object_ref, -1)
        now = self._revision
        before = [c.n for c in claims if c.recorded_from < now]
        self._tables.until("claims", now, before)
        self._closed |= set(before)
        # What this very write opened leaves no trace.
        made = [c.n for c in claims if c.recorded_from == now]
        self._tables.delete("claims", n=made)
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
        if not claims:
            return
        ids = [fact_id(c.subject, c.relation, c.object, c.valid) for c in claims]
        facts: dict[str, int] = dict(
            self._tables.select("facts", "id, n", id=list(dict.fromkeys(ids)), recorded_to=END)
        )
        held = self._support(facts.values())
        next_fact, next_claim = self._tables.last("facts") + 1, self._tables.last("claims") + 1
        new_facts, new_claims, again = [], [], []
        for c, name in zip(claims, ids, strict=True):
            fact = facts.get(name)
            if fact is None:
                fact = facts[name] = next_fact
                next_fact += 1
                said = (name, c.subject, c.relation, c.object, *c.valid.bounds)
                new_facts.append((fact, *said, self._revision, END))
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
        self._tables.insert("facts", _FACT, new_facts)
        self._tables.insert("claims", _CLAIM, new_claims)
        self._tables.until("claims", END, again)
        self._closed -= set(again)
        self.opened += len(new_claims)

    def _support(self, facts: Iterable[int]) -> dict[tuple[Any, ...], tuple[int, int]]:
        """Return claims by fact and content, current ones and those that this write closed."""
        found: dict[tuple[Any, ...], tuple[int, int]] = {}
        for n, until, *key in self._tables.select(
            "claims", f"n, recorded_to, fact, {_OWN}",
            fact=list(facts), recorded_to=(END, self._revision),
        ):  # fmt: skip
            found[tuple(key)] = n, until
        return found

    # Moving.

    def move(self, claims: Sequence[Held], end: tuple[Instant, Instant] | None = None) -> None:
        """Let claims support the facts that their refs now mean, or that end at ``(ee, le)``."""
        facts = {
            n: (relation, token, *term)
            for n, relation, token, *term in self._tables.select(
                "facts", "n, relation, object, es, ls, ee, le", n=list({c.fact for c in claims})
            )
        }
        moved = []
        found = self._tables.select("claims", f"n, fact, how, {_OWN}", n=[c.n for c in claims])
        for _, fact, how, *own in sorted(found, key=lambda row: row[0]):
            relation, token, es, ls, ee, le = facts[fact]
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
        self.move(
            [
                claim
                for claim in self.about(set(changed.values()))
                if claim.subject_ref in changed or claim.object_ref in changed
            ]
        )

    def settle(self) -> None:
        """Close the facts that lost their last claim. The last step of a write."""
        loose = list(self._loose)
        self._loose.clear()
        if not loose:
            return
        kept = {n for (n,) in self._tables.select("claims", "fact", fact=loose, recorded_to=END)}
        now = self._revision
        gone = self._tables.select(
            "facts", "n, recorded_from", n=[n for n in loose if n not in kept]
        )
        self._tables.until("facts", now, [n for n, since in gone if since < now])
        self._tables.delete("facts", n=[n for n, since in gone if since == now])
