"""Bases of a given size for the benchmarks: seeded, streamed in batches."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from kgqa.ingest.index import describe
from kgqa.model.ids import digest
from kgqa.model.things import Chunk, Claim, Document, Ref, Span
from kgqa.protocols import Batch, Embedder, Store, VectorRow
from kgqa.temporal.interval import DAY_MS, UNDATED, Validity

SEED = 7
BATCH = 10_000
WORDS = (
    "the council elected a new mayor who held office until war came and the city changed its ruler "
    "its name and its country while trade along the river grew and merchants built houses of stone"
).split()


def term(rng: random.Random) -> Validity:
    """Return a term of day precision between 1500 and 2000."""
    start = rng.randrange(-171_000, 11_000) * DAY_MS
    end = start + rng.randrange(1, 8_000) * DAY_MS
    return Validity(start, start + DAY_MS - 1, end, end, "day", "day")


def claim_batches(count: int, people: int = 200_000, offices: int = 20_000) -> Iterator[Batch]:
    """Yield batches of claims about people holding offices."""
    rng = random.Random(SEED)
    source = Document("facts-of-the-benchmark", "facts.jsonl", media="application/x-kgqa-rows")
    done = 0
    while done < count:
        size = min(BATCH, count - done)
        claims = tuple(
            Claim(
                Ref(f"person {rng.randrange(people)}"),
                "held office",
                Ref(f"office {rng.randrange(offices)}"),
                term(rng),
                line=done + n,
            )
            for n in range(size)
        )
        yield Batch(source=source.id, documents=(source,) if done == 0 else (), claims=claims)
        done += size


def chunk_batches(count: int, per_document: int = 100) -> Iterator[Batch]:
    """Yield a batch a document: its text and chunks of about 90 words, a third of them dated."""
    rng = random.Random(SEED)
    for number in range(0, count, per_document):
        pieces = [
            " ".join(rng.choices(WORDS, k=90)) for _ in range(min(per_document, count - number))
        ]
        document = Document(
            digest("bench", str(number)), f"doc-{number}.txt", text="\n".join(pieces)
        )
        chunks, at = [], 0
        for ordinal, piece in enumerate(pieces):
            valid = term(rng) if ordinal % 3 == 0 else UNDATED
            span = Span(at, at + len(piece))
            chunks.append(
                Chunk(
                    digest(document.id, str(ordinal)),
                    document.id,
                    ordinal,
                    piece,
                    span,
                    (),
                    None,
                    valid,
                )
            )
            at += len(piece) + 1
        yield Batch(source=document.id, documents=(document,), chunks=tuple(chunks))


def vector_batches(store: Store, embedder: Embedder) -> Iterator[Batch]:
    """Yield random unit vectors for everything pending, in generation 1."""
    rng = np.random.default_rng(SEED)
    after: tuple[str, str] | None = None
    while page := store.pending(BATCH, after):
        raw = rng.standard_normal((len(page), embedder.dimension), dtype=np.float32)
        unit = raw / np.linalg.norm(raw, axis=1, keepdims=True)
        rows = tuple(VectorRow(p.kind, p.id, p.digest, v) for p, v in zip(page, unit, strict=True))
        yield Batch(vectors=rows, generation=1, meta={"embedder": describe(embedder)})
        after = (page[-1].kind, page[-1].id)
