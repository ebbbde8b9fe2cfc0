"""Fixtures of this folder: a client of an empty base on each server, its schema made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgqa.store.neo4j import schema
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    made = Client(parse(url))
    schema.ensure(made)
    yield made
    made.close()
