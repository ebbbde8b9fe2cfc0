"""Fixtures of this folder: new stores. Belongs here: factories. Must not: tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.sqlite import SQLiteStore


@pytest.fixture
def store_factory(tmp_path: Path) -> Callable[[], SQLiteStore]:
    """Return a function that makes new, empty stores in one folder."""
    numbers = count()
    return lambda: SQLiteStore.create(tmp_path / f"{next(numbers)}.kb", {})


@pytest.fixture
def on_server(url: str) -> Iterator[Callable[[], Neo4jStore]]:
    """Return a function that makes new, empty stores on a server, closed at the end."""
    numbers, made = count(), list[Neo4jStore]()

    def make() -> Neo4jStore:
        made.append(Neo4jStore.create(parse(f"{url}-{next(numbers)}"), {}))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def fresh(store_factory: Callable[[], SQLiteStore]) -> Iterator[Callable[[], SQLiteStore]]:
    """Return a function that makes new stores, closed at the end."""
    made: list[SQLiteStore] = []

    def make() -> SQLiteStore:
        made.append(store_factory())
        return made[-1]

    yield make
    for store in made:
        store.close()
