"""docs/cli.md: its table is that of the operations, its blocks run in order."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from page_blocks import blocks, page, rows, run_shell, workshop

from kgqa.ops import OPERATIONS
from kgqa.surfaces.cli import group, run

PAGE = page("docs/cli.md")
SCOPE = ("--as-of", "--known-at", "--year-numbering", "--as-of-match", "--undated")
KEYS = {row[0].strip("`"): row[1] for row in rows(PAGE, "## JSON")}


def usage(command: click.Command) -> str:
    """Return a command's arguments as the page writes them."""
    words = []
    for param in command.params:
        if isinstance(param, click.Argument):
            name = (param.metavar or param.name or "").upper() + ("…" if param.nargs == -1 else "")
            words.append(name if param.required else f"[{name}]")
    return " ".join([str(command.name), *words])


def options(command: click.Command) -> list[str]:
    """Return a command's options as the page writes them; the scope's as one word."""
    names = ["/".join(p.opts) for p in command.params if isinstance(p, click.Option)]
    names.remove("--json")
    if set(SCOPE) <= set(names):
        names = ["scope", *(n for n in names if n not in SCOPE)]
    return names


def test_the_table_is_that_of_the_operations() -> None:
    commands = group().commands
    wanted = [
        [
            f"`{usage(commands[name])}`",
            operation.summary,
            ", ".join(o if o == "scope" else f"`{o}`" for o in options(commands[name])),
        ]
        for name, operation in OPERATIONS.items()
    ]
    assert list(rows(PAGE, "## Commands")) == wanted


def test_the_scope_is_explained() -> None:
    assert [row[0].strip("`") for row in rows(PAGE, "## Scope")] == list(SCOPE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workshop(tmp_path_factory.mktemp("cli"))


def test_blocks_run_in_order(folder: Path) -> None:
    found = blocks(PAGE, "sh")
    assert len(found) >= 6
    for block in found:
        run_shell(block, folder)


def test_json_has_the_keys_that_are_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    run(["load", "rome.kg", "examples/rome", "--create"])
    capsys.readouterr()
    shown = {
        "ask": ["ask", "rome.kg", "Who was consul in 63 BC?"],
        "search": ["search", "rome.kg", "Actium"],
        "explain": ["explain", "rome.kg", "Who was consul in 63 BC?"],
        "timeline": ["timeline", "rome.kg", "Julius Caesar"],
        "snapshot": ["snapshot", "rome.kg", "--as-of", "-0044"],
        "diff": ["diff", "rome.kg", "--from", "-0050", "--to", "-0040"],
        "when": ["when", "rome.kg", "Cicero", "consul of", "Rome"],
        "load": ["load", "rome.kg", "examples/rome"],
        "index": ["index", "rome.kg"],
        "error": ["at", "rome.kg", "Nobody"],
    }
    assert set(KEYS) == set(shown)
    for name, command in shown.items():
        assert run([*command, "--json"]) == (3 if name == "error" else 0)
        keys = list(json.loads(capsys.readouterr().out))
        assert ", ".join(f"`{key}`" for key in keys) == KEYS[name], name
