"""What is said of a base that was moved whole: copied, or exported for neo4j-admin.

Belongs here: lines of these reports. Must not: which report is shown by whom (``text``).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from kgqa.store.moving import CopyReport
from kgqa.store.neo4j.admin import AdminExport


def copied(result: CopyReport) -> Iterator[str]:
    """Yield the lines of a copy."""
    rows = sum(tally.rows for tally in result.tables.values())
    state = f"revision {result.revision}, {rows} rows"
    if result.action == "would copy":
        yield f"would copy: {state}, {result.kept} of them there already"
        yield from (f"    {name}: {tally.rows}" for name, tally in result.tables.items())
    elif result.action == "copied":
        yield (
            f"copied: {state}, {result.kept} of them before, in {result.seconds:.1f} s; "
            f"every table is equal, digest {result.digest}"
        )
    elif result.action == "unchanged":
        yield f"nothing to do: {result.target} is a copy already, digest {result.digest}"
    elif result.differing:
        yield f"not equal: {', '.join(result.differing)}"
    else:
        yield f"equal: {state}, digest {result.digest}"


def exported(result: AdminExport) -> Iterator[str]:
    """Yield the lines of an export for neo4j-admin."""
    yield (
        f"exported: revision {result.revision}, {result.rows} rows, in {result.seconds:.1f} s, "
        f"digest {result.digest}"
    )
    yield ""
    yield f"while the server is stopped: sh {shlex.quote(str(result.script))}"
    yield "which is, from here:"
    yield from _folded(result.command)
    yield ""
    yield "when it has been started again:"
    yield from (f"    {line}" for line in result.then)


def _folded(command: Sequence[str]) -> Iterator[str]:
    """Yield a command for a shell, each option on a line of its own."""
    words = [shlex.quote(word) for word in command]
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    lines = [" ".join(words[:first]), *words[first:]]
    last = len(lines) - 1
    yield from (f"    {line}" + (" \\" if i < last else "") for i, line in enumerate(lines))
