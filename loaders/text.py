"""Plain text, and the decoding that every text format shares.

Belongs here: bytes to text, titles of last resort. Must not: markup.
"""

from __future__ import annotations

import codecs
import re
from itertools import pairwise
from pathlib import PurePath

from kgqa.errors import InputError
from kgqa.protocols import Loaded, Section

BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NEWLINES = re.compile(r"\r\n?|[\u2028\u0085]|\u2029")
_TITLE_MAX = 100
_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
_PROSE_WIDTH = 35
_FULL = 0.7
_OWN_LINE = re.compile(r"(?:[-*+•·–]|\(?\d{1,3}[.)]|[|>#])\s|$")
_HYPHEN = re.compile(r"[a-z]-$")
_UNHYPHEN = "\x1f"


def load(data: bytes, name: str) -> Loaded:
    """Return the text as one section; its first line is the title if it stands alone."""
    text = unwrapped(decode(data, name).strip())
    first, _, rest = text.partition("\n")
    short = len(first) <= _TITLE_MAX and first[-1:] not in ".!?;:,"
    if rest.startswith("\n") and short:
        return Loaded(first.strip(), "text/plain", (Section((first.strip(),), rest.strip()),))
    return Loaded(title_of(name), "text/plain", (Section((), text),))


def unwrapped(text: str) -> str:
    """Return the text with hard-wrapped lines joined; short lines, bullets and tables stay lines.

    A line goes on in the next if it is nearly as long as the longest of its block and that is
    long enough for prose.

    >>> unwrapped("The city was part of Austria until the\\nend of 1918.\\n\\n- one\\n- two")
    'The city was part of Austria until the end of 1918.\\n\\n- one\\n- two'
    """
    return "\n\n".join(_block(block) for block in _BLANK.split(text))


def _block(block: str) -> str:
    lines = [line.strip() for line in block.split("\n")]
    width = max(map(len, lines))
    if width < _PROSE_WIDTH:
        return "\n".join(lines)
    joined: list[str] = [lines[0]]
    for before, line in pairwise(lines):
        if len(before) < width * _FULL or _OWN_LINE.match(line) or " | " in before + line:
            joined += "\n", line
        elif _HYPHEN.search(before) and line[:1].islower():
            joined += _UNHYPHEN, line
        else:
            joined += " ", line
    return "".join(joined).replace("-" + _UNHYPHEN, "")


def decode(data: bytes, name: str) -> str:
    """Return the text of UTF-8 bytes, or of UTF-16 with a byte order mark; newlines become ``\\n``.

    Raises InputError (``load.encoding``) with the offset of the first byte that does not fit.

    >>> decode(b"\\xff\\xfea\\x00\\r\\x00\\n\\x00", "a.txt")
    'a\\n'
    """
    skip, encoding = next(
        ((len(bom), encoding) for bom, encoding in BOMS if data.startswith(bom)), (0, "utf-8")
    )
    try:
        text = data[skip:].decode(encoding)
    except UnicodeDecodeError as exc:
        raise InputError(
            f"{name}: not {encoding} at byte {skip + exc.start}",
            code="load.encoding",
            hint="save the file as UTF-8",
        ) from exc
    if "\0" in text:
        raise InputError(
            f"{name}: NUL at character {text.index(chr(0))}: not a text file",
            code="load.encoding",
            hint="save the file as UTF-8 text",
        )
    return _NEWLINES.sub("\n", text)


def title_of(name: str) -> str:
    """Return a title made from a file name.

    >>> title_of("notes/annual_report-1987.pdf")
    'annual report 1987'
    """
    return " ".join(re.split(r"[\s_\-]+", PurePath(name).stem)).strip() or name
