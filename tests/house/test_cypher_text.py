"""No text reaches a Neo4j server but constants and what ``cypher`` makes (R-CY-02)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cypher_text import violations

ROOM = Path(__file__).resolve().parents[2] / "kgqa" / "store" / "neo4j"
HEAD = """
from kgqa.store.neo4j import cypher
from kgqa.store.neo4j.cypher import Cypher, text
_GOOD = "MATCH (n) RETURN n"
_BY_KIND = {"a": "RETURN 1", "b": text("RETURN @x", x="y")}
class Client:
    def rows(self, query, **parameters):
        return self.tx.run(query, parameters)
"""
SAFE = """
def all_of_it(client, kind, columns, statement: Cypher):
    client.rows(_GOOD, n=kind)
    client.rows("RETURN " "1")
    client.rows(_BY_KIND[kind])
    client.rows(cypher.text("MATCH (n:@label) RETURN n", label=kind))
    client.rows(statement)
    chosen = _GOOD if kind else "RETURN 2"
    for part in _BY_KIND.values():
        client.rows(part)
    def work(tx):
        return tx.run(chosen)
    client.write(work)
def made(kind) -> Cypher:
    return text("RETURN @n", n=kind)
def handed(client, query):
    client.rows(query)
def calls(client, kind):
    handed(client, _GOOD)
    client.rows(made(kind))
"""
PLANTED = (
    'def f(tx, kind): tx.run(f"MATCH (n:{kind}) RETURN n")',
    'def f(tx, kind): tx.run("MATCH (n:" + kind + ") RETURN n")',
    'def f(tx, kind): tx.run("MATCH (n:%s) RETURN n" % kind)',
    'def f(tx, kind): tx.run("MATCH (n:{}) RETURN n".format(kind))',
    'def f(tx, kinds): tx.run(" ".join(kinds))',
    'def f(tx, kind): tx.run("MATCH (n:X) RETURN n".replace("X", kind))',
    'def f(tx, kind):\n    q = f"MATCH (n:{kind})"\n    tx.run(q)',
    'def f(tx, kind):\n    q = "MATCH (n)"\n    q += kind\n    tx.run(q)',
    'def f(tx, kind):\n    q = _GOOD\n    if kind:\n        q = kind.query\n    tx.run(q)',
    'def f(tx, kind): tx.run(query=f"RETURN {kind}")',
    'def f(client, kind): client.rows(f"RETURN {kind}")',
    'def f(client, kind): client.lock(f"RETURN {kind}")',
    'def f(driver, kind): driver.execute_query(f"RETURN {kind}")',
    'def f(client, kind): client.rows(text(f"RETURN {kind}"))',
    'def f(client, kind): client.rows(cypher.text("RETURN " + kind))',
    'def f(client, kind): client.rows(Cypher(kind))',
    'def f(client, kind): client.rows(kind.upper())',
    'def f(client, kind): client.rows(str(kind))',
    'def f(client, kind): client.read(lambda tx: tx.run(f"RETURN {kind}"))',
    'def f(client, kind):\n    def work(tx): tx.run(f"{kind}")\n    client.write(work)',
    'def g(client, query): client.rows(query)\ndef f(client, kind): g(client, f"RETURN {kind}")',
    'def f(client, kinds):\n    for q in [f"RETURN {k}" for k in kinds]:\n        client.rows(q)',
    'def f(client, kind): client.rows(_GOOD if kind else f"RETURN {kind}")',
    'def f(client, kind): client.rows({"a": f"RETURN {kind}"}[kind])',
    'def f(client, kind): client.rows(open(kind).read())',
    'def f(driver, kind): driver.execute_query(Query("RETURN " + kind))',
    '_BAD = "RETURN %s" % HEAD\ndef f(client): client.rows(_BAD)',
    'def f(client, kind): client.rows((q := f"RETURN {kind}"))',
)  # fmt: skip


def _suspected(source: str) -> list[str]:
    return violations({"a.py": source, "cypher.py": (ROOM / "cypher.py").read_text("utf-8")})


def test_the_room_of_neo4j_runs_only_fixed_text() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in ROOM.glob("*.py")}
    assert len(sources) > 5
    assert violations(sources) == []


def test_fixed_text_is_not_suspected() -> None:
    assert _suspected(HEAD + SAFE) == []


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_violations_are_found(planted: str) -> None:
    found = _suspected(HEAD + planted)
    assert found, planted
    first = HEAD.count("\n") + 1
    assert all(int(line.partition(":")[2]) >= first for line in found)
