"""Word documents: order, headings, tables; bombs and declarations are refused."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable

import docx
import pytest

from kgqa.errors import InputError
from kgqa.loaders import load_text, office


@pytest.fixture
def document() -> bytes:
    made = docx.Document()
    made.add_heading("History", 0)
    made.add_paragraph("Before any section.")
    made.add_heading("Port Essel", 1)
    made.add_paragraph("It was founded  in 1951.")
    table = made.add_table(2, 3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Name"
    table.cell(0, 2).text = "From"
    table.cell(1, 0).text, table.cell(1, 2).text = "Ilka", "1987"
    made.add_heading("Ships", 2)
    made.add_paragraph("")
    made.add_paragraph("None.")
    made.add_heading("Marrowgate", 1)
    made.add_table(1, 1)
    made.add_paragraph("It moved.")
    return _bytes(made)


def _bytes(made: docx.document.Document) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _altered(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def test_sections_follow_the_headings(document: bytes) -> None:
    loaded = load_text(document, "history.docx")
    assert loaded.title == "History"
    assert [(s.path, s.text) for s in loaded.sections] == [
        (("History",), "Before any section."),
        (("History", "Port Essel"), "It was founded in 1951.\n\nName | From\nIlka |  | 1987"),
        (("History", "Port Essel", "Ships"), "None."),
        (("History", "Marrowgate"), "It moved."),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_declaration_is_refused(document: bytes, encoding: str) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'.encode(encoding)
    data = _altered(document, lambda n, b: bomb if n == "word/document.xml" else b)
    with pytest.raises(InputError, match="document type declaration") as caught:
        load_text(data, "a.docx")
    assert caught.value.code == "load.broken"


def test_a_declaration_across_two_pieces_is_seen(
    document: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office, "_PIECE", 7)
    bomb = b"<x>.....<!DOCTYPE x></x>"
    with pytest.raises(InputError, match="document type"):
        load_text(
            _altered(document, lambda n, b: bomb if n.endswith("styles.xml") else b), "a.docx"
        )


def test_bombs_are_refused_while_reading(document: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(20_000_000)
    bomb = _altered(document, lambda n, b: zeros if n == "word/styles.xml" else b)
    with pytest.raises(InputError, match="100 times") as caught:
        load_text(bomb, "a.docx")
    assert caught.value.code == "load.limits"
    monkeypatch.setattr(office, "MAX_TOTAL", 1_000)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        load_text(document, "a.docx")
    monkeypatch.setattr(office, "MAX_ENTRIES", 2)
    with pytest.raises(InputError, match="entries"):
        load_text(document, "a.docx")


def test_old_and_encrypted_files_are_named() -> None:
    with pytest.raises(InputError) as caught:
        load_text(b"\xd0\xcf\x11\xe0" + bytes(100), "a.docx")
    assert caught.value.code in ("load.encrypted", "load.empty")
    with pytest.raises(InputError) as caught:
        load_text(b"\xd0\xcf\x11\xe0rest", "a.docx")
    assert caught.value.code == "load.encrypted"


def test_damaged_files_give_typed_errors(document: bytes) -> None:
    chance = random.Random(7)
    for _ in range(40):
        damaged = bytearray(document)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        data = bytes(damaged[: chance.choice((len(damaged), chance.randrange(1, len(damaged))))])
        try:
            load_text(data, "a.docx")
        except InputError as error:
            assert error.code.startswith("load.")  # noqa: PT017
    with pytest.raises(InputError) as caught:
        load_text(_altered(document, lambda n, b: b"<x/>"), "a.docx")
    assert caught.value.code == "load.broken"
