"""Erasing: the bytes of a thing leave every revision, every index and the log.

Belongs here: removal from all versions. Must not: the two milder ways, ``end`` and ``retract``
(``writing``), which keep history.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from kgqa.errors import InputError, NotFoundError, UnavailableError
from kgqa.protocols import Receipt
from kgqa.store import LOCK_SECONDS, files, rows, sums
from kgqa.store.nodes import drop_version
from kgqa.store.queries import marks, slices
from kgqa.store.writing import Writing
from kgqa.temporal.interval import END

_SAME = (
    "c.document, c.subject_ref, c.object_ref, c.chunk, c.span_start, c.span_end, c.line, "
    "c.confidence, c.properties, f.relation, f.es, f.ls, f.ee, f.le"
)
"""What makes two versions of a claim the same claim."""
_TEXT = rows.DOCUMENT_SAID.split(", ").index("text")


class Erasing:
    """Remove things from an open transaction."""

    def __init__(self, connection: sqlite3.Connection, writing: Writing) -> None:
        self._db = connection
        self._writing = writing
        self._nodes: set[str] = set()
        self._removed = 0

    def apply(self, labels: Sequence[str]) -> int:
        """Remove what labels name; return how many rows went, besides what was derived."""
        for label in labels:
            noun, _, name = label.partition(":")
            steps = {
                "node": self._node, "fact": self._fact,
                "document": self._document, "chunk": self._chunk,
            }  # fmt: skip
            if noun not in steps or not name:
                raise InputError(
                    f"not a citation label: {label!r}", code="store.bad_label",
                    hint="write node:ID, fact:ID, chunk:ID or document:ID",
                )  # fmt: skip
            before = self._removed
            steps[noun](name)
            if self._removed == before and not self._all(
                "SELECT 1 FROM tombstones WHERE label = ?", (label,)
            ):
                raise NotFoundError(
                    f"nothing is called {label!r}", code="store.not_found",
                    hint="write the label as results print it",
                )  # fmt: skip
            row = (label, self._writing.revision)
            self._db.execute(
                "INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", (*row, sums.of(row))
            )
        if self._removed:
            self._derive()
            # Nodes that only the erased facts named are gone too.
            self._db.execute(
                "DELETE FROM vectors WHERE kind = 'node' AND item NOT IN (SELECT id FROM nodes)"
            )
            for index in ("chunk_text", "node_text"):
                self._db.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")
        return self._removed

    def _all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        return self._db.execute(sql, parameters).fetchall()

    def _delete(self, table: str, condition: str, *parameters: Any) -> None:
        self._removed += self._db.execute(
            f"DELETE FROM {table} WHERE {condition}", parameters
        ).rowcount

    # Nouns.

    def _node(self, name: str) -> None:
        merges = self._writing.merges
        members = merges.members(merges.canonical(name))
        found: list[Any] = []
        for member in members:
            found += self._all("SELECT n FROM facts WHERE subject = ?", (member,))
            found += self._all("SELECT n FROM facts WHERE object = ?", ("n:" + member,))
            self._delete("node_claims", "node = ?", member)
            self._delete("vectors", "kind = 'node' AND item = ?", member)
        self._claims("c.fact IN ({})", [n for (n,) in found])
        for member in members:
            self._removed += len(self._all("SELECT 1 FROM nodes WHERE id = ?", (member,)))
            self._db.execute("DELETE FROM merges WHERE ? IN (loser, winner)", (member,))
            if member in merges.winner:
                merges.remove(member)
        self._nodes |= set(members)

    def _fact(self, name: str) -> None:
        found = self._all("SELECT n FROM facts WHERE id = ?", (name,))
        self._claims("c.fact IN ({})", [n for (n,) in found])

    def _document(self, name: str) -> None:
        for path, text in self._all("SELECT path, id FROM documents WHERE id = ?", (name,)):
            self._delete("failures", "unit = ? OR unit GLOB ?", path, _literal(path) + ":*")
            self._delete("documents", "id = ?", text)
        self._chunks("document = ?", name)
        said = self._all("SELECT node FROM node_claims WHERE document = ?", (name,))
        self._nodes |= {node for (node,) in said}
        self._delete("node_claims", "document = ?", name)
        self._claims("c.document IN ({})", [name])

    def _chunk(self, name: str) -> None:
        for document, start, end in self._all(
            "SELECT document, span_start, span_end FROM chunks WHERE id = ?", (name,)
        ):
            self._blank(document, start, end)
        self._chunks("id = ?", name)
        self._claims("c.chunk IN ({})", [name])

    def _blank(self, document: str, start: int, end: int) -> None:
        """Overwrite a range of a document's text with spaces; other offsets stay."""
        for n, *row in self._all(
            f"SELECT n, {rows.DOCUMENT_SAID} FROM documents WHERE id = ?", (document,)
        ):
            data, before = row[_TEXT].encode(), sums.of(row)
            blank = data[:start] + b" " * len(data[start:end]) + data[end:]
            row[_TEXT] = blank.decode("utf-8", "replace")
            self._db.execute(
                "UPDATE documents SET text = ?, sum = sum + ? WHERE n = ?",
                (row[_TEXT], sums.of(row) - before, n),
            )

    def _chunks(self, condition: str, parameter: str) -> None:
        for n, name, *words in self._all(
            f"SELECT n, id, title, section, text FROM chunks WHERE {condition}", (parameter,)
        ):
            self._db.execute(
                "INSERT INTO chunk_text(chunk_text, rowid, title, section, text) "
                "VALUES ('delete', ?, ?, ?, ?)", (n, *words),
            )  # fmt: skip
            self._delete("chunks", "n = ?", n)
            self._delete("vectors", "kind = 'chunk' AND item = ?", name)

    # Claims: all versions, wherever they were linked.

    def _claims(self, condition: str, values: Sequence[Any]) -> None:
        found: dict[int, tuple[int, int, int]] = {}
        same: set[tuple[Any, ...]] = set()
        columns = f"c.n, c.fact, {_SAME}"
        for part in slices(values):
            for n, fact, *claim in self._all(
                f"SELECT {columns} FROM claims c JOIN facts f ON f.n = c.fact "
                f"WHERE {condition.format(marks(part))}",
                part,
            ):
                found[n] = (fact, claim[1], claim[2])
                same.add(tuple(claim))
        for part in slices({claim[0] for claim in same}):
            for n, fact, *claim in self._all(
                f"SELECT {columns} FROM claims c JOIN facts f ON f.n = c.fact "
                f"WHERE c.document IN ({marks(part)})",
                part,
            ):
                if tuple(claim) in same:
                    found[n] = (fact, claim[1], claim[2])
        for n in found:
            self._delete("claims", "n = ?", n)
        self._facts({fact for fact, _, _ in found.values()})
        self._refs({n for _, *refs in found.values() for n in refs if n})

    def _facts(self, touched: set[int]) -> None:
        """Let each fact be on record only while a remaining claim supports it."""
        for n in touched:
            claims = self._all(
                "SELECT recorded_from, recorded_to, n FROM claims WHERE fact = ? ORDER BY 1", (n,)
            )
            fact = self._all("SELECT id, subject, relation, object, es, ls, ee, le FROM facts "
                             "WHERE n = ?", (n,))[0]  # fmt: skip
            self._nodes |= {fact[1], fact[3].removeprefix("n:")}
            self._db.execute("DELETE FROM facts WHERE n = ?", (n,))
            runs: list[tuple[int, int, list[int]]] = []
            for since, until, claim in claims:
                if runs and since <= runs[-1][1]:
                    first, last, held = runs[-1]
                    runs[-1] = (first, max(last, until), [*held, claim])
                else:
                    runs.append((since, until, [claim]))
            for since, until, held in runs:
                row = self._db.execute(
                    "INSERT INTO facts(id, subject, relation, object, es, ls, ee, le, "
                    "recorded_from, recorded_to) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*fact, since, until),
                ).lastrowid
                self._db.executemany(
                    "UPDATE claims SET fact = ? WHERE n = ?", [(row, c) for c in held]
                )

    def _refs(self, touched: Iterable[int]) -> None:
        """Remove the words that no claim uses any more, count the others afresh."""
        touched = sorted(touched)
        used: dict[int, int] = {}
        for column in ("subject_ref", "object_ref"):
            for part in slices(touched):
                for n, current in self._all(
                    f"SELECT {column}, sum(recorded_to = {END}) FROM claims "
                    f"WHERE {column} IN ({marks(part)}) GROUP BY {column}",
                    part,
                ):
                    used[n] = used.get(n, 0) + current
        for n in touched:
            self._nodes.add(self._writing.refs[n].node)
            if n in used:
                self._db.execute("UPDATE refs SET uses = ? WHERE n = ?", (used[n], n))
            else:
                self._db.execute("DELETE FROM refs WHERE n = ?", (n,))
        self._writing.refs.forget()

    # What is derived.

    def _derive(self) -> None:
        """Derive the nodes that lost something, without a trace of how they were before."""
        keys: set[str] = set()
        for node in sorted(self._nodes):
            for n, words in self._all("SELECT n, words FROM nodes WHERE id = ?", (node,)):
                keys |= {k for (k,) in self._all("SELECT key FROM names WHERE node = ?", (n,))}
                drop_version(self._db, n, words)
        self._writing.relink(self._nodes, keys)
        for node in self._nodes:
            since = self._since(node)
            if since is not None:
                for (n,) in self._all(
                    f"SELECT n FROM nodes WHERE id = ? AND recorded_to = {END}", (node,)
                ):
                    self._db.execute(sums.since("nodes"), (since, n))

    def _since(self, node: str) -> int | None:
        """Return the revision at which what is left of a node was first on record."""
        found: int | None = self._db.execute(
            "SELECT min(since) FROM (SELECT min(recorded_from) AS since FROM node_claims "
            "WHERE node = ?1 UNION ALL SELECT min(recorded_from) FROM facts WHERE subject = ?1 "
            "UNION ALL SELECT min(recorded_from) FROM facts WHERE object = 'n:' || ?1)",
            (node,),
        ).fetchone()[0]
        return found


def _literal(path: str) -> str:
    """Return a path as a GLOB pattern that matches only it."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def erase(
    path: Path,
    writer: AbstractContextManager[sqlite3.Connection],
    labels: Sequence[str],
    wait: float = LOCK_SECONDS,
) -> Receipt:
    """Erase labels in a transaction, then see to it that the log is empty too.

    Readers that keep the log have ``wait`` seconds to go.
    """
    from kgqa.store.sqlite import last_revision, record, touch

    with writer as connection:
        last, wall = last_revision(connection)
        writing = Writing(connection, last + 1)
        removed = Erasing(connection, writing).apply(labels)
        if removed:
            record(connection, last + 1, wall, "erase")
            touch(connection, last + 1, ("chunks", "nodes", "vectors", "merges"))
    _empty_log(path, wait)
    return Receipt(last + bool(removed), bool(removed), {"rows": removed} if removed else {})


def _empty_log(path: Path, wait: float) -> None:
    connection = files.connect(path, write=True, wait=wait)
    try:
        deadline = time.monotonic() + wait
        while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    "erased, but a reader keeps the log, which still holds the bytes",
                    code="store.locked", hint="end that reader, then erase the same again",
                )  # fmt: skip
            time.sleep(0.05)
    finally:
        connection.close()
