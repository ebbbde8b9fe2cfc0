"""kill -9 while indexing, readers asking (R-CR-02): the old index or the new, never a mix."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from letters import Letters

from kgqa.ingest.index import build
from kgqa.model.things import Document, Node
from kgqa.protocols import Batch, Pattern
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.sizes import counts

CHILD = Path(__file__).with_name("child_index.py")
OLD, NEW = "abcdefghij", "klmnopqrstuvwxyzabcd"
POINTS = (len(NEW) // 5 + 1) * 8
"""Named points of one write, times writes of the new index: its pages and the flip."""


def say(store: SQLiteStore, version: str, letters: str) -> None:
    """Name ten or twenty nodes by a letter each; the letter tells which index was read."""
    nodes = tuple(Node(f"n{k}", letter * 9) for k, letter in enumerate(letters))
    gone = tuple(d.id for d in store.documents())
    store.write(Batch(source=version, documents=(Document(version, version),), nodes=nodes,
                      delete=gone))  # fmt: skip


def found(store: SQLiteStore) -> list[tuple[str, float]]:
    """Return every vector hit for one text, in one state."""
    with store.view() as reader:
        vector = Letters().embed(["kkkkkkkkk"])[0]
        return [(h.id, round(h.score, 4)) for h in reader.nearest(vector, 99, Pattern())]


def watched(store: SQLiteStore, stop_at: int) -> tuple[int, list[list[tuple[str, float]]]]:
    """Index in a process that dies at a point, four readers asking; return its end, their hits."""
    seen: list[list[tuple[str, float]]] = []
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(store.path), str(stop_at)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )

    def ask() -> None:
        while child.poll() is None:
            seen.append(found(store))
            time.sleep(0.02)

    readers = [threading.Thread(target=ask) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return child.returncode, seen


@pytest.mark.parametrize("points", counts(3, 200))
def test_readers_see_one_index_and_the_next_run_resumes(tmp_path: Path, points: int) -> None:
    chance = random.Random(points)
    killed = 0
    for k in range(points):
        store = SQLiteStore.create(tmp_path / f"{k}.kgqa")
        say(store, "old", OLD)
        build(store, Letters())
        say(store, "new", NEW)
        old = found(store)
        assert len(old) == len(OLD)
        status, seen = watched(store, chance.randrange(1, POINTS))
        assert status in (0, -9)
        killed += status == -9
        seen.append(found(store))
        assert store.verify() == []
        waiting, embedder = store.stats()["pending"], Letters()
        build(store, embedder)
        assert len(embedder.seen) == waiting
        assert (store.stats()["pending"], store.stats()["vectors_hidden"]) == (0, 0)
        new = found(store)
        assert len(new) == len(NEW)
        assert all(hits in (old, new) for hits in seen), f"point {k}"
        store.close()
    assert killed >= points // 2
