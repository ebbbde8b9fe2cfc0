"""What the parts of the store contract share: fixtures, short ways to say a batch.

Belongs here: helpers without expectations. Must not: tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import pytest

from kgqa.model.things import Chunk, Claim, Document, Fact, Literal, Node, Ref, Span
from kgqa.protocols import Batch, Pattern, Pending, Store, VectorRow
from kgqa.temporal.interval import END, UNDATED, Interval, Validity
from kgqa.testing.canonical import Dump, canonical

if TYPE_CHECKING:
    import numpy as np

Factory: TypeAlias = Callable[[], Store]


class ContractBase:
    """Give each test an empty store, and check afterwards that it is sound."""

    share: ClassVar[int] = 1
    """A back-end of which each call takes long does one in so many of the repeated cases."""

    def some(self, count: int) -> int:
        """Return how many of so many repeated cases to do."""
        return max(count // self.share, min(count, 8))

    @pytest.fixture
    def store(self, store_factory: Factory) -> Iterator[Store]:
        """Yield an empty store; ``verify`` must be clean when the test is done with it."""
        store = store_factory()
        yield store
        assert store.verify() == []
        store.close()


def term(start: int, end: int = END) -> Validity:
    """Return the exact term ``[start, end)``; open without an end."""
    return Validity(start, start, end, end)


def instant(t: int) -> Interval:
    """Return the one unit at ``t``."""
    return Interval(t, t + 1)


def says(
    source: str,
    *facts: tuple[str, str, str | int, Validity],
    nodes: Sequence[Node] = (),
    passages: Sequence[tuple[str, Validity]] = (),
) -> Batch:
    """Return the batch of one document: facts by name, nodes, and passages of text."""
    claims = [
        Claim(Ref(s), r, Ref(o) if isinstance(o, str) else Literal(o), valid)
        for s, r, o, valid in facts
    ]
    chunks, text = [], ""
    for i, (passage, valid) in enumerate(passages):
        at = len(text.encode())
        where = Span(at, at + len(passage.encode()))
        chunks.append(Chunk(f"{source}-{i}", source, i, passage, where, validity=valid))
        text += passage + "\n"
    return Batch(
        source=source,
        documents=(Document(source, f"{source}.txt", title=source, text=text),),
        chunks=tuple(chunks),
        nodes=tuple(nodes),
        claims=tuple(claims),
    )


def texts(*passages: str, valid: Validity = UNDATED) -> list[tuple[str, Validity]]:
    """Return passages of one validity."""
    return [(passage, valid) for passage in passages]


def dump(store: Store, known_at: int | None = None) -> Dump:
    """Return the canonical dump of a store, read in one view."""
    with store.view() as reader:
        return canonical(reader, known_at)


def only(facts: Sequence[Fact]) -> Fact:
    """Return the one fact of a list."""
    assert len(facts) == 1, facts
    return facts[0]


def objects(store: Store, pattern: Pattern) -> list[str]:
    """Return the objects of the matching facts in order, literals by their value."""
    found = [fact.object for fact in store.match(pattern)]
    return [o if isinstance(o, str) else str(o.value) for o in found]


def everything_pending(store: Store) -> list[Pending]:
    """Return all pending items, page by page."""
    found: list[Pending] = []
    after = None
    while page := store.pending(7, after):
        found += page
        assert len({(p.kind, p.id) for p in found}) == len(found)
        after = (page[-1].kind, page[-1].id)
    return found


def direction(text: str, width: int = 16) -> np.ndarray:
    """Return a unit vector that depends on the text only."""
    import hashlib

    import numpy as np

    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).standard_normal(width).astype(np.float32)
    return vector / np.linalg.norm(vector)


def index(store: Store, generation: int = 1) -> int:
    """Embed everything pending into a generation, make it the active one; return how many."""
    waiting = everything_pending(store)
    rows = tuple(VectorRow(p.kind, p.id, p.digest, direction(p.text)) for p in waiting)
    if rows:
        store.write(Batch(vectors=rows, generation=generation))
    store.write(Batch(meta={"generation": generation}))
    return len(rows)
