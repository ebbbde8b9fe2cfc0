"""Nodes within one write: what rows say of them, and their derived versions.

Belongs here: node claims, derived nodes with their names, existence and text index. Must not:
the rules of derivation (``linking``), facts.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kgqa.model.ids import digest, name_key
from kgqa.model.things import Alias, End, Node
from kgqa.store import rows, sums
from kgqa.store.linking import PLACEHOLDER, Bearer, Derived, Statement, derive
from kgqa.store.queries import marks, slices
from kgqa.store.refs import Merges, Refs
from kgqa.temporal.interval import BEGIN, END, UNDATED, Validity

_NAME = "key, node, label, main, own, es, ls, ee, le, how"


class Nodes:
    """Change node claims; derive afresh each node that they, refs or merges touched."""

    def __init__(
        self, connection: sqlite3.Connection, revision: int, refs: Refs, merges: Merges
    ) -> None:
        self._db = connection
        self._revision = revision
        self._refs = refs
        self._merges = merges
        self._closed: set[int] = set()
        self.opened = 0
        self.derived = 0
        self.dirty: set[str] = set()
        """Canonical ids to derive."""

    @property
    def changed(self) -> int:
        """Return how many node claims this write closed or opened."""
        return len(self._closed) + self.opened

    # What rows say.

    def state(self, nodes: Iterable[Node], source: str) -> None:
        """Put a source's node rows on record; each replaces what it said of that node before."""
        last = {node.id: node for node in nodes}
        for part in slices(last.values()):
            ids = [node.id for node in part]
            held = {
                row[1]: (row[0], row[2], tuple(row[3:]))
                for row in self._db.execute(
                    f"SELECT n, node, recorded_to, label, kind, aliases, existence, properties "
                    f"FROM node_claims WHERE node IN ({marks(ids)}) AND document = ? "
                    f"AND recorded_to IN ({END}, {self._revision}) ORDER BY recorded_to",
                    [*ids, source],
                )
            }
            for node in part:
                said = (
                    rows.clean(node.label), node.kind or "", rows.aliases_dump(node.aliases),
                    rows.terms_dump(node.existence), rows.properties_dump(node.properties),
                )  # fmt: skip
                self._replace(node.id, source, said, held.get(node.id))

    def _replace(
        self, node: str, source: str, said: tuple[Any, ...], held: tuple[Any, ...] | None
    ) -> None:
        if held is not None and held[2] == said and held[1] == END:
            return
        self.dirty.add(self._merges.canonical(node))
        if held is not None and held[2] == said:
            self._closed.discard(held[0])
            self._db.execute(sums.until("node_claims"), (END, held[0]))
            return
        if held is not None and held[1] == END:
            self._close([held[0]])
        row = (node, source, *said)
        self._db.execute(
            f"INSERT INTO node_claims({sums.SAID}, sum, recorded_from, recorded_to) "
            f"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, {END})",
            (*row, sums.current(row, self._revision), self._revision),
        )
        self.opened += 1

    def _close(self, ns: Sequence[int]) -> None:
        now = self._revision
        self._closed |= set(ns)
        self._db.executemany(
            "DELETE FROM node_claims WHERE n = ? AND recorded_from = ?", [(n, now) for n in ns]
        )
        self._db.executemany(sums.until("node_claims"), [(now, n) for n in ns])

    def retract(self, condition: str, parameter: str) -> None:
        """Take off the record the node rows that a condition selects."""
        found = self._db.execute(
            f"SELECT n, node FROM node_claims WHERE {condition} AND recorded_to = {END}",
            (parameter,),
        ).fetchall()
        self.dirty |= {self._merges.canonical(node) for _, node in found}
        self._close([n for n, _ in found])

    def end(self, node: str, end: End) -> None:
        """Give the last term of existence an end, in every row of the node that states one."""
        said = self._rows_of(self._merges.members(node))
        dated = [row for row in said if row[5]] or said[:1]
        if not dated:
            dated = [(node, "", self._label(node), "", "", "", "")]
        for name, source, label, kind, aliases, existence, properties in dated:
            terms = sorted(rows.terms_load(existence), key=lambda v: v.bounds)
            last = terms.pop() if terms else None
            es, ls = (last.es, last.ls) if last else (BEGIN, end.ee - 1)
            start = last.start_precision if last else None
            terms.append(Validity(es, ls, end.ee, end.le, start_precision=start))
            body = rows.properties(properties)
            self.state(
                [Node(name, label, kind or None, rows.aliases_load(aliases), tuple(terms), body)],
                source,
            )

    def _label(self, node: str) -> str:
        found: str = self._db.execute(
            f"SELECT label FROM nodes WHERE id = ? AND recorded_to = {END}", (node,)
        ).fetchone()[0]
        return found

    def _rows_of(self, ids: Iterable[str]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for part in slices(ids):
            found += self._db.execute(
                f"SELECT {sums.SAID} FROM node_claims WHERE node IN ({marks(part)}) "
                f"AND recorded_to = {END}",
                part,
            )
        return found

    # Who bears a name.

    def bearers(self, keys: Iterable[str]) -> dict[str, list[Bearer]]:
        """Return the declared nodes under each key."""
        found: dict[str, list[Bearer]] = {}
        for part in slices(keys):
            for key, node, kinds in self._db.execute(
                "SELECT m.key, n.id, n.kinds FROM names m CROSS JOIN nodes n ON n.n = m.node "
                f"WHERE m.key IN ({marks(part)}) AND m.own AND n.recorded_to = {END}",
                part,
            ):
                found.setdefault(key, []).append(Bearer(node, frozenset(rows.loads(kinds) or ())))
        return found

    # Deriving.

    def derive(self, mentioned: set[int]) -> set[str]:
        """Derive the dirty nodes; return the keys whose bearers may have changed.

        ``mentioned`` are refs that count as used though their claims are not written yet.
        """
        affected: set[str] = set()
        for part in slices(sorted(self.dirty)):
            statements = self._statements(part, mentioned)
            before = self._current(part)
            for name in part:
                affected |= self._version(
                    name, derive(name, statements.get(name, ())), before.get(name)
                )
        self.dirty.clear()
        return affected

    def _statements(self, ids: Sequence[str], mentioned: set[int]) -> dict[str, list[Statement]]:
        # An id that was merged into another has no statements of its own.
        here = [node for node in ids if node not in self._merges.winner]
        home = {member: node for node in here for member in self._merges.members(node)}
        found: dict[str, list[Statement]] = defaultdict(list)
        for node, source, label, kind, aliases, existence, properties in self._rows_of(home):
            found[home[node]].append(
                Statement(
                    0, node, label, kind, rows.aliases_load(aliases),
                    rows.terms_load(existence), rows.properties(properties), source,
                )
            )  # fmt: skip
        for n, label in self._words("explicit", home):
            ref = self._refs[n]
            if ref.uses > 0 or n in mentioned:
                found[home[ref.explicit]].append(Statement(1, ref.explicit, label, ref.kind))
        keys = {i.removeprefix(PLACEHOLDER): i for i in home if i.startswith(PLACEHOLDER)}
        for n, label in self._words("key", keys):
            ref = self._refs[n]
            used = ref.uses > 0 or n in mentioned
            if not ref.explicit and used and ref.node == home[keys[ref.key]]:
                found[ref.node].append(Statement(2, keys[ref.key], label, ref.kind))
        return found

    def _words(self, column: str, values: Iterable[str]) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        for part in slices(values):
            some = "AND explicit <> ''" if column == "explicit" else ""
            found += self._db.execute(
                f"SELECT n, label FROM refs WHERE {column} IN ({marks(part)}) {some}", part
            )
        self._refs.load([n for n, _ in found])
        return found

    def compare(self, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the nodes whose current version, names or existence are not what derives."""
        statements = self._statements(ids, set())
        for name in dict.fromkeys(ids):
            derived = derive(name, statements.get(name, ()))
            row = self._current([name]).get(name)
            wanted = self._content(derived) if derived else None
            if wanted != (row[3:] if row else None):
                yield name, "differs from what its rows say"
            elif row and derived:
                held = set(self._db.execute(f"SELECT {_NAME} FROM names WHERE node = ?", row[:1]))
                if held != set(_names(row[0], derived)):
                    yield name, "has other names in the index than in its row"
                if self._terms(row[0]) != _terms(derived):
                    yield name, "has other terms of existence in the index than in its row"

    def compare_past(self) -> Iterator[tuple[str, str]]:
        """Yield the past versions whose names or existence are not what their row says."""
        for n, *row in self._db.execute(
            f"SELECT n, {rows.NODE} FROM nodes WHERE recorded_to <> {END}"
        ):
            derived = Derived(rows.node(tuple(row)), frozenset(), frozenset())
            # Which names declared a node matters, and is kept, only while it is current.
            held = set(
                self._db.execute(
                    "SELECT key, node, label, main, 0, es, ls, ee, le, how FROM names "
                    "WHERE node = ?", (n,),
                )
            )  # fmt: skip
            if held != set(_names(n, derived)) or self._terms(n) != _terms(derived):
                yield row[0], f"had other names or terms in the index than in its row {n}"

    def _terms(self, n: int) -> set[tuple[int, ...]]:
        return set(self._db.execute("SELECT es, ls, ee, le FROM existence WHERE node = ?", (n,)))

    def _current(self, ids: Sequence[str]) -> dict[str, tuple[Any, ...]]:
        return {
            row[1]: row
            for row in self._db.execute(
                "SELECT n, id, recorded_from, label, kind, kinds, words, aliases, existence, "
                f"properties, declared FROM nodes WHERE id IN ({marks(ids)}) "
                f"AND recorded_to = {END}",
                ids,
            )
        }

    def _content(self, derived: Derived) -> tuple[Any, ...]:
        node = derived.node
        words = "\n".join(dict.fromkeys([node.label, *(a.label for a in node.aliases)]))
        return (
            node.label, node.kind or "", rows.dump(sorted(derived.kinds)), words,
            rows.aliases_dump(node.aliases), rows.terms_dump(node.existence),
            rows.properties_dump(node.properties), int(node.declared),
        )  # fmt: skip

    def _version(
        self, name: str, derived: Derived | None, before: tuple[Any, ...] | None
    ) -> set[str]:
        content = self._content(derived) if derived else None
        own_before = self._own(before[0]) if before else set()
        own = set(derived.own) if derived else set()
        if content != (before[3:] if before else None):
            self.derived += 1
            if before:
                self._retire(before)
            if derived and content:
                self._insert(derived, content)
        elif own == own_before:
            return set()
        elif before:
            # The same names, but others of them declare the node now.
            self._db.execute("DELETE FROM names WHERE node = ?", (before[0],))
            assert derived is not None
            self._insert_names(before[0], derived)
        same_kinds = before is not None and content is not None and before[5] == content[2]
        return own ^ own_before if same_kinds else own | own_before

    def _own(self, n: int) -> set[str]:
        return {
            key for (key,) in self._db.execute("SELECT key FROM names WHERE node = ? AND own", (n,))
        }

    def _retire(self, before: tuple[Any, ...]) -> None:
        n, since, words = before[0], before[2], before[6]
        if since < self._revision:
            self._db.execute(sums.until("nodes"), (self._revision, n))
        else:
            drop_version(self._db, n, words)

    def _insert(self, derived: Derived, content: tuple[Any, ...]) -> None:
        node = derived.node
        first = node.existence[0] if node.existence else UNDATED
        row = (node.id, *content, digest(rows.embedding_text(node)), first.es, first.ee)
        n = self._db.execute(
            f"INSERT INTO nodes({sums.NODE}, sum, recorded_from, recorded_to) "
            f"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {END})",
            (*row, sums.current(row, self._revision), self._revision),
        ).lastrowid
        assert n is not None
        self._db.execute("INSERT INTO node_text(rowid, words) VALUES (?, ?)", (n, content[3]))
        self._db.executemany(
            "INSERT INTO existence VALUES (?, ?, ?, ?, ?)",
            [(n, *term.bounds) for term in node.existence],
        )
        self._insert_names(n, derived)

    def _insert_names(self, n: int, derived: Derived) -> None:
        self._db.executemany(
            f"INSERT INTO names({_NAME}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _names(n, derived)
        )


def _names(n: int, derived: Derived) -> list[tuple[Any, ...]]:
    """Return the rows of ``names`` for one version of a node."""
    node = derived.node
    written = []
    for i, alias in enumerate([Alias(node.label), *node.aliases]):
        key = name_key(alias.label)
        own = int(key in derived.own)
        valid = alias.valid
        written.append((key, n, alias.label, int(i == 0), own, *valid.bounds, rows.how(valid)))
    return written


def _terms(derived: Derived) -> set[tuple[int, ...]]:
    return {term.bounds for term in derived.node.existence}


def drop_version(connection: sqlite3.Connection, n: int, words: str) -> None:
    """Remove one version of a node with everything that hangs on it."""
    connection.execute(
        "INSERT INTO node_text(node_text, rowid, words) VALUES ('delete', ?, ?)", (n, words)
    )
    for table, column in (("names", "node"), ("existence", "node"), ("nodes", "n")):
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (n,))
