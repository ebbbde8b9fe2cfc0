"""Writes that the system cuts short at the n-th byte (R-CR-07): typed errors, nothing half."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.canonical import canonical
from kgqa.testing.sizes import counts

from .small import small

# A limit on the size of files fails the first write beyond it, be it of the base, its log or a
# copy, after a part of it has been written. The child raises the limit byte by byte.
_CHILD = """
import json, pathlib, resource, sys, traceback
sys.path.insert(0, sys.argv[2])
from store.small import small
from kgqa.errors import KGQAError
from kgqa.store.sqlite import SQLiteStore

folder, start, step = pathlib.Path(sys.argv[1]), int(sys.argv[3]), int(sys.argv[4])
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
store = SQLiteStore(folder / "a.kgqa")
def write(n): store.write(small(f"d{n}", n))
def backup(n): store.backup(folder / f"copy{n}")
for name, operation in (("write", write), ("backup", backup)):
    limit = start
    while True:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            operation(limit)
            outcome = "done"
        except KGQAError as error:
            outcome = error.code
        except BaseException:
            outcome = traceback.format_exc()
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        print(json.dumps([name, limit, outcome, store.revision]), flush=True)
        if outcome == "done":
            break
        limit += step
"""
"""Prints [operation, limit, outcome, revision] for each try, until one passes."""


@pytest.mark.parametrize("step", counts(16_384, 700))
def test_every_cut_is_told_and_leaves_the_base_whole(tmp_path: Path, step: int) -> None:
    store = SQLiteStore.create(tmp_path / "a.kgqa")
    store.write(small())
    before, revision = canonical(store), store.revision
    tests = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(tmp_path), tests, "100", str(step)],
        capture_output=True,
        text=True,
        check=True,
    )
    tries = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [t for t in tries if t[2] != "done"]
    assert {t[2] for t in failed} <= {"store.disk_full", "store.io"}, failed
    assert {t[3] for t in failed if t[0] == "write"} == {revision}
    assert [t[2] for t in tries if t not in failed] == ["done", "done"]
    assert len(failed) >= (300 if step < 1000 else 10)
    assert store.verify() == []
    written = tries[[t[0] for t in tries].index("backup") - 1][1]
    expected = SQLiteStore.create(tmp_path / "whole.kgqa")
    for batch in (small(), small(f"d{written}", written)):
        expected.write(batch)
    assert canonical(store) == canonical(expected) != before
    (copy,) = tmp_path.glob("copy*")
    again = SQLiteStore(copy)
    assert canonical(again) == canonical(store)
    for opened in (store, expected, again):
        opened.close()
