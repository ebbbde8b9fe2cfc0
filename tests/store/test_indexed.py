"""The check of the text indexes stands in nobody's way."""

from __future__ import annotations

from contextlib import closing

import pytest

from kgqa.store import files, indexed
from kgqa.store.sqlite import SQLiteStore

from .small import small


def test_others_write_meanwhile_and_the_check_sees_its_own_state(store: SQLiteStore) -> None:
    store.write(small())
    with closing(files.connect(store.path)) as reading:
        reading.execute("BEGIN")
        places = "SELECT count(*) FROM temp.places"
        with indexed._places(reading, "chunk_text"):
            before = reading.execute(places).fetchone()
            assert store.write(small("later")).changed
            assert reading.execute(places).fetchone() == before
        assert list(indexed.compare(reading)) == []
        reading.execute("ROLLBACK")
        assert list(indexed.compare(reading)) == []


def test_a_reading_connection_stays_one(store: SQLiteStore) -> None:
    store.write(small())
    with closing(files.connect(store.path)) as reading:
        with pytest.raises(LookupError), indexed._places(reading, "chunk_text"):
            raise LookupError
        assert reading.execute("PRAGMA query_only").fetchone() == (1,)
        assert reading.execute("SELECT name FROM temp.sqlite_schema").fetchall() == []
