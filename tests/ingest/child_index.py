"""The child of the crash test of indexing: embeds in small pages, dies at the n-th point."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from letters import Letters

from kgqa.ingest import index
from kgqa.store import hooks
from kgqa.store.sqlite import SQLiteStore


def main(base: str, stop_at: str) -> None:
    """Index ``base``; die when the named points of its writes add up to ``stop_at``."""
    left = int(stop_at)

    def reached(name: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    hooks.reached = reached
    index.PAGE = 5
    store = SQLiteStore(Path(base))
    index.build(store, Letters())
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
