"""Sums tell rows apart by value, type and border, and follow a row's recorded time."""

from __future__ import annotations

import sqlite3
from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from kgqa.store import sums
from kgqa.store.schema import MIGRATIONS
from kgqa.temporal.interval import END

VALUES = st.lists(
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=9) | st.binary(max_size=9),
    max_size=4,
)


@given(VALUES, VALUES)
def test_equal_sums_are_equal_rows(one: list[object], two: list[object]) -> None:
    assert (sums.of(one) == sums.of(two)) == (one == two)


@given(st.text(min_size=1, max_size=200), st.data())
def test_one_flipped_bit_is_seen(text: str, data: st.DataObject) -> None:
    raw = bytearray(text.encode("utf-8", "replace"))
    at = data.draw(st.integers(0, len(raw) * 8 - 1))
    before = sums.of([bytes(raw)])
    raw[at // 8] ^= 1 << at % 8
    assert sums.of([bytes(raw)]) != before


def test_sums_are_the_same_everywhere() -> None:
    written = rb"(1, 'Zo\xeb\U0001fae8', None, 0.5, b'\xff')"
    assert sums.of((1, "Zoë\U0001fae8", None, 0.5, b"\xff")) == crc32(written)


def test_closing_and_opening_again_keep_the_sum() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(MIGRATIONS[0])
    row = ("a", "b")
    db.execute("INSERT INTO merges VALUES (1, 'a', 'b', 3, ?, ?)", (END, sums.current(row, 3)))
    for sql, revision in ((sums.until, 5), (sums.until, END), (sums.since, 2), (sums.until, 9)):
        db.execute(sql("merges"), (revision, 1))
        assert list(sums.differing(db)) == []
    assert db.execute("SELECT * FROM merges").fetchone()[1:5] == ("a", "b", 2, 9)
    db.execute("UPDATE merges SET recorded_to = 8")
    assert list(sums.differing(db)) == [("merges", "1")]
