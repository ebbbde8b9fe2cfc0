"""at, timeline, when, diff, snapshot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import offices, town
from small_base import Base, fact, node

from kgqa.errors import InputError, NotFoundError
from kgqa.model.answer import AskOptions, Scope
from kgqa.model.things import Relation
from kgqa.query import history
from kgqa.query.history import Line, NodeLine
from kgqa.query.scope import scope_of


def scoped(base: Base, as_of: str | None = None, **more: str) -> Scope:
    return scope_of(base, AskOptions(as_of=as_of, **more))  # type: ignore[arg-type]


def test_timeline_joins_touching_terms_in_order_of_start() -> None:
    base = Base([fact("a", "led", "x", "1790/1794"), fact("a", "led", "x", "1795/1799"),
                 fact("a", "led", "y", "1780"), fact("b", "knew", "a", "1770/1800")])  # fmt: skip
    found = history.timeline(base, "a", scope=scoped(base))
    assert [line.text for line in found.lines] == [
        "b knew: a, 1770/1800", "a led: y, 1780", "a led: x, 1790/1799",
    ]  # fmt: skip
    assert len(found.lines[2].labels) == 2
    only = history.timeline(base, "a", "Led", scope=scoped(base))
    assert [line.object for line in only.lines] == ["y", "x"]
    assert len(history.timeline(base, "a", scope=scoped(base, "1785")).lines) == 2


def test_at_shows_what_holds_with_names_of_the_time() -> None:
    base = town()
    found = history.at(base, "Altor", scoped(base, "1300"))
    assert found.node == NodeLine("town", "Altor", "city", "1250/.. (as of 1300)")
    assert found.names == (("Altor", "1250/.. (as of 1300)"),)
    assert [line.text for line in found.lines] == [
        "Altor walled: true, -0044/.. (as of 1300)",
        "Altor country: Northland, 1250/.. (as of 1300)",
        "Altor population: 1200, 1300",
    ]
    assert [line.certainty for line in found.lines] == ["definite"] * 3
    assert len(history.at(base, "town", scoped(base)).lines) == len(base.facts)


def test_at_obeys_the_match_policy() -> None:
    base = offices()
    lines = history.at(base, "chair", scoped(base, "1797", as_of_match="start")).lines
    assert [line.subject for line in lines] == ["Ada Moor"]
    assert history.at(base, "chair", scoped(base, "1797", as_of_match="all")).lines == ()


def test_when_gives_coalesced_terms() -> None:
    base = offices()
    found = history.when(
        base, "Ada Moor", "held_office", "Chair of the Council", scope=scoped(base)
    )
    assert [line.valid for line in found.lines] == [
        "1790-04-30/<1797-03-04", "1809-03-04/<1812-05-01",
    ]  # fmt: skip
    assert found.relation == "held office"
    early = history.when(base, "ada", "held office", "chair", scope=scoped(base, "1795"))
    assert [line.valid for line in early.lines] == ["1790-04-30/.. (as of 1795)"]
    never = history.when(base, "eve", "held office", "chair", scope=scoped(base))
    assert never.lines == ()
    assert never.object == "chair"


def test_a_relation_may_be_named_by_a_synonym_and_is_refused_if_nobody_knows_it() -> None:
    base = offices()
    base.relations_ = [
        Relation("held office", "held office", ("served as",)),
        Relation("a", "one", ("both",)),
        Relation("b", "two", ("both",)),
    ]
    asked = history.when(base, "Ada Moor", "Served_As", "Chair of the Council", scope=scoped(base))
    assert len(asked.lines) == 2
    assert history.timeline(base, "ada", "served as", scope=scoped(base)).lines
    for unknown, told in (("eats", "no relation is 'eats';"), ("both", "which a, b are called")):
        with pytest.raises(NotFoundError, match=told):
            history.timeline(base, "ada", unknown, scope=scoped(base))
        early = history.timeline(base, "ada", unknown, scope=scoped(base, "1795"))
        assert early.lines == ()


def test_when_takes_literals() -> None:
    base = town()
    assert (
        history.when(base, "town", "population", "1200", scope=scoped(base)).lines[0].valid
        == "1300"
    )
    assert (
        history.when(base, "town", "walled", "true", scope=scoped(base)).lines[0].object == "true"
    )
    assert history.when(base, "town", "walled", "false", scope=scoped(base)).lines == ()


class TestResolve:
    def test_by_id_label_and_alias(self) -> None:
        base = town()
        assert [history.resolve(base, t) for t in ("town", "node:town", " NEWGATE ", "Altor")] == [
            "town"
        ] * 4

    def test_by_placeholder(self) -> None:
        base = Base([fact("name:rome", "in", "name:italy", None)])
        assert history.resolve(base, "Rome") == "name:rome"
        assert history.resolve(base, "name:italy") == "name:italy"

    def test_unknown(self) -> None:
        with pytest.raises(NotFoundError, match="no node has the name or id 'Xyz'"):
            history.resolve(town(), "Xyz")

    def test_ambiguous(self) -> None:
        base = Base(nodes_=[node("a1", "Ada"), node("a2", "Ada")])
        with pytest.raises(InputError, match="names several nodes: a1, a2"):
            history.resolve(base, "Ada")
        assert history.resolve(base, "a2") == "a2"


def test_snapshot_of_everything_and_of_a_time() -> None:
    base = offices()
    everything = history.snapshot(base, scope=scoped(base))
    assert len(everything.lines) == len(base.facts)
    assert len(everything.nodes) == len(base.nodes_)
    then = history.snapshot(base, scope=scoped(base, "1900"))
    assert [line.subject for line in then.lines] == ["Dorothy Pell", "Dorothy Pell"]
    assert "ada" not in {n.id for n in then.nodes}
    assert len(history.snapshot(base, 1, scope=scoped(base)).lines) == 1


def labels(lines: tuple[Line, ...]) -> set[str]:
    return {label for line in lines for label in line.labels}


years = st.integers(1780, 1830)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), years, st.integers(0, 9))),
    years,
    years,
    st.lists(st.tuples(st.sampled_from("abxy"), years, st.integers(0, 9)), max_size=4),
)
def test_diff_applied_to_one_snapshot_gives_the_other(
    rows: list[tuple[str, str, int, int]], t1: int, t2: int, lives: list[tuple[str, int, int]]
) -> None:
    facts = {f.id: f for s, o, a, n in rows for f in [fact(s, "r", o, f"{a}/{a + n}")]}
    nodes = {i: node(i, i, None, f"{a}/{a + n}") for i, a, n in lives}
    base = Base(list(facts.values()), list(nodes.values()))
    changed = history.diff(base, str(t1), str(t2), scope=scoped(base))
    one, two = (history.snapshot(base, scope=scoped(base, str(t))) for t in (t1, t2))
    assert (labels(one.lines) - labels(changed.gone)) | labels(changed.came) == labels(two.lines)
    assert labels(changed.gone) <= labels(one.lines)
    assert not labels(changed.came) & labels(one.lines)
    ids_1, ids_2 = {n.id for n in one.nodes}, {n.id for n in two.nodes}
    gone, came = ({n.id for n in ns} for ns in (changed.gone_nodes, changed.came_nodes))
    assert (ids_1 - gone) | came == ids_2


def test_diff_of_one_node() -> None:
    base = town()
    found = history.diff(base, "1700", "1800", "Newgate", scope=scoped(base))
    assert [line.object for line in found.gone] == ["Northland"]
    assert [line.object for line in found.came] == ["Southland"]
    assert found.came[0].valid == "1772-09-01/.. (as of 1800)"
    back = history.diff(base, "1800", "1700", "Newgate", scope=scoped(base))
    assert back.came == found.gone
