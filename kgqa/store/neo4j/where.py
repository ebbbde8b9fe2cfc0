"""From a Pattern to Cypher: what conditions say otherwise than in SQL, and the index they use.

Belongs here: conditions, and statements with their values counted. Must not: running them.
Conditions come from ``queries`` and from this room, never from users.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from kgqa.store.neo4j.cypher import LABELS, Cypher, every, short, text
from kgqa.store.neo4j.statements import INDEXES
from kgqa.store.queries import Where

_WHOLE = ("n.kind = ?",)
"""Conditions on texts that no index holds, so that rows have them whole."""
_PLACE = re.compile(r"\?")
_PLAIN = re.compile(r"(\w+)\.(\w+) (?:=|IN|[<>]=?) (?:\?|\d+)")
_COLUMN = re.compile(r"\.(\w+)")
_USING = "USING INDEX @variable:@label(@columns)"


class CypherWhere(Where):
    """Collect conditions and parameters in Cypher; a long text stands as indexes hold it."""

    __slots__ = ()

    def add(self, condition: str, *parameters: Any) -> CypherWhere:
        """Add one condition; all must hold."""
        self.conditions.append(condition)
        self.parameters += parameters if condition in _WHOLE else map(_held, parameters)
        return self

    def among(self, column: str, values: Sequence[Any]) -> CypherWhere:
        """Add: the column has one of the values."""
        return self.add(f"{column} IN ?", [_held(value) for value in values])

    def beyond(self, alias: str, place: Sequence[Any]) -> CypherWhere:
        """Add: comes after a place (earliest start, earliest end, id)."""
        es, ee, name = place
        return self.add(
            f"{alias}.es >= ? AND ({alias}.es > ? OR {alias}.ee > ? "
            f"OR ({alias}.ee = ? AND {alias}.id > ?))", es, es, ee, ee, name,
        )  # fmt: skip

    @staticmethod
    def exists(table: str, alias: str, condition: object) -> str:
        """Return the condition that a table has such a row."""
        return (
            f"EXISTS {{ MATCH ({alias}:{LABELS[table]}) WHERE {alias}.kb = $kb AND {condition} }}"
        )


def conditions(where: Where) -> Cypher:
    """Return conditions as a part of a statement."""
    return every(map(Cypher, where.conditions))


def using(where: Where, table: str, alias: str, order: str = "") -> Cypher:
    """Return the hint that names the index that fits best; add what it asks besides.

    An index serves a statement that asks something of each of its columns, and best if its
    first columns are given values. ``order`` decides between equals.
    """
    known = set(_plain(where, alias))
    wanted = tuple(_COLUMN.findall(order))
    index = max(INDEXES[table], key=lambda i: (_led(i, known), i[: len(wanted)] == wanted))
    for column in index:
        if column not in known:
            where.add(f"{alias}.{column} IS NOT NULL")
    return text(_USING, variable=alias, label=LABELS[table], columns=("kb", *index))


def _plain(where: Where, alias: str) -> Iterator[str]:
    """Yield the columns that an index can be asked by."""
    for condition in where.conditions:
        if not condition.startswith(("NOT ", "(")):
            for part in condition.split(" AND "):
                found = _PLAIN.fullmatch(part)
                if found and found[1] == alias:
                    yield found[2]


def _led(index: Sequence[str], known: set[str]) -> int:
    """Return how many of its columns, from the first, an index is asked by."""
    return next((i for i, column in enumerate(index) if column not in known), len(index))


def ordered(alias: str, order: str) -> Cypher:
    """Return the clause for an order such as ``n.es, n.id``.

    With the base in front an index gives that order, else the rows are sorted.
    """
    return Cypher(f"ORDER BY {alias}.kb, {order}" if order else "")


def first(limit: int | None) -> Cypher:
    """Return the clause for the first rows; None = all."""
    return Cypher("" if limit is None else f"LIMIT {limit:d}")


def counted(statement: Cypher, values: Sequence[Any]) -> tuple[Cypher, dict[str, Any]]:
    """Return a statement and its parameters: each ``?`` is the next value.

    >>> counted(Cypher("RETURN ? < ?"), [1, 2])
    ('RETURN $p0 < $p1', {'p0': 1, 'p1': 2})
    """
    places = count()
    named = Cypher(_PLACE.sub(lambda _: f"$p{next(places)}", statement))
    return named, {f"p{i}": value for i, value in enumerate(values)}


def _held(value: Any) -> Any:
    return short(value) if isinstance(value, str) else value
