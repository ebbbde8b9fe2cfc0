"""SQLite and Neo4j side by side through one random script: every result is the same."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random

from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.canonical import canonical, difference
from kgqa.testing.twin import Twin

STEPS = 2_000


def test_twins_never_differ(url: str, tmp_path: Path) -> None:
    with (
        closing(SQLiteStore.create(tmp_path / "twin.kb", {})) as one,
        closing(Neo4jStore.create(parse(url), {})) as two,
    ):
        twin = Twin(one, two, Random(1))
        for _ in range(STEPS):
            twin.step()
        assert one.revision > STEPS / 20
        assert difference(canonical(one), canonical(two)) == []
        assert (one.verify(), two.verify()) == ([], [])
