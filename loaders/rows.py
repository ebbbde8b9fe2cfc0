"""One row of a table, already a mapping, to a Claim or a Node: the fact format's meaning.

Belongs here: keys, defaults, literals, dates of one row (docs/fact-format.md). Must not: files,
lines, encodings, linking.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn

from kgqa.errors import InputError
from kgqa.model.ids import digest, name_key, relation_key
from kgqa.model.things import Alias, Claim, Literal, Node, Ref
from kgqa.protocols import LoadOptions
from kgqa.temporal import parse_any, parse_end_points
from kgqa.temporal.interval import UNBOUNDED, UNDATED, Validity

FACT_KEYS = frozenset(
    ("subject", "relation", "object", "start", "end", "valid", "subject_id", "object_id",
     "subject_kind", "object_kind")
)  # fmt: skip
NODE_KEYS = frozenset(("id", "kind", "label", "aliases", "existence", "properties"))
TIME_KEYS = ("start", "end", "valid")


def read_row(
    row: Mapping[str, Any], options: LoadOptions, literal_relations: frozenset[str], line: int
) -> Claim | Node:
    """Return what a row says. One with ``subject`` is a fact, one with ``label`` alone a node.

    Raises InputError with a ``row.`` or ``time.`` code; the message does not name the line.
    """
    if "subject" in row:
        return _claim(row, options, literal_relations, line)
    if "label" in row:
        return _node(row, options)
    _refuse("neither 'subject' nor 'label' in the row", "row.no_kind", "give a fact or a node")


def _claim(
    row: Mapping[str, Any], options: LoadOptions, literal_relations: frozenset[str], line: int
) -> Claim:
    relation = _text(row, "relation")
    key = relation_key(relation)
    if not key:
        _refuse(f"'relation' has no words: {relation!r}", "row.missing", "give 'relation' a text")
    return Claim(
        subject=Ref(_text(row, "subject"), _maybe(row, "subject_id"), _maybe(row, "subject_kind")),
        relation=relation,
        object=_object(row, key in literal_relations),
        valid=_valid(row, options),
        line=line,
        properties={
            key: value
            for key, value in row.items()
            if key not in FACT_KEYS and value is not None and value != ""
        },
    )


def _object(row: Mapping[str, Any], literal: bool) -> Ref | Literal:
    value = row.get("object")
    settled = _maybe(row, "object_id"), _maybe(row, "object_kind")
    if isinstance(value, str) and value.strip() and not literal:
        return Ref(value.strip(), *settled)
    if any(settled):
        _refuse(
            f"'object_id' and 'object_kind' name nodes, and the object is a value: {value!r}",
            "row.literal_with_id",
            "leave them out",
        )
    if isinstance(value, bool | int):
        return Literal(value)
    if isinstance(value, float) and math.isfinite(value):
        return Literal(value)
    if isinstance(value, str) and value.strip():
        return Literal(value.strip())
    return _refuse(
        f"'object' is no name or value: {value!r}", "row.object", "give a text or a number"
    )


def _valid(row: Mapping[str, Any], options: LoadOptions) -> Validity:
    start, end, valid = (_maybe(row, key) for key in TIME_KEYS)
    if valid and (start or end):
        _refuse(
            f"both 'valid' and 'start' or 'end': {valid!r}, {start or end!r}",
            "row.two_times",
            "give one of them",
        )
    if valid:
        return _interval(valid, options.year_numbering, options.calendar)
    if "start" in row or "end" in row:
        if not (start or end):
            return UNBOUNDED
        return _ends(start, end, options.year_numbering, options.calendar, options.ends)
    return UNDATED


def _node(row: Mapping[str, Any], options: LoadOptions) -> Node:
    label = _text(row, "label")
    kind = _maybe(row, "kind")
    properties = row.get("properties")
    if not (properties is None or isinstance(properties, dict)):
        _refuse(f"'properties' is no object: {properties!r}", "row.properties", 'write {"key": …}')
    extra = {k: v for k, v in row.items() if k not in NODE_KEYS and v is not None and v != ""}
    return Node(
        id=_maybe(row, "id") or digest(name_key(label), name_key(kind or "")),
        label=label,
        kind=kind,
        aliases=tuple(_alias(item, options) for item in _list(row, "aliases")),
        existence=tuple(
            _term(item, options, "existence") for item in _list(row, "existence", alone=True)
        ),
        properties={**extra, **(properties or {})},
    )


def _alias(item: Any, options: LoadOptions) -> Alias:
    if isinstance(item, dict):
        if unknown := set(item) - {"label", "valid"}:
            _refuse(
                f"an alias has no {min(unknown)!r}: {item!r}", "row.alias", "use label and valid"
            )
        label = _text(item, "label")
        valid = item.get("valid")
        return Alias(label) if valid in (None, "") else Alias(label, _term(valid, options, "valid"))
    if isinstance(item, str) and item.strip():
        return Alias(item.strip())
    return _refuse(f"no alias: {item!r}", "row.alias", 'write a text or {"label": …, "valid": …}')


def _term(value: Any, options: LoadOptions, key: str) -> Validity:
    if not isinstance(value, str):
        _refuse(f"{key!r} is no text: {value!r}", "row.time", 'write an interval: "1939/1945"')
    return _interval(value, options.year_numbering, options.calendar)


def _list(row: Mapping[str, Any], key: str, alone: bool = False) -> list[Any]:
    value = row.get(key)
    if value is None or value == "":
        return []
    if isinstance(value, list):
        return value
    if alone:
        return [value]
    return _refuse(f"{key!r} is no list: {value!r}", "row.list", "write […]")


def _text(row: Mapping[str, Any], key: str) -> str:
    value = _maybe(row, key)
    if value is None:
        _refuse(f"{key!r} is missing or empty", "row.missing", f"give {key!r} a text")
    return value


def _maybe(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is None or isinstance(value, str):
        return value.strip() or None if value else None
    _refuse(f"{key!r} is no text: {value!r}", "row.type", f'write "{value}" in quotes')


def _refuse(message: str, code: str, hint: str) -> NoReturn:
    raise InputError(message, code=code, hint=hint)


@lru_cache(maxsize=50_000)
def _interval(text: str, numbering: Any, calendar: Any) -> Validity:
    return parse_any(text, numbering=numbering, calendar=calendar)


@lru_cache(maxsize=50_000)
def _ends(start: str | None, end: str | None, numbering: Any, calendar: Any, ends: Any) -> Validity:
    return parse_end_points(start, end, numbering=numbering, calendar=calendar, ends=ends)
