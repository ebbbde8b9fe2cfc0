"""What the pages promise, run: shell blocks command by command, Python blocks as one script."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from kgqa.surfaces.cli import run

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXITS = re.compile(r" *# exits (\d+)$")
_PLAIN = re.compile(r"kgqa [^|<>$`;&]*")


def page(name: str) -> str:
    """Return a page's text, by its path in the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the blocks of a language, in order."""
    return [body for kind, body in _BLOCK.findall(text) if kind == language]


def rows(text: str, heading: str) -> Iterator[list[str]]:
    """Yield the cells of the first table after a heading, without its first two lines."""
    after = text.split(f"{heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\|\n)+", after, re.MULTILINE)
    assert table is not None, heading
    for line in table.group().splitlines()[2:]:
        yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def workshop(folder: Path) -> Path:
    """Copy the examples into a folder, so that a page's relative paths are there."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


def environment() -> dict[str, str]:
    """Return an environment in which ``kgqa`` is that of this interpreter, compiled once."""
    binaries = str(Path(sys.executable).parent)
    cache = str(Path(tempfile.gettempdir()) / f"kgqa-pycache-{os.getpid()}")
    mine = {"PATH": binaries + os.pathsep + os.environ["PATH"], "PYTHONPYCACHEPREFIX": cache}
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | mine


def run_shell(block: str, folder: Path) -> str:
    """Run a block line by line and return what it prints; ``# exits N`` says how a line exits.

    A plain ``kgqa`` line runs in this process, which spares the start of each; a line with
    pipes or files runs in bash.
    """
    return "".join(_line(line, folder) for line in block.splitlines())


def _line(line: str, folder: Path) -> str:
    told = _EXITS.search(line)
    wanted = int(told.group(1)) if told else 0
    command = _EXITS.sub("", line)
    if _PLAIN.fullmatch(command):
        out, err = io.StringIO(), io.StringIO()
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            status = run(shlex.split(command)[1:])
        shown, told_of = out.getvalue(), err.getvalue()
    else:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        status, shown, told_of = done.returncode, done.stdout, done.stderr
    assert status == wanted, f"{line}\n{shown}\n{told_of}"
    assert "Traceback" not in told_of
    return shown


def run_python(source: str, folder: Path) -> str:
    """Run a script in a folder with this interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
