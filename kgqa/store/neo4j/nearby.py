"""Which way to the nearest vectors is quickest: how many may hold, and what each way costs.

Belongs here: the choice and the figures it rests on. Must not: statements that search. A choice
never alters what is found, so the figures may be rough. Measured by
``benchmarks/neo4j_search.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgqa.protocols import ItemKind, Pattern
from kgqa.temporal.interval import BEGIN, END, narrowed

Way: TypeAlias = Literal["exact", "search", "query"]

# How long each takes, in comparisons of two vectors; one vector more from an index is one.
_SEARCH = 300
_QUERY = 100
_READ = 1 / 20
"""An entry of a range index."""

# A graph of neighbours misses some of the last that it is asked for.
_FEWEST = 30
_MORE = 30


@dataclass(frozen=True, slots=True)
class Span:
    """Hold the one condition of a pattern on a term: ``es < below`` and ``le > above``.

    >>> Span.of(Pattern())
    Span(below=9223372036854775807, above=-9223372036854775807)
    """

    below: int
    above: int

    @classmethod
    def of(cls, pattern: Pattern) -> Span:
        """Return what a pattern asks; a term of no bounds at all satisfies the widest."""
        below, above = END, BEGIN
        if pattern.valid is not None and pattern.match == "all":
            below, above = pattern.valid.start + 1, pattern.valid.end - 1
        elif pattern.valid is not None:
            span = narrowed(pattern.valid, pattern.match)
            below, above = span.end, span.start
        if pattern.begun_before is not None:
            below = min(below, pattern.begun_before)
        return cls(below, above)

    def widened(self) -> tuple[int, int]:
        """Return the highest start and lowest end for a vector index, which rounds to doubles.

        Instants beyond 285,000 years from 1970 lose their last digits there.
        """
        return (
            min(END, self.below - 1 + (abs(self.below) >> 51)),
            max(BEGIN, self.above + 1 - (abs(self.above) >> 51)),
        )


ALWAYS = Span(END, BEGIN)

_NAMES: dict[Way, str] = {
    "exact": "exact",
    "search": "vector index (SEARCH)",
    "query": "vector index (queryNodes)",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold a choice: the way, how many to ask an index for, and what it was chosen for.

    ``by_end``: fewer items last until the time asked than have begun by then.
    """

    way: Way
    limit: int
    by_end: bool
    held: int
    total: int

    def __str__(self) -> str:
        return f"{_NAMES[self.way]}, {self.held} of {self.total} hold"


@dataclass(frozen=True, slots=True)
class Held:
    """Hold when the current embedded items of a base hold, by kind, and how big the index is.

    ``dimension`` 0: it has no vectors. ``active`` is the newest generation that searches see;
    ``entries`` counts the index, other bases and generations included; ``bounds`` are earliest
    starts and latest ends.
    """

    dimension: int
    active: int
    entries: int
    bounds: dict[ItemKind, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(
        default_factory=dict
    )

    def plan(self, kind: ItemKind, span: Span, k: int, cypher25: bool) -> Plan:
        """Return the quickest way to the ``k`` nearest of a kind within a span."""
        starts, ends = self.bounds.get(kind, (np.empty(0), np.empty(0)))
        begun, lasting = starts < span.below, ends > span.above
        held = int(np.count_nonzero(begun & lasting))
        by_start, by_end = int(np.count_nonzero(begun)), int(np.count_nonzero(lasting))
        # An index without a filter is asked for so many that enough of them hold.
        spare = 3 if held > self.entries / 10 else 5
        limits: dict[Way, int] = {
            "exact": 0,
            "query": _MORE + math.ceil(spare * k * self.entries / max(held, 1)),
        }
        costs: dict[Way, float] = {
            "exact": held + min(by_start, by_end) * _READ,
            "query": _QUERY + limits["query"],
        }
        if cypher25:
            limits["search"] = max(_FEWEST, 3 * k)
            costs["search"] = _SEARCH + limits["search"]
        way = min(costs, key=lambda way: costs[way])
        return Plan(way, limits[way], by_end < by_start, held, len(starts))
