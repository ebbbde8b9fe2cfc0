"""Allen's relations: all 169 cells of the composition table, on generated intervals."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.temporal import Allen, Interval, allen
from kgqa.testing.data import shared

TABLE = shared("allen", "Linear_Interval_Algebra.json")
SPANS = st.tuples(st.integers(-50, 50), st.integers(1, 20)).map(lambda p: Interval(p[0], sum(p)))


@pytest.mark.skipif(TABLE is None, reason="shared data not found: allen/")
def test_composition_equals_the_table() -> None:
    assert TABLE is not None
    table = json.loads(TABLE.read_text())["TransTable"]
    spans = [Interval(a, b) for a, b in itertools.combinations(range(6), 2)]
    composed: dict[tuple[Allen, Allen], set[Allen]] = defaultdict(set)
    for a, b, c in itertools.product(spans, repeat=3):
        composed[allen(a, b), allen(b, c)].add(allen(a, c))
    assert len(composed) == 169
    for (first, second), found in composed.items():
        cell = table[first.value.upper()][second.value.upper()]
        names = cell.split("|") if isinstance(cell, str) else cell
        assert {name.upper() for name in names} == {r.value.upper() for r in found}


@given(SPANS, SPANS)
def test_the_converse_is_the_relation_seen_from_the_other_side(a: Interval, b: Interval) -> None:
    assert allen(b, a) is allen(a, b).converse


@given(SPANS, SPANS)
def test_exactly_one_relation_holds(a: Interval, b: Interval) -> None:
    naive = {
        Allen.BEFORE: a.end < b.start,
        Allen.AFTER: b.end < a.start,
        Allen.MEETS: a.end == b.start,
        Allen.MET_BY: b.end == a.start,
        Allen.OVERLAPS: a.start < b.start < a.end < b.end,
        Allen.OVERLAPPED_BY: b.start < a.start < b.end < a.end,
        Allen.STARTS: a.start == b.start and a.end < b.end,
        Allen.STARTED_BY: a.start == b.start and a.end > b.end,
        Allen.DURING: b.start < a.start and a.end < b.end,
        Allen.CONTAINS: a.start < b.start and b.end < a.end,
        Allen.FINISHES: a.end == b.end and a.start > b.start,
        Allen.FINISHED_BY: a.end == b.end and a.start < b.start,
        Allen.EQUALS: a == b,
    }
    assert [relation for relation, holds in naive.items() if holds] == [allen(a, b)]
