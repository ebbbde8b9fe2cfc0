"""Settings that every test shares: no deadlines, bases in memory where there is room.

Thousands of small bases are synced to their disk; on a memory disk that costs nothing, and a
killed process loses as little there as on a real one. Coverage is asked of all code where both
servers are (``.ci/run``), and elsewhere of the code that runs without one.
"""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kgqa.errors import KGQAError
from kgqa.testing import provision

pytest_plugins = ("kgqa.testing.plugin",)

MEMORY_DISK = Path("/dev/shm")
ROOM = 4 * 2**30

settings.register_profile(
    "kgqa", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kgqa")

if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free >= ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))

NEEDS_SERVERS = ["kgqa/store/neo4j/*", *(f"kgqa/testing/{n}.py" for n in ("servers", "twin"))]


def pytest_configure(config: pytest.Config) -> None:
    """Leave out of the report what only a server can run, where one of them cannot be."""
    controller = getattr(config.pluginmanager.get_plugin("_cov"), "cov_controller", None)
    if controller is None or hasattr(config, "workerinput") or _servers():
        return
    for coverage in {controller.cov, controller.combining_cov}:
        coverage.set_option("report:omit", NEEDS_SERVERS)


def _servers() -> bool:
    try:
        for one in provision.RELEASES.values():
            provision.jars(one)
            provision.find_java(*one.javas)
    except KGQAError:
        return False
    return True
