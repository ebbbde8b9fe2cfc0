"""The child of the crash tests: loads paths, and kills itself at the n-th named point."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgqa.ingest import pipeline
from kgqa.model.things import Chunk, Claim, Document, Ref
from kgqa.store import hooks
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import Interval


def first_words(
    document: Document, chunks: Sequence[Chunk], reference: Interval | None
) -> Iterator[Claim]:
    """Yield one claim per chunk; the parser of the real extractor takes seconds to start."""
    for chunk in chunks:
        subject, verb, thing = chunk.text.split()[:3]
        yield Claim(Ref(subject), verb, Ref(thing), chunk=chunk.id, span=chunk.span)


def main(base: str, stop_at: str, *paths: str) -> None:
    """Load ``paths`` into ``base``; die when the named points of writes add up to ``stop_at``."""
    left = int(stop_at)

    def reached(name: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    hooks.reached = reached
    pipeline.BATCH_ROWS = 20
    store = SQLiteStore(Path(base))
    plan = pipeline.LoadPlan(paths=tuple(map(Path, paths)), extractor=first_words)
    pipeline.load(store, plan)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
