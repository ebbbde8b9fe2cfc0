"""Sessions with real servers: what they can do, faults, retries, the lock of writers."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator

import pytest

from kgqa.errors import (
    DeniedError,
    FaultError,
    InputError,
    KGQAError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
)
from kgqa.store.neo4j import session
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.testing.servers import Neo4jServer

from .lossy import Lossy

_MERGE = "MERGE (b:Base {kb: $kb})"
_LOCK = "MATCH (b:Base {kb: $kb}) SET b.turn = coalesce(b.turn, 0) + 1 RETURN b.turn"
_TURN = "MATCH (b:Base {kb: $kb}) RETURN b.turn"
_ENDLESS = "UNWIND range(1, 10000000000) AS x WITH x WHERE x % 7 = 8 RETURN count(*)"
_HUGE = "UNWIND range(1, 100000) AS x WITH collect(toString(x) + $pad) AS many RETURN size(many)"


def _code(url: str) -> tuple[type[KGQAError], str]:
    with pytest.raises(KGQAError) as caught:
        Client(parse(url))
    assert caught.value.hint
    return type(caught.value), caught.value.code


def test_a_server_tells_what_it_can(client: Client, server: Neo4jServer) -> None:
    new = server.version.startswith("2026")
    assert client.version == server.version
    assert client.edition == "community"
    assert (client.cypher25, client.vectors) == (new, new)
    assert client.rows("RETURN $x, 2", x=[1]) == [([1], 2)]


def test_every_scheme_of_a_plain_server(url: str) -> None:
    for scheme in ("bolt", "neo4j"):
        made = Client(parse(url.replace("bolt", scheme) + "?database=neo4j"))
        assert made.rows("RETURN 1") == [(1,)]
        made.close()


def test_nobody_answers() -> None:
    # Nothing listens on port 1, and no name ends in .invalid (RFC 6761).
    for url in ("bolt://127.0.0.1:1/a", "neo4j://127.0.0.1:1/a", "bolt://db.invalid/a"):
        started = time.monotonic()
        assert _code(url) == (UnavailableError, "store.unreachable")
        assert time.monotonic() - started < 5


def test_what_a_server_refuses(url: str) -> None:
    assert _code(url + "?database=nowhere") == (NotFoundError, "store.no_database")
    assert _code(url.replace("bolt://", "bolt+s://")) == (UnavailableError, "store.unreachable")


def test_a_wrong_password(server: Neo4jServer) -> None:
    host = server.start().url.partition("://")[2]
    assert _code(f"bolt://{server.user}:s3cret@{host}/a") == (DeniedError, "store.denied")
    assert _code(f"bolt://nobody@{host}/a") == (DeniedError, "store.denied")


def test_an_old_server(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "OLDEST", (9999, 1))
    assert _code(url) == (UnsupportedError, "store.too_old")


def test_no_password_in_texts_and_logs(
    server: Neo4jServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert server.password
    with caplog.at_level(logging.DEBUG):
        made = Client(parse(url))
        made.rows("RETURN 1")
        with pytest.raises(FaultError) as caught:
            made.rows("SECRET WORDS")
        made.close()
    assert "SECRET" not in f"{caught.value}"
    shown = f"{made} {made!r} {caught.value!r} {caplog.text}"
    assert server.password not in shown


def test_a_closed_client(client: Client) -> None:
    client.close()
    client.close()
    with pytest.raises(InputError) as caught:
        client.rows("RETURN 1")
    assert caught.value.code == "store.closed"


def test_reads_cannot_write(client: Client) -> None:
    with pytest.raises(FaultError):
        client.rows("CREATE (n:Nothing) RETURN 1")


def test_what_takes_too_long_or_too_much_ends(client: Client) -> None:
    with pytest.raises(UnavailableError) as caught:
        client.read(lambda tx: tx.rows(_ENDLESS), timeout=0.2)
    assert caught.value.code == "store.timeout"
    with pytest.raises(UnavailableError) as caught:
        client.rows(_HUGE, pad="x" * 10_000)
    assert caught.value.code == "store.out_of_memory"
    assert client.rows("RETURN 1") == [(1,)]


def test_an_error_of_ours_undoes_the_write(client: Client) -> None:
    kb = client.address.kb

    def work(tx: Transaction) -> None:
        tx.rows(_MERGE, kb=kb)
        raise InputError("no", code="store.bad_label")

    with pytest.raises(InputError, match="no"):
        client.write(work)
    assert client.rows(_TURN, kb=kb) == []


@pytest.fixture
def hasty(url: str) -> Iterator[Client]:
    """Give a client that waits half a second for another writer."""
    made = Client(parse(url), lock_timeout=0.5)
    kb = made.address.kb
    made.write(lambda tx: tx.rows(_MERGE, kb=kb))
    yield made
    made.close()


def test_a_second_writer_waits_and_then_is_told_who_writes(hasty: Client) -> None:
    kb = hasty.address.kb
    holds, may_end = threading.Event(), threading.Event()

    def hold(tx: Transaction) -> None:
        tx.lock(_LOCK, kb=kb)
        holds.set()
        may_end.wait(60)

    first = threading.Thread(target=hasty.write, args=(hold,))
    first.start()
    assert holds.wait(60)
    try:
        assert os.getpid() in [pid for _, _, pid, _ in hasty.running()]
        with pytest.raises(UnavailableError) as caught:
            hasty.write(lambda tx: tx.lock(_LOCK, kb=kb))
    finally:
        may_end.set()
        first.join()
    assert caught.value.code == "store.locked"
    assert caught.value.context["pid"] == os.getpid()
    # Nobody holds it now: one that is only slow is left alone, whatever its limit.
    hasty.lock_timeout = 0.0
    slow = "MATCH (b:Base {kb: $kb}) WITH b, range(1, 3000000) AS xs UNWIND xs AS x RETURN max(x)"
    assert hasty.write(lambda tx: tx.lock(slow, kb=kb)) == [(3_000_000,)]
    # It is free again; one that waits less than the limit gets it.
    assert hasty.write(lambda tx: tx.lock(_LOCK, kb=kb)) == [(2,)]


def test_a_commit_without_an_answer_is_tried_again(server: Neo4jServer, url: str) -> None:
    port = int(server.url.rpartition(":")[2])
    with Lossy(port) as proxy:
        made = Client(parse(url.replace(f":{port}/", f":{proxy.port}/")))
        kb = made.address.kb
        made.write(lambda tx: tx.rows(_MERGE, kb=kb))
        proxy.lose = 1
        turns = made.write(lambda tx: tx.rows(_LOCK, kb=kb))
        # The first attempt had been carried out: work itself must find that out.
        assert (turns, proxy.lost) == ([(2,)], 1)
        attempts: list[int] = []

        def refuse_again(tx: Transaction) -> None:
            attempts.append(1)
            if len(attempts) > 1:
                raise InputError("no", code="store.bad_label")

        proxy.lose = 1
        with pytest.raises(InputError, match="no"):
            made.write(refuse_again)
        assert (len(attempts), proxy.lost) == (2, 2)
        proxy.lose = 100
        with pytest.raises(UnavailableError):
            made.write(lambda tx: tx.rows(_LOCK, kb=kb))
        assert proxy.lost == 7
        proxy.lose = 0
        assert made.rows(_TURN, kb=kb) == [(7,)]
        made.close()


def test_a_server_that_was_killed_serves_the_same_client_again(
    server: Neo4jServer, url: str
) -> None:
    made = Client(parse(url), retry=0.5)
    kb = made.address.kb
    made.write(lambda tx: tx.rows(_MERGE, kb=kb))
    server.kill()
    with pytest.raises(UnavailableError) as caught:
        made.rows(_TURN, kb=kb)
    assert caught.value.code == "store.unreachable"
    server.start()
    assert made.rows(_TURN, kb=kb) == [(None,)]
    made.close()
