"""``kgqa copy`` as people meet it: lines, statuses, stopping and going on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa import KBase
from kgqa.errors import InputError
from kgqa.store import hooks, moving
from kgqa.surfaces.cli import run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a base in it."""
    monkeypatch.chdir(tmp_path)
    rows = [{"subject": f"S{i}", "relation": "knows", "object": "T"} for i in range(20)]
    with KBase.create("a.kg") as kb:
        kb.write(rows)
        kb.retract("node:name:s3")
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert run(words) == status
    got = capsys.readouterr()
    return got.out if got.out else got.err


def test_what_a_copy_says(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "    facts: 20\n" in shown(capsys, "copy", "a.kg", "b.kg", "--dry-run")
    assert not Path("b.kg").exists()
    copied = shown(capsys, "copy", "a.kg", "b.kg")
    assert copied.startswith("copied: revision 3, ")
    digest = copied.split()[-1]
    again = shown(capsys, "copy", "a.kg", "b.kg")
    assert again == f"nothing to do: b.kg is a copy already, digest {digest}\n"
    same = shown(capsys, "copy", "a.kg", "b.kg", "--verify-only")
    assert same.startswith("equal: revision 3, ")
    assert same.endswith(f"digest {digest}\n")
    with KBase.open("b.kg") as kb:
        kb.retract("node:name:s4")
    other = shown(capsys, "copy", "a.kg", "b.kg", "--verify-only", status=4)
    assert other.startswith("not equal: ")
    assert "facts" in other
    assert "is no copy of this state" in shown(capsys, "copy", "a.kg", "b.kg", status=4)


def test_json_has_rows_and_digests(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(shown(capsys, "copy", "a.kg", "b.kg", "--json"))
    assert report["tables"]["facts"]["rows"] == 20
    assert len(report["digest"]) == len(report["tables"]["facts"]["digest"]) == 32
    assert report["written"] == sum(table["rows"] for table in report["tables"].values())
    assert (report["action"], report["differing"], report["kept"]) == ("copied", [], 0)


def test_a_stopped_copy_says_how_to_go_on(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = 5

    def stop(name: str) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    monkeypatch.setattr(moving, "PAGE_ROWS", 10)
    monkeypatch.setattr(hooks, "reached", stop)
    said = shown(capsys, "copy", "a.kg", "b.kg", status=130)
    assert "run the same command to go on" in said
    refused = shown(capsys, "stats", "b.kg", status=7)
    assert "finish it with: kgqa copy a.kg b.kg" in refused
    going = shown(capsys, "copy", "a.kg", "b.kg", "--dry-run")
    assert "10 of them there already" in going
    with KBase.open("a.kg") as kb:
        kb.retract("node:name:s5")
    assert "--restart" in shown(capsys, "copy", "a.kg", "b.kg", status=4)
    assert shown(capsys, "copy", "a.kg", "b.kg", "--restart").startswith("copied: revision 4, ")
    assert shown(capsys, "verify", "b.kg") == "all parts agree\n"


def test_from_python(here: Path) -> None:
    with KBase.open("a.kg") as kb:
        report = kb.copy(Path("b.kg"))
        assert report.action == "copied"
        assert kb.copy("b.kg", verify_only=True).digest == report.digest
        with pytest.raises(InputError) as caught:
            kb.copy(7)  # type: ignore[arg-type]
        assert caught.value.code == "input.type"
