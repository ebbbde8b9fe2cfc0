"""docs/settings.md, docs/benchmarks.md, docs/architecture.md and the README's links."""

from __future__ import annotations

import re
from dataclasses import fields

from page_blocks import ROOT, page, rows

from kgqa import settings
from kgqa.protocols import BaseOptions

SETTINGS = page("docs/settings.md")


def test_every_setting_of_a_process_is_told_as_it_is() -> None:
    told = [[c.strip("`") for c in row[:2]] for row in rows(SETTINGS, "## Of a process")]
    fields = settings.Settings.model_fields
    assert told == [[f"KGQA_{name.upper()}", str(f.default)] for name, f in fields.items()]


def test_every_setting_of_a_base_is_told() -> None:
    told = {row[0].strip("`") for row in rows(SETTINGS, "## Of a base")}
    given = {f.name for f in fields(BaseOptions)} | {"embedder"}
    assert given <= told


def test_every_benchmark_is_told() -> None:
    told = set(re.findall(r"benchmarks/(\w+\.py)", page("docs/benchmarks.md")))
    runs = {
        path.name
        for path in (ROOT / "benchmarks").glob("*.py")
        if "__main__" in path.read_text(encoding="utf-8")
    }
    assert told == runs


def test_every_room_is_told() -> None:
    told = set(re.findall(r"`(\w+)/`", page("docs/architecture.md")))
    rooms = {p.parent.name for p in (ROOT / "kgqa").glob("*/__init__.py")}
    assert rooms - {"ontology", "examples"} <= told


def test_links_lead_somewhere() -> None:
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), (path.name, target)
