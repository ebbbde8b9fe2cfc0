"""The store contract on SQLite, and what only its files can show."""

from __future__ import annotations

import pytest

from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.contract import StoreContract


class TestSQLite(StoreContract):
    @pytest.fixture
    def reopen(self):
        return lambda store: SQLiteStore(store.path)

    @pytest.fixture
    def peek(self):
        def read(store) -> bytes:
            folder, name = store.path.parent, store.path.name
            return b"".join(p.read_bytes() for p in sorted(folder.glob(name + "*")))

        return read
