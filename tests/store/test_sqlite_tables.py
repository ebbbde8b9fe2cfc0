"""The rows of a base in SQLite keep the contract of tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from kgqa.store.schema import MIGRATIONS
from kgqa.store.sqlite_tables import SQLiteTables
from kgqa.store.tables import Tables
from kgqa.testing.contract_tables import Fresh, TablesContract


@contextmanager
def _fresh() -> Iterator[Tables]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript("\n".join(MIGRATIONS))
        yield SQLiteTables(connection)


class TestSQLiteTables(TablesContract):
    @pytest.fixture
    def fresh(self) -> Fresh:
        return _fresh
