"""From a Pattern to Cypher: what conditions say otherwise than in SQL, and the index they use.

Belongs here: conditions, and the part of a statement that finds rows. Must not: running them.
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
_BOUNDS = ("es", "ee")
_PLACE = re.compile(r"\?")
_PLAIN = re.compile(r"(\w+)\.(\w+) (=|IN|[<>]=?) (?:\?|\d+)")
_COLUMN = re.compile(r"\.(\w+)")
_MATCH = "MATCH (@v:@label) USING INDEX SEEK @v:@label(@index) WHERE @v.kb = $kb AND @conditions"
_FIRST = "@found WITH @v @first"
_BRANCHES = "CALL { @branches } WITH @v @first"
_BRANCH = "@found RETURN @v @first"


class CypherWhere(Where):
    """Collect conditions and parameters in Cypher; a long text stands as indexes hold it."""

    __slots__ = ("_place",)

    def __init__(self) -> None:
        super().__init__()
        self._place: tuple[Any, ...] = ()

    def add(self, condition: str, *parameters: Any) -> CypherWhere:
        """Add one condition; all must hold."""
        self.conditions.append(condition)
        self.parameters += parameters if condition in _WHOLE else map(_held, parameters)
        return self

    def among(self, column: str, values: Sequence[Any]) -> CypherWhere:
        """Add: the column has one of the values."""
        return self.add(f"{column} IN ?", [_held(value) for value in values])

    def beyond(self, alias: str, place: Sequence[Any]) -> CypherWhere:
        """Add: comes after a place (earliest start, earliest end, id); see ``branches``."""
        self._place = (alias, *place)
        return self

    @staticmethod
    def exists(table: str, alias: str, condition: object) -> str:
        """Return the condition that a table has such a row."""
        *_, last = INDEXES[table][0]
        return (
            f"EXISTS {{ MATCH ({alias}:{LABELS[table]}) WHERE {alias}.kb = $kb AND {condition} "
            f"AND {alias}.{last} IS NOT NULL }}"
        )

    def branches(self) -> list[CypherWhere]:
        """Return conditions, in order of places, of which one holds wherever these do.

        An index is asked for a range of one column only, hence each is. And indexes compare
        texts by code points, as SQLite does, but filters by UTF-16 units.
        """
        if not self._place:
            return [self]
        alias, es, ee, name = self._place
        return [
            self._copy().add(f"{alias}.es = ? AND {alias}.ee = ? AND {alias}.id > ?", es, ee, name),
            self._copy().add(f"{alias}.es = ? AND {alias}.ee > ?", es, ee),
            self._copy().add(f"{alias}.es > ?", es),
        ]

    def _copy(self) -> CypherWhere:
        made = CypherWhere()
        made.conditions, made.parameters = [*self.conditions], [*self.parameters]
        return made

    def asked(self, alias: str) -> Iterator[tuple[str, bool]]:
        """Yield the columns that an index can be asked by; whether for values, not a range."""
        for condition in self.conditions:
            if not condition.startswith(("NOT ", "(")):
                for part in condition.split(" AND "):
                    found = _PLAIN.fullmatch(part)
                    if found and found[1] == alias:
                        yield found[2], found[3] in ("=", "IN")


def conditions(where: Where) -> Cypher:
    """Return conditions as a part of a statement."""
    return every(map(Cypher, where.conditions))


def found(
    table: str, alias: str, where: Where, order: str = "", limited: bool = False
) -> tuple[Cypher, list[Any]]:
    """Return the part of a statement that finds rows, and its values.

    ``limited``: only the first ``$limit`` of them in order, such as ``n.es, n.id``.
    """
    assert isinstance(where, CypherWhere)
    first = Cypher(f"{ordered(alias, order)} LIMIT $limit" if limited else "")
    branches = where.branches()
    parts = [_match(table, alias, one, order) for one in branches]
    values = [value for one in branches for value in one.parameters]
    if len(parts) == 1:
        statement = text(_FIRST, found=parts[0], v=alias, first=first) if limited else parts[0]
        return statement, values
    each = [text(_BRANCH, found=part, v=alias, first=first) for part in parts]
    return text(_BRANCHES, branches=Cypher(" UNION ALL ".join(each)), v=alias, first=first), values


def ordered(alias: str, order: str) -> Cypher:
    """Return the clause for an order.

    With the base in front an index gives that order, else the rows are sorted.
    """
    return Cypher(f"ORDER BY {alias}.kb, {order}" if order else "")


def _match(table: str, alias: str, where: CypherWhere, order: str) -> Cypher:
    """Return the clause with the index that fits best, and what that asks besides.

    An index serves a statement that asks something of each of its columns. The best is given
    ids, else has the order, else is asked by its first columns, else by any.
    """
    asked = dict(where.asked(alias))
    wanted = tuple(_COLUMN.findall(order))

    def fit(index: tuple[str, ...]) -> tuple[int, bool, int, int]:
        led = next((i for i, column in enumerate(index) if column not in asked), len(index))
        ids = [column for column in index[:led] if asked[column] and column not in _BOUNDS]
        return len(ids), index[: len(wanted)] == wanted, led, len(asked.keys() & index)

    index = max(INDEXES[table], key=fit)
    for column in index:
        if column not in asked:
            where.add(f"{alias}.{column} IS NOT NULL")
    return text(
        _MATCH, v=alias, label=LABELS[table], index=("kb", *index), conditions=conditions(where)
    )  # fmt: skip


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
