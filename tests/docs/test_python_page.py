"""docs/python.md and the README: their blocks run and print what their comments say."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from page_blocks import blocks, page, run_python, run_shell, workshop

from kgqa.model.answer import Answer, AskOptions
from kgqa.protocols import LoadOptions

PAGE = page("docs/python.md")


def test_blocks_run_in_order_and_print_what_is_told(tmp_path: Path) -> None:
    source = "\n".join(blocks(PAGE, "python"))
    printed = run_python(source, workshop(tmp_path)).splitlines()
    told = re.findall(r"^ *print\(.*\)(?: +# (.*))?$", source, re.MULTILINE)
    assert len(printed) == len(told)
    for line, comment in zip(printed, told, strict=True):
        if comment:
            start = re.split(r"[:;…]", comment)[0]
            assert line.startswith(start.strip()), (line, comment)


def test_every_option_and_field_is_named() -> None:
    names = {f.name for kind in (AskOptions, LoadOptions, Answer) for f in fields(kind)}
    assert {n for n in names if f"`{n}`" not in PAGE} == {"question"}


def test_the_readmes_blocks_run(tmp_path: Path) -> None:
    readme = page("README.md")
    own = [block for block in blocks(readme, "sh") if not block.startswith("python3 -m venv")]
    assert len(own) == 1
    shown = run_shell(own[0], workshop(tmp_path))
    (told,) = blocks(readme, "text")
    assert all(line in shown.splitlines() for line in told.splitlines())
    (script,) = blocks(readme, "python")
    assert run_python(script, tmp_path).startswith("('Ada Berg',)\n")
