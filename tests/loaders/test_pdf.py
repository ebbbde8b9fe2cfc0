"""PDF: pages, titles, and a parser that can be stopped."""

from __future__ import annotations

import io
import zlib
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen import canvas

from kgqa.errors import InputError
from kgqa.loaders import load_text, pdf


def _pdf(*pages: list[str], title: str = "") -> bytes:
    out = io.BytesIO()
    made = canvas.Canvas(out)
    if title:
        made.setTitle(title)
    for lines in pages:
        for k, line in enumerate(lines):
            made.drawString(72, 720 - 14 * k, line)
        made.showPage()
    made.save()
    return out.getvalue()


def test_pages_keep_their_numbers() -> None:
    loaded = load_text(_pdf(["First page."], [], ["Third page."], title="Report"), "a.pdf")
    assert loaded.title == "Report"
    assert [(s.page, s.text) for s in loaded.sections] == [(1, "First page."), (3, "Third page.")]


def test_lines_of_a_paragraph_are_joined_and_a_title_of_last_resort_is_made() -> None:
    loaded = load_text(
        _pdf(
            ["Heading", "The head office moved to Oslo in the year of", "1994, and stayed there."]
        ),
        "annual-report.pdf",
    )
    assert loaded.title == "annual report"
    assert loaded.sections[0].text == (
        "Heading\nThe head office moved to Oslo in the year of 1994, and stayed there."
    )


def test_encrypted_broken_and_foreign_files_are_told_apart() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(_pdf(["secret"]))))
    writer.encrypt("word", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    for data, code in [
        (out.getvalue(), "load.encrypted"),
        (b"%PDF-1.4\nnothing", "load.broken"),
        (b"GIF89a", "load.broken"),
        (_pdf([]), "load.empty"),
    ]:
        with pytest.raises(InputError) as caught:
            load_text(data, "a.pdf")
        assert caught.value.code == code


def test_a_child_that_takes_too_long_or_dies_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _pdf(["text"])
    for child in ("import os; os._exit(9)", "import time; time.sleep(60)"):
        monkeypatch.setattr(pdf, "_CHILD", child)
        monkeypatch.setattr(pdf, "WALL_SECONDS", 1)
        with pytest.raises(InputError) as caught:
            load_text(data, "a.pdf")
        assert caught.value.code == "load.limits"


def test_a_deflate_bomb_costs_the_parent_nothing() -> None:
    bomb = zlib.compress(zlib.compress(b"0 " * 40_000_000, 9), 9)
    head = (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n" % len(bomb)
    )
    data = head + bomb + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    with pytest.raises(InputError) as caught:
        load_text(data, "bomb.pdf")
    assert caught.value.code in ("load.limits", "load.broken", "load.empty")


class _Page:
    def extract_text(self) -> str:
        return "many words"


class _Reader:
    """A document as pypdf gives it, or what it raises."""

    is_encrypted = False
    metadata = None

    def __init__(self, raised: Exception | None) -> None:
        self._raised = raised

    @property
    def pages(self) -> list[Any]:
        if self._raised:
            raise self._raised
        return [_Page(), _Page()]


def test_the_child_turns_every_exception_into_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from pypdf.errors import LimitReachedError, PdfReadError

    for raised, code in [
        (LimitReachedError("x"), "load.limits"),
        (PdfReadError("x"), "load.broken"),
        (KeyError("x"), "load.broken"),
    ]:
        monkeypatch.setattr("pypdf.PdfReader", lambda _, r=raised: _Reader(r))
        assert pdf._read(b"")["code"] == code
    monkeypatch.setattr("pypdf.PdfReader", lambda _: _Reader(RecursionError()))
    with pytest.raises(MemoryError):
        pdf._read(b"")
    monkeypatch.setattr("pypdf.PdfReader", lambda _: _Reader(None))
    assert pdf._read(b"") == {"title": "", "pages": ["many words", "many words"]}
    monkeypatch.setattr(pdf, "MAX_OUTPUT", 15)
    assert pdf._read(b"")["code"] == "load.limits"


def test_the_child_reports_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import kgqa.loaders.pdf as p, sys\n"
        "def broke(data): raise MemoryError\n"
        "p._read = broke\np.child()"
    )
    monkeypatch.setattr(pdf, "_CHILD", code)
    with pytest.raises(InputError, match="needs too much memory"):
        load_text(_pdf(["x"]), "a.pdf")
