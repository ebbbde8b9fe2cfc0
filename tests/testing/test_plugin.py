"""The fixtures of servers: tests skip where there is none, or fail where one is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
def test_shared(url):
    assert url

def test_own(make_server):
    assert make_server()
"""


MORE = """
import pytest

@pytest.mark.parametrize("n", range(7))
def test_shared(server, n):
    assert server
"""
WORKERS = """
import os
from pathlib import Path

def pytest_runtest_logstart(nodeid, location):
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        with Path("ran").open("a") as ran:
            print(worker, nodeid, file=ran)
"""


def outcome(folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Run TESTS where no jars are; return the status and what pytest prints."""
    (folder / "test_it.py").write_text(TESTS)
    ours = ("COVERAGE", "KGQA_", "PYTEST_")
    bare = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    command = f"{sys.executable} -m pytest -p kgqa.testing.plugin -p no:cacheprovider -rs"
    done = subprocess.run(
        [*command.split(), "--strict-markers", *options, "test_it.py"],
        cwd=folder,
        env={**bare, "KGQA_SERVERS": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_tests_skip_with_the_reason(tmp_path: Path) -> None:
    status, told = outcome(tmp_path, "-p", "no:xdist")
    assert status == 0
    assert "3 skipped" in told
    for version in ("5.26.16", "2026.09.0"):
        assert f"no jars of neo4j {version} in '{tmp_path}'; " in told
    assert "-m kgqa.testing.provision" in told


def test_tests_fail_where_servers_are_needed(tmp_path: Path) -> None:
    status, told = outcome(tmp_path, "-n", "2", "--dist", "loadfile", KGQA_NEED_SERVERS="1")
    assert status == 1
    assert "1 failed, 2 errors" in told


def test_all_tests_of_a_server_run_in_one_worker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(WORKERS)
    (tmp_path / "test_more.py").write_text(MORE)
    outcome(tmp_path, "-n", "2", "test_more.py")
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert len(ran) == 2 * 8 + 1
    for server in ("neo4j-5.26", "neo4j-2026"):
        assert len({worker for worker, test in ran if server in test}) == 1
    assert len({worker for worker, _ in ran}) == 2
