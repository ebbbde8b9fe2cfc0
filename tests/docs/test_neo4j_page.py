"""docs/neo4j.md: settings and addresses as they are, the server for tests as shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from page_blocks import blocks, page, rows, run_python, run_shell

from kgqa.errors import KGQAError
from kgqa.store.neo4j.address import parse
from kgqa.testing.provision import RELEASES, find_java, jars
from kgqa.testing.servers import SETTINGS

PAGE = page("docs/neo4j.md")
SERVERS = PAGE.split("### A server for tests\n")[1]


@pytest.fixture
def provisioned() -> None:
    """Skip where servers cannot run, unless they must."""
    try:
        for release in RELEASES.values():
            jars(release), find_java(*release.javas)
    except KGQAError as exc:
        if os.environ.get("KGQA_NEED_SERVERS") == "1":
            raise
        pytest.skip(str(exc))


def test_the_versions_are_those_tested() -> None:
    assert f"against {' and '.join(r.version for r in RELEASES.values())}." in PAGE


def test_the_settings_are_those_of_the_servers() -> None:
    told = {
        name.strip("`"): value.strip("`")
        for name, value, why in rows(PAGE, "### With Docker Compose")
        if why
    }
    assert told == dict(SETTINGS)


def test_addresses_are_read_as_told() -> None:
    table = [[c.strip("`") for c in row] for row in rows(PAGE, "### Addresses")]
    for written, *told in table:
        read = parse(written)
        assert [read.uri, read.kb, read.database or "the default one", read.user] == [
            told[0].lower(),
            *told[1:],
        ]
    assert len(table) == 4


def test_the_servers_are_fetched_by_the_command(tmp_path: Path, provisioned: None) -> None:
    (command,) = blocks(SERVERS, "sh")
    lines = run_shell(command, tmp_path).splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"neo4j {release.version}" for release in RELEASES.values()
    ]


def test_the_server_for_tests_answers(tmp_path: Path, provisioned: None) -> None:
    (script,) = blocks(SERVERS, "python")
    assert run_python(script, tmp_path) == "Rome\n"
