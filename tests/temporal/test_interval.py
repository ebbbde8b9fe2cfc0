"""Intervals and validities against naive definitions over small integers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.errors import InputError
from kgqa.temporal import ALWAYS, BEGIN, END, UNBOUNDED, UNDATED, Interval, Validity, merge

SPANS = st.tuples(st.integers(-20, 20), st.integers(1, 15)).map(lambda p: Interval(p[0], sum(p)))
MATCHES = st.sampled_from(["overlaps", "start", "end", "all"])


@st.composite
def validities(draw: st.DrawFn) -> Validity:
    es, ls = sorted((draw(st.integers(-20, 20)), draw(st.integers(-20, 20))))
    ee, le = sorted((draw(st.integers(-20, 20)), draw(st.integers(-20, 20))))
    if es >= le:
        return Validity(es, ls, ls + 1, ls + 5)
    return Validity(es, ls, ee, le)


def worlds(validity: Validity) -> list[Interval]:
    """Every certain interval that the bounds allow."""
    return [
        Interval(start, end)
        for start in range(validity.es, validity.ls + 1)
        for end in range(validity.ee, validity.le + 1)
        if start < end
    ]


@given(SPANS, SPANS)
def test_overlap_and_intersection(a: Interval, b: Interval) -> None:
    shared = {t for t in range(-40, 60) if t in a and t in b}
    assert a.overlaps(b) == bool(shared)
    both = a.intersect(b)
    assert (set(range(both.start, both.end)) if both else set()) == shared


@given(validities(), SPANS)
def test_possible_and_definite_are_some_and_all_worlds(validity: Validity, span: Interval) -> None:
    possible = [world.overlaps(span) for world in worlds(validity)]
    assert validity.possible(span) == any(possible)
    if validity.definite(span):
        assert all(possible)
        assert validity.certainty(span) == "definite"
    covers = [w.start <= span.start and w.end >= span.end for w in worlds(validity)]
    assert validity.covers_possibly(span) == any(covers)
    if validity.covers_definitely(span):
        assert all(covers)


@given(validities(), SPANS, MATCHES)
def test_match_policies(validity: Validity, span: Interval, match: str) -> None:
    part = {
        "overlaps": span,
        "start": Interval(span.start, span.start + 1),
        "end": Interval(span.end - 1, span.end),
        "all": span,
    }[match]
    naive = validity.covers_possibly(part) if match == "all" else validity.possible(part)
    assert validity.matches(span, match) == naive  # type: ignore[arg-type]
    sure = validity.covers_definitely(part) if match == "all" else validity.definite(part)
    assert (validity.certainty(span, match) == "definite") == sure  # type: ignore[arg-type]


@given(validities())
def test_hull_and_core(validity: Validity) -> None:
    assert validity.hull == Interval(validity.es, validity.le)
    certain = {t for t in range(-40, 60) if validity.ls <= t < validity.ee}
    core = validity.core
    assert (set(range(core.start, core.end)) if core else set()) == certain


@given(validities(), st.integers(-20, 40))
def test_cut_hides_every_later_end(validity: Validity, end: int) -> None:
    seen = validity.cut(end)
    if validity.le < end or (validity.le == end and validity.ee < end):
        assert seen == validity
    else:
        assert seen.end_open
        assert (seen.es, seen.ls) == (validity.es, validity.ls)


@given(st.lists(SPANS, max_size=8))
def test_merge_is_the_union(spans: list[Interval]) -> None:
    merged = list(merge(spans))
    points = {t for span in spans for t in range(span.start, span.end)}
    assert {t for span in merged for t in range(span.start, span.end)} == points
    assert all(a.end < b.start for a, b in pairwise(merged))


def test_open_and_unknown_ends() -> None:
    assert UNBOUNDED.start_open
    assert UNBOUNDED.end_open
    assert not UNDATED.dated
    assert UNBOUNDED.dated
    assert UNDATED.start_unknown
    assert UNDATED.end_unknown
    assert UNBOUNDED.matches(ALWAYS, "start")
    assert UNBOUNDED.matches(ALWAYS, "end")
    assert UNDATED.core is None
    assert Validity(0, 0, END, END).end_open
    assert Validity(BEGIN, 3, 9, 9).start_unknown


@pytest.mark.parametrize("bounds", [(5, 5, 5, 5), (5, 4, 9, 9), (0, 0, 9, 8), (9, 9, 1, 2)])
def test_impossible_bounds_are_refused(bounds: tuple[int, int, int, int]) -> None:
    with pytest.raises(InputError) as caught:
        Validity(*bounds)
    assert caught.value.code == "time.inverted"


def test_an_interval_is_never_empty() -> None:
    with pytest.raises(InputError):
        Interval(3, 3)
