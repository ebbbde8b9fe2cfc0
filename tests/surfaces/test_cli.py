"""The command line: every command, exit statuses, streams, signals, malformed words."""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa import KBase, __version__
from kgqa.ops import OPERATIONS
from kgqa.surfaces.cli import run
from kgqa.testing.sizes import counts

ROWS = [
    {"subject": "Cicero", "relation": "consul of", "object": "Rome", "valid": "-0063"},
    {"subject": "Caesar", "relation": "consul of", "object": "Rome", "valid": "-0059"},
    {"id": "cicero", "kind": "person", "label": "Cicero"},
    {"id": "caesar", "kind": "person", "label": "Caesar", "existence": "-0100-07-12/-0044-03-15"},
    {"subject": "Bad\x1b]0;owned\x07 \x1b[31mName", "relation": "consul of", "object": "Rome",
     "valid": "-0050"},
]  # fmt: skip
QUESTION = "Who was consul in 63 BC?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base in it, an export, a file of questions; only read."""
    folder = tmp_path_factory.mktemp("cli")
    with KBase.create(folder / "a.kg") as kb:
        kb.write(ROWS)
        kb.export(folder / "a.jsonl")
    (folder / "q.jsonl").write_text(json.dumps({"id": 1, "question": QUESTION}) + "\n")
    (folder / "rows.csv").write_text("subject,relation,object,start\nA,knows,B,1900\n")
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own with copies of what was made."""
    for name in ("a.kg", "a.jsonl", "q.jsonl", "rows.csv"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Leave the signal handlers of the test process as they were."""
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def process(*argv: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    given: dict[str, Any] = {"capture_output": True, "timeout": 120, **options}
    return subprocess.run([sys.executable, "-m", "kgqa", *argv], check=False, **given)


WORDS: dict[str, list[str]] = {
    "init": ["new.kg"],
    "load": ["a.kg", "rows.csv"],
    "index": ["a.kg"],
    "ask": ["a.kg", QUESTION],
    "search": ["a.kg", "consul"],
    "explain": ["a.kg", QUESTION],
    "batch": ["a.kg", "q.jsonl", "-o", "out.jsonl"],
    "at": ["a.kg", "Cicero"],
    "timeline": ["a.kg", "Cicero"],
    "snapshot": ["a.kg"],
    "diff": ["a.kg", "--from", "-0063", "--to", "-0059"],
    "when": ["a.kg", "Cicero", "consul of", "Rome"],
    "nodes": ["a.kg"],
    "documents": ["a.kg"],
    "relations": ["a.kg"],
    "end": ["a.kg", "caesar", "--at", "-0044-03-15"],
    "retract": ["a.kg", "node:cicero"],
    "erase": ["a.kg", "node:cicero"],
    "delete": ["a.kg", "api:api"],
    "merge": ["a.kg", "Cicero", "Caesar"],
    "undo": ["a.kg", "9999"],
    "failures": ["a.kg"],
    "stats": ["a.kg"],
    "verify": ["a.kg"],
    "browse": ["a.kg", "--as-of", "-0050"],
    "backup": ["a.kg", "-o", "b.kg"],
    "copy": ["a.kg", "b.kg"],
    "export": ["a.kg", "-o", "b.jsonl"],
    "import": ["a.kg", "a.jsonl"],
    "doctor": [],
    "demo": [],
}
SLOW = {"doctor", "demo"}
STATUS = {"undo": 2, "browse": 6}


def test_every_operation_is_tried() -> None:
    assert WORDS.keys() == OPERATIONS.keys()


@pytest.mark.parametrize("name", OPERATIONS)
def test_help_says_what_a_command_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    shown = capsys.readouterr()
    assert OPERATIONS[name].summary[1:] in " ".join(shown.out.split())
    assert "--json" in shown.out
    assert shown.err == ""


@pytest.mark.parametrize("name", sorted(WORDS.keys() - SLOW))
def test_json_parses_for_every_command(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, *WORDS[name], "--json"]) == STATUS.get(name, 0)
    out = capsys.readouterr().out
    assert out.endswith("\n")
    json.loads(out)


@pytest.mark.parametrize("name", sorted(WORDS.keys() - SLOW))
def test_lines_for_every_command(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, *WORDS[name]]) == STATUS.get(name, 0)
    shown = capsys.readouterr()
    assert (shown.out if name not in STATUS else shown.err).strip()
    assert re.search(r"object at 0x|\w+\(\w+='", shown.out) is None


def test_versions_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"kgqa {__version__}\n"
    done = process("--version")
    assert done.stdout.decode() == f"kgqa {__version__}\n"
    assert done.returncode == 0


def test_no_words_at_all_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in OPERATIONS)


@pytest.mark.parametrize("words", [["--as-of", "-0063"], ["--as-of=-0063"]])
def test_a_date_before_our_era_is_an_option(
    words: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ask", "a.kg", "Who was consul?", *words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["answers"] == ["Cicero"]
    assert answer["scope"]["as_of"]["input"] == "-0063"


FAILING: list[tuple[list[str], int, str]] = [
    (["ask", "a.kg", "Who?", "--as-of", "0000"], 2, "time.invalid"),
    (["ask", "a.kg", "Who?", "--node", "Rome"], 2, "input.pair"),
    (["ask", "a.kg", "Who?", "--mode", "wide"], 2, "input.usage"),
    (["ask", "a.kg", "Who?", "--known-at", "r-1"], 2, "time.invalid"),
    (["ask", "a.kg"], 2, "input.usage"),
    (["search", "a.kg", "x", "-k", "many"], 2, "input.usage"),
    (["load", "a.kg"], 2, "load.no_paths"),
    (["load", "a.kg", "-"], 2, "load.format_missing"),
    (["load", "a.kg", "q.txt2"], 3, "load.not_found"),
    (["load", "no.kg", "rows.csv"], 3, "store.not_found"),
    (["merge", "a.kg", "Cicero"], 2, "merge.one_node"),
    (["batch", "a.kg", "rows.csv", "-o", "x"], 2, "batch.invalid"),
    (["batch", "a.kg", "no.jsonl", "-o", "x"], 2, "input.file"),
    (["relations", "a.kg", "--declare", "q.jsonl"], 2, "relation.invalid"),
    (["import", "a.kg", "q.jsonl"], 2, "import.invalid"),
    (["stats", "rows.csv"], 2, "store.not_a_base"),
    (["at", "a.kg", "Nobody"], 3, "name.unknown"),
    (["retract", "a.kg", "fact:none"], 3, "item.not_found"),
    (["delete", "a.kg", "none"], 3, "item.not_found"),
    (["init", "a.kg"], 4, "store.exists"),
    (["backup", "a.kg", "-o", "a.kg"], 4, "store.exists"),
    (["copy", "a.kg", "rows.csv"], 2, "store.not_a_base"),
    (["copy", "a.kg", "s3://b"], 2, "store.unknown_scheme"),
    (["copy", "a.kg", "b.kg", "--verify-only"], 3, "store.not_found"),
    (["copy", "a.kg"], 2, "input.usage"),
    (["export", "a.kg", "-o", "no/such/folder/x"], 7, "export.unwritable"),
    (["export", "a.kg"], 2, "export.place"),
    (["export", "a.kg", "-o", "x", "--neo4j-admin", "y"], 2, "export.place"),
    (["export", "a.kg", "-o", "x", "--base", "y"], 2, "export.place"),
    (["export", "a.kg", "--neo4j-admin", "."], 4, "store.exists"),
    (["export", "a.kg", "--neo4j-admin", "no/such/folder"], 2, "store.bad_path"),
    (["export", "a.kg", "--neo4j-admin", "y", "--base", "a/b"], 2, "store.bad_url"),
    (["nothing"], 2, "input.usage"),
    (["stats", "a.kg", "--nothing"], 2, "input.usage"),
    (["undo", "a.kg", "x"], 2, "input.usage"),
]


@pytest.mark.parametrize(("words", "wanted", "code"), FAILING)
def test_statuses_by_category(
    words: list[str], wanted: int, code: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--json"]) == wanted
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"] == code
    assert shown.err.startswith("kgqa: ")
    assert "Traceback" not in shown.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_what_the_system_forbids_is_denied(here: Path) -> None:
    (here / "a.kg").chmod(0)
    assert run(["stats", "a.kg"]) == 5


def test_a_missing_package_is_unsupported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["init", "new.kg", "--embedder", "sentence-transformers:none"]
    assert run(words) == 0
    assert run(["load", "new.kg", "rows.csv"]) == 0
    assert run(["index", "new.kg"]) in (3, 6)
    assert "kgqa: " in capsys.readouterr().err


def test_a_bad_setting_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_LOCK_TIMEOUT", "soon")
    assert run(["stats", "a.kg"]) == 2


def test_an_internal_fault_shows_no_traceback(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: KBase) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(KBase, "stats", broken)
    assert run(["stats", "a.kg", "--json"]) == 70
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"] == "internal"
    assert "ZeroDivisionError: oh" in shown.err
    monkeypatch.setenv("KGQA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["stats", "a.kg"])


def test_bad_rows_exit_with_2_and_the_rest_is_there(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rows.csv").write_text(
        "subject,relation,object,start\nA,knows,B,1900\nA,knows,C,1900-13\n"
    )
    assert run(["load", "a.kg", "rows.csv"]) == 2
    assert "rows.csv:3: " in capsys.readouterr().out
    assert run(["at", "a.kg", "A", "--json"]) == 0
    assert [line["object"] for line in json.loads(capsys.readouterr().out)["lines"]] == ["B"]
    assert run(["load", "a.kg", "--retry"]) == 2
    Path("rows.csv").write_text("subject,relation,object,start\nA,knows,D,0000\nA,knows,E,1900\n")
    assert run(["load", "a.kg", "rows.csv", "--strict"]) == 2
    assert "E" not in str(KBase.open("a.kg").timeline("A").lines)


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def test_standard_input(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin(monkeypatch, QUESTION.encode() + b"\n")
    assert run(["ask", "a.kg", "-", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["question"], answer["answers"]) == (QUESTION, ["Cicero"])
    for name in ("X", "Y"):
        stdin(monkeypatch, f"subject,relation,object\n{name},knows,Z\n".encode())
        assert run(["load", "a.kg", "-", "--format", "csv"]) == 0
    capsys.readouterr()
    assert run(["at", "a.kg", "Z", "--json"]) == 0
    subjects = {line["subject"] for line in json.loads(capsys.readouterr().out)["lines"]}
    assert subjects == {"X", "Y"}, "a second pipe must not replace the first"
    stdin(monkeypatch, Path("a.jsonl").read_bytes())
    assert run(["import", "a.kg", "-"]) == 0
    stdin(monkeypatch, b"\xff\xfe\xfa")
    assert run(["ask", "a.kg", "-"]) == 2
    stdin(monkeypatch, b"a" * 1_000_001)
    assert run(["ask", "a.kg", "-"]) == 2


def test_an_export_on_standard_output_is_all_there_is(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "a.kg", "-o", "-", "--json"]) == 0
    assert capsys.readouterr().out == Path("a.jsonl").read_text()


def test_no_control_characters_reach_the_terminal(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["timeline", "a.kg", "Rome"], ["nodes", "a.kg"], ["at", "a.kg", "\x1b[31m"]):
        run(words)
        shown = capsys.readouterr()
        assert "\x1b" not in shown.out + shown.err
        assert "\x07" not in shown.out + shown.err


def test_a_reader_that_goes_away(here: Path) -> None:
    line = f"{sys.executable} -m kgqa export a.kg -o - | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=here, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].endswith("0")
    assert done.stderr == ""


def shell(words: str) -> tuple[int, str]:
    """Run the command with redirections, buffered as at a user's; return status and messages."""
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    line = f"{sys.executable} -m kgqa {words}"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=usual, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("stats a.kg >&-", 0),
        ("export a.kg -o - >&-", 0),
        ("stats none.kg >&- 2>&-", 3),
        ("import a.kg - <&-", 0),
    ],
)
def test_closed_standard_streams(here: Path, words: str, status: int) -> None:
    assert shell(words) == (status, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", ["stats a.kg", "stats a.kg --json", "--help", "--version"])
def test_a_full_standard_output(here: Path, words: str) -> None:
    status, said = shell(words + " >/dev/full")
    assert status == 7
    assert said.startswith("kgqa: cannot write to standard output")
    assert said.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_error_that_cannot_be_written_keeps_its_status(here: Path) -> None:
    assert shell("stats none.kg --json >/dev/full")[0] == 3
    assert shell("stats none.kg 2>/dev/full")[0] == 3


def test_a_bare_environment(here: Path) -> None:
    bare = {"LC_ALL": "C", "COLUMNS": "20", "PYTHONIOENCODING": "ascii", "PATH": os.environ["PATH"]}
    Path("rows.csv").write_text("subject,relation,object\nÆthelstan,ruled,Wessex\n")
    assert process("load", "a.kg", "rows.csv", env=bare).returncode == 0
    done = process("timeline", "a.kg", "Wessex", env=bare)
    assert done.returncode == 0
    assert b"thelstan" in done.stdout
    assert process("ask", "--help", env=bare).returncode == 0


def test_a_folder_that_cannot_be_written(here: Path, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    done = process("stats", str(here / "a.kg"), cwd=folder)
    assert done.returncode == 0
    folder.chmod(0o700)


# A shell's background job, such as a test run may be, ignores SIGINT and so do its children.
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from kgqa.__main__ import main
sys.exit(main())
"""


def waiting(folder: Path) -> subprocess.Popen[bytes]:
    """Start a load of many rows and return once a part of it is committed."""
    with (folder / "many.csv").open("w") as out:
        out.write("subject,relation,object,start\n")
        out.writelines(f"S{n},knows,O{n % 97},19{n % 90 + 10}\n" for n in range(150_000))
    load = subprocess.Popen(
        [sys.executable, "-c", LISTENING, "load", "a.kg", "many.csv"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    for _ in range(600):
        with KBase.open(folder / "a.kg") as kb:
            if kb.stats()["claims"] > 1_000 or load.poll() is not None:
                return load
        time.sleep(0.05)
    return load


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_keeps_whole_batches(number: signal.Signals, here: Path) -> None:
    load = waiting(here)
    load.send_signal(number)
    _, err = load.communicate(timeout=60)
    assert load.returncode == 130, err
    assert b"Traceback" not in err
    assert b"stopped" in err
    with KBase.open(here / "a.kg") as kb:
        claims = kb.stats()["claims"] - len([r for r in ROWS if "subject" in r])
        assert 0 < claims < 150_000
        assert claims % 5_000 == 0
        assert kb.verify() == []


@pytest.mark.parametrize("times", counts(2, 100))
def test_signals_at_random_moments(times: int, here: Path) -> None:
    """R-CR-09: it ends soon; whole batches are there, and the next run finishes."""
    chance = random.Random(times)
    with (here / "some.csv").open("w") as out:
        out.write("subject,relation,object,start\n")
        out.writelines(f"S{n},knows,O{n % 97},19{n % 90 + 10}\n" for n in range(6_000))
    for n in range(times):
        assert process("init", f"{n}.kg").returncode == 0
        words = ["load", f"{n}.kg", "some.csv"]
        child = subprocess.Popen(
            [
                sys.executable,
                "-c",
                LISTENING.replace("sys.exit", "print(1, flush=True);sys.exit"),
                *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"1\n"
        time.sleep(chance.random() * 1.7)
        child.send_signal(chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
        _, err = child.communicate(timeout=10)
        assert child.returncode in (0, 130, -signal.SIGTERM, -signal.SIGHUP), err
        assert b"Traceback" not in err
        with KBase.open(here / f"{n}.kg") as kb:
            assert kb.stats()["claims"] % 5_000 in (0, 1_000)
            assert kb.verify() == []
            kb.load(here / "some.csv")
            assert kb.stats()["claims"] == 6_000
        (here / f"{n}.kg").unlink()


TOKENS = [
    *OPERATIONS, "a.kg", "no.kg", "rows.csv", "q.jsonl", "--json", "--as-of", "-0044-03-15", "0000",
    "--as-of=", "--known-at", "r1", "-1", "99999999999999999999", "--node", "A=", "=", "-k", "0",
    "-5", "--limit", "--after", "--", "-", "", " ", "\x00", "\udcff", "💥", "--from", "--to", "now",
    "--form", "nodes", "-o", "/nowhere/x", "out", "--at", "fact:", "node:x", "document:", "--map",
    "a=b,c",
    "--format", "csv", "--retry", "--dry-run", "--strict", "--ends", "--undated", "exclude", "%s",
    "{}", "'; DROP TABLE facts; --", "--help", "-h", "--version", "Cicero", "consul of", "Rome",
    "AND OR NOT", '"', "*", "a" * 5_000, "Who was consul in 63 BC?", "1815/1816", "--relation",
]  # fmt: skip
UNTRIED = {"doctor", "demo", "init", "index"}


@pytest.mark.parametrize("number", counts(300, 2_000))
def test_malformed_command_lines(
    number: int, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R-GN-01: a status of the table, one line or JSON, never a traceback."""
    draw = random.Random(20_261)
    failed = []
    for _ in range(number):
        words = [w for w in draw.choices(TOKENS, k=draw.randint(1, 7)) if w not in UNTRIED]
        if draw.random() < 0.7:
            words = [draw.choice(sorted(set(WORDS) - UNTRIED)), "a.kg", *words]
        stdin(monkeypatch, b"")
        status = run(words)
        shown = capsys.readouterr()
        told = [] if status in (0, 2, 3, 4, 5, 6, 7) else [status]
        if "Traceback" in shown.err or "internal fault" in shown.err:
            told.append(shown.err[-200:])
        if "--json" in words and status and "--" not in words:
            json.loads(shown.out)
        if told:
            failed.append((words, told))
    assert failed == []


@settings(max_examples=5)
@given(st.lists(st.sampled_from([t for t in TOKENS if "\0" not in t]), max_size=4))
def test_malformed_command_lines_as_processes(words: list[str]) -> None:
    done = process(*[w for w in words if w not in UNTRIED], input=b"")
    assert done.returncode in (0, 2, 3, 4, 5, 6, 7)
    assert b"Traceback" not in done.stderr
