"""The store contract on Neo4j servers, and what only a server can show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.testing.contract import StoreContract

EVERYTHING = (
    "MATCH (n {kb: $kb}) OPTIONAL MATCH (n)-[r {kb: $kb}]->() "
    "RETURN labels(n), properties(n), type(r), properties(r)"
)


class TestNeo4j(StoreContract):
    share = 25

    @pytest.fixture
    def store_factory(self, url: str) -> Iterator[Callable[[], Neo4jStore]]:
        numbers, made = count(), list[Neo4jStore]()

        def make() -> Neo4jStore:
            made.append(Neo4jStore.create(parse(f"{url}-{next(numbers)}"), {}))
            return made[-1]

        yield make
        for store in made:
            store.close()

    @pytest.fixture
    def reopen(self):
        return lambda store: Neo4jStore(store.address)

    @pytest.fixture
    def peek(self):
        def read(store) -> bytes:
            client = Client(store.address)
            found = client.rows(EVERYTHING, kb=store.address.kb)
            client.close()
            return repr(found).encode()

        return read
