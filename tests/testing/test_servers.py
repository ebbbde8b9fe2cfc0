"""Real servers: started, killed, started again, and never left behind.

What needs no server that answers is shown with a Java that ends at once or only sleeps.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError

from kgqa.errors import DeniedError, InputError, UnavailableError
from kgqa.store.neo4j.address import parse
from kgqa.testing.servers import HOST, SETTINGS, Neo4jServer

OLDER = pytest.param("5.26", id="neo4j-5.26")
CHILD = """
import sys
from pathlib import Path
from kgqa.testing.servers import Neo4jServer
Neo4jServer("5.26", Path(sys.argv[1])).start()
"""


def ask(server: Neo4jServer, query: str, **values: object) -> list[list[object]]:
    with GraphDatabase.driver(server.url, auth=server.auth) as driver:
        return [record.values() for record in driver.execute_query(query, **values).records]


@pytest.fixture
def fake_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give a function that makes a script the Java of the oldest server, with jars beside it."""
    monkeypatch.setenv("KGQA_SERVERS", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    (tmp_path / "cache" / "5.26.16" / "lib").mkdir(parents=True)
    (tmp_path / "java" / "bin").mkdir(parents=True)
    java = tmp_path / "java" / "bin" / "java"

    def make(script: str) -> None:
        version = 'if [ "$1" = -version ]; then echo \'version "17"\' >&2; exit; fi'
        java.write_text(f"#!/bin/bash\n{version}\n{script}\n")
        java.chmod(0o755)

    return make


@pytest.fixture
def sleeper() -> Iterator[Callable[..., psutil.Process]]:
    """Give a function that starts a process with the arguments given, and sleeps."""
    made: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> psutil.Process:
        code = "import time; time.sleep(60)"
        made.append(subprocess.Popen([sys.executable, "-S", "-c", code, *arguments]))
        return psutil.Process(made[-1].pid)

    yield start
    for process in made:
        process.kill()
        process.wait()


def gone(process: psutil.Process, seconds: float = 15) -> bool:
    """Wait until a process is gone, or only waits to be reaped."""
    end = time.monotonic() + seconds
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() >= end:
            return False
        time.sleep(0.05)
    return True


def written(path: Path, seconds: float = 30) -> str:
    """Return what a file holds, once it holds anything."""
    end = time.monotonic() + seconds
    while not (path.exists() and path.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    return path.read_text()


def test_it_answers_as_the_version_asked_for(server: Neo4jServer) -> None:
    ((version, edition),) = ask(
        server.start(),
        "CALL dbms.components() YIELD name, versions, edition WITH * WHERE name = 'Neo4j Kernel' "
        "RETURN versions[0], edition",
    )
    assert (version, edition) == (server.version, "community")
    assert repr(server) == f"<neo4j {version} at {server.url}>"
    with (
        GraphDatabase.driver(server.url, auth=("neo4j", "neo4j")) as driver,
        pytest.raises(AuthError),
    ):
        driver.verify_connectivity()


def test_each_test_has_a_base_of_its_own(server: Neo4jServer, url: str) -> None:
    address = parse(url)
    assert (address.uri, address.user, address.password) == (
        server.url,
        server.user,
        server.password,
    )
    assert parse(server.base("a b?ü")).kb == "a b?ü" != address.kb
    ask(server, "CREATE (:Probe {kb: $kb})", kb=address.kb)
    assert ask(server, "MATCH (n:Probe {kb: $kb}) RETURN count(n)", kb=address.kb) == [[1]]


def test_what_was_acknowledged_outlives_a_kill(server: Neo4jServer, url: str) -> None:
    kb, pid, where = parse(url).kb, server.pid, server.url
    ask(server, "CREATE (:Probe {kb: $kb})", kb=kb)
    server.kill()
    assert not server.running
    assert repr(server) == f"<neo4j {server.version} stopped>"
    assert server.start().url == where
    assert server.pid not in {None, pid}
    assert server.start().pid == server.pid
    assert ask(server, "MATCH (n:Probe {kb: $kb}) RETURN count(n)", kb=kb) == [[1]]


def test_a_terminal_that_interrupts_the_tests_spares_the_server(server: Neo4jServer) -> None:
    pid = server.start().pid
    assert pid is not None
    assert os.getsid(pid) != os.getsid(0)


@pytest.mark.parametrize("server", [OLDER], indirect=True)
def test_it_stops_cleanly_and_keeps_its_port(server: Neo4jServer) -> None:
    server.start().stop()
    assert "Stopped." in server.log()
    assert not (server.home / "run" / "kgqa.pid").exists()
    server.stop()
    with (
        socket.create_server((HOST, int(server.url.rpartition(":")[2]))),
        pytest.raises(UnavailableError, match="is taken by another process") as caught,
    ):
        server.start()
    assert caught.value.code == "servers.port"
    with pytest.raises(DeniedError, match="was made with another password") as denied:
        Neo4jServer("5.26", server.home, password="another-one").start()
    assert denied.value.code == "servers.password"


def test_it_dies_with_the_process_that_started_it(
    tmp_path: Path, fake_java: Callable[[str], None]
) -> None:
    fake_java("exec sleep 60")
    made = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        server = psutil.Process(int(written(tmp_path / "run" / "kgqa.pid")))
        assert not gone(server, 0.5)
        # Not reaped yet: what counts is that it ended.
        made.send_signal(signal.SIGKILL)
        assert gone(server)
    finally:
        made.kill()
        made.communicate()


def test_a_server_left_in_the_home_is_killed_first(
    tmp_path: Path,
    fake_java: Callable[[str], None],
    sleeper: Callable[..., psutil.Process],
) -> None:
    fake_java("exit 3")
    server = Neo4jServer("5.26", tmp_path / "home")
    (server.home / "run").mkdir(parents=True)
    left = sleeper(f"--home-dir={server.home}")
    stranger = sleeper(f"--home-dir={server.home}2")
    for pid in (str(left.pid), str(stranger.pid), str(2**22 + 1), "not a number"):
        (server.home / "run" / "kgqa.pid").write_text(pid)
        with pytest.raises(UnavailableError, match="ended while it started"):
            server.start()
    assert gone(left, 0)
    assert not gone(stranger, 0)


def test_a_server_that_does_not_come_up_shows_its_log(
    tmp_path: Path, fake_java: Callable[[str], None]
) -> None:
    fake_java('for n in $(seq 1 40); do echo "line $n"; done; echo "no memory for $2"; exit 1')
    server = Neo4jServer("5.26", tmp_path, settings={"server.memory.heap.max_size": "1t"})
    with pytest.raises(UnavailableError, match="line 40\nno memory for -Xmx1t") as caught:
        server.start()
    assert caught.value.code == "servers.start"
    assert "line 5\n" not in str(caught.value)
    assert server.log(1) == "no memory for -Xmx1t"
    assert server.pid is None


def test_a_setting_that_neo4j_refuses_is_told(make_server: Callable[..., Neo4jServer]) -> None:
    with pytest.raises(UnavailableError, match=r"server\.no\.such"):
        make_server("5.26", settings={"server.no.such": "1"})


def test_settings_are_written_as_given(tmp_path: Path, fake_java: Callable[[str], None]) -> None:
    fake_java("exit 1")
    mine = {"server.http.enabled": "true", "db.lock.acquisition.timeout": "1s"}
    server = Neo4jServer("5.26", tmp_path, password=None, settings=mine)
    with pytest.raises(UnavailableError):
        server.start()
    lines = (tmp_path / "conf" / "neo4j.conf").read_text().splitlines()
    told = dict(line.split("=", 1) for line in lines)
    assert told.items() >= {**SETTINGS, **mine, "dbms.security.auth_enabled": "false"}.items()
    assert told["server.bolt.listen_address"] == server.url.removeprefix("bolt://")
    assert told["server.http.listen_address"] == server.http_url.removeprefix("http://")
    assert server.auth is None
    assert server.base("a") == f"bolt://neo4j@{server.url.removeprefix('bolt://')}/a"


def test_a_start_that_is_broken_off_leaves_no_process(
    tmp_path: Path, fake_java: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java("exec sleep 60")
    monkeypatch.setattr("kgqa.testing.servers.START_SECONDS", 0.5)
    server = Neo4jServer("5.26")
    with pytest.raises(UnavailableError, match=r"does not listen, after 0\.5 s"):
        server.start()
    assert not server.running
    assert server.log() == ""
    server.close()
    assert not server.home.exists()
    assert server.log() == ""


def test_a_password_that_neo4j_would_refuse_is_refused_first() -> None:
    with pytest.raises(InputError, match="a password of 7 characters; give 8 ") as caught:
        Neo4jServer(password="seven77")
    assert caught.value.code == "servers.password"


def test_what_answers_but_is_no_server_is_told(
    tmp_path: Path, fake_java: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    listen = (
        f"exec {sys.executable} -S -c 'import socket, sys\n"
        'made = socket.create_server(("127.0.0.1", int(sys.argv[1])))\n'
        "while True: made.accept()[0].close()' "
        "$(sed -n 's/^server.bolt.listen_address=.*://p' conf/neo4j.conf)"
    )
    fake_java(listen)
    monkeypatch.setattr("kgqa.testing.servers.START_SECONDS", 1)
    with pytest.raises(UnavailableError, match="does not answer: "), Neo4jServer("5.26"):
        pass
