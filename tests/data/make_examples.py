"""Build the PDF and DOCX files of ``examples/`` from the texts in ``tests/data/examples``.

Run ``python tests/data/make_examples.py`` after editing a text. The texts use a small part of
Markdown: ``#`` and ``##`` headings, paragraphs between blank lines, ``---`` for a new page
(PDF only). The same texts and library versions give the same bytes.
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

TEXTS = Path(__file__).parent / "examples"
TARGETS = {
    "rome/provinces.pdf": "provinces.md",
    "rome/cleopatra.docx": "cleopatra.md",
    "company/annual-report-1987.pdf": "annual-report-1987.md",
    "company/annual-report-2009.pdf": "annual-report-2009.md",
    "company/history.docx": "history.md",
    "city/population.docx": "population.md",
}
EPOCH = (2020, 1, 1, 0, 0, 0)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield (``h1`` | ``h2`` | ``page`` | ``p``, text) of each block, in order."""
    for block in text.strip().split("\n\n"):
        line = " ".join(block.split())
        if line == "---":
            yield "page", ""
        elif line.startswith("#"):
            marks, _, title = line.partition(" ")
            yield f"h{len(marks)}", title
        else:
            yield "p", line


def pdf(text: str) -> bytes:
    """Return a PDF with a text layer, one block after another."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate

    sheet = getSampleStyleSheet()
    styles = {"h1": sheet["Heading1"], "h2": sheet["Heading2"], "p": sheet["BodyText"]}
    parts = list(blocks(text))
    story: list[Flowable] = [
        PageBreak() if kind == "page" else Paragraph(line, styles[kind]) for kind, line in parts
    ]
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4, title=parts[0][1], author="kgqa", invariant=1).build(story)
    return out.getvalue()


def docx(text: str) -> bytes:
    """Return a DOCX whose headings carry Word's heading styles."""
    from docx import Document

    document = Document()
    parts = list(blocks(text))
    for kind, line in parts:
        if kind == "p":
            document.add_paragraph(line)
        else:
            document.add_heading(line, level=int(kind[1]))
    properties = document.core_properties
    properties.title, properties.author = parts[0][1], "kgqa"
    properties.created = properties.modified = datetime(*EPOCH)
    raw, out = io.BytesIO(), io.BytesIO()
    document.save(raw)
    # python-docx stamps each member with the clock, so the archive is written once more.
    with zipfile.ZipFile(raw) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, EPOCH)
            new.writestr(member, old.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def build(target: str) -> bytes:
    """Return the bytes of one of ``TARGETS``."""
    text = (TEXTS / TARGETS[target]).read_text(encoding="utf-8")
    return pdf(text) if target.endswith(".pdf") else docx(text)


def main() -> None:
    """Write every target below ``examples/``."""
    root = Path(__file__).resolve().parents[2] / "examples"
    for target in TARGETS:
        (root / target).write_bytes(build(target))
        sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
