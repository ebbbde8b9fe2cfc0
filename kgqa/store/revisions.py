"""Whole writes inside an open transaction: a batch or an erasure, and the revision it makes.

Belongs here: numbering revisions, recording what one did. Must not: what a batch does
(``writing``), what an erasure takes (``erasing``), transactions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from kgqa.protocols import Batch, Receipt
from kgqa.store import rows, sums
from kgqa.store.tables import MARK, Tables
from kgqa.store.writing import Writing


def write(tables: Tables, batch: Batch) -> Receipt:
    """Apply a batch. If the receipt says that nothing changed, undo the transaction."""
    last = tables.last("revisions")
    writing = Writing(tables, last + 1)
    writing.apply(batch)
    counts, ambiguous = writing.counts, tuple(sorted(writing.ambiguous))
    if not counts:
        return Receipt(last, False, {}, ambiguous)
    _record(tables, last + 1, batch.note, writing.touched)
    return Receipt(last + 1, True, counts, ambiguous)


def erase(tables: Tables, labels: Sequence[str]) -> Receipt:
    """Erase what labels name; nothing is written if it was erased before."""
    from kgqa.store.erasing import Erasing

    last = tables.last("revisions")
    removed = Erasing(Writing(tables, last + 1)).apply(labels)
    if not removed:
        return Receipt(last, False)
    _record(tables, last + 1, "erase", ("chunks", "nodes", "vectors", "merges"))
    return Receipt(last + 1, True, {"rows": removed})


def _record(tables: Tables, revision: int, note: str, parts: Iterable[str]) -> None:
    """Record a revision; copies of these parts in readers' hands are old now."""
    before = tables.select("revisions", "wall", n=revision - 1)
    # The clock of revisions never goes back.
    wall = max([time.time_ns() // 1_000_000, *(row[0] for row in before)])
    row = (revision, wall, rows.clean(note))
    tables.put("revisions", "n, wall, note, sum", [(*row, sums.of(row))])
    touched = [(MARK + part, str(revision)) for part in parts]
    tables.put("meta", "key, value, sum", [(*row, sums.of(row)) for row in touched])
