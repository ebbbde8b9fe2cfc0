"""kill -9 while loading: nothing acknowledged is lost, nothing is half, the next load finishes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.ingest import pipeline
from kgqa.ingest.pipeline import LoadPlan, load
from kgqa.protocols import Pattern
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.canonical import Dump, canonical
from kgqa.testing.sizes import counts

CHILD = Path(__file__).with_name("child_load.py")
_ALL = Pattern(order="id")
ROWS = 150
POINTS = 8 * 7
"""Named points of one write, times writes of the table below (one more than it fills)."""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "facts.jsonl"
    lines = [
        json.dumps({"subject": f"P{k % 7}", "relation": "held", "object": f"O{k}", "start": "1990"})
        for k in range(ROWS)
    ]
    lines[70] = '{"subject": "broken"}'
    lines[3] = json.dumps({"label": "P1", "id": "p1", "kind": "person"})
    path.write_text("\n".join(lines))
    return path


def run(base: Path, stop_at: int, *paths: Path) -> int:
    done = subprocess.run(
        [sys.executable, str(CHILD), str(base), str(stop_at), *map(str, paths)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode in (0, -9), done.stderr.decode()
    return done.returncode


def dump(base: Path) -> tuple[Dump, list[str]]:
    store = SQLiteStore(base)
    assert store.verify() == []
    found = canonical(store), sorted(f.unit for f in store.failures())
    store.close()
    return found


def new(path: Path) -> Path:
    SQLiteStore.create(path).close()
    return path


@pytest.mark.parametrize("points", counts(37, 200))
def test_a_killed_table_is_finished_by_the_next_load(
    table: Path, tmp_path: Path, points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = new(tmp_path / "whole.kgqa")
    assert run(undisturbed, 0, table) == 0
    expected = dump(undisturbed)
    assert len(expected[0]["facts"]) == ROWS - 2
    chance = random.Random(5)
    monkeypatch.setattr(pipeline, "BATCH_ROWS", 20)
    killed = 0
    for k in range(points):
        base = new(tmp_path / f"{k}.kgqa")
        killed += run(base, chance.randrange(1, POINTS), table) == -9
        store = SQLiteStore(base)
        assert store.verify() == []
        lines = {s.line for f in store.match(_ALL) for s in f.sources} | {4, 71}
        reached = store.meta()
        marker = next((v for key, v in reached.items() if key.startswith("load:")), None)
        if store.documents():
            # whole batches only: every row before the marker, none after it
            assert max(lines - {71}) <= (marker or ROWS)
            assert set(range(1, (marker or ROWS) + 1)) <= lines
        load(store, LoadPlan(paths=(table,)))
        store.close()
        assert dump(base) == expected
    assert killed >= points // 2


@pytest.mark.parametrize("points", counts(3, 40))
def test_a_killed_document_is_whole_or_not_there(tmp_path: Path, points: int) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for k in range(3):
        (folder / f"{k}.txt").write_text(f"Peter Hill was mayor of Oslo in 19{k}0. " * 3)
    undisturbed = new(tmp_path / "whole.kgqa")
    assert run(undisturbed, 0, folder) == 0
    expected = dump(undisturbed)
    assert len(expected[0]["documents"]) == 3
    chance = random.Random(9)
    for k in range(points):
        base = new(tmp_path / f"{k}.kgqa")
        run(base, chance.randrange(2, 24), folder)
        partial, _ = dump(base)
        for kind in ("documents", "chunks"):
            assert partial[kind].items() <= expected[0][kind].items()
        assert {c["document"] for c in partial["chunks"].values()} == set(partial["documents"])
        run(base, 0, folder)
        assert dump(base) == expected
