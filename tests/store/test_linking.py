"""What names mean and what rows say together: the same in any order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kgqa.model.things import Alias
from kgqa.store.linking import Bearer, Resolution, Statement, derive, label_rank, resolve, united
from kgqa.temporal.interval import UNDATED, Interval, Validity

from .small import term


def same(node: str) -> str:
    return node


def bearer(node: str, *kinds: str) -> Bearer:
    return Bearer(node, frozenset(kinds))


def test_one_bearer_is_meant():
    assert resolve("rome", "", [bearer("q1")], same) == Resolution("q1", False)
    assert resolve("rome", "", [bearer("q1"), bearer("q1")], same) == Resolution("q1", False)


def test_none_or_several_is_the_placeholder():
    assert resolve("rome", "", [], same) == Resolution("name:rome", False)
    two = [bearer("q1", "city"), bearer("q2", "ship")]
    assert resolve("rome", "", two, same) == Resolution("name:rome", True)


def test_kind_settles_it():
    two = [bearer("q1", "city", "capital"), bearer("q2", "ship")]
    assert resolve("rome", "ship", two, same) == Resolution("q2", False)
    assert resolve("rome", "capital", two, same) == Resolution("q1", False)
    assert resolve("rome", "person", two, same) == Resolution("name:rome", False)


def test_merged_placeholder_is_settled():
    two = [bearer("q1"), bearer("q2")]
    merged = {"name:rome": "q1"}
    assert resolve("rome", "", two, lambda n: merged.get(n, n)) == Resolution("q1", False)


def test_labels_are_ranked():
    labels = ["rome", "ROME", "Rome", "Roma"]
    assert sorted(labels, key=label_rank) == ["Roma", "Rome", "ROME", "rome"]


def test_nothing_said_is_no_node():
    assert derive("q1", []) is None


def test_rows_before_ids_before_names():
    found = derive(
        "q1",
        [
            Statement(2, "name:x", "A Mixed One", "ship"),
            Statement(1, "q1", "Washington", "town"),
            Statement(0, "q1", "george washington", "", (Alias("GW"),), (), {"a": 1}, "d2"),
            Statement(0, "q1", "George Washington", "person", (), (), {"a": 2, "b": 3}, "d1"),
        ],
    )  # fmt: skip
    assert found is not None
    assert (found.node.label, found.node.kind) == ("George Washington", "person")
    assert found.node.declared
    assert {a.label for a in found.node.aliases} == {
        "GW", "Washington", "george washington", "A Mixed One",
    }  # fmt: skip
    assert found.node.properties == {"a": 2, "b": 3}
    assert found.own == {"gw", "washington", "george washington"}
    assert found.kinds == {"person", "town"}


def test_own_label_before_that_of_a_merged_one():
    found = derive("q2", [Statement(0, "q1", "Aaa"), Statement(0, "q2", "zzz")])
    assert found is not None
    assert found.node.label == "zzz"
    assert [a.label for a in found.node.aliases] == ["Aaa"]


def test_mere_names_declare_nothing():
    found = derive("name:x", [Statement(2, "name:x", "X", "ship")])
    assert found is not None
    assert (found.node.declared, found.node.kind, found.own, found.kinds) == (
        False, "ship", frozenset(), frozenset(),
    )  # fmt: skip


terms = st.builds(
    lambda s, a, b, c: Validity(s, s + a, s + a + b, s + a + b + c),
    st.integers(-20, 20), st.integers(0, 3), st.integers(1, 9), st.integers(0, 3),
)  # fmt: skip
statements = st.builds(
    Statement,
    st.integers(0, 2),
    st.sampled_from(["q1", "q2"]),
    st.sampled_from(["Ada", "ADA", "ada", "Ida"]),
    st.sampled_from(["", "person", "ship"]),
    st.lists(st.builds(Alias, st.sampled_from(["A", "B"]), terms), max_size=2).map(tuple),
    st.lists(terms, max_size=3).map(tuple),
    st.dictionaries(st.sampled_from("xy"), st.integers(0, 3)),
    st.sampled_from(["d1", "d2"]),
)


@given(st.lists(statements, unique_by=lambda s: (s.id, s.source)).flatmap(
    lambda said: st.tuples(st.just(said), st.permutations(said))
))  # fmt: skip
def test_order_of_rows_leaves_no_trace(both):
    said, shuffled = both
    assert derive("q1", said) == derive("q1", shuffled)


@given(st.lists(terms), st.integers(-25, 60))
def test_united_terms_hold_when_any_did(said, t):
    found = united(said)
    now = Interval(t, t + 1)
    assert any(v.possible(now) for v in said) == any(v.possible(now) for v in found)
    assert all(a.le < b.es for a, b in pairwise(found))
    assert list(found) == sorted(found, key=lambda v: v.bounds)
    assert united(found) == found


def test_united_swallows_the_undated():
    assert united([UNDATED, term(1, 2)])[0].hull == UNDATED.hull
