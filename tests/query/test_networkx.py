"""The snapshot for users as a networkx graph."""

from __future__ import annotations

from samples import offices, town

from kgqa.model.answer import AskOptions
from kgqa.query.graph import to_networkx
from kgqa.query.scope import scope_of


def test_what_holds_becomes_edges() -> None:
    base = offices()
    graph = to_networkx(base, scope_of(base, AskOptions(as_of="1798")))
    held = {
        (s, d["relation"], o)
        for s, o, d in graph.edges(data=True)
        if d["relation"] == "held office"
    }
    assert held == {("ben", "held office", "chair"), ("cyr", "held office", "deputy")}
    assert graph.nodes["ben"] == {"label": "Ben Nash", "kind": "person", "existence": None}
    assert all("(as of 1798)" in d["valid"] for _, _, d in graph.edges(data=True)
               if d["relation"] == "held office")  # fmt: skip


def test_everything_with_literals_and_the_match_policy() -> None:
    base = town()
    graph = to_networkx(base, scope_of(base, AskOptions()))
    assert graph.number_of_edges() == len(base.facts)
    assert graph.nodes["i:1200"]["kind"] == "literal"
    assert graph.nodes["i:1200"]["label"] == "1200"
    strict = scope_of(base, AskOptions(as_of="1772", as_of_match="all"))
    assert ("town", "north") not in set(to_networkx(base, strict).edges())
