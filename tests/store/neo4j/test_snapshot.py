"""Every read of a state on a server against the same base in a file, history and paging included."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from kgqa.errors import InputError, KGQAError
from kgqa.model.things import Alias, Chunk, Claim, Document, Failure, Literal, Node, Ref, Relation, Span
from kgqa.protocols import Batch, Pattern
from kgqa.store.neo4j import address, schema
from kgqa.store.neo4j.session import Client
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import DAY_MS, END, Interval, Validity
from kgqa.testing import generate
from kgqa.testing.contract_base import index, instant, says, term
from kgqa.testing.oracle import Oracle
from kgqa.testing.replay import Refused
from kgqa.testing.sizes import counts

from ..small import small
from .mirror import mirror, newest


@pytest.fixture(scope="module")
def client(server):
    made = Client(address.parse(server.start().base("mirror")))
    schema.ensure(made)
    yield made
    made.close()


@pytest.fixture
def twins(client, tmp_path):
    """Return a function: batches -> a store in a file, the same on the server."""
    stores = []

    def make(*steps):
        store = SQLiteStore.create(tmp_path / f"{len(stores)}.kgqa", {"form": "hybrid"})
        stores.append(store)
        for step in steps:
            try:
                store.write(step) if isinstance(step, Batch) else store.erase(step)
            except KGQAError:
                pass
        return store, mirror(store, client, f"{tmp_path.name}-{len(stores)}")

    yield make
    for store in stores:
        store.close()


def same(mine, theirs, read):
    """Assert that both raise alike or return the same, in the same order."""
    try:
        expected = read(theirs)
    except InputError as exc:
        with pytest.raises(type(exc)) as refused:
            read(mine)
        assert (refused.value.code, str(refused.value)) == (exc.code, str(exc))
        return
    found = read(mine)
    assert found == expected
    if isinstance(expected, dict):
        assert list(found) == list(expected)


def history(rnd: Random, steps: int):
    """Return a base and the writes that make it and then correct it."""
    of = generate.base(rnd, 9, 24, 3)
    oracle = Oracle()
    done = []
    for batch in of.batches:
        done.append(batch)
        oracle.write(batch)
    for _ in range(steps):
        step = generate.correction(rnd, oracle, of)
        try:
            oracle.write(step) if isinstance(step, Batch) else oracle.erase(step)
        except Refused:
            continue
        done.append(step)
    return of, done


def compare_everything(store, snapshot, known):
    with store.view() as reader:
        for at in known:
            for order in ("start", "id"):
                for read in ("nodes", "match"):
                    whole = Pattern(order=order, known_at=at)
                    same(snapshot, reader, lambda r, p=whole, read=read: getattr(r, read)(p))
            documents = reader.documents(known_at=at)
            same(snapshot, reader, lambda r, at=at: r.documents(known_at=at))
            for document in documents:
                same(snapshot, reader, lambda r, at=at, d=document.id: r.chunks(d, at))
            labels = [f"fact:{f.id}" for f in reader.match(Pattern(known_at=at))]
            labels += [f"node:{n.id}" for n in reader.nodes(Pattern())]
            labels += [f"document:{d.id}" for d in documents] + ["fact:nothing", "node:nobody"]
            same(snapshot, reader, lambda r, at=at, some=labels: r.get(some, at))
        for read in ("relations", "failures", "meta", "stats", "changes"):
            same(snapshot, reader, lambda r, read=read: getattr(r, read)())
        same(snapshot, reader, lambda r: r.pending(1000))
        same(snapshot, reader, lambda r: list(r.batches()))


@pytest.mark.parametrize("seed", range(3))
def test_whole_base_at_every_revision(twins, seed):
    _, steps = history(Random(seed), 12)
    store, snapshot = twins(*steps)
    compare_everything(store, snapshot, [None, *range(0, store.revision + 2, 3)])
