"""Every read of a state on a server against the same base in a file, paging and past included."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import replace
from random import Random

import pytest

from kgqa.errors import KGQAError
from kgqa.model.things import Alias, Chunk, Claim, Document, Failure, Literal, Node, Ref, Span
from kgqa.protocols import Batch, Pattern
from kgqa.store.neo4j import address, schema
from kgqa.store.neo4j.session import Client
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import UNDATED, Interval
from kgqa.testing import generate
from kgqa.testing.contract_base import index, term
from kgqa.testing.oracle import Oracle
from kgqa.testing.replay import Refused
from kgqa.testing.sizes import counts

from ..small import small
from .mirror import clear, mirror, newest

NASTY = (
    "a", "B", "Z", "\u00e9", "e\u0301", "ß", "\ue000", "\uffff", "\U00010000", "\U0001f600",
    "\U0010ffff", "a\0b", "a\0", "'", '"', "`", "\\u0060", "?", "$p0", "@where", " ", "\u2028",
    "x" * 300, "x" * 999, "x" * 1000, "y" * 9000, "é" * 700, "0", "-1", "name:",
)  # fmt: skip
"""Names that sort in surprising ways, look like syntax, or are too long for an index."""


@pytest.fixture(scope="module")
def client(server):
    made = Client(address.parse(server.start().base("mirror")))
    schema.ensure(made)
    yield made
    made.close()


@pytest.fixture
def twins(client, tmp_path):
    """Return a function: writes -> a store in a file, and the same base on the server."""
    made = []

    def make(*steps):
        store = SQLiteStore.create(tmp_path / f"{len(made)}.kgqa", {"form": "hybrid"})
        made.append((store, uuid.uuid4().hex))
        for step in steps:
            with contextlib.suppress(KGQAError):
                write = store.write if isinstance(step, Batch) else store.erase
                step(store) if callable(step) else write(step)
        return store, mirror(store, client, made[-1][1])

    yield make
    for store, kb in made:
        store.close()
        clear(client, kb)


def outcome(reader, read, *arguments):
    """Return what a read returns, keys in order, or the error that it raises."""
    try:
        found = getattr(reader, read)(*arguments)
    except KGQAError as exc:
        return type(exc), exc.code, str(exc)
    return list(found.items()) if isinstance(found, dict) else list(found)


def same(one, two, read, *arguments):
    """Assert that two readers answer alike, in the same order."""
    assert outcome(one, read, *arguments) == outcome(two, read, *arguments), (read, arguments)


def history(rnd: Random, steps: int):
    """Return a base, and the writes that make it and then correct it."""
    of = generate.base(rnd, 9, 24, 3)
    oracle, done = Oracle(), list(of.batches)
    for batch in of.batches:
        oracle.write(batch)
    for _ in range(steps):
        step = generate.correction(rnd, oracle, of)
        with contextlib.suppress(Refused):
            oracle.write(step) if isinstance(step, Batch) else oracle.erase(step)
            done.append(step)
    return of, done


def compare_everything(store, snapshot, known):
    with store.view() as reader:
        for at in known:
            for order in ("start", "id"):
                same(snapshot, reader, "nodes", Pattern(order=order, known_at=at))
                same(snapshot, reader, "match", Pattern(order=order, known_at=at))
            same(snapshot, reader, "documents", None, None, at)
            labels = [f"fact:{fact.id}" for fact in reader.match(Pattern(known_at=at))]
            labels += [f"node:{node.id}" for node in reader.nodes(Pattern())]
            for document in reader.documents(known_at=at):
                same(snapshot, reader, "chunks", document.id, at)
                labels.append(f"document:{document.id}")
                labels += [f"chunk:{chunk.id}" for chunk in reader.chunks(document.id, at)]
            same(snapshot, reader, "get", [*labels, "fact:nothing", "node:nobody"], at)
        for read in ("relations", "failures", "meta", "stats", "changes", "batches"):
            same(snapshot, reader, read)
        same(snapshot, reader, "pending", 1000)


@pytest.mark.parametrize("seed", counts(0, 1))
def test_whole_base_at_every_revision(twins, seed):
    _, steps = history(Random(seed), 12)
    store, snapshot = twins(*steps)
    compare_everything(store, snapshot, [None, *range(0, store.revision + 2, 3)])


def asked(rnd: Random, of, known_at, places) -> Pattern:
    """Return a query, now and then with a limit or a cursor."""
    made = replace(generate.pattern(rnd, of, known_at), order=rnd.choice(("start", "id")))
    if rnd.random() < 0.3:
        made = replace(made, limit=rnd.choice((0, 1, 2, 5, 1000)))
    if rnd.random() < 0.3:
        made = replace(made, after=rnd.choice([*places, "nobody", ""]))
    return made


@pytest.mark.parametrize("count", counts(12, 2000))
def test_queries(twins, count):
    rnd = Random(count)
    of, steps = history(rnd, 12)
    store, snapshot = twins(*steps)
    with store.view() as reader:
        facts = [fact.id for fact in reader.match(Pattern())]
        nodes = [node.id for node in reader.nodes(Pattern())]
        for _ in range(count):
            at = rnd.choice((None, None, rnd.randrange(store.revision + 2)))
            same(snapshot, reader, "match", asked(rnd, of, at, facts))
            subject, kind = rnd.choice((None, None, *nodes)), rnd.choice((None, "person", "none"))
            about = replace(asked(rnd, of, at, nodes), subject=subject, kind=kind)
            same(snapshot, reader, "nodes", about)
            seeds = rnd.choices([*nodes, "nobody"], k=2)
            hops, limit = rnd.choice((1, 2, 3)), rnd.choice((0, 1, 7, 200))
            around = replace(generate.pattern(rnd, of, at), relation=None)
            same(snapshot, reader, "expand", seeds, hops, around, limit)
            keys = rnd.choices(["rome", "thing 1", "old 2", "ostia", "straße", "strasse", ""], k=3)
            same(snapshot, reader, "names", keys, at)


def test_an_earlier_state_stays_as_it_was(client, twins):
    """A revision is pinned: what is committed later does not show, whatever it closed."""
    _, steps = history(Random(20), 16)
    steps = [step for step in steps if isinstance(step, Batch)]

    def seen(reader):
        reads = [reader.match(Pattern()), reader.nodes(Pattern()), reader.documents()]
        page = reader.match(Pattern(order="id", limit=5))
        return [*reads, page, len(reader.changes()), reader.stats()["facts"], reader.revision]

    expected = []
    for n in range(1, len(steps)):
        store, _ = twins(*steps[:n])
        with store.view() as reader:
            expected.append(seen(reader))
    assert len({then[-1] for then in expected}) > 5
    _, last = twins(*steps)
    for then in expected:
        assert seen(newest(client, last.kb, then[-1])) == then


def test_odd_names_sort_and_are_found_as_in_a_file(twins):
    """Texts order by code points, outside of the basic plane too; long ones are whole."""
    nodes = tuple(Node(f"n{name}", name, name, (Alias(name + "2", UNDATED),)) for name in NASTY)
    claims = [Claim(Ref(name, f"n{name}", name), name, Literal(name), term(1)) for name in NASTY]
    claims += [Claim(Ref(name), "knew", Ref(name + "2"), chunk=name, line=3) for name in NASTY]
    documents = (Document("d", "d", text="t"), *(Document(f"d{n}", "d", text="t") for n in NASTY))
    chunks = tuple(Chunk(name, "d", 0, name, Span(0, 1)) for name in NASTY)
    failures = tuple(Failure(name, "c", name, None) for name in NASTY)
    store, snapshot = twins(
        Batch(source="d", documents=documents[:1], chunks=chunks, nodes=nodes, failures=failures),
        Batch(source="d", claims=tuple(claims)),
        *(Batch(source=one.id, documents=(one,)) for one in documents[1:]),
    )
    compare_everything(store, snapshot, [None])
    with store.view() as reader:
        for name in NASTY:
            same(snapshot, reader, "match", Pattern(subject=f"n{name}", object=Literal(name)))
            same(snapshot, reader, "match", Pattern(relation=name))
            same(snapshot, reader, "nodes", Pattern(subject=f"n{name}", kind=name))
            same(snapshot, reader, "names", [name, name.casefold(), name + "2"])
            if len(name) < 999:
                page = Pattern(after=f"n{name}", limit=3)
                same(snapshot, reader, "nodes", page)
                same(snapshot, reader, "documents", 3, f"d{name}")
                same(snapshot, reader, "pending", 5, ("node", f"n{name}"))


def test_vectors_and_pages_of_what_waits(twins):
    """Vectors count by generation; an item waits until one of its present text is there."""
    more = small("other", 4)
    store, snapshot = twins(small(), index, more, lambda store: index(store, 2), small("third", 7))
    compare_everything(store, snapshot, [None, 2])
    with store.view() as reader:
        after, pages = None, 0
        while page := reader.pending(1, after):
            same(snapshot, reader, "pending", 1, after)
            after, pages = (page[-1].kind, page[-1].id), pages + 1
        assert pages > 1


def test_names_are_not_embedded_beyond_the_most(twins):
    nodes = tuple(Node(f"q{i}", f"N {i}") for i in range(4))
    store, snapshot = twins(Batch(source="n", nodes=nodes, meta={"embed_nodes_max": 3}))
    assert not [p for p in snapshot.pending(100) if p.kind == "node"]
    compare_everything(store, snapshot, [None])


def test_a_label_that_is_none(twins):
    store, snapshot = twins(small())
    same(snapshot, store, "get", ["fact", "q1"])
    with pytest.raises(KGQAError, match="not a citation label"):
        snapshot.get(["q1"])


def test_no_statement_scans_a_label(client, twins):
    """Every read finds its rows by an index that leads with the base."""
    _, steps = history(Random(3), 6)
    store, snapshot = twins(*steps, small(), index)
    asked: dict[str, dict] = {}

    def run(query, given):
        asked[query] = given
        return client.rows(query, **given)

    snapshot.run = run
    compare_everything(store, snapshot, [None, 2])
    with store.view() as reader:
        node, fact = reader.nodes(Pattern())[1].id, reader.match(Pattern())[1].id
        for undated in ("include", "exclude"):
            at = Pattern(valid=Interval(0, 5), undated=undated, limit=3)
            for pattern in (
                at, replace(at, after=fact), replace(at, order="id"), replace(at, subject=node),
                replace(at, object=node), replace(at, relation="knew", subject=node),
                replace(at, relation="knew"), replace(at, order="id", after=fact),
            ):  # fmt: skip
                same(snapshot, reader, "match", pattern)
            same(snapshot, reader, "nodes", replace(at, after=node))
            same(snapshot, reader, "nodes", replace(at, begun_before=3, order="id", valid=None))
        same(snapshot, reader, "names", ["rome"])
        same(snapshot, reader, "expand", [node], 2, Pattern(), 9)
    assert len(asked) > 30

    def plan(query, given):
        with client._session() as session:
            return session.run("EXPLAIN " + query, given).consume().plan

    for query, given in asked.items():
        used = operators(plan(query, given))
        assert any("Seek" in name for name in used), query
        assert not [name for name in used if "Scan" in name], query


def operators(plan) -> list[str]:
    """Return the name of every step of a plan."""
    return [
        plan["operatorType"],
        *(n for child in plan.get("children", ()) for n in operators(child)),
    ]
