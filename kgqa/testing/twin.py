"""One random script on two stores: every write, refusal and read must come out the same.

Belongs here: drawing the steps and comparing what both say. Must not: expectations of its own
(the oracle draws corrections, it does not judge here).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from kgqa.errors import KGQAError
from kgqa.model.things import Chunk, Document, Failure, Span
from kgqa.protocols import Batch, Pattern, Store, VectorRow
from kgqa.testing import generate
from kgqa.testing.generate import LABELS, Base
from kgqa.testing.naive import key
from kgqa.testing.oracle import Oracle
from kgqa.testing.replay import Refused

_WRITES = 0.15
_EVERYTHING = 10_000
_SIZE = 8


class Twin:
    """Draw steps from a seed, take each on both stores, and compare what they return."""

    def __init__(self, one: Store, two: Store, rnd: Random) -> None:
        self._stores = (one, two)
        self._rnd = rnd
        self._base: Base = generate.base(rnd, nodes=10, facts=40, documents=5)
        self._oracle = Oracle()
        self._revisions: dict[int, int] = {}
        """By the oracle's revisions: those of the stores."""
        self._passages = 0
        self._generation = 0

    def step(self) -> None:
        """Take one step."""
        if self._rnd.random() < _WRITES:
            self._write(self._drawn())
        else:
            self._same(self._rnd.choice(self._reads()))

    def _same(self, ask: Callable[[Store], Any]) -> Any:
        """Return what both stores answer, or the code with which both refuse."""
        one, two = (_told(ask, store) for store in self._stores)
        assert one == two, f"{one}\n!=\n{two}"
        return one

    # Writing.

    def _drawn(self) -> Batch | tuple[str, ...]:
        kind = self._rnd.random()
        if kind < 0.6 and self._oracle.revision:
            return generate.correction(self._rnd, self._oracle, self._base)
        if kind < 0.6:
            return self._rnd.choice(self._base.batches)
        if kind < 0.8:
            return self._passage()
        if kind < 0.85:
            return Batch(delete=(f"text-{self._rnd.randrange(1 + self._passages)}",))
        if kind < 0.92:
            unit = f"unit {self._rnd.randrange(4)}"
            failure = Failure(unit, "load.bad", self._rnd.choice(LABELS), None)
            fails = self._rnd.random() < 0.6
            return Batch(failures=(failure,)) if fails else Batch(resolve_failures=(unit,))
        return Batch(meta={self._rnd.choice("abc"): self._rnd.randrange(5)})

    def _passage(self) -> Batch:
        """Return a document with chunks, or vectors of some of what waits for one."""
        pending = self._stores[0].pending(6) if self._rnd.random() < 0.5 else []
        if pending:
            self._generation += self._rnd.random() < 0.3
            vectors = tuple(VectorRow(p.kind, p.id, p.digest, self._vector()) for p in pending)
            return Batch(
                vectors=vectors, generation=self._generation, meta={"generation": self._generation}
            )
        name = f"text-{self._passages}"
        self._passages += 1
        words = [" ".join(self._rnd.choices(LABELS, k=6)) for _ in range(self._rnd.randrange(1, 4))]
        valid = [generate.validity(self._rnd, self._base.borders) for _ in words]
        chunks = tuple(
            Chunk(f"{name}-{i}", name, i, text, Span(i * 100, i * 100 + len(text.encode())),
                  (), None, when)
            for i, (text, when) in enumerate(zip(words, valid, strict=True))
        )  # fmt: skip
        return Batch(source=name, documents=(Document(name, name, text=" ".join(words)),),
                     chunks=chunks)  # fmt: skip

    def _vector(self) -> np.ndarray:
        drawn = np.array([self._rnd.gauss(0, 1) for _ in range(_SIZE)], dtype=np.float32)
        unit: np.ndarray = drawn / np.linalg.norm(drawn)
        return unit

    def _write(self, step: Batch | tuple[str, ...]) -> None:
        said = step
        if isinstance(step, Batch) and step.undo is not None:
            said = replace(step, undo=self._revisions[step.undo])
        told = self._same(
            lambda store: store.write(said) if isinstance(said, Batch) else store.erase(said)
        )
        known_to_the_oracle = not isinstance(step, Batch) or not (
            step.chunks or step.vectors or step.failures or step.meta or step.resolve_failures
        )
        if isinstance(told, str) or not known_to_the_oracle:
            return
        try:
            if isinstance(step, Batch):
                self._oracle.write(step)
            else:
                self._oracle.erase(step)
        except Refused:
            raise AssertionError(f"both stores took what the oracle refuses: {step}") from None
        self._revisions.setdefault(self._oracle.revision, told.revision)

    # Reading.

    def _reads(self) -> list[Callable[[Store], Any]]:
        rnd, base = self._rnd, self._base
        known = rnd.choice((None, None, rnd.randrange(1 + self._stores[0].revision)))
        asked = replace(generate.pattern(rnd, base), known_at=known)
        page = replace(asked, limit=rnd.randrange(1, 6))
        seeds = [rnd.choice(base.nodes).id, "name:" + key(rnd.choice(LABELS))]
        timed = Pattern(valid=asked.valid, match=asked.match, known_at=known)
        keys = sorted({key(label) for label in rnd.choices(LABELS, k=3)})
        vector, k = self._vector(), rnd.randrange(1, 12)
        word = rnd.choice(LABELS)
        fact = rnd.choice(self._stores[0].match(Pattern()) or [None])
        labels = [f"node:{seeds[0]}", f"node:{seeds[1]}", "document:text-0", "chunk:text-0-0"]
        if fact is not None:
            labels.append(f"fact:{fact.id}")
        return [
            lambda s: s.match(asked),
            lambda s: s.match(page),
            lambda s: s.nodes(replace(timed, kind=_kind(asked), order="id")),
            lambda s: s.expand(seeds, 2, timed, 200),
            lambda s: s.names(keys, known),
            lambda s: s.get(labels, known),
            lambda s: s.chunks("text-0", known),
            lambda s: s.documents(3, None, known),
            lambda s: sorted((h.kind, h.id) for h in s.find(word, _EVERYTHING, timed)),
            lambda s: [(h.kind, h.id, round(h.score, 4)) for h in s.nearest(vector, k, timed)],
            lambda s: s.relations(),
            lambda s: s.failures(),
            lambda s: s.meta(),
            lambda s: s.stats(),
            lambda s: [(c.revision, c.note) for c in s.changes()],
            lambda s: s.pending(10),
        ]


def _kind(pattern: Pattern) -> str | None:
    return "person" if pattern.subject is not None else None


def _told(ask: Callable[[Store], Any], store: Store) -> Any:
    try:
        return ask(store)
    except KGQAError as refused:
        return refused.code
