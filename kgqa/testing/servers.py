"""A real Neo4j server for tests: started on free ports of this machine, killed, started again.

Belongs here: a server's process and home folder. Must not: where its jars and Java come from
(``provision``), Cypher beyond what makes it ready.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from kgqa.errors import DeniedError, InputError, UnavailableError
from kgqa.testing.provision import find_java, jars, release

if TYPE_CHECKING:
    from neo4j import Driver

HOST = "127.0.0.1"
USER = "neo4j"
PASSWORD = "only-on-this-machine"
SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "server.memory.heap.initial_size": "256m",
        "server.memory.heap.max_size": "256m",
        "server.memory.pagecache.size": "64m",
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "16m",
        "db.lock.acquisition.timeout": "5s",
        "dbms.cypher.min_replan_interval": "1h",
        "dbms.usage_report.enabled": "false",
    }
)
"""What makes a server small: 0.5 GB of memory, 3 MB of disk while empty."""

QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""A third less processor time and memory to start; long work is slower than without."""

START_SECONDS = 180.0
_STOP_SECONDS = 30
_TAIL = 15
_FIRST_PASSWORD = "neo4j"
_SHORTEST_PASSWORD = 8
_PORTS = range(20_000, 32_000)  # below those that systems give to outgoing connections
_FOLDERS = ("conf", "data", "import", "logs", "plugins", "run")
_JVM = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-Dfile.encoding=UTF-8",
)
# Its standard input is a pipe that only the tests' process holds: the end of that process, however
# it comes, is the end of the file.
_KEEPER = "import os, sys; sys.stdin.read(); os.kill(int(sys.argv[1]), 9)"


class Neo4jServer:
    """One Community server with a home folder of its own; as a context manager it is started.

    ``home`` stays; without one a temporary folder is made, and deleted by ``close``. ``password``
    None turns authentication off. ``settings`` are those of ``neo4j.conf``, over SETTINGS; HTTP is
    off unless ``server.http.enabled`` is ``true``, then Neo4j Browser is at ``http_url``. ``jvm``
    are options of Java; measure speed with none.

    A home has one server: ``start`` kills one that an earlier process left there. The server dies
    with the process that started it, even if that is killed.
    """

    def __init__(
        self,
        series: str = "2026",
        home: Path | None = None,
        *,
        password: str | None = PASSWORD,
        settings: Mapping[str, str] | None = None,
        jvm: Sequence[str] = QUICK,
    ) -> None:
        self._release = release(series)
        if password is not None and len(password) < _SHORTEST_PASSWORD:
            raise InputError(
                f"a password of {len(password)} characters",
                code="servers.password",
                hint=f"give {_SHORTEST_PASSWORD} characters or more, or None for no password",
            )
        self._temporary = home is None
        self.home = (home or Path(tempfile.mkdtemp(prefix="kgqa-neo4j-"))).resolve()
        self.user = USER
        self.password = password
        self.settings = dict(settings or {})
        self.jvm = tuple(jvm)
        self._ports: tuple[int, int] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None

    @property
    def version(self) -> str:
        """The exact version, such as ``5.26.16``."""
        return self._release.version

    @property
    def url(self) -> str:
        """Where it answers: ``bolt://127.0.0.1:PORT``. The same after every start."""
        return f"bolt://{HOST}:{self._bolt_and_http()[0]}"

    @property
    def http_url(self) -> str:
        """Where HTTP answers, if that is on."""
        return f"http://{HOST}:{self._bolt_and_http()[1]}"

    def base(self, name: str) -> str:
        """Return the address of a base on this server, as kgqa takes it, password and all."""
        secret = "" if self.password is None else f":{quote(self.password, safe='')}"
        return f"bolt://{self.user}{secret}@{self.url.partition('://')[2]}/{quote(name, safe='')}"

    @property
    def auth(self) -> tuple[str, str] | None:
        """User and password, as the driver takes them."""
        return None if self.password is None else (self.user, self.password)

    @property
    def pid(self) -> int | None:
        """The process of the server while it runs."""
        return self._process.pid if self.running and self._process else None

    @property
    def running(self) -> bool:
        """Whether the process is there, whatever it answers."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start the server and wait until it answers queries: 10 to 20 s; no-op if it runs.

        Raises UnavailableError ``servers.port`` if another process has taken its port since the
        last start, ``servers.start`` with the end of the log if it does not come up; DeniedError
        ``servers.password`` if the home has another password; see also ``jars``, ``find_java``.
        """
        if self.running:
            return self
        folder, java = jars(self._release), find_java(*self._release.javas)
        self._end_stale()
        for port in self._bolt_and_http():
            if not _is_free(port):
                raise UnavailableError(
                    f"port {port} of {str(self.home)!r} is taken by another process",
                    code="servers.port",
                    hint="end that process, or make another server",
                )
        self._write_home()
        try:
            self._launch(java, folder)
            self._make_ready()
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """Stop the server cleanly, about 10 s; kill it if that takes longer than 30 s."""
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the server at once, as a crash does (SIGKILL); the home stays as it is."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._pid_file.unlink(missing_ok=True)
        if self._keeper is not None:
            self._keeper.kill()
            self._keeper.communicate()
            self._keeper = None

    def close(self) -> None:
        """End the server: cleanly where the home stays, at once where it goes with it."""
        if not self._temporary:
            self.stop()
            return
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def log(self, lines: int = _TAIL) -> str:
        """Return the last lines that the server has printed since it was started."""
        try:
            text = self._log_file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"at {self.url}" if self.running else "stopped"
        return f"<neo4j {self.version} {state}>"

    @property
    def _pid_file(self) -> Path:
        return self.home / "run" / "kgqa.pid"

    @property
    def _log_file(self) -> Path:
        return self.home / "logs" / "console.log"

    def _bolt_and_http(self) -> tuple[int, int]:
        if self._ports is None:
            self._ports = (_free_port(), _free_port())
        return self._ports

    def _end_stale(self) -> None:
        try:
            pid = int(self._pid_file.read_text())
        except (OSError, ValueError):
            return
        end = time.monotonic() + _STOP_SECONDS
        while self._is_ours(pid) and time.monotonic() < end:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def _is_ours(self, pid: int) -> bool:
        """Tell whether a process is a server of this home, since numbers are used again."""
        return f" --home-dir={self.home} " in f"{_command(pid)} "

    def _write_home(self) -> None:
        for name in _FOLDERS:
            (self.home / name).mkdir(parents=True, exist_ok=True)
        bolt, http = self._bolt_and_http()
        lines = {
            **SETTINGS,
            "server.bolt.listen_address": f"{HOST}:{bolt}",
            "server.bolt.advertised_address": f"{HOST}:{bolt}",
            "server.http.enabled": "false",
            "server.http.listen_address": f"{HOST}:{http}",
            "server.http.advertised_address": f"{HOST}:{http}",
            "server.https.enabled": "false",
            "dbms.security.auth_enabled": "false" if self.password is None else "true",
            **self.settings,
        }
        text = "".join(f"{name}={value}\n" for name, value in lines.items())
        (self.home / "conf" / "neo4j.conf").write_text(text)

    def _launch(self, java: Path, folder: Path) -> None:
        given = {**SETTINGS, **self.settings}
        command = [
            str(java),
            f"-Xms{given['server.memory.heap.initial_size']}",
            f"-Xmx{given['server.memory.heap.max_size']}",
            *_JVM,
            *self.jvm,
            *("-cp", str(folder / "*"), self._release.main),
            *(f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}"),
            "--console-mode",
        ]
        # A session of its own: Ctrl-C is for the tests, which then stop the server.
        with self._log_file.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
                start_new_session=True,
            )
        self._keeper = subprocess.Popen(
            [sys.executable, "-S", "-c", _KEEPER, str(self._process.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._pid_file.write_text(str(self._process.pid))

    def _make_ready(self) -> None:
        """Wait until the database answers; set the password if the home is new."""
        from neo4j.exceptions import DriverError, Neo4jError

        end = time.monotonic() + START_SECONDS
        why = "does not listen"
        while time.monotonic() < end:
            if not self.running:
                raise self._failed("ended while it started")
            try:
                if _listens(self._bolt_and_http()[0]) and self._answers():
                    return
            except (DriverError, Neo4jError) as exc:
                why = f"does not answer: {exc}"
            time.sleep(0.1)
        raise self._failed(f"{why}, after {START_SECONDS} s")

    def _answers(self) -> bool:
        from neo4j.exceptions import AuthError

        try:
            with self._driver(self.auth) as driver:
                driver.verify_connectivity()  # fails at once, where a query is tried again
                driver.execute_query("RETURN 1")
            return True
        except AuthError:
            self._set_password()
            return False

    def _set_password(self) -> None:
        from neo4j.exceptions import AuthError

        words = {"old": _FIRST_PASSWORD, "new": self.password}
        query = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
        try:
            with self._driver((self.user, _FIRST_PASSWORD)) as driver:
                driver.execute_query(query, words, database_="system")
        except AuthError:
            raise DeniedError(
                f"{str(self.home)!r} was made with another password",
                code="servers.password",
                hint="give that one, or another home",
            ) from None

    def _driver(self, auth: tuple[str, str] | None) -> Driver:
        from neo4j import GraphDatabase

        return GraphDatabase.driver(self.url, auth=auth, max_transaction_retry_time=_STOP_SECONDS)

    def _failed(self, why: str) -> UnavailableError:
        return UnavailableError(
            f"neo4j {self.version} in {str(self.home)!r} {why}\n{self.log()}\n",
            code="servers.start",
            hint="mend what its log says",
        )


def _free_port() -> int:
    while not _is_free(port := secrets.choice(_PORTS)):
        pass
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Connections that a killed server left in TIME_WAIT do not hold a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def _command(pid: int) -> str:
    """Return a process's command line; empty if it is gone or only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        if Path("/proc/self").exists():
            return ""
    return subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
