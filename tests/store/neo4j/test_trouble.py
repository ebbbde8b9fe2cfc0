"""Servers in trouble, through the store and the command line: typed errors, the address, a next
step, the exit status that docs/errors.md names; never a traceback, never a password."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from kgqa.errors import ConflictError, KGQAError, NotFoundError, UnavailableError
from kgqa.model.things import Claim, Node, Ref
from kgqa.protocols import Batch, Pattern
from kgqa.store.neo4j import session
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.surfaces.cli import run
from kgqa.testing.servers import Neo4jServer

_SECRET = "s3cret-that-nobody-sees"
_LOCK = "MATCH (b:Base {kb: $kb}) SET b.kb = $kb"
_COPYING = "MATCH (b:Base {kb: $kb}) SET b.copying = $copying"
_DROP_ALL = "MATCH (n {kb: $kb}) DETACH DELETE n"
_BATCH = Batch(source="s", claims=(Claim(Ref("Peter"), "mayor of", Ref("Oslo"), line=1),))
_WAYS = ([], ["--json"])


class Shell:
    """Run commands in this process and look at all that they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture):
        self._capsys = capsys
        self._caplog = caplog
        self.secrets = [_SECRET]

    def fails(self, *words: str, ways: Sequence[list[str]] = _WAYS) -> tuple[int, str]:
        """Return status and code of a command that fails, the same whatever it prints."""
        found = set()
        for debug in ("", "1")[-len(ways) :]:
            for way in ways:
                with pytest.MonkeyPatch.context() as patch, self._caplog.at_level("DEBUG"):
                    patch.setenv("KGQA_DEBUG", debug)
                    status = run([*words, *way])
                out, err = self._capsys.readouterr()
                shown = out + err + self._caplog.text
                self._caplog.clear()
                assert not any(secret in shown for secret in self.secrets)
                assert "Traceback" not in out + err
                lines = err.splitlines()
                assert len(lines) == 1
                assert lines[0].startswith("kgqa: ")
                assert "://" in lines[0]
                assert "; " in lines[0]
                if way:
                    told = json.loads(out)
                    assert told["hint"]
                    found.add((status, told["error"]))
                else:
                    assert out == ""
        ((status, code),) = found
        return status, code


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Shell:
    return Shell(capsys, caplog)


@pytest.fixture
def store(url: str) -> Iterator[Neo4jStore]:
    made = Neo4jStore.create(parse(url), {}, lock_timeout=0.3)
    made.write(_BATCH)
    yield made
    made.close()


def _refused(work: Callable[[], object]) -> KGQAError:
    with pytest.raises(KGQAError) as caught:
        work()
    told = caught.value
    assert told.hint
    assert _SECRET not in f"{told!r}{told}{told.to_dict()}{told.context}"
    return told


def test_where_no_server_is(shell: Shell) -> None:
    for host in ("127.0.0.1:1", "db.invalid", "[::1]:1"):
        for scheme in ("bolt", "neo4j"):
            url = f"{scheme}://me:{_SECRET}@{host}/a"
            assert shell.fails("ask", url, "Who?") == (7, "store.unreachable")
            assert shell.fails("init", url) == (7, "store.unreachable")


class Stranger:
    """A server that is none of Neo4j: it says one thing, or nothing, and ends."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                one, _ = self._listener.accept()
                with one, suppress(OSError):
                    one.recv(100)
                    one.sendall(self._words)

    def close(self) -> None:
        self._listener.close()


@pytest.mark.parametrize(
    "words", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\0", b"SSH-2.0-x\r\n", b"\xff" * 50]
)
def test_something_else_answers(words: bytes, shell: Shell) -> None:
    with closing(Stranger(words)) as there:
        url = f"bolt://me:{_SECRET}@127.0.0.1:{there.port}/a"
        assert shell.fails("ask", url, "Who?") == (7, "store.unreachable")


def test_what_a_server_refuses(server: Neo4jServer, url: str, shell: Shell) -> None:
    assert server.password
    shell.secrets.append(server.password)
    host = url.rpartition("@")[2]
    assert shell.fails("ask", url, "Who?") == (3, "store.not_found")
    assert shell.fails("ask", url + "?database=nowhere", "Who?") == (3, "store.no_database")
    Neo4jStore.create(parse(url), {}).close()
    assert shell.fails("init", url) == (4, "store.exists")
    # A server locks a user out who is wrong too often.
    wrong = f"bolt://{server.user}:{_SECRET}@{host}"
    assert shell.fails("ask", wrong, "Who?", ways=_WAYS[1:]) == (5, "store.denied")


def test_a_server_that_starts(server: Neo4jServer, url: str, shell: Shell) -> None:
    assert server.password
    shell.secrets.append(server.password)
    Neo4jStore.create(parse(url), {}).close()
    server.kill()
    assert shell.fails("stats", url) == (7, "store.unreachable")
    starting = threading.Thread(target=server.start)
    starting.start()
    found = set()
    while starting.is_alive():
        try:
            Neo4jStore(parse(url)).close()
        except KGQAError as exc:
            found.add(exc.code)
    starting.join()
    assert found == {"store.unreachable"}
    with closing(Neo4jStore(parse(url))) as store:
        assert store.revision == 0


def test_another_writer(store: Neo4jStore, url: str, shell: Shell, tmp_path: Path) -> None:
    holds, may_end = threading.Event(), threading.Event()
    (tmp_path / "a.csv").write_text("subject,relation,object\nA,knows,B\n")

    def hold(tx: Transaction) -> None:
        tx.lock(_LOCK, kb=store.address.kb)
        holds.set()
        may_end.wait(60)

    with closing(Client(parse(url))) as other, pytest.MonkeyPatch.context() as patch:
        first = threading.Thread(target=other.write, args=(hold,))
        first.start()
        assert holds.wait(60)
        patch.setenv("KGQA_LOCK_TIMEOUT", "0.2")
        try:
            told = _refused(lambda: store.write(Batch(meta={"a": 1})))
            assert (told.code, told.context["pid"]) == ("store.locked", os.getpid())
            assert f"process {os.getpid()}" in told.message
            assert shell.fails("load", url, str(tmp_path)) == (7, "store.locked")
        finally:
            may_end.set()
            first.join()
    assert store.write(Batch(meta={"a": 1})).changed


def test_no_connection_is_free(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "CONNECT_SECONDS", 0.3)
    with closing(Neo4jStore.create(parse(url), {})) as store:
        driver = store._client._driver
        held = [driver.session() for _ in range(100)]
        for one in held:
            one.begin_transaction()
        assert _refused(lambda: store.revision).code == "store.busy"
        for one in held:
            one.close()
        assert store.revision == 0


def test_a_base_that_is_gone(store: Neo4jStore, url: str) -> None:
    with store.view() as before:
        with closing(Client(parse(url))) as client:
            client.write(lambda tx: tx.rows(_DROP_ALL, kb=store.address.kb))
        assert before.match(Pattern()) == []
    for work in (
        lambda: store.revision, lambda: store.match(Pattern()), lambda: store.write(_BATCH),
        lambda: store.find("x", 5, Pattern()), lambda: store.erase(["node:x"]), store.verify,
        lambda: store.write(Batch(claims=(Claim(Ref("a"), "never said", Ref("b")),))),
        lambda: Neo4jStore(parse(url)),
    ):  # fmt: skip
        told = _refused(work)
        assert isinstance(told, NotFoundError)
        assert told.code == "store.not_found"


def test_an_unfinished_copy(store: Neo4jStore, url: str, shell: Shell, tmp_path: Path) -> None:
    from kgqa.store.moving import copy
    from kgqa.store.neo4j.moving import Neo4jTarget

    target = url + "-copy"

    def stop(stage: str, done: int, total: int | None) -> None:
        if stage != "copy" or done:
            raise InterruptedError

    with (
        store.rows() as rows,
        closing(Neo4jTarget(parse(target))) as there,
        suppress(InterruptedError),
    ):
        copy(rows, there, progress=stop)
    assert shell.fails("ask", target, "Who?") == (7, "store.unfinished")
    assert shell.fails("init", target) == (7, "store.unfinished")


def test_another_tool_changes_the_schema(store: Neo4jStore, url: str, shell: Shell) -> None:
    fact = "kgqa_fact_id_recorded_to"
    with closing(Client(parse(url))) as client:

        def named() -> list[str]:
            return [row[0] for row in client.rows("SHOW CONSTRAINTS YIELD name RETURN name")]

        try:
            client.schema([f"DROP CONSTRAINT {fact}"])
            # A base that is open goes on: its writers take turns all the same.
            assert not store.write(_BATCH).changed
            Neo4jStore(parse(url)).close()
            assert fact in named()
            client.schema([f"DROP CONSTRAINT {fact}"])
            client.schema(["CREATE INDEX theirs FOR (t:Fact) ON (t.kb, t.id, t.recorded_to)"])
            told = _refused(lambda: Neo4jStore(parse(url)))
            assert isinstance(told, ConflictError)
            assert told.hint == "if nobody needs it: DROP INDEX theirs"
            assert shell.fails("ask", url, "Who?") == (4, "store.schema")
        finally:
            client.schema(["DROP INDEX theirs IF EXISTS"])
        Neo4jStore(parse(url)).close()
        assert fact in named()
        assert store.verify() == []


@pytest.mark.parametrize("series", ["5.26", "2026"], ids=["neo4j-5.26", "neo4j-2026"])
def test_too_little_memory_then_read_only(
    series: str, make_server: Callable[..., Neo4jServer], shell: Shell, tmp_path: Path
) -> None:
    limits = {"db.memory.transaction.max": "4m", "dbms.memory.transaction.total.max": "64m"}
    server = make_server(series, settings=limits)
    assert server.password
    shell.secrets.append(server.password)
    url = server.base("a")
    many = Batch(
        source="s", nodes=tuple(Node(f"n{k}", f"Node {k}", "x" * 100) for k in range(20_000))
    )
    with closing(Neo4jStore.create(parse(url), {})) as store:
        store.write(_BATCH)
        told = _refused(lambda: store.write(many))
        assert (type(told), told.code) == (UnavailableError, "store.out_of_memory")
        # Nothing of it was written, and the base works.
        assert (store.revision, store.verify()) == (1, [])
        assert store.write(Batch(meta={"a": 1})).changed
    server.stop()
    server.settings["server.databases.read_only"] = "neo4j"
    server.start()
    (tmp_path / "a.csv").write_text("subject,relation,object\nA,knows,B\n")
    with closing(Neo4jStore(parse(url))) as store:
        assert len(store.match(Pattern())) == 1
        assert _refused(lambda: store.write(Batch(meta={"b": 1}))).code == "store.read_only"
    assert shell.fails("load", url, str(tmp_path)) == (7, "store.read_only")
    assert shell.fails("init", server.base("b")) == (7, "store.read_only")
