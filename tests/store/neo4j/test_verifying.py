"""``verify`` on a server: each kind of damage is found, and nothing where others only write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from kgqa.protocols import Batch, Pattern
from kgqa.store.neo4j import verifying
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.store.neo4j.snapshot import Neo4jSnapshot
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.state import Cache
from kgqa.testing.contract_base import index

from ..small import small

_ADA = "MATCH (a:Entity {kb: $kb, name: 'Ada'})"
_DAMAGE = {
    _ADA + " SET a.name = 'Eve'": {"picture q1"},
    _ADA + " SET a:Wrong": {"picture q1"},
    _ADA + " DETACH DELETE a": {"picture q1", "picture FACT", "picture doc-0"},
    "CREATE (:Entity {kb: $kb, id: 'ghost', name: 'Ghost'})": {"picture ghost"},
    _ADA + "-[t:GOVERNED]->() SET t.le = t.le + 1": {"picture FACT"},
    _ADA + "-[t:GOVERNED]->() DELETE t": {"picture FACT"},
    _ADA + "-[t:GOVERNED]->(b) CREATE (a)-[:GOVERNED {kb: $kb, n: 999}]->(b)": {"picture 999"},
    _ADA + "-[t:GOVERNED]->(b) CREATE (a)-[:GOVERNED {kb: $kb}]->(b)": {"picture 0"},
    "MATCH (l:Literal {kb: $kb}) SET l.name = 'other'": {"picture FACT"},
    "CREATE (:Literal {kb: $kb, token: 'lonely', name: 'x'})": {"picture lonely"},
    "MATCH (:Chunk {kb: $kb, id: 'doc-1'})-[t:PART_OF]->() DELETE t": {"picture doc-1"},
    "MATCH (c:Chunk {kb: $kb, id: 'old-0'}) MATCH (d:Document {kb: $kb, id: 'doc'}) "
    "MERGE (c)-[:PART_OF {kb: $kb}]->(d)": {"picture old-0"},
    "MATCH (:Chunk {kb: $kb, id: 'doc-0'})-[t:MENTIONS]->({name: 'Ada'}) DELETE t": {
        "picture doc-0",
    },
    _ADA + " MATCH (c:Chunk {kb: $kb, id: 'doc-1'}) MERGE (c)-[:MENTIONS {kb: $kb}]->(a)": {
        "picture doc-1",
    },
    "MATCH (v:Vector {kb: $kb, item: 'q1'}) SET v.le = v.le - 1": {"vectors q1"},
    "MATCH (v:Vector {kb: $kb, item: 'doc-0'}) SET v.live = false": {"vectors doc-0"},
    "MATCH (v:Vector {kb: $kb, kind: 'relation', item: 'age'}) REMOVE v.es": {"vectors age"},
}


@pytest.fixture
def store(url: str) -> Iterator[Neo4jStore]:
    with closing(Neo4jStore.create(parse(url))) as made:
        made.write(small("old"))
        made.write(Batch(delete=("old",)))
        made.write(small("doc"))
        index(made)
        yield made


def test_each_damage_is_found(
    store: Neo4jStore, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "_AT_ONCE", 2)
    monkeypatch.setattr(verifying, "_FACTS", 1)
    monkeypatch.setattr(verifying, "_PAUSE_SECONDS", 0)
    assert store.verify() == []
    kb, revision = store.address.kb, store.revision
    facts = {fact.id for fact in store.match(Pattern())}
    for damage, wanted in _DAMAGE.items():
        with client._session(write=True) as session, session.begin_transaction() as opened:
            tx = Transaction(opened, client, "")
            tx.rows(damage, kb=kb)

            @contextmanager
            def view(tx: Transaction = tx) -> Iterator[Neo4jSnapshot]:
                yield Neo4jSnapshot(lambda q, given: tx.rows(q, **given), kb, revision, Cache())

            told = verifying.problems(view)
            # Never committed.
            opened.rollback()
        assert {f"{p.part} {'FACT' if p.id in facts else p.id}" for p in told} == wanted, damage


def test_what_others_write_meanwhile_is_no_damage(
    store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "_PAUSE_SECONDS", 0)
    looks: list[int] = []

    @contextmanager
    def behind() -> Iterator[Neo4jSnapshot]:
        """Give a state to which, each first time it is looked at, others have added."""
        with store._state() as state:
            if len(looks) % 2 == 0:
                store.write(small(f"more{len(looks)}", len(looks)))
                store.write(Batch(delete=("doc",)))
            looks.append(state.revision)
            yield state

    assert verifying.problems(behind) == []
    # Parts in which something seemed to differ were looked at again.
    assert len(looks) > len(verifying._PARTS)


def test_a_base_that_is_all_wrong_is_given_up(
    store: Neo4jStore, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "_AT_ONCE", 1)
    monkeypatch.setattr(verifying, "_MOST", 1)
    client.write(lambda tx: tx.rows(
        "MATCH (e:Entity {kb: $kb}) DETACH DELETE e", kb=store.address.kb
    ))  # fmt: skip
    told = verifying.problems(store._state)
    assert [p.message for p in told if not p.id] == [
        "more may differ in nodes and facts: not looked at",
        "more may differ in values: not looked at",
        "more may differ in passages: not looked at",
    ]
