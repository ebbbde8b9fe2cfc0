"""The house itself: layers, types, style, what imports what, what the wheel holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "numpy", "spacy", "networkx", "rdflib", "neo4j", "ollama", "onnxruntime", "tokenizers",
    "pydantic", "click", "rich", "sqlite3", "sentence_transformers", "trafilatura", "docx", "pypdf",
)  # fmt: skip


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    # Coverage follows into subprocesses and loads modules of its own there.
    bare = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    return subprocess.run(argv, cwd=ROOT, env=bare, capture_output=True, text=True, check=False)


def module(*argv: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", *argv)


def test_layers_are_those_of_the_design() -> None:
    done = run(str(Path(sys.executable).parent / "lint-imports"), "--no-cache")
    assert done.returncode == 0, done.stdout


def test_types_are_strict() -> None:
    done = module("mypy", "--no-error-summary")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("command", [("check",), ("format", "--check")], ids=["lint", "format"])
def test_style(command: tuple[str, ...]) -> None:
    done = module("ruff", *command, "--no-cache", ".")
    assert done.returncode == 0, done.stdout


def test_import_kgqa_loads_nothing_heavy() -> None:
    code = f"import kgqa, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


def test_public_names_are_sorted_and_exist() -> None:
    import kgqa

    assert kgqa.__all__ == sorted(kgqa.__all__)
    assert all(getattr(kgqa, name) is not None for name in kgqa.__all__)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = kgqa.nothing_here
    assert "KBase" in dir(kgqa)


HOMES = {
    "spacy": "kgqa/language/nlp.py",
    "networkx": "kgqa/query/graph.py",
    "onnxruntime": "kgqa/inference/embed.py",
    "sentence_transformers": "kgqa/inference/embed.py",
    "httpx": "kgqa/inference/ollama.py",
    "click": "kgqa/surfaces/cli.py",
    "rich": "kgqa/surfaces/progress.py",
    "filelock": "kgqa/store/files.py",
    "pypdf": "loaders/pdf.py",
    "docx": "loaders/office.py",
    "trafilatura": "loaders/webpage.py",
}


@pytest.mark.parametrize("package", HOMES)
def test_one_third_party_package_one_module(package: str) -> None:
    written = re.compile(
        rf"^\s*(import|from) {package}\b|_import\(\s*\"{package}\b",
        re.MULTILINE,
    )
    found = {
        str(p.relative_to(ROOT))
        for folder in ("kgqa", "loaders")
        for p in (ROOT / folder).rglob("*.py")
        if written.search(p.read_text())
    }
    assert found == {HOMES[package]}


def test_stores_and_adapters_alone_know_sqlite() -> None:
    found = {
        p.relative_to(ROOT / "kgqa").parts[0]
        for p in (ROOT / "kgqa").rglob("*.py")
        if re.search(r"^import sqlite3\b", p.read_text(), re.MULTILINE)
    }
    assert found == {"store"}


def test_files_stay_small() -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for folder in ("kgqa", "loaders", "ontology", "examples")
        for p in (ROOT / folder).rglob("*.py")
        if (n := len(p.read_text().splitlines())) > 400
    }
    assert long == {}


def test_every_module_says_what_belongs_there() -> None:
    silent = [
        str(p.relative_to(ROOT))
        for folder in ("kgqa", "loaders", "ontology")
        for p in (ROOT / folder).rglob("*.py")
        if not p.read_text().startswith('"""')
    ]
    assert silent == []


def test_the_wheel_holds_loaders_ontology_and_examples(tmp_path: Path) -> None:
    done = module("build", "--wheel", "--no-isolation", "--outdir", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "kgqa/loaders/__init__.py",
        "kgqa/ontology/relations.json",
        "kgqa/examples/demo.json",
        "kgqa/inference/wordpieces.txt.gz",
        "kgqa/py.typed",
    ):
        assert needed in names, needed


def test_ci_calls_the_readmes_test_command() -> None:
    commands = re.findall(r"^(python3 -m venv .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text()
