"""Ends that stop at read time, against full scans over small lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgqa.model.things import Fact, Recorded, Relation
from kgqa.store.reading import Sibling, Siblings, overridden, stopped
from kgqa.temporal.interval import END, UNDATED, Validity

from .small import term

starts = st.integers(0, 12)


@st.composite
def siblings(draw):
    es = draw(starts)
    ls = es + draw(st.integers(0, 2))
    open_ended = draw(st.booleans())
    ee = END if open_ended else ls + draw(st.integers(1, 6))
    le = END if open_ended else ee + draw(st.integers(0, 2))
    value = draw(st.sampled_from("abcd"))
    return Sibling(es, ls, ee, le, f"{draw(st.integers(0, 99)):02}", value)


def fact(valid: Validity, name: str = "me") -> Fact:
    return Fact(name, "s", "r", "o", valid, Recorded(1))


@given(st.lists(siblings()), siblings(), st.integers(1, 3))
def test_next_value_is_the_nth_distinct_later_one(rows, me, at_most):
    found = Siblings(rows).next_value(fact(term(me.es)), me.value, at_most)
    firsts: dict[str, Sibling] = {}
    for row in rows:
        if row.es > me.es and row.value != me.value:
            firsts[row.value] = min(row, firsts.get(row.value, row))
    later = sorted(firsts.values())
    assert found == (later[at_most - 1] if len(later) >= at_most else None)


@given(st.lists(siblings()), siblings())
def test_stated_end_is_the_earliest_of_those_that_start_alike(rows, me):
    valid = Validity(me.es, me.ls, END, END)
    wanted = None
    for row in rows:
        alike = row.value == me.value and row.es <= me.ls and me.es <= row.ls
        end = (row.ee, row.le)
        if alike and me.es < row.le != END and (wanted is None or end < wanted):
            wanted = end
    assert Siblings(rows).stated_end(fact(valid), me.value) == wanted


def test_overridden_keeps_the_start_and_its_words():
    valid = Validity(5, 9, END, END, "year", None, "1885/..")
    read = overridden(fact(valid), (20, 25))
    assert read.valid.bounds == (5, 9, 20, 25)
    assert (read.valid.start_precision, read.valid.text) == ("year", "")
    assert overridden(read, None) is read


def test_the_earlier_of_two_stops_counts():
    values = Siblings([Sibling(20, 22, END, END, "v", "other")])
    holders = Siblings([Sibling(10, 11, END, END, "h", "t")])
    both = Relation("r", "r", max_objects=1, max_subjects=1)
    me = fact(term(0))
    read = stopped(me, values, holders, both, "o")
    assert (read.valid.bounds, read.ended_by) == ((0, 0, 10, 11), "h")
    read = stopped(me, values, holders, Relation("r", "r", max_objects=1), "o")
    assert (read.valid.bounds, read.ended_by) == ((0, 0, 20, 22), "v")
    assert stopped(me, values, holders, Relation("r", "r", max_objects=2), "o") is me
    assert stopped(me, values, holders, Relation("r", "r"), "o") is me


def test_undated_is_no_start():
    assert not UNDATED.dated
