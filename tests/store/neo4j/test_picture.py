"""The picture keeps to the rows where these are removed, replaced or numbered anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from kgqa.model.things import Claim, Document, Literal, Ref
from kgqa.protocols import Batch
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.browser import view
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.temporal.interval import Interval, Validity

from ..small import small

_FACTS = "MATCH (a:Entity {kb: $kb})-[t]->(b) WHERE NOT b:Chunk RETURN a.name, type(t), b.name"
_LITERALS = "MATCH (l:Literal {kb: $kb}) RETURN l.name"
_PARTS = (
    "MATCH (c:Chunk {kb: $kb})-[:PART_OF]->(d:Document) "
    "RETURN c.id, d.title, c.recorded_to = d.recorded_to"
)
_MENTIONS = "MATCH (c:Chunk {kb: $kb})-[:MENTIONS]->(e:Entity) RETURN DISTINCT c.id, e.name"


@pytest.fixture
def store(url: str) -> Iterator[Neo4jStore]:
    with closing(Neo4jStore.create(parse(url))) as made:
        yield made


def shown(store: Neo4jStore, client: Client, statement: str) -> set[tuple[object, ...]]:
    return set(client.rows(statement, kb=store.address.kb))


def paper(name: str, *claims: Claim) -> Batch:
    return Batch(source=name, documents=(Document(name, name, text="x"),), claims=claims)


def test_a_number_goes_from_an_erased_fact_to_another(store: Neo4jStore, client: Client) -> None:
    ada, cid = Claim(Ref("Ada"), "knows", Ref("Ben")), Claim(Ref("Cid"), "knows", Ref("Dan"))
    age = Claim(Ref("Ada"), "age", Literal(7))
    store.write(paper("zero", Claim(Ref("Ada"), "is", Literal("old"))))
    store.write(paper("one", ada, age, cid))
    store.write(paper("two", cid))
    store.erase(["document:one"])
    assert shown(store, client, _FACTS) == {("Cid", "KNOWS", "Dan"), ("Ada", "IS", "old")}
    assert shown(store, client, _LITERALS) == {("old",)}
    assert store.verify() == []


def test_an_erased_fact_of_the_past_is_not_shown(store: Neo4jStore, client: Client) -> None:
    likes = Claim(Ref("Ada"), "likes", Ref("Ben"))
    store.write(paper("zero", Claim(Ref("Ada"), "knows", Ref("Ben"))))
    store.write(paper("one", likes))
    store.write(paper("two", likes))
    store.write(Batch(delete=("one",)))
    store.erase(["document:two"])
    assert shown(store, client, _FACTS) == {("Ada", "KNOWS", "Ben")}
    assert store.verify() == []


def test_passages_replaced_and_deleted(store: Neo4jStore, client: Client) -> None:
    batch = small("doc")
    store.write(batch)
    store.write(replace(batch, documents=(replace(batch.documents[0], title="Other"),)))
    parts = {("doc-0", "Other", True), ("doc-1", "Other", True)}
    assert shown(store, client, _PARTS) == parts
    assert shown(store, client, _MENTIONS) == {("doc-0", "Ada"), ("doc-0", "Rome")}
    store.write(Batch(delete=("doc",)))
    assert shown(store, client, _PARTS) == set()
    assert shown(store, client, _MENTIONS) == set()
    assert store.verify() == []


def test_what_has_no_date_is_shown_as_undated(store: Neo4jStore, client: Client) -> None:
    then = Claim(Ref("Ada"), "knew", Ref("Cid"), Validity(0, 86_399_999, 1, 86_400_000))
    store.write(paper("one", Claim(Ref("Ada"), "knows", Ref("Ben")), then))
    valid = "MATCH (:Entity {kb: $kb})-[t]->(o:Entity) RETURN o.name, t.valid"
    assert shown(store, client, valid) == {("Ben", "undated"), ("Cid", "1970-01-01")}


def test_a_link_to_look_at_it_names_who_asks(url: str) -> None:
    parts = urlsplit(url)
    address = parse(f"{parts.scheme}://{parts.netloc.replace('neo4j', 'ann', 1)}{parts.path}")
    with closing(Neo4jStore.create(parse(url))) as store:
        assert store.capabilities.user == parse(url).user
        store.address = address
        link = view(store.capabilities, Interval(0, 1)).link
        assert f"%2F%2F{address.user}%40" in link
        assert address.password not in link
