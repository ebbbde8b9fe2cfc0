"""The temporal operators against obvious code, over generated terms."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_base import fact

from kgqa.model.ids import fact_id, object_token
from kgqa.model.things import Fact, Literal, Recorded
from kgqa.query import operators as op
from kgqa.query.operators import Term, coalesce
from kgqa.temporal.interval import BEGIN, END, Interval, Validity

STEP = st.integers(-6, 12)


@st.composite
def validities(draw: st.DrawFn) -> Validity:
    """Terms with equal, adjacent, coarse, open and unknown ends, all close together."""
    es = draw(STEP)
    ls = es + draw(st.sampled_from([0, 0, 0, 1, 3]))
    length = draw(st.integers(1, 6))
    ee = es + length
    le = max(ee, ls + 1) + draw(st.sampled_from([0, 0, 0, 1, 2]))
    shape = draw(st.sampled_from(["closed"] * 6 + ["open", "unknown", "begin", "undated"]))
    if shape == "open":
        return Validity(es, ls, END, END)
    if shape == "unknown":
        return Validity(es, ls, ls + 1, END)
    if shape == "begin":
        return Validity(BEGIN, BEGIN, ee, le)
    if shape == "undated":
        return Validity(BEGIN, END - 1, BEGIN + 1, END)
    return Validity(es, ls, ee, le)


@st.composite
def facts(draw: st.DrawFn) -> list[Fact]:
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", Literal(1)]), validities()),
            max_size=10,
        )
    )
    made = [
        Fact(fact_id(s, "r", object_token(o), v), s, "r", o, v, Recorded(1)) for s, o, v in rows
    ]
    return list({f.id: f for f in made}.values())


spans = st.tuples(STEP, st.integers(1, 5)).map(lambda p: Interval(p[0], p[0] + p[1]))


def reach(v: Validity) -> tuple[int, int]:
    start = v.ls if v.es == BEGIN and v.ls != BEGIN else v.es
    end = v.ee if v.le == END and v.ee != END else v.le
    return start, end


@given(facts())
def test_coalesce_joins_exactly_what_touches(found: list[Fact]) -> None:
    """Connected components of "touches", by brute force."""
    groups = [{f.id} for f in found]
    by_id = {f.id: f for f in found}

    def touch(a: Fact, b: Fact) -> bool:
        same = (a.subject, object_token(a.object)) == (b.subject, object_token(b.object))
        (s1, e1), (s2, _) = sorted([reach(a.valid), reach(b.valid)])
        return same and s2 <= max(e1, s1)

    changed = True
    while changed:
        changed = False
        for g, h in itertools.combinations(groups, 2):
            if any(touch(by_id[i], by_id[j]) for i in g for j in h):
                groups = [x for x in groups if x not in (g, h)] + [g | h]
                changed = True
                break
    terms = coalesce(found)
    assert sorted(map(sorted, groups)) == sorted(sorted(f.id for f in t.facts) for t in terms)
    for t in terms:
        valids = [f.valid for f in t.facts]
        assert t.valid.es == min(v.es for v in valids)
        assert t.valid.ls == min(v.ls for v in valids)
        assert t.valid.ee == max(v.ee for v in valids)
        assert t.valid.le == max(v.le for v in valids)


@given(facts(), st.randoms(use_true_random=False))
def test_coalesce_ignores_order(found: list[Fact], random: object) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert coalesce(shuffled) == coalesce(found)


@given(facts(), spans)
def test_at_is_what_some_fact_says(found: list[Fact], span: Interval) -> None:
    chosen = op.at(coalesce(found), span)
    said = {(f.subject, object_token(f.object)) for f in found if f.valid.possible(span)}
    assert {(t.subject, object_token(t.object)) for t in chosen} >= said
    for t in chosen:
        sure = any(f.valid.definite(span) for f in t.facts)
        assert t.certainty == ("definite" if sure else "possible")
        assert t.valid.es < span.end
        assert t.valid.le > span.start
    assert op.during(coalesce(found), span) == chosen


@given(facts(), spans)
def test_at_all_wants_the_whole_span(found: list[Fact], span: Interval) -> None:
    terms = coalesce(found)
    chosen = op.at(terms, span, "all")
    expected = [t for t in terms if t.valid.es <= span.start and t.valid.le >= span.end]
    assert [t.facts for t in chosen] == [t.facts for t in expected]


@given(facts(), spans, spans)
def test_between_includes_both_granules(found: list[Fact], a: Interval, b: Interval) -> None:
    first, last = sorted([a, b], key=lambda s: (s.start, s.end))
    chosen = op.between(coalesce(found), first, Interval(last.start, max(last.end, first.end)))
    hull = Interval(first.start, max(last.end, first.end))
    assert chosen == op.at(coalesce(found), hull)


@given(facts(), STEP)
def test_before_and_after_compare_starts(found: list[Fact], t: int) -> None:
    terms = coalesce(found)
    before, after = op.before(terms, t), op.after(terms, t)
    assert [x.facts for x in before] == [x.facts for x in terms if x.valid.es < t]
    for x in before:
        assert (x.certainty == "definite") == (x.valid.ls < t)
    kept = [x for x in terms if x.valid.ls >= t and not x.valid.start_unknown]
    assert [x.facts for x in after] == [x.facts for x in kept]
    for x in after:
        assert (x.certainty == "definite") == (x.valid.es >= t)


def naive_nth(terms: list[Term], n: int) -> set[tuple[str, ...]]:
    starts = sorted({t.valid.es for t in terms})
    if not 1 <= n <= len(starts):
        return set()
    return {tuple(f.id for f in t.facts) for t in terms if t.valid.es == starts[n - 1]}


def ids(terms: list[Term]) -> set[tuple[str, ...]]:
    return {tuple(f.id for f in t.facts) for t in terms}


@given(facts(), st.integers(1, 5), STEP)
def test_order_operators_count_distinct_starts(found: list[Fact], n: int, t: int) -> None:
    terms = coalesce(found)
    many = len({x.valid.es for x in terms})
    assert ids(op.first(terms)) == naive_nth(terms, 1)
    assert ids(op.nth(terms, n)) == naive_nth(terms, n)
    assert ids(op.last(terms, n)) == naive_nth(terms, many - n + 1)
    later = [x for x in terms if x.valid.es > t]
    assert ids(op.next_(terms, t, n)) == naive_nth(later, n)
    earlier = [x for x in terms if x.valid.es < t]
    count = len({x.valid.es for x in earlier})
    assert ids(op.previous(terms, t, n)) == naive_nth(earlier, count - n + 1)


@given(facts())
def test_first_is_definite_only_if_no_other_may_start_earlier(found: list[Fact]) -> None:
    terms = coalesce(found)
    for t in op.first(terms):
        rivals = [x for x in terms if x.valid.es != t.valid.es]
        group = [x for x in terms if x.valid.es == t.valid.es]
        sure = all(x.valid.ls < r.valid.es for x in group for r in rivals)
        assert (t.certainty == "definite") == sure


@given(facts())
def test_count_is_of_values_or_terms(found: list[Fact]) -> None:
    terms = coalesce(found)
    assert op.count(terms, "subject") == len({f.subject for f in found})
    assert op.count(terms, "object") == len({object_token(f.object) for f in found})
    assert op.count(terms, "terms") == len(terms)


@given(facts(), facts())
def test_overlapping_is_pairwise(found: list[Fact], others: list[Fact]) -> None:
    terms, beside = coalesce(found), coalesce(others)
    chosen = op.overlapping(terms, beside)

    def shares(t: Term, o: Term) -> bool:
        return max(t.valid.es, o.valid.es) < min(t.valid.le, o.valid.le)

    assert ids(chosen) == ids([t for t in terms if any(shares(t, o) for o in beside)])
    for t in chosen:
        sure = any(t.valid.ls < o.valid.ee and o.valid.ls < t.valid.ee for o in beside
                   if shares(t, o))  # fmt: skip
        assert (t.certainty == "definite") == sure


@pytest.mark.parametrize(
    ("first", "second", "terms"),
    [
        ("1885-03-04/<1889-03-04", "1889-03-04/<1893-03-04", 1),
        ("1885-03-04/<1889-03-04", "1889-03-05/<1893-03-04", 2),
        ("1914/1916", "1917/1918", 1),
        ("1914/1916", "1918/1919", 2),
        ("-0001/-0001", "0001/0001", 1),
        ("1990/", "2000/2005", 2),
        ("1990/..", "2000/2005", 1),
    ],
)
def test_touching_by_hand(first: str, second: str, terms: int) -> None:
    found = [fact("a", "held", "x", first), fact("a", "held", "x", second)]
    assert len(coalesce(found)) == terms


def test_cleveland_is_one_person_and_two_terms() -> None:
    found = [
        fact("gc", "held", "p", "1885-03-04/<1889-03-04"),
        fact("bh", "held", "p", "1889-03-04/<1893-03-04"),
        fact("gc", "held", "p", "1893-03-04/<1897-03-04"),
    ]
    terms = coalesce(found)
    assert op.count(terms, "subject") == 2
    assert op.count(terms, "terms") == 3
    assert [t.subject for t in op.timeline(terms)] == ["gc", "bh", "gc"]
