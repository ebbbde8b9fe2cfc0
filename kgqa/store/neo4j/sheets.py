"""CSV as ``neo4j-admin database import`` reads it, and the arguments that name it all.

Belongs here: columns, quoting, files. Must not: what the rows mean (``admin``).

Text is always quoted, so that an empty one is not an absent one; newlines, NUL and all else stay
as they are. A list has one character between its texts, which must be in none of them
(``unused``), and cannot be empty: the tool takes that for no list.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgqa.errors import UnsupportedError

_MARKS = range(0xE000, 0xF900)
"""Characters to which Unicode gives no meaning."""
_BUFFER = 4 << 20
"""How long a value may be for the tool unless it is told."""
_LEVEL = 1
"""Harder compression takes longer than all the rest."""


def unused(seen: Collection[str]) -> str:
    r"""Return a character that is none of those seen. Raises UnsupportedError.

    >>> unused({"a", "\ue000"}) == "\ue001"
    True
    """
    for code in _MARKS:
        if chr(code) not in seen:
            return chr(code)
    raise UnsupportedError(
        f"no character from {chr(_MARKS[0])!r} to {chr(_MARKS[-1])!r} is in no alias or source, "
        "to stand between them", code="export.no_delimiter", hint="kgqa copy takes any text",
    )  # fmt: skip


def quoted(value: str | None) -> str:
    r"""Return a text as a field; nothing for none.

    >>> quoted('a "b",\nc'), quoted(""), quoted(None)
    ('"a ""b"",\nc"', '""', '')
    """
    return "" if value is None else '"' + value.replace('"', '""') + '"'


def number(value: float | None) -> str:
    """Return a number as a field.

    >>> number(-9223372036854775807), number(0.1), number(None)
    ('-9223372036854775807', '0.1', '')
    """
    return "" if value is None else repr(value)


def truth(value: bool) -> str:
    """Return a truth as a field."""
    return "true" if value else "false"


class Sheets:
    """Write rows into a folder: a file for each name, its columns in another beside it.

    Columns are ``<property>:<type>``, or what the tool knows: ``[<property>]:ID(<group>)``,
    ``:LABEL``, ``:START_ID(<group>)``, ``:END_ID(<group>)``, ``:TYPE``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sheets: dict[str, _Sheet] = {}
        self._forms: Mapping[str, Callable[[Any], str]] = {
            "long": number,
            "double": number,
            "boolean": truth,
            "string[]": self._texts,
            "float[]": self._floats,
        }
        self.mark = chr(_MARKS[0])
        """What stands between the values of a list: to be ``unused``, and set before any."""

    def nodes(self, label: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write nodes of a label, the same columns each time."""
        self._write(label, f"--nodes={label}=", columns, rows)

    def relationships(
        self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Write relationships, with their types, under a name for the file."""
        self._write(name, "--relationships=", columns, rows)

    def _write(
        self, name: str, option: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        if name not in self._sheets:
            header = self._folder / f"{name}.header.csv"
            header.write_text(",".join(columns) + "\n", encoding="utf-8")
            forms = [self._forms.get(column.rpartition(":")[2], quoted) for column in columns]
            self._sheets[name] = _Sheet(self._folder / f"{name}.csv.gz", option, forms)
        self._sheets[name].add(rows)

    def _texts(self, values: Collection[str]) -> str:
        return quoted(self.mark.join(values)) if values else ""

    def _floats(self, data: bytes) -> str:
        import numpy as np

        numbers = np.frombuffer(data, dtype="<f4")
        # Nine digits tell any two numbers of 32 bits apart.
        return self.mark.join(["%.9g"] * len(numbers)) % tuple(numbers.tolist())

    def close(self) -> None:
        """End all files; they are on the disk then."""
        for sheet in self._sheets.values():
            sheet.close()

    def arguments(self, place: str) -> list[str]:
        """Return the tool's arguments for these files once they are at a place."""
        longest = max((sheet.longest for sheet in self._sheets.values()), default=0)
        return [
            *(
                f"{sheet.option}{place}/{name}.header.csv,{place}/{name}.csv.gz"
                for name, sheet in self._sheets.items()
            ),
            f"--array-delimiter=U+{ord(self.mark):04X}",
            "--multiline-fields=true",
            # Letters beyond the first 65,536 are two to the tool.
            f"--read-buffer-size={max(_BUFFER, 2 * longest)}",
            "--bad-tolerance=0",
            f"--report-file={place}/import.report",
        ]


class _Sheet:
    """Write one file."""

    def __init__(self, path: Path, option: str, forms: Sequence[Callable[[Any], str]]) -> None:
        self.option = option
        self.longest = 0
        self._forms = forms
        self._raw = path.open("wb")
        self._file = gzip.GzipFile("", "wb", _LEVEL, self._raw, mtime=0)

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        forms = self._forms
        lines = [
            ",".join([form(value) for form, value in zip(forms, row, strict=True)]) + "\n"
            for row in rows
        ]
        self.longest = max(self.longest, max(map(len, lines), default=0))
        self._file.write("".join(lines).encode("utf-8"))

    def close(self) -> None:
        """End the file; again is nothing."""
        if not self._raw.closed:
            self._file.close()
            self._raw.flush()
            os.fsync(self._raw.fileno())
            self._raw.close()
