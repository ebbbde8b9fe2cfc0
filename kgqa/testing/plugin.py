"""Fixtures of pytest that give tests a real Neo4j server: ``-p kgqa.testing.plugin``.

Belongs here: when servers start and end. Must not: how. Tests skip, with the reason, where Java or
the jars are missing; with ``KGQA_NEED_SERVERS=1`` in the environment they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from kgqa.errors import KGQAError, NotFoundError, UnsupportedError
from kgqa.testing.provision import RELEASES

if TYPE_CHECKING:
    from kgqa.testing.servers import Neo4jServer

_GROUPS = [pytest.param(s, marks=pytest.mark.xdist_group(f"neo4j-{s}")) for s in RELEASES]
_numbers = count(1)


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark that sends all tests of a server to one worker (``--dist loadgroup``)."""
    config.addinivalue_line("markers", "xdist_group(name): tests that run in one worker")


@pytest.fixture(scope="session", params=_GROUPS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Neo4jServer]:
    """Give the running server of one version, then the other; a test may kill it.

    One worker has all tests of a version, so no other test uses it meanwhile. ``url`` starts it
    again where a test has left it down.
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
