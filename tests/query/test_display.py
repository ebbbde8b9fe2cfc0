"""Names, validities and sources as they may be shown."""

from __future__ import annotations

import pytest
from samples import offices, town
from small_base import Base, chunk, fact, node, term

from kgqa.model.answer import AskOptions, Scope
from kgqa.model.things import Fact, Literal, Node
from kgqa.query.display import Display
from kgqa.query.scope import asking, scope_of
from kgqa.temporal import parse_instant_span


def scoped(base: Base, as_of: str | None = None, time: str | None = None) -> Scope:
    scope = scope_of(base, AskOptions(as_of=as_of))
    if time:
        found = asking(scope, parse_instant_span(time), time)
        assert found is not None
        return found
    return scope


@pytest.mark.parametrize(
    ("as_of", "time", "label"),
    [
        (None, None, "Newgate"),
        ("1300", None, "Altor"),
        ("1772-08-31", None, "Altor"),
        ("1772-09-01", None, "Neuburg"),
        ("1915", None, "Neuburg"),
        ("1919", None, "Neuburg"),
        ("1950", None, "Newgate"),
        (None, "1300", "Altor"),
        ("1950", "1300", "Altor"),
        ("1200", None, "town"),
    ],
)
def test_names_are_those_valid_at_the_time_asked(
    as_of: str | None, time: str | None, label: str
) -> None:
    base = town()
    assert Display(base, scoped(base, as_of, time)).label("town") == label


def test_undated_main_label_yields_to_a_dated_name_but_not_to_an_undated_one() -> None:
    base = Base(nodes_=[
        node("a", "Istanbul", "city", None, Constantinople="0330/1930"),
        node("b", "Robert", "person", None, Bob=None),
    ])  # fmt: skip
    display = Display(base, scoped(base, "1453"))
    assert display.label("a") == "Constantinople"
    assert display.label("b") == "Robert"
    assert Display(base, scoped(base, "1950")).label("a") == "Istanbul"


def test_literals_and_unknown_nodes_as_text() -> None:
    display = Display(Base(), scoped(Base()))
    assert display.label(Literal(True)) == "true"
    assert display.label(Literal(12)) == "12"
    assert display.label(Literal(1.5)) == "1.5"
    assert display.label("name:rome") == "rome"


def test_every_open_end_looks_the_same_under_as_of() -> None:
    """An end that is known by now must not differ from one that is not."""
    base = offices()
    display = Display(base, scoped(base, "1798"))
    shown = {display.valid(term(t)) for t in ("1797/<1801", "1797/..", "1797/", "1797/1799")}
    assert shown == {"1797/.. (as of 1798)"}
    assert display.valid(term("1790/1795")) == "1790/1795"
    assert display.valid(term(None)) == "undated"
    assert Display(base, scoped(base, "1798"), whole=True).valid(term("1797/<1801")) == "1797/<1801"


def test_facts_in_words() -> None:
    base = town()
    display = Display(base, scoped(base, "1800"))
    assert display.fact(base.facts[1]) == ("Neuburg country: Southland, 1772-09-01/.. (as of 1800)")


def test_evidence_is_cut_at_the_horizon() -> None:
    base = offices()
    display = Display(base, scoped(base, "1798"))
    stopped = Fact(**{s: getattr(base.facts[2], s) for s in Fact.__slots__} | {"ended_by": "later"})
    shown = display.evidence(stopped, stopped.valid, "definite")
    assert isinstance(shown.item, Fact)
    assert shown.item.valid.end_open
    assert shown.item.ended_by is None
    assert shown.valid.end_open
    passage = display.evidence(base.chunks_[0], term(None), "possible")
    assert "1815" not in passage.text
    assert "1815" not in passage.item.text  # type: ignore[union-attr]
    assert passage.flags == ("undated",)
    place = town()
    shown_node = Display(place, scoped(place, "1300")).evidence(
        place.nodes_[0], term("1250/.."), "definite"
    )
    assert isinstance(shown_node.item, Node)
    assert [a.label for a in shown_node.item.aliases] == ["Altor"]
    assert shown_node.item.label == "Altor"
    assert shown_node.text == "Altor (city) 1250/.. (as of 1300)"


def test_citations_say_when_how_exactly_and_where_from() -> None:
    base = offices()
    display = Display(base, scoped(base))
    found = display.citations([
        display.evidence(base.facts[0], base.facts[0].valid, "definite"),
        display.evidence(base.chunks_[0], term(None), "possible"),
        display.evidence(base.nodes_[0], term("1750/1821"), "definite"),
    ])  # fmt: skip
    fact_, passage, person = found
    assert [c.number for c in found] == [1, 2, 3]
    assert fact_.valid == "1790-04-30/<1797-03-04"
    assert fact_.time == {
        "calendar": "gregorian", "recorded": 1, "start_precision": "day", "end_precision": "day",
    }  # fmt: skip
    assert fact_.sources[0]["path"] == "history.md"
    assert fact_.sources[0]["line"] == 1
    assert passage.sources[0]["section"] == ["Works", "Lighthouse"]
    assert passage.sources[0]["startOffset"] == 0
    assert person.sources == ()


def test_pages_are_text() -> None:
    one = chunk("p", "text")
    base = Base(chunks_=[one])
    display = Display(base, scoped(base))
    for pages, text in (((3, 3), "3"), ((12, 13), "12-13")):
        item = type(one)(**{s: getattr(one, s) for s in type(one).__slots__} | {"pages": pages})
        found = display.citations([display.evidence(item, item.validity, "possible")])
        assert found[0].sources[0]["pages"] == text


def test_existence_is_noted_beside_the_answer() -> None:
    base = offices()
    display = Display(base, scoped(base, None, "1900"))
    item = display.item("ada", [term("1790/1795")], "definite")
    assert item.note == "existed 1750/1821"
    assert display.item("ben", [term("1790/1795")], "definite").note is None
    assert display.choice("ada").valid == "1750/1821"
    assert display.choice("nobody").label == "nobody"


def test_a_document_that_is_gone_still_has_its_id() -> None:
    base = Base([fact("a", "r", "b", "1900")])
    base.document = type(base.document)("other", "x")
    display = Display(base, scoped(base))
    found = display.citations([display.evidence(base.facts[0], base.facts[0].valid, "definite")])
    assert found[0].sources[0]["document"] == "d1"
    assert "path" not in found[0].sources[0]
