"""The choice between ways: one condition for every pattern, costs that grow as they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.protocols import Pattern
from kgqa.store.neo4j.nearby import ALWAYS, Held, Span
from kgqa.temporal.interval import BEGIN, END, UNDATED, Interval, Validity

bounds = st.integers(-6, 6) | st.sampled_from([BEGIN, BEGIN + 1, END - 1, END])
pairs = st.tuples(bounds, bounds).filter(lambda pair: pair[0] < pair[1])
spans = pairs.map(lambda pair: Interval(*pair))
terms = pairs.map(lambda pair: Validity(pair[0], pair[0], pair[1], pair[1])) | st.just(UNDATED)
patterns = st.builds(
    Pattern,
    valid=st.none() | spans,
    match=st.sampled_from(["overlaps", "start", "end", "all"]),
    begun_before=st.none() | st.integers(-6, 6),
)


@given(patterns, terms)
def test_a_span_says_what_a_pattern_asks(pattern, term):
    span = Span.of(pattern)
    asked = (pattern.valid is None or term.matches(pattern.valid, pattern.match)) and (
        pattern.begun_before is None or term.es < pattern.begun_before
    )
    assert (term.es < span.below and term.le > span.above) == asked


@given(st.integers(BEGIN, END), st.integers(BEGIN, END), st.integers(BEGIN, END))
def test_a_wider_span_loses_nothing_to_doubles(es, below, above):
    latest, earliest = Span(below, above).widened()
    assert earliest >= BEGIN
    assert latest <= END
    assert not es < below or float(es) <= float(latest)
    assert not es > above or float(es) >= float(earliest)


def held(count: int, share: float) -> Held:
    """Return a base of which a share holds at 0, the rest later."""
    starts = np.where(np.arange(count) < share * count, -1, 5)
    return Held(384, 1, count, {"chunk": (starts, np.full(count, 9))})


@pytest.mark.parametrize(
    ("share", "cypher25", "way"),
    [
        (0.001, True, "exact"), (0.01, True, "search"), (0.1, True, "search"),
        (0.5, True, "query"), (1.0, True, "query"),
        (0.001, False, "exact"), (0.01, False, "exact"), (0.05, False, "query"),
        (1.0, False, "query"),
    ],
)  # fmt: skip
def test_few_are_compared_one_by_one(share, cypher25, way):
    plan = held(50_000, share).plan("chunk", Span(1, -1), 10, cypher25)
    assert plan.way == way
    assert (plan.held, plan.total) == (50_000 * share, 50_000)


def test_an_index_without_filter_is_asked_for_more():
    base = held(50_000, 0.1)
    assert base.plan("chunk", Span(1, -1), 10, False).limit == 530
    assert held(50_000, 0.5).plan("chunk", Span(1, -1), 10, False).limit == 90
    assert base.plan("chunk", Span(1, -1), 10, True).limit == 30
    assert base.plan("chunk", Span(1, -1), 100, True).limit == 300


def test_an_index_that_must_give_all_is_not_asked():
    assert held(50_000, 0.1).plan("chunk", Span(1, -1), 4_000, True).way == "exact"
    assert held(50_000, 1.0).plan("chunk", Span(1, -1), 40_000, False).way == "exact"


def test_the_shorter_side_is_read():
    starts, ends = np.arange(1000), np.arange(1000) + 10
    base = Held(3, 1, 1000, {"chunk": (starts, ends)})
    assert not base.plan("chunk", Span(11, 10), 5, True).by_end
    assert base.plan("chunk", Span(991, 990), 5, True).by_end
    nothing = base.plan("node", ALWAYS, 5, True)
    assert (nothing.way, nothing.held, nothing.total) == ("exact", 0, 0)
