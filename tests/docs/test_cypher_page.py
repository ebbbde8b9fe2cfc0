"""docs/cypher.md: each statement answers on both servers as kgqa does; the files are as told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from favourites import FILE, files, packed, title
from page_blocks import blocks, page
from people import example_base

from kgqa.kbase import KBase
from kgqa.model.answer import AskOptions
from kgqa.surfaces.cli import run
from kgqa.temporal import parse_as_of
from kgqa.temporal.interval import BEGIN, END
from kgqa.testing.servers import Neo4jServer

PAGE = page("docs/cypher.md")
STATEMENTS = {title(text): text for text in blocks(PAGE, "cypher")}
T = parse_as_of("1990-06-01").span.start
LATER = parse_as_of("2005-06-01").span.start


@dataclass(frozen=True)
class Served:
    """Hold the example base on a server, and a driver."""

    url: str
    kb: KBase
    driver: Any

    def rows(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        records, _, _ = self.driver.execute_query(STATEMENTS[name], kb="people", **parameters)
        return [dict(record) for record in records]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KBase]:
    with example_base(tmp_path_factory.mktemp("people")) as kb:
        yield kb


@pytest.fixture(scope="module")
def served(server: Neo4jServer, people: KBase) -> Iterator[Served]:
    from neo4j import GraphDatabase

    url = server.start().base("people")
    people.copy(url)
    with GraphDatabase.driver(server.url, auth=server.auth) as driver:
        yield Served(url, people, driver)


def scans(plan: dict[str, Any]) -> list[str]:
    """Return the steps of a plan that walk through all bases."""
    below = [one for child in plan.get("children", ()) for one in scans(child)]
    name = plan["operatorType"].partition("@")[0]
    return [name, *below] if name.endswith("Scan") else below


@pytest.mark.parametrize("name", STATEMENTS)
def test_other_bases_are_not_walked_through(served: Served, name: str) -> None:
    given = {"kb": "people", "id": "x", "t": T, "later": LATER, "relation": "x", "fact": "x",
             "name": "x", "revision": 1}  # fmt: skip
    summary = served.driver.execute_query("EXPLAIN " + STATEMENTS[name], given).summary
    assert scans(summary.plan) == []


def facts_of(rows: list[dict[str, Any]]) -> set[str]:
    return {r["id"] for row in rows for r in row["p"].relationships}


def lines_of(kb: KBase, name: str, as_of: str) -> int:
    return len(kb.at(name, as_of=as_of).lines)


def test_what_holds(served: Served) -> None:
    drawn = facts_of(served.rows("What holds at $t", t=T))
    shown = served.kb.snapshot(AskOptions(as_of="1990-06-01")).lines
    assert len(drawn) == len(shown) > 20


def test_neighbours(served: Served) -> None:
    near = "Neighbours of a node at $t"
    for t, as_of, head in (
        (T, "1990-06-01", "Ilka Dunmore"),
        (LATER, "2005-06-01", "Yara Fennimore"),
    ):
        # A day is as an instant here: nothing of Verrold begins or ends on it.
        rows = served.rows(near, id="verrold", t=t)
        assert len(facts_of(rows)) == lines_of(served.kb, "Verrold", as_of)
        names = {node["name"] for row in rows for node in row["p"].nodes}
        assert {"Ilka Dunmore", "Yara Fennimore"} & names == {head}
        labels = {label for row in rows for node in row["p"].nodes for label in node.labels}
        assert {"Entity", "Organization", "Person", "Place", "Literal"} <= labels


def test_the_timeline(served: Served) -> None:
    rows = served.rows("Timeline of a node", id="verrold")
    heads = [r["object"] for r in rows if r["relation"] == "chief executive"]
    assert heads[:2] == ["Anselm Verrold", "Marta Verrold-Lind"]
    assert heads[-1] == "Nadia Orsolyn"
    # Answers join terms that touch; each line says which facts it is of.
    lines = served.kb.timeline("Verrold").lines
    assert {f"fact:{r['fact']}" for r in rows} == {label for line in lines for label in line.labels}


def test_what_changed(served: Served) -> None:
    rows = served.rows("What changed between $t and $later", t=T, later=LATER)
    diff = served.kb.diff("1990-06-01", "2005-06-01")
    told = {sign: [r for r in rows if r["change"] == sign] for sign in "+-"}
    assert (len(told["-"]), len(told["+"])) == (len(diff.gone), len(diff.came))
    heads = {(r["change"], r["object"]) for r in rows if r["subject"] == "Verrold"}
    assert {("-", "Ilka Dunmore"), ("+", "Yara Fennimore")} <= heads


def test_who_stood(served: Served) -> None:
    consuls = served.rows(
        "Who stood in $relation at $t",
        relation="consul of",
        t=parse_as_of("-0063-07-01").span.start,
    )
    answers = served.kb.ask("Who was consul in 63 BC?").answers
    assert {r["subject"] for r in consuls} == set(answers) >= {"Cicero"}
    assert {r["definite"] for r in consuls} == {True}


def test_what_a_fact_rests_on(served: Served) -> None:
    rests, mentions = "What a fact rests on", "Passages that mention a node, and their documents"
    (line,) = [
        r
        for r in served.rows("Timeline of a node", id="verrold")
        if r["object"] == "Ilka Dunmore" and r["relation"] == "chief executive"
    ]
    (row,) = served.rows(rests, fact=line["fact"])
    assert row["document"].endswith("company/facts.csv")
    assert row["passage"] is None
    assert row["line"] > 1
    paths = served.rows(mentions, id="julius-caesar")
    assert paths
    for row in paths:
        document, chunk, node = row["p"].nodes
        assert (node["name"], chunk["document"]) == ("Julius Caesar", document["id"])
    told = [
        r
        for r in served.rows("Timeline of a node", id="julius-caesar")
        for r in served.rows(rests, fact=r["fact"])
        if r["passage"]
    ]
    assert any("Caesar" in r["passage"] for r in told)


def test_names(served: Served) -> None:
    for name in ("Verrold Instruments", "verrold"):
        (row,) = served.rows("Nodes by name or alias", name=name)
        assert row["e"]["id"] == "verrold"
    assert served.rows("Nodes by name or alias", name="nobody") == []


def test_what_was_on_record(served: Served) -> None:
    was = "What was on record of a node at $revision"
    revisions = served.rows("Revisions, newest first")
    numbers = [row["revision"] for row in revisions]
    assert numbers == sorted(numbers, reverse=True)
    (loaded,) = [r["revision"] for r in revisions if r["note"].endswith("company/facts.csv")]
    before = served.rows(was, id="verrold", revision=loaded - 1)
    after = served.rows(was, id="verrold", revision=loaded)
    assert len(before) < len(after)
    assert "chief executive" in {r["relation"] for r in after} - {r["relation"] for r in before}


def test_every_statement_is_tested() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in STATEMENTS if f'"{name}"' not in source} == set()


def test_browse_gives_a_statement_that_shows_what_held(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("Verrold", None):
        words = ["--name", name] if name else []
        assert run(["browse", served.url, "--as-of", "1990", *words, "--json"]) == 0
        out = capsys.readouterr().out
        assert "only-on-this-machine" not in out
        records, _, _ = served.driver.execute_query(json.loads(out)["query"])
        drawn = facts_of([dict(record) for record in records])
        options = AskOptions(as_of="1990")
        lines = served.kb.at(name, options).lines if name else served.kb.snapshot(options).lines
        assert len(drawn) == len(lines) > 10


def test_the_sentinels_are_those_told() -> None:
    assert f"No start is {BEGIN}, no end\n{END}" in PAGE
    assert str(END) in "".join(STATEMENTS.values())


def test_the_favourites_are_those_of_the_page() -> None:
    assert FILE.read_bytes() == packed(), "run: python tests/docs/favourites.py"
    assert len(files()) == len(STATEMENTS)
