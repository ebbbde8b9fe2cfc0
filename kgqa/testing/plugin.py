"""Fixtures of pytest that give tests a real Neo4j server: ``-p kgqa.testing.plugin``.

Belongs here: when servers start and end. Must not: how. Tests skip, with the reason, where Java or
the jars are missing; with ``KGQA_NEED_SERVERS=1`` in the environment they fail.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from kgqa.errors import KGQAError, NotFoundError, UnsupportedError
from kgqa.testing.provision import RELEASES

if TYPE_CHECKING:
    from kgqa.testing.servers import Neo4jServer

_PREFIX = "neo4j-"
_VERSIONS = [pytest.param(series, id=_PREFIX + series) for series in RELEASES]
_GROUP = re.compile(rf"[\[-]({_PREFIX}[\w.]+)[\]-]")
_numbers = count(1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With several workers, send all tests of a server to one, and any other test to any."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = group
    return scheduler


def group(nodeid: str) -> str:
    """Return the server that a test uses, by the name of its parameter; else the test itself.

    >>> group("test_a.py::test_b[neo4j-5.26]"), group("test_a.py::test_b[x-neo4j-2026-y]")
    ('neo4j-5.26', 'neo4j-2026')
    >>> group("test_neo4j-2026.py::test_b")
    'test_neo4j-2026.py::test_b'
    """
    found = _GROUP.search(nodeid.partition("::")[2])
    return found.group(1) if found else nodeid


@pytest.fixture(scope="session", params=_VERSIONS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Neo4jServer]:
    """Give the running server of one version, then the other; a test may kill it.

    With pytest-xdist, one worker has all tests of a version, so no other test uses it meanwhile.
    ``url`` starts it again where a test has left it down.
    """
    from kgqa.testing.servers import Neo4jServer

    made = Neo4jServer(request.param, tmp_path_factory.mktemp("neo4j"))
    try:
        _started(made)
        yield made
    finally:
        _discard(made)


@pytest.fixture
def url(server: Neo4jServer) -> str:
    """Give the address of a base that no other test has used, on a running server."""
    return server.start().base(f"test{next(_numbers)}")


@pytest.fixture
def make_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., Neo4jServer]]:
    """Give a function that starts a server for this test alone, from ``Neo4jServer``'s arguments.

    Slower than ``server`` by its start: for settings, and for faults with two servers.
    """
    from kgqa.testing.servers import Neo4jServer

    made: list[Neo4jServer] = []

    def make(series: str = "2026", **options: Any) -> Neo4jServer:
        options.setdefault("home", tmp_path_factory.mktemp("neo4j"))
        made.append(Neo4jServer(series, **options))
        return _started(made[-1])

    yield make
    for one in made:
        _discard(one)


def _started(server: Neo4jServer) -> Neo4jServer:
    try:
        return server.start()
    except (NotFoundError, UnsupportedError) as exc:
        _go_without(exc)


def _go_without(why: KGQAError) -> NoReturn:
    if os.environ.get("KGQA_NEED_SERVERS") == "1":
        raise why
    pytest.skip(str(why))


def _discard(server: Neo4jServer) -> None:
    """End a server and delete its home: nobody needs a clean stop of it, which takes 10 s."""
    server.kill()
    shutil.rmtree(server.home, ignore_errors=True)
