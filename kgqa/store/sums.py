"""The sum that every stated row carries, by which ``verify`` sees a flipped bit in it.

Belongs here: which columns a sum covers, how it is made, compared and kept when a row is closed.
Must not: writing rows. What is derived has no sum, but nodes: their past versions cannot be
derived again. A sum is the CRC of a row's columns, plus ``recorded_from``, minus
``recorded_to``: so SQL can keep it while it changes these two.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

from kgqa.store import rows
from kgqa.temporal.interval import END

SAID = "node, document, label, kind, aliases, existence, properties"
NODE = "id, label, kind, kinds, words, aliases, existence, properties, declared, digest, es, ee"
_CLAIM = (
    "f.id, t.document, subject_ref, object_ref, how, chunk, span_start, span_end, line, "
    "confidence, properties"
)
"""The fact's id stands for all that the fact says: it is a digest of that."""

_WITHOUT = ("facts",)
_COVERED = {
    "meta": ("key", "key, value", "meta"),
    "revisions": ("n", "n, wall, note", "revisions"),
    "tombstones": ("label", "label, revision", "tombstones"),
    "relations": ("key", "key, body", "relations"),
    "failures": ("unit", "unit, code, message, payload", "failures"),
    "refs": ("n", "n, label, kind, explicit, key", "refs"),
    "vectors": ("item", "kind, item, generation, digest, vector", "vectors"),
}
_VERSIONED = {
    "merges": ("n", "loser, winner", "merges t"),
    "documents": ("id", rows.DOCUMENT_SAID, "documents t"),
    "chunks": ("id", rows.CHUNK_SAID, "chunks t"),
    "node_claims": ("n", SAID, "node_claims t"),
    "nodes": ("id", NODE, "nodes t"),
    "claims": ("t.n", _CLAIM, "claims t LEFT JOIN facts f ON f.n = t.fact"),
}


def of(values: Sequence[Any]) -> int:
    """Return the sum of a row that is not versioned.

    >>> of(("form", "nodes")) == of(("form", "notes"))
    False
    """
    # ``ascii`` tells types and borders apart and, unlike ``repr``, is the same in every Python.
    return crc32(ascii(tuple(values)).encode("ascii"))


def current(values: Sequence[Any], revision: int) -> int:
    """Return the sum of a row that is on record from a revision on."""
    return of(values) + revision - END


def until(table: str) -> str:
    """Return SQL that sets ``recorded_to``; parameters: that, the row's ``n``."""
    kept = "" if table in _WITHOUT else "sum = sum + recorded_to - ?1, "
    return f"UPDATE {table} SET {kept}recorded_to = ?1 WHERE n = ?2"


def since(table: str) -> str:
    """Return SQL that sets ``recorded_from``; parameters: that, the row's ``n``."""
    return f"UPDATE {table} SET sum = sum - recorded_from + ?1, recorded_from = ?1 WHERE n = ?2"


def differing(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield the table and name of each row that is not as it was written."""
    for shift, tables in (("0", _COVERED), ("t.recorded_from - t.recorded_to", _VERSIONED)):
        for table, (name, columns, source) in tables.items():
            for row in db.execute(f"SELECT {name}, sum, {shift}, {columns} FROM {source}"):
                if of(row[3:]) + row[2] != row[1]:
                    yield table, str(row[0])
