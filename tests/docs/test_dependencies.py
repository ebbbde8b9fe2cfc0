"""docs/dependencies.md: every dependency has its line, and no line is left over."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_equals_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    names = {re.split(r"[\[<>=~!;, ]", requirement)[0] for requirement in wanted} - {"kgqa"}
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    taken = page.split("## Looked at and not taken")[0]
    rows = re.findall(r"^\| `([^`]+)` \|((?:[^|]*\|){4})$", taken, re.MULTILINE)
    assert {name for name, _ in rows} == names
    assert len(rows) == len(names)
    assert not [
        name for name, cells in rows if not all(cell.strip() for cell in cells[:-1].split("|"))
    ]
