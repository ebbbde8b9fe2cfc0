"""Whole jobs over a knowledge base: batch, demo; and reading what a surface was handed.

Belongs here: jobs that more than one surface needs. Must not: what a base does itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from kgqa.errors import InputError, KGQAError, UnavailableError
from kgqa.exchange import declare
from kgqa.exchange.plain import plain
from kgqa.ingest.sources import content_hash
from kgqa.model.answer import Answer, AskOptions, SearchResult
from kgqa.model.things import Relation
from kgqa.protocols import Problem, Progress
from kgqa.query.history import Diff, NodeHistory, Snapshot, When
from kgqa.query.render import to_json
from kgqa.temporal import parse_as_of
from kgqa.temporal.interval import Numbering

if TYPE_CHECKING:
    from kgqa.kbase import KBase
    from kgqa.store.neo4j.browser import View

MAX_INPUT = 1_000_000
FORMATS = ("jsonl", "csv", "txt", "md", "html")


def read_text(argument: str) -> str:
    """Return a text argument; ``-`` reads standard input. InputError (``input.too_long``)."""
    if argument != "-":
        return argument
    text = read_file("-")
    if len(text) > MAX_INPUT:
        raise InputError(
            f"standard input holds more than {MAX_INPUT:,} characters",
            code="input.too_long",
            hint="ask one question",
        )
    return text.strip()


def read_file(path: str) -> str:
    """Return a UTF-8 text file, or standard input for ``-``; InputError (``input.file``)."""
    try:
        if path != "-":
            return Path(path).read_text(encoding="utf-8-sig")
        return sys.stdin.buffer.read().decode("utf-8-sig") if sys.stdin else ""
    except (OSError, ValueError) as exc:
        raise InputError(
            f"cannot read {path!r}: {exc}", code="input.file", hint="give a readable UTF-8 file"
        ) from None


def relations(path: str) -> list[Relation]:
    """Read the relations that a file declares."""
    return declare.read(read_file(path), path)


@contextmanager
def spooled(
    paths: Sequence[str], suffix: str | None
) -> Iterator[tuple[list[str | Path], str | None]]:
    """Yield paths and None; for ``-`` alone, a copy of standard input and a name for it.

    The name follows from the content, so that one pipe never replaces another. Raises
    InputError (``load.format_missing``) if ``-`` comes without a format.
    """
    if list(paths) != ["-"]:
        yield list(paths), None
        return
    if suffix not in FORMATS:
        raise InputError(
            f"cannot tell what standard input holds (format {suffix!r})",
            code="load.format_missing",
            hint=f"add --format with one of {', '.join(FORMATS)}",
        )
    with contextlib.ExitStack() as stack:
        with _room_for("standard input"):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            spool = Path(folder) / f"stdin.{suffix}"
            with spool.open("wb") as out:
                if sys.stdin:
                    shutil.copyfileobj(sys.stdin.buffer, out)
        yield [spool], f"stdin-{content_hash(spool)[:12]}"


@contextmanager
def _room_for(what: str) -> Iterator[None]:
    """Raise UnavailableError where the folder for temporary files takes nothing."""
    try:
        yield
    except OSError as exc:
        raise UnavailableError(
            f"no room for {what} among temporary files: {exc.strerror}",
            code="output.unwritable", hint="set TMPDIR to a folder with room",
        ) from None  # fmt: skip


@dataclass(frozen=True, slots=True)
class Explained:
    """Hold an answer whose whole trace is to be shown."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Made:
    """Hold the counts of a new base."""

    stats: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Verified:
    """Hold what ``verify`` found."""

    problems: tuple[Problem, ...]


for _kind in (Answer, SearchResult, NodeHistory, Snapshot, Diff, When):
    plain.register(_kind, to_json)


@plain.register
def _(result: Explained) -> Any:
    return to_json(result.answer, trace=True)


@plain.register
def _(result: Made) -> Any:
    return plain(result.stats)


@plain.register
def _(result: Verified) -> Any:
    return plain(result.problems)


def browse(
    kb: KBase, as_of: str, name: str | None = None,
    year_numbering: Numbering = "historical", port: int = 7474,
) -> View:  # fmt: skip
    """Return how Neo4j Browser shows what held at a time, or what was said of a node then.

    Raises UnsupportedError (``store.no_browser``) for a base that is not on a server.
    """
    from kgqa.store.neo4j.browser import view

    span = parse_as_of(as_of, numbering=year_numbering).span
    node = None
    if name is not None:
        options = AskOptions(as_of=as_of, numbering=year_numbering)
        node = kb.at(name, options).node.id
    return view(kb.capabilities, span, node, port)


@dataclass(frozen=True, slots=True)
class BatchReport:
    """Say how a batch went: questions answered now, kept from before, abstained, failed."""

    answered: int
    resumed: int
    abstained: int
    failed: int
    seconds: float
    output: str


def batch(
    kb: KBase, questions: str, output: Path, options: AskOptions, progress: Progress
) -> BatchReport:
    """Answer a JSONL of ``id, question`` and optional ``as_of`` into ``output``, a line each.

    Resumes: ids already answered in ``output`` are kept and not asked again; a torn last
    line is dropped. A question that cannot be answered gives a line with ``errors``. Raises
    InputError (``batch.invalid``) naming the line.
    """
    began = time.monotonic()
    asked = _questions(questions)
    abstained = failed = 0
    with _appending(output) as (kept, out):
        todo = [q for q in asked if q["id"] not in kept]
        for n, entry in enumerate(todo, 1):
            line = _answer_line(kb, entry, options)
            failed += "errors" in line
            abstained += bool(line["abstained"]) and "errors" not in line
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            out.flush()
            progress("batch", n, len(todo))
    return BatchReport(
        answered=len(todo) - failed - abstained,
        resumed=len(asked) - len(todo),
        abstained=abstained,
        failed=failed,
        seconds=time.monotonic() - began,
        output=str(output),
    )


def _answer_line(kb: KBase, entry: dict[str, Any], options: AskOptions) -> dict[str, Any]:
    try:
        answer = kb.ask(
            entry["question"], replace(options, as_of=entry.get("as_of", options.as_of))
        )
    except InputError as exc:
        return {
            "id": entry["id"], "answers": [], "text": str(exc), "scope": None, "citations": [],
            "abstained": True, "reason": exc.code, "errors": [exc.to_dict()],
        }  # fmt: skip
    keys = ("answers", "text", "scope", "citations", "abstained", "reason")
    shown = to_json(answer)
    return {"id": entry["id"], **{k: shown[k] for k in keys}}


def _questions(path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    seen: set[Any] = set()
    for number, line in enumerate(read_file(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not (
            isinstance(entry, dict) and "id" in entry and isinstance(entry.get("question"), str)
        ):
            raise _bad_line(path, number, "a line is a JSON object with id and question")
        if not isinstance(entry["id"], (str, int)) or entry["id"] in seen:
            raise _bad_line(
                path, number, f"ids are texts or numbers, each once; not {entry['id']!r}"
            )
        if not isinstance(entry.get("as_of"), (str, type(None))):
            raise _bad_line(path, number, f"as_of is a text, not {entry['as_of']!r}")
        seen.add(entry["id"])
        found.append(entry)
    return found


def _bad_line(path: str, number: int, message: str) -> InputError:
    return InputError(
        f"{path}:{number}: {message}",
        code="batch.invalid",
        hint='write lines like {"id": 1, "question": "Who …?"}',
    )


@contextmanager
def _appending(output: Path) -> Iterator[tuple[set[Any], TextIO]]:
    """Yield the ids that a file of answers holds, and the file, open at its end."""
    try:
        kept = _resume(output)
        out = output.open("a", encoding="utf-8")
    except (OSError, ValueError) as exc:
        if isinstance(exc, KGQAError):
            raise
        raise InputError(
            f"cannot write {str(output)!r}: {exc}",
            code="batch.output",
            hint="give a file in a folder that you may write to",
        ) from None
    with out:
        yield kept, out


def _resume(output: Path) -> set[Any]:
    if not output.exists():
        return set()
    kept: set[Any] = set()
    good = 0
    data = output.read_bytes()
    for line in data.splitlines(keepends=True):
        try:
            entry = json.loads(line)
            if not line.endswith(b"\n"):
                break
            kept.add(entry["id"])
        except (ValueError, KeyError, TypeError):
            if good + len(line) < len(data):
                raise InputError(
                    f"{output} is not a file of answers",
                    code="batch.output",
                    hint="give another file to -o",
                ) from None
            break
        good += len(line)
    if good < len(data):
        with output.open("r+b") as file:
            file.truncate(good)
    return kept


@dataclass(frozen=True, slots=True)
class Shown:
    """Hold one question of the demo with its answer."""

    question: str
    as_of: str | None
    answer: Answer


@dataclass(frozen=True, slots=True)
class Demo:
    """Hold the demo's run: where the base is, what it holds, the answers."""

    path: str
    stats: dict[str, int]
    shown: tuple[Shown, ...]


def demo(progress: Progress, url: str | os.PathLike[str] | None = None) -> Demo:
    """Load the packaged examples into a new base, index it, ask the demo's questions.

    The base stays, in a temporary folder unless ``url`` says where, so that it can be explored
    further. Raises ConflictError (``store.exists``).
    """
    from kgqa import examples
    from kgqa.kbase import KBase

    script = json.loads(examples.path("demo.json").read_text(encoding="utf-8"))
    if url is None:
        with _room_for("the demo"):
            url = Path(tempfile.mkdtemp(prefix="kgqa-demo-")) / "demo.kg"
    with KBase.create(url) as kb:
        for name in script.get("relations", []):
            kb.declare(declare.read(examples.path(name).read_text(encoding="utf-8"), name))
        names = [*script["load"], *script["read"]]
        kb.load([examples.path(name) for name in names], progress=progress)
        kb.index(progress=progress)
        shown = [
            Shown(
                q["question"],
                q.get("as_of"),
                kb.ask(q["question"], AskOptions(as_of=q.get("as_of"))),
            )
            for q in script["questions"]
        ]
        return Demo(kb.capabilities.location, kb.stats(), tuple(shown))
