"""How a stored term is read: where an open or unknown end stops (DESIGN section 1).

Belongs here: pure rules over the facts beside a fact, shared by every store. Must not: SQL,
Cypher, or changing anything stored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from kgqa.model.things import Fact, Relation
from kgqa.temporal.interval import END, Instant


class Sibling(NamedTuple):
    """One fact beside another: bounds as stored, id, and the value that makes it different."""

    es: Instant
    ls: Instant
    ee: Instant
    le: Instant
    id: str
    value: str


class Siblings:
    """Hold the current facts of one subject and relation, or of one relation and object."""

    __slots__ = ("_ends", "_rows", "_starts")

    def __init__(self, rows: Iterable[Sibling]) -> None:
        self._rows = sorted(rows)
        self._starts = [row.es for row in self._rows]
        self._ends: dict[str, list[Sibling]] = {}
        for row in self._rows:
            if row.le != END:
                self._ends.setdefault(row.value, []).append(row)

    def stated_end(self, fact: Fact, value: str) -> tuple[Instant, Instant] | None:
        """Return the earliest known end that facts of the same three, started alike, state."""
        es, ls = fact.valid.es, fact.valid.ls
        return min(
            (
                (row.ee, row.le)
                for row in self._ends.get(value, ())
                if row.es <= ls and es <= row.ls and es < row.le
            ),
            default=None,
        )

    def next_value(self, fact: Fact, value: str, at_most: int) -> Sibling | None:
        """Return the later start that leaves no room for ``value`` among ``at_most``."""
        seen = {value}
        for row in self._rows[bisect_right(self._starts, fact.valid.es) :]:
            if row.value not in seen:
                seen.add(row.value)
                if len(seen) > at_most:
                    return row
        return None


def overridden(fact: Fact, end: tuple[Instant, Instant] | None) -> Fact:
    """Return the fact with the end that a fact of the same three states, if any."""
    if end is None:
        return fact
    ended = replace(fact.valid, ee=end[0], le=end[1], end_precision=None, text="")
    return replace(fact, valid=ended)


def stopped(
    fact: Fact, values: Siblings, holders: Siblings, relation: Relation, token: str
) -> Fact:
    """Return the fact with an end where its relation has no room for it any more.

    ``values`` are the facts of the same subject and relation, ``holders`` those of the same
    relation and object, whose value is their subject. The earlier of both stops counts.
    """
    stops = []
    if relation.max_objects is not None:
        stops.append(values.next_value(fact, token, relation.max_objects))
    if relation.max_subjects is not None:
        stops.append(holders.next_value(fact, fact.subject, relation.max_subjects))
    stop = min((row for row in stops if row is not None), default=None)
    if stop is None:
        return fact
    # It ended when the other started, and that is known no better than [es, ls].
    ended = replace(fact.valid, ee=stop.es, le=stop.ls, end_precision=None, text="")
    return replace(fact, valid=ended, ended_by=stop.id)
