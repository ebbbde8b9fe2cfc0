"""Outside to Loaded texts and Rows: one file per family of formats.

Belongs here: reading one format from bytes or a path, with its limits. Must not: storage,
linking, extraction, the network. May import protocols, model, temporal, errors.

A suffix decides the format; content is never sniffed. A format is *text* (a whole document
in memory, at most ``MAX_TEXT_BYTES``) or *rows* (facts and nodes, streamed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import Literal, cast

from kgqa.errors import InputError
from kgqa.model.things import Failure
from kgqa.protocols import Loaded, LoadOptions, Row, RowLoader, TextLoader

MAX_TEXT_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Format:
    """Say what a suffix means: a family, its media type, the module whose ``load`` reads it."""

    family: Literal["text", "rows"]
    media: str
    module: str


SUFFIXES: dict[str, Format] = {
    ".txt": Format("text", "text/plain", "text"),
    ".md": Format("text", "text/markdown", "markdown"),
    ".html": Format("text", "text/html", "webpage"),
    ".htm": Format("text", "text/html", "webpage"),
    ".pdf": Format("text", "application/pdf", "pdf"),
    ".docx": Format(
        "text",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "office",
    ),
    ".csv": Format("rows", "text/csv", "table"),
    ".jsonl": Format("rows", "application/jsonl", "table"),
}


def format_of(name: str | PurePath) -> Format:
    """Return the format that a file name's suffix stands for, whatever its case.

    Raises InputError (``load.unknown_format``) listing the suffixes that are known.

    >>> format_of("Report.PDF").media
    'application/pdf'
    """
    suffix = PurePath(name).suffix.lower()
    try:
        return SUFFIXES[suffix]
    except KeyError:
        raise InputError(
            f"unknown format {suffix or 'without suffix'!r}: {str(name)!r}",
            code="load.unknown_format",
            hint=f"use one of {', '.join(SUFFIXES)}",
        ) from None


def load_text(data: bytes, name: str) -> Loaded:
    """Return the parsed document in ``data``; ``name`` gives its format and a title of last resort.

    Raises InputError: ``load.empty`` where there is no text, ``load.too_large``,
    ``load.encoding``, ``load.broken``, ``load.encrypted``, ``load.limits``.
    """
    if not data.strip():
        raise _empty(name)
    if len(data) > MAX_TEXT_BYTES:
        raise InputError(
            f"{name}: {len(data):,} bytes are more than {MAX_TEXT_BYTES:,}",
            code="load.too_large",
            hint="split the document",
        )
    module = import_module(f"{__name__}.{format_of(name).module}")
    loaded = cast(TextLoader, module.load)(data, name)
    if not any(section.text.strip() for section in loaded.sections):
        raise _empty(name)
    return loaded


def load_rows(path: Path, options: LoadOptions, literal_relations: frozenset[str]) -> Iterator[Row]:
    """Yield the rows of a table of facts and nodes, in order, with bounded memory.

    ``literal_relations`` are the keys of relations whose text objects are values, not names.
    A row that cannot be read is a Failure. Raises InputError for what concerns the whole file:
    ``load.empty``, ``load.encoding``, ``load.missing_column``.
    """
    module = import_module(f"{__name__}.{format_of(path).module}")
    return cast(RowLoader, module.load)(path, options, literal_relations)


def reread(failure: Failure, options: LoadOptions, literal_relations: frozenset[str]) -> Row:
    """Return a failed row of a table read once more; a Failure again if it still fails."""
    from kgqa.loaders import table

    return table.reread(failure, options, literal_relations)


def _empty(name: str) -> InputError:
    return InputError(f"{name}: no text in it", code="load.empty", hint="check the file")
