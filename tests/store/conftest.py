"""Fixtures of this folder: a path for a base, and an empty base there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.store.sqlite import SQLiteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.kgqa"


@pytest.fixture
def store(path: Path):
    made = SQLiteStore.create(path)
    yield made
    made.close()
