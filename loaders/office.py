"""Word documents: paragraphs, headings and tables in their order.

Belongs here: DOCX by python-docx, behind limits that are counted while reading, never taken from
the archive's own headers. Must not: macros, embedded objects, anything outside the archive.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Any

from kgqa.errors import InputError
from kgqa.loaders.text import title_of
from kgqa.protocols import Loaded, Section

MAX_ENTRIES = 10_000
MAX_TOTAL = 200_000_000
MAX_RATIO = 100
RATIO_FROM = 5_000_000
"""Below this many bytes unpacked no ratio is a danger, and honest XML may be very repetitive."""
MEDIA = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_PIECE = 1 << 20
_DTD = re.compile(rb"<!(?:DOCTYPE|ENTITY)")
_HEADING = re.compile(r"(?:heading|title)\s*(\d?)", re.IGNORECASE)


def load(data: bytes, name: str) -> Loaded:
    """Return the document in sections by heading style; a table's row becomes one line.

    Raises InputError: ``load.limits`` for bombs, ``load.broken`` for what is no DOCX or
    holds a document type declaration, ``load.encrypted``.
    """
    import docx

    _guard(data, name)
    try:
        document = docx.Document(io.BytesIO(data))
        title = (document.core_properties.title or "").strip()
        sections = _sections(document)
    except Exception as exc:
        # python-docx raises what zipfile, lxml and its own parts raise: KeyError, ValueError,
        # XMLSyntaxError, PackageNotFoundError, ... all mean one thing here.
        raise _broken(name, f"not a Word document ({type(exc).__name__})") from exc
    top = next((s.path[0] for s in sections if s.path), "")
    return Loaded(title or top or title_of(name), MEDIA, sections)


def _guard(data: bytes, name: str) -> None:
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(
            f"{name}: an encrypted or old binary Word file",
            code="load.encrypted",
            hint="save it as .docx without a password",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES:
                raise _limits(name, f"{len(entries):,} entries are more than {MAX_ENTRIES:,}")
            total = 0
            for entry in entries:
                total = _read(archive, entry, total, len(data), name)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError) as exc:
        raise _broken(name, f"not a readable archive: {exc}") from exc


def _read(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, total: int, packed: int, name: str
) -> int:
    xml = entry.filename.lower().endswith((".xml", ".rels"))
    tail = b""
    with archive.open(entry) as part:
        while piece := part.read(_PIECE):
            total += len(piece)
            if total > MAX_TOTAL:
                raise _limits(name, f"unpacks to more than {MAX_TOTAL:,} bytes")
            if total > RATIO_FROM and total > MAX_RATIO * packed:
                raise _limits(name, f"unpacks to more than {MAX_RATIO} times its size")
            if xml:
                # NULs go, so that a declaration in UTF-16 is seen as well.
                window = tail + piece.replace(b"\0", b"")
                if _DTD.search(window):
                    raise _broken(name, f"a document type declaration in {entry.filename!r}")
                tail = window[-16:]
    return total


def _sections(document: Any) -> tuple[Section, ...]:
    from docx.table import Table

    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    body: list[str] = []

    def close() -> None:
        if body or path:
            sections.append(Section(tuple(h for _, h in path), "\n\n".join(body)))
        body.clear()

    for block in document.iter_inner_content():
        if isinstance(block, Table):
            if words := _table(block):
                body.append(words)
            continue
        words = " ".join(block.text.split())
        heading = _HEADING.match(block.style.name or "") if block.style is not None else None
        if heading and words:
            close()
            level = int(heading[1] or 0)
            while path and path[-1][0] >= level:
                path.pop()
            path.append((level, words))
        elif words:
            body.append(words)
    close()
    return tuple(sections)


def _table(table: Any) -> str:
    lines = []
    for row in table.rows:
        cells: list[Any] = []
        for cell in row.cells:  # a merged cell comes once per column that it spans
            if not cells or cells[-1]._tc is not cell._tc:
                cells.append(cell)
        words = [" ".join(cell.text.split()) for cell in cells]
        if any(words):
            lines.append(" | ".join(words))
    return "\n".join(lines)


def _broken(name: str, why: str) -> InputError:
    return InputError(f"{name}: {why}", code="load.broken", hint="open and save it again as .docx")


def _limits(name: str, why: str) -> InputError:
    return InputError(f"{name}: {why}", code="load.limits", hint="load its parts one by one")
