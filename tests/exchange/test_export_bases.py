"""Random bases out and in again (R-TM-02 f, XT-19): the same base, the same answers."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from kgqa.exchange import export
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.canonical import canonical, difference
from kgqa.testing.generate import base, pattern
from kgqa.testing.sizes import counts


@pytest.mark.parametrize("count", counts(12, 1000))
def test_export_and_import_change_nothing(tmp_path: Path, count: int) -> None:
    for seed in range(count):
        rnd = Random(seed)
        of = base(rnd, nodes=6, facts=12)
        one = SQLiteStore.create(tmp_path / f"{seed}.kgqa")
        for batch in of.batches:
            one.write(batch)
        with one.view() as reader:
            export.write(reader.batches(), str(tmp_path / f"{seed}.jsonl"))
        two = SQLiteStore.create(tmp_path / f"{seed}-again.kgqa")
        for batch in export.read(str(tmp_path / f"{seed}.jsonl"), 2_000):
            two.write(batch)
        assert difference(canonical(one), canonical(two)) == [], f"seed {seed}"
        assert two.verify() == []
        for _ in range(10):
            asked = pattern(rnd, of)
            assert [f.id for f in one.match(asked)] == [f.id for f in two.match(asked)]
        one.close()
        two.close()
        for path in tmp_path.glob(f"{seed}*"):
            path.unlink()
