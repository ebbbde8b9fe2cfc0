"""compose.yaml: pinned, checked, closed to the network, no secret, set up as the test servers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kgqa.testing.provision import RELEASES
from kgqa.testing.servers import SETTINGS

COMPOSE = yaml.safe_load((Path(__file__).resolve().parents[2] / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def setting(variable: str) -> str:
    """Return the setting that the image makes of a variable: ``_`` is a dot, ``__`` one of it."""
    words = variable.removeprefix("NEO4J_").split("__")
    return "_".join(word.replace("_", ".") for word in words)


def test_it_starts_neo4j_and_ollama() -> None:
    assert set(SERVICES) == {"neo4j", "ollama"}
    assert set(COMPOSE["volumes"]) == {"neo4j", "ollama"}


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_pinned_kept_checked_and_local(name: str) -> None:
    service = SERVICES[name]
    assert re.search(r":\d+\.\d+\.\d+$", service["image"])
    assert [volume.split(":")[0] for volume in service["volumes"]] == [name]
    assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_neo4j_is_the_one_that_is_tested() -> None:
    assert SERVICES["neo4j"]["image"] == f"neo4j:{RELEASES['2026'].version}"
    given = dict(SERVICES["neo4j"]["environment"])
    user, secret = given.pop("NEO4J_AUTH").split("/")
    assert (user, secret.split(":")[0]) == ("neo4j", "${KGQA_NEO4J_PASSWORD")
    assert {setting(name): value for name, value in given.items()} == dict(SETTINGS)
