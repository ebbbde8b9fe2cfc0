"""notebooks/explore.ipynb runs and prints what it should; it is stored without output."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "explore.ipynb"


def run(place: str | None = None) -> list[str]:
    """Run the notebook on this interpreter and return what each code cell prints."""
    notebook = nbformat.read(PATH, as_version=4)
    if place is not None:
        lines = notebook.cells[1].source.splitlines()
        (at,) = [i for i, line in enumerate(lines) if line.startswith("place = ")]
        lines[at] = f"place = {place!r}"
        notebook.cells[1].source = "\n".join(lines)
    client = NotebookClient(notebook, timeout=600, kernel_name="python3")
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + before
    try:
        client.execute()
    finally:
        os.environ["PATH"] = before
    return [
        "".join(out.get("text", "") for out in cell.outputs if out.output_type == "stream")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.fixture(scope="module")
def printed() -> list[str]:
    return run()


def test_on_a_server_it_prints_the_same(url: str, printed: list[str]) -> None:
    assert run(url) == printed


def test_everything_loads_and_nothing_waits(printed: list[str]) -> None:
    documents = int(re.findall(r"'documents': (\d+)", printed[0])[0])
    assert documents >= 7
    assert "failed: 0" in printed[0]
    assert "pending after the index: 0" in printed[0]


def test_three_times_give_three_answers(printed: list[str]) -> None:
    answers = [line.split(" ", 1) for line in printed[1].splitlines()]
    assert [year for year, _ in answers] == ["-0058", "-0050", "-0040"]
    assert "Julius Caesar" in answers[0][1]
    assert "Julius Caesar" in answers[1][1]
    assert "Julius Caesar" not in answers[2][1]


def test_citations_show_when_they_hold(printed: list[str]) -> None:
    assert printed[2].startswith("Cicero consul of: Rome")
    assert re.search(r"fact:\w{26} -0063\S* definite", printed[2])


def test_the_timeline_has_bars(printed: list[str]) -> None:
    bars = int(printed[3].split()[0])
    assert bars >= 8


def test_the_diff_has_both_signs(printed: list[str]) -> None:
    lines = printed[4].splitlines()
    assert {line[0] for line in lines} == {"-", "+"}
    assert any("governed" in line for line in lines if line.startswith("+"))


def test_it_is_stored_without_output() -> None:
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
