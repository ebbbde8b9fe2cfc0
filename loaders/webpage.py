"""Web pages from bytes: main text, headings and tables; navigation and footers are dropped.

Belongs here: HTML, by trafilatura. Must not: fetching; what a page refers to is never read.
"""

from __future__ import annotations

import re
from typing import Any

from kgqa.errors import InputError
from kgqa.loaders.text import BOMS, decode, title_of
from kgqa.protocols import Loaded, Section

_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:\-]{2,40})", re.IGNORECASE)
_HEAD_BYTES = 4096
_LEVEL = re.compile(r"h([1-6])")


def load(data: bytes, name: str) -> Loaded:
    """Return the page in sections by heading; a table's row is one line: ``a | b``.

    The charset is that of the byte order mark or the ``meta`` tag, else UTF-8. Raises
    InputError (``load.broken``) where there is no page.
    """
    import trafilatura

    page = trafilatura.bare_extraction(
        _text(data, name),
        include_comments=False,
        include_tables=True,
        favor_recall=True,
        with_metadata=False,
    )
    if page is None or isinstance(page, dict):
        raise InputError(
            f"{name}: no main text found in the page", code="load.empty", hint="check the file"
        )
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    body: list[str] = []

    def close() -> None:
        words = "\n\n".join(body)
        if words or path:
            sections.append(Section(tuple(heading for _, heading in path), words))
        body.clear()

    for element in page.body:
        words = _words(element)
        if element.tag == "head" and words:
            close()
            level = _LEVEL.fullmatch(element.get("rend") or "")
            depth = int(level[1]) if level else 2
            while path and path[-1][0] >= depth:
                path.pop()
            path.append((depth, words))
        elif words:
            body.append(words)
    close()
    top = next((s.path[0] for s in sections if s.path), "")
    return Loaded(page.title or top or title_of(name), "text/html", tuple(sections))


def _text(data: bytes, name: str) -> str:
    declared = _CHARSET.search(data[:_HEAD_BYTES])
    if declared and not any(data.startswith(bom) for bom, _ in BOMS):
        charset = declared[1].decode("ascii").lower()
        if charset not in ("utf-8", "utf8"):
            try:
                text = data.decode(charset)
                text.encode()  # some of Python's codecs make halves of surrogate pairs
                return text.replace("\r\n", "\n")
            except (LookupError, ValueError) as exc:
                raise InputError(
                    f"{name}: does not read as the charset it declares, {charset!r}",
                    code="load.encoding",
                    hint="save the file as UTF-8",
                ) from exc
    return decode(data, name)


def _words(element: Any) -> str:
    if element.tag == "table":
        rows = [[_flat(cell) for cell in row.iter("cell")] for row in element.iter("row")]
        return "\n".join(" | ".join(cells) for cells in rows if any(cells))
    if element.tag == "list":
        return "\n".join(words for item in element.iter("item") if (words := _flat(item)))
    return _flat(element)


def _flat(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
