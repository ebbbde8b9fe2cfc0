"""From a Pattern to conditions with their parameters, in what SQL and Cypher have in common.

Belongs here: text of conditions. Must not: running them. Values are always parameters, ``?`` in
either language; the table aliases come from this room only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from kgqa.model.ids import object_token
from kgqa.protocols import Pattern
from kgqa.temporal.interval import BEGIN, END, narrowed

T = TypeVar("T")

_TOKEN = re.compile(r"\w+")
_MOST_TEXT = 20_000
_MOST_TOKENS = 64
_UNDATED = (BEGIN, END - 1, BEGIN + 1, END)


class Where:
    """Collect conditions and parameters, in step; what the languages say differently, in SQL."""

    __slots__ = ("conditions", "parameters")

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.parameters: list[Any] = []

    def add(self, condition: str, *parameters: Any) -> Where:
        """Add one condition; all must hold."""
        self.conditions.append(condition)
        self.parameters += parameters
        return self

    def among(self, column: str, values: Sequence[Any]) -> Where:
        """Add: the column has one of the values."""
        return self.add(f"{column} IN ({marks(values)})", *values)

    def beyond(self, alias: str, place: Sequence[Any]) -> Where:
        """Add: comes after a place (earliest start, earliest end, id)."""
        return self.add(f"({alias}.es, {alias}.ee, {alias}.id) > (?, ?, ?)", *place)

    @staticmethod
    def exists(table: str, alias: str, condition: object) -> str:
        """Return the condition that a table has such a row."""
        return f"EXISTS (SELECT 1 FROM {table} {alias} WHERE {condition})"

    def __str__(self) -> str:
        return " AND ".join(self.conditions) or "1"


def recorded(where: Where, table: str, known_at: int | None) -> Where:
    """Add: the row was on record at a revision; None = it is now."""
    if known_at is None:
        return where.add(f"{table}.recorded_to = {END}")
    return where.add(f"{table}.recorded_from <= ? AND {table}.recorded_to > ?", known_at, known_at)


def timed(where: Where, table: str, pattern: Pattern) -> Where:
    """Add what a pattern asks of the four bounds of one term."""
    if pattern.valid is not None:
        if pattern.match == "all":
            where.add(
                f"{table}.es <= ? AND {table}.le >= ?", pattern.valid.start, pattern.valid.end
            )
        else:
            span = narrowed(pattern.valid, pattern.match)
            where.add(f"{table}.es < ? AND {table}.le > ?", span.end, span.start)
    if pattern.begun_before is not None:
        where.add(f"{table}.es < ?", pattern.begun_before)
    if pattern.undated == "exclude":
        where.add(
            f"NOT ({table}.es = ? AND {table}.ls = ? AND {table}.ee = ? AND {table}.le = ?)",
            *_UNDATED,
        )
    return where


def existing(where: Where, pattern: Pattern) -> Where:
    """Add what a pattern asks of a node ``n``: its kind, its id, a term of existence that fits."""
    if pattern.kind is not None:
        where.add("n.kind = ?", pattern.kind)
    inner = timed(type(where)().add("e.node = n.n"), "e", pattern)
    if len(inner.conditions) > 1:
        found = where.exists("existence", "e", inner)
        # Without a term the node is undated: it possibly exists at any time.
        undated = " OR n.existence = ''" if pattern.undated == "include" else ""
        where.add(f"({found}{undated})", *inner.parameters)
    return where


def about(where: Where, pattern: Pattern) -> Where:
    """Add what a pattern asks of a fact ``f``."""
    if pattern.subject is not None:
        where.add("f.subject = ?", pattern.subject)
    if pattern.relation is not None:
        where.add("f.relation = ?", pattern.relation)
    if pattern.object is not None:
        where.add("f.object = ?", object_token(pattern.object))
    return timed(where, "f", pattern)


def tokens(text: str) -> list[str]:
    """Return the words of a text that full-text search can look up, each once, in order."""
    normal = unicodedata.normalize("NFC", text[:_MOST_TEXT]).lower()
    return list(islice(dict.fromkeys(_TOKEN.findall(normal)), _MOST_TOKENS))


def match_expression(text: str) -> str | None:
    """Return an FTS5 expression for any word of a text; None if it has no word.

    Words are quoted: nothing that users type is ever syntax.

    >>> match_expression('who "ruled" in 1815?')
    '"who" OR "ruled" OR "in" OR "1815"'
    """
    words = tokens(text)
    return " OR ".join(f'"{word}"' for word in words) if words else None


def marks(values: Sequence[Any]) -> str:
    """Return as many ``?`` as there are values."""
    return ",".join("?" * len(values))


def slices(values: Iterable[T], size: int = 500) -> Iterator[list[T]]:
    """Yield lists of at most ``size`` values."""
    iterator = iter(values)
    while part := list(islice(iterator, size)):
        yield part
