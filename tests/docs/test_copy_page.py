"""docs/copy.md: its blocks run, its table has the options, its fields are the report's."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import get_args

from page_blocks import blocks, page, rows, run_shell, workshop

from kgqa.inputs import CopyInput
from kgqa.store.moving import Action, CopyReport
from kgqa.store.neo4j.admin import AdminExport

PAGE = page("docs/copy.md")


def test_blocks_run_in_order_and_print_what_is_told(tmp_path: Path) -> None:
    folder = workshop(tmp_path)
    first, second, third = (run_shell(block, folder) for block in blocks(PAGE, "sh"))
    starts = ["would copy: ", "copied: ", "nothing to do: ", "equal: "]
    told = [line for line in first.splitlines() if line.startswith(tuple(starts))]
    assert [line[: len(start)] for line, start in zip(told, starts, strict=True)] == starts
    assert json.loads(second.splitlines()[0].replace("'", '"'))["rows"] > 100
    assert third.startswith("exported: revision ")
    assert {"Fact.csv.gz", "Fact.header.csv", "import.sh"} <= set(third.split())


def test_every_option_and_field_is_told() -> None:
    options = {f"--{name.replace('_', '-')}" for name in CopyInput.model_fields} - {"--dst"}
    assert {
        row[0].strip("`") for row in rows(PAGE, "never\n  touched (`store.exists`).\n")
    } == options
    named = {f.name for f in (*fields(CopyReport), *fields(AdminExport))} | set(get_args(Action))
    assert {name for name in named if f"`{name}`" not in PAGE} == set()
