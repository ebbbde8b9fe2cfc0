"""A base as files for ``neo4j-admin database import``, for graphs that are too large to be sent.

Belongs here: the folder, and what is to be done with it. Must not: what is in the files (``bulk``).

No ``Target`` of a copy: a folder is written whole or not at all, and what is to be compared in the
end is not the files but the base that came of them. That is all there but for constraints and
indexes, which are made when the base is first opened (``deriving.adopt``).
"""

from __future__ import annotations

import shlex
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from kgqa.errors import ConflictError, InputError, UnavailableError
from kgqa.protocols import Progress, Store
from kgqa.store import moving
from kgqa.store.moving import Tally
from kgqa.store.neo4j import address
from kgqa.store.neo4j.sheets import Sheets

DATABASE = "neo4j"
"""The one database that a Community server has for its users."""
SCRIPT = "import.sh"
_TOOL = "neo4j-admin"
_ATTEMPTS = 3

_TEXT = """#!/bin/sh
# {source} at revision {revision}: {rows} rows for the base {base}, digest {digest}.
#
# 1. Stop the server, and run this as its user: sh import.sh
#    NEO4J_ADMIN says where neo4j-admin is, DATABASE what the database is called. A database that
#    is there is kept, unless you add --overwrite-destination=true: then all of it is replaced.
# 2. Start the server.
# 3. {first}
#    This makes constraints and indexes, which may take a while.
# 4. {second}
set -e
here=$(cd "$(dirname "$0")" && pwd)
exec "${{NEO4J_ADMIN:-neo4j-admin}}" database import full "${{DATABASE:-neo4j}}" \\
{arguments}
  "$@"
"""


@dataclass(frozen=True, slots=True)
class AdminExport:
    """Say what an export wrote; ``tables`` and ``digest`` are as a copy reports them.

    ``command`` imports the files where they are, ``script`` wherever the folder is; ``then`` is
    what to run when the server has been started.
    """

    folder: Path
    base: str
    source: str
    revision: int
    tables: Mapping[str, Tally]
    digest: str
    rows: int
    command: Sequence[str]
    script: Path
    then: Sequence[str]
    seconds: float


def export(
    store: Store, path: Path, base: str | None = None, progress: Progress | None = None
) -> AdminExport:
    """Write all of one state into a new or empty folder, for a base of this name on a server.

    Raises ConflictError (``store.exists``), InputError (``store.bad_path``, ``store.bad_url``),
    UnsupportedError (``export.no_delimiter``).
    """
    from kgqa.store import files

    kb = address.parse(f"neo4j://localhost/{quote(base or address.BASE, safe='')}").kb
    with files.translated(path):
        path = path.absolute()
        _refuse_taken(path)
        for left in reversed(range(_ATTEMPTS)):
            try:
                return _export(store, path, kb, progress)
            except UnavailableError as exc:
                if exc.code != "store.source_moved" or not left:
                    raise
    raise AssertionError("unreachable")


def _refuse_taken(path: Path) -> None:
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise _taken(path)
    if not path.parent.is_dir():
        raise InputError(
            f"no folder {str(path.parent)!r} for an export", code="store.bad_path",
            hint="make it first",
        )  # fmt: skip


def _taken(path: Path) -> ConflictError:
    return ConflictError(
        f"{str(path)!r} is there already and is no empty folder", code="store.exists",
        hint="choose another name",
    )  # fmt: skip


def _export(store: Store, path: Path, kb: str, progress: Progress | None) -> AdminExport:
    from kgqa.store.neo4j.aside import Aside
    from kgqa.store.neo4j.bulk import Bulk
    from kgqa.store.state import State

    began = time.monotonic()
    with (
        store.rows() as source,
        store.view() as state,
        tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as work,
        closing(Aside(Path(work, "aside"))) as kept,
    ):
        assert isinstance(state, State)
        if state.revision != source.revision:
            raise UnavailableError(
                f"{source.name!r} was changed meanwhile", code="store.source_moved",
                hint="try again",
            )  # fmt: skip
        # Unlike a temporary folder, this is for others too: the server may be another user's.
        draft = Path(work, "draft")
        draft.mkdir()
        with closing(Sheets(draft)) as sheets:
            bulk = Bulk(sheets, kb, state, kept, progress)
            tables = bulk.tables(source)
            bulk.vectors()
            bulk.picture()
        there = f"neo4j://localhost:7687/{quote(kb, safe='')}"
        report = AdminExport(
            path, kb, source.name, source.revision, tables, moving.digest(tables),
            sum(tally.rows for tally in tables.values()),
            (_TOOL, "database", "import", "full", DATABASE, *sheets.arguments(str(path))),
            path / SCRIPT,
            (
                shlex.join(["kgqa", "stats", there]),
                shlex.join(["kgqa", "copy", source.name, there, "--verify-only"]),
            ),
            time.monotonic() - began,
        )  # fmt: skip
        (draft / SCRIPT).write_text(_script(report, sheets), encoding="utf-8")
        _publish(draft, path)
    return report


def _script(report: AdminExport, sheets: Sheets) -> str:
    """Return a shell script of the command, for files beside it."""
    first, second = report.then
    return _TEXT.format(
        source=_line(report.source), revision=report.revision, rows=report.rows,
        base=_line(report.base), digest=report.digest, first=_line(first), second=_line(second),
        arguments="\n".join(f'  "{one}" \\' for one in sheets.arguments("$here")),
    )  # fmt: skip


def _line(text: str) -> str:
    """Return a text that stays within a comment."""
    return " ".join(text.splitlines())


def _publish(draft: Path, path: Path) -> None:
    """Give a folder its name, unless something is there."""
    try:
        path.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        raise _taken(path) from None
    draft.rename(path)
