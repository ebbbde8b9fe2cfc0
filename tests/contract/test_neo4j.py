"""The store contract on Neo4j servers, and what only a server can show."""

from __future__ import annotations

import pytest

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
    def store_factory(self, on_server):
        return on_server

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
