"""Tables of facts and nodes, CSV and JSON lines: streamed, a bad line never ends the file.

Belongs here: lines, encodings, quoting, JSON; what a row means is in rows.py. Must not: storage.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias

from kgqa.errors import InputError
from kgqa.loaders.rows import FACT_KEYS, NODE_KEYS, read_row
from kgqa.loaders.text import BOMS
from kgqa.model.things import Claim, Failure, Node
from kgqa.protocols import LoadOptions, Row

MAX_LINE = 10_000_000
"""Bytes (characters of UTF-16) in one line; a longer one is a Failure and is never held whole."""
MAX_PAYLOAD = 100_000

_SURROGATE = re.compile("[\ud800-\udfff]")

Raw: TypeAlias = "str | dict[str, str] | InputError"
"""One row before its meaning: a JSON text, a CSV record by column, or why there is neither."""


def load(path: Path, options: LoadOptions, literal_relations: frozenset[str]) -> Iterator[Row]:
    """Yield the file's rows in order; holds one line at a time.

    A row's number is its physical line, from 1; of a CSV record over several lines, the first.
    """
    _check_columns(options.columns)
    unit = options.source or str(path)
    empty = True
    with path.open("rb") as file:
        lines = _lines(file)
        rows = _records(lines, options, unit) if path.suffix.lower() == ".csv" else lines
        for line, raw in rows:
            if isinstance(raw, str) and not raw.strip():
                continue
            empty = False
            yield Row(line, _value(raw, options, literal_relations, (unit, line)))
    if empty:
        raise InputError(f"{unit}: no rows in it", code="load.empty", hint="check the file")


def reread(failure: Failure, options: LoadOptions, literal_relations: frozenset[str]) -> Row:
    """Return a failed row read once more from its payload; a Failure again if it has none."""
    unit, _, line = failure.unit.rpartition(":")
    if failure.payload is None:
        return Row(int(line), failure)
    where = unit, int(line)
    return Row(int(line), _value(failure.payload, options, literal_relations, where))


def _value(
    raw: Raw, options: LoadOptions, literal_relations: frozenset[str], where: tuple[str, int]
) -> Node | Claim | Failure:
    try:
        if isinstance(raw, InputError):
            raise raw
        row = _parsed(raw) if isinstance(raw, str) else raw
        if options.columns:
            row = _renamed(row, options.columns)
        return read_row(row, options, literal_relations, where[1])
    except InputError as error:
        unit = f"{where[0]}:{where[1]}"
        return Failure(unit, error.code, f"{unit}: {error}", _payload(raw))


def _payload(raw: Raw) -> str | None:
    if isinstance(raw, InputError):
        return None
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    return text if len(text) <= MAX_PAYLOAD else None


def _check_columns(columns: Mapping[str, str]) -> None:
    for key in columns:
        if key not in FACT_KEYS | NODE_KEYS:
            raise InputError(
                f"no such key to map a column to: {key!r}",
                code="load.unknown_key",
                hint=f"map {', '.join(sorted(FACT_KEYS | NODE_KEYS))}",
            )


def _renamed(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the row under the format's keys; a mapped column wins over one of that name."""
    taken = set(columns.values())
    renamed = {key: value for key, value in row.items() if key not in taken}
    renamed.update((key, row[column]) for key, column in columns.items() if column in row)
    return renamed


# --- JSON


def _parsed(text: str) -> dict[str, Any]:
    try:
        row = _DECODER.decode(text)
    except InputError:
        raise
    except RecursionError:
        _refuse("nested too deeply", "row.json", "flatten the row")
    except ValueError as exc:
        _refuse(f"not JSON: {exc}", "row.json", 'write one {"key": value, …} a line')
    if not isinstance(row, dict):
        _refuse(f"not an object: {text[:60]!r}", "row.json", 'write {"key": value, …}')
    if "\\u" in text and _SURROGATE.search(json.dumps(row, ensure_ascii=False)):
        _refuse("half of a surrogate pair", "row.json", "write the character itself")
    if "\\u0000" in text:
        _refuse("a NUL character", "row.nul", "remove it")
    return row


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        _refuse(f"key {twice!r} stands twice", "row.duplicate_key", "keep one of them")
    return row


def _constant(name: str) -> NoReturn:
    _refuse(f"{name} is no JSON value", "row.json", "write a number or null")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


# --- CSV


def _records(
    lines: Iterator[tuple[int, str | InputError]], options: LoadOptions, unit: str
) -> Iterator[tuple[int, Raw]]:
    bad: list[tuple[int, Raw]] = []
    first = 0

    def feed() -> Iterator[str]:
        nonlocal first
        for number, line in lines:
            if isinstance(line, InputError):
                bad.append((number, line))
                continue
            first = first or number
            yield line + "\n"

    reader = csv.reader(feed(), strict=True)
    header: list[str] | None = None
    while True:
        first = 0
        try:
            fields = next(reader, None)
        except csv.Error as exc:
            bad.append((first, InputError(f"not CSV: {exc}", code="row.csv", hint="check quotes")))
            fields = []
        if fields is not None and not any(field.strip() for field in fields):
            fields = []
        if header is None and (bad or fields):
            header = _header(bad, fields or [], options, unit)
            continue
        yield from bad
        bad.clear()
        if fields is None:
            return
        if header is not None and fields:
            yield first, _record(header, fields)


def _header(
    bad: list[tuple[int, Raw]], fields: list[str], options: LoadOptions, unit: str
) -> list[str]:
    if bad:
        error = bad[0][1]
        assert isinstance(error, InputError)
        raise InputError(f"{unit}:{bad[0][0]}: {error.message}", code=error.code, hint=error.hint)
    header = [name.strip() for name in fields]
    names = set(_renamed(dict.fromkeys(header), options.columns))
    missing = [column for column in options.columns.values() if column not in header]
    if not missing and "label" not in names:
        missing = [key for key in ("subject", "relation", "object") if key not in names]
    if missing:
        raise InputError(
            f"{unit}: no column {missing[0]!r} among {', '.join(map(repr, header[:20]))}",
            code="load.missing_column",
            hint=f"name it with --map {missing[0]}=COLUMN, and part columns by commas",
        )
    if twice := [name for name in names if header.count(name) > 1]:
        raise InputError(
            f"{unit}: column {twice[0]!r} stands twice",
            code="load.duplicate_column",
            hint="rename one of them",
        )
    return header


def _record(header: list[str], fields: list[str]) -> dict[str, str] | InputError:
    if len(fields) != len(header):
        return InputError(
            f"{len(fields)} fields, and the header has {len(header)}",
            code="row.fields",
            hint="check commas and quotes",
        )
    return dict(zip(header, fields, strict=True))


# --- lines


def _lines(file: BinaryIO) -> Iterator[tuple[int, str | InputError]]:
    """Yield every line with its number, or why it cannot be read."""
    head = file.read(4)
    bom, encoding = next(
        ((bom, encoding) for bom, encoding in BOMS if head.startswith(bom)), (b"", "utf-8")
    )
    file.seek(len(bom))
    stream: Any = file
    if encoding != "utf-8":
        stream = io.TextIOWrapper(file, encoding, newline="\n")
    offset = len(bom)
    number = 0
    while True:
        number += 1
        try:
            line = stream.readline(MAX_LINE + 1)
        except UnicodeDecodeError:
            yield number, _encoding(encoding, offset)
            return
        if not line:
            return
        if len(line) > MAX_LINE:
            offset += len(line) + _skip(stream)
            yield (
                number,
                InputError(
                    f"longer than {MAX_LINE:,} bytes", code="row.too_long", hint="split the row"
                ),
            )
            continue
        try:
            text = line if isinstance(line, str) else line.decode()
        except UnicodeDecodeError as exc:
            yield number, _encoding(encoding, offset + exc.start)
        else:
            if "\0" in text:
                yield number, InputError("a NUL character", code="row.nul", hint="remove it")
            else:
                yield number, text.rstrip("\r\n")
        offset += len(line)


def _skip(stream: Any) -> int:
    skipped = 0
    while rest := stream.readline(1 << 20):
        skipped += len(rest)
        if rest[-1:] in (b"\n", "\n"):
            break
    return skipped


def _encoding(encoding: str, offset: int) -> InputError:
    return InputError(
        f"not {encoding} at byte {offset}", code="load.encoding", hint="save the file as UTF-8"
    )


def _refuse(message: str, code: str, hint: str) -> NoReturn:
    raise InputError(message, code=code, hint=hint)
