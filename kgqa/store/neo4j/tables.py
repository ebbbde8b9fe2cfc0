"""The rows of a base in Neo4j: ``Tables`` over one open write transaction.

Belongs here: statements that read and change rows, and what of the rows' own search properties
follows them. Must not: deciding what is written (``store.writing`` and its parts), the graph that
people look at.

A row is a node. Rows of settings, relations and failures are versions here, as all others are, so
that a reader of an earlier revision finds its own. A text that is too long for an index is cut
(``cypher.short``) and kept whole beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kgqa.store.neo4j import statements, words
from kgqa.store.neo4j.cypher import LONG, LONGEST, Cypher, short
from kgqa.store.neo4j.schema import TOKENS
from kgqa.store.neo4j.session import Transaction
from kgqa.store.neo4j.statements import CUT, FRESH, TOUCHED, VERSIONED
from kgqa.store.rows import Record
from kgqa.store.tables import KEYS
from kgqa.temporal.interval import BEGIN, END

_BATCH = 5000
_VECTORS = 500
_LETTERS = 4_000_000
_HEAVY = ("documents", "chunks", "failures")
"""Tables whose rows may be long: fewer of them go into one statement."""
_WORDS: Mapping[str, tuple[tuple[str, ...], Callable[..., str]]] = {
    "chunks": (("title", "section", "text"), words.chunk_tokens),
    "nodes": (("words",), words.folded),
}
"""Tables that full text searches: what the words of a row are made of, and how."""
_ITEMS = {"node": "nodes", "chunk": "chunks", "relation": "relations"}
"""The table of each kind of item that has a vector."""


class Neo4jTables:
    """Read and change the rows that a transaction sees, at one new revision.

    ``erasing``: rows of failures are found and removed in all their versions. ``touched`` tells
    by table the columns TOUCHED of the rows that were inserted, changed, closed or removed,
    ``fresh`` the columns FRESH of those that were inserted and nothing since, by the first of
    TOUCHED: nobody need read these back.
    """

    __slots__ = ("_erasing", "_kb", "_lasts", "_made", "_revision", "_tx", "fresh", "touched")

    def __init__(
        self, transaction: Transaction, kb: str, revision: int, erasing: bool = False
    ) -> None:
        self._tx = transaction
        self._kb = kb
        self._revision = revision
        self._erasing = erasing
        # Only this transaction changes the rows of this base.
        self._lasts: dict[str, int] = {}
        self._made: set[str] = set()
        self.touched: dict[str, set[Record]] = {table: set() for table in TOUCHED}
        self.fresh: dict[str, dict[Any, Record]] = {table: {} for table in FRESH}

    def _run(self, statement: str, **parameters: Any) -> list[Record]:
        return self._tx.rows(statement, kb=self._kb, **parameters)

    def _touch(self, table: str, rows: Iterable[Record]) -> int:
        """Note rows of lists of the columns TOUCHED; return how many rows there are."""
        rows = list(rows)
        if table in TOUCHED:
            told = [tuple(one) for row in rows for one in row]
            self.touched[table].update(told)
            if table in FRESH:
                for one in told:
                    self.fresh[table].pop(one[0], None)
        return len(rows)

    # Reading.

    def select(self, table: str, columns: str, **where: Any) -> list[Record]:
        """Return the columns of the rows that fit every condition, in any order."""
        names = tuple(columns.split(", "))
        found: list[Record] = []
        for statement, parameters in self._matching(table, statements.SELECT, where, names):
            found += self._run(statement, **parameters)
        return _with_bytes(names, found)

    def last(self, table: str) -> int:
        """Return the highest ``n`` in a table, 0 if it is empty."""
        if table not in self._lasts:
            self._lasts = dict.fromkeys(statements.NUMBERED, 0)
            for place, n in self._run(statements.lasts()):
                self._lasts[statements.NUMBERED[place]] = n
        return self._lasts[table]

    def vector_size(self) -> int | None:
        """Return how many numbers the vectors of this base have; None if there are none."""
        found = self._run(statements.ANY_VECTOR)
        return int(found[0][0]) if found else None

    def _matching(
        self, table: str, template: str, where: dict[str, Any], columns: tuple[str, ...] = ()
    ) -> Iterator[tuple[Cypher, dict[str, Any]]]:
        """Yield statements and parameters that together match the rows that fit."""
        if table in VERSIONED and not (self._erasing and table == "failures"):
            where = {"recorded_to": END, **where}
        cut = CUT[table]
        values = {column: _cut_value(value, column in cut) for column, value in where.items()}
        lists = [column for column, value in values.items() if isinstance(value, list)]
        if not all(values[column] for column in lists):
            return
        each = max(lists, key=lambda column: len(values[column]), default=None)
        ones = tuple(column for column in values if column not in lists)
        some = tuple(column for column in lists if column != each)
        statement = statements.matching(table, template, (ones, some, each), columns)
        shared = {column: values[column] for column in (*ones, *some)}
        for part in _parts(values[each], _BATCH) if each else ((),):
            yield statement, shared | ({"each": part} if each else {})

    # Writing.

    def insert(self, table: str, columns: str, rows: Iterable[Record]) -> None:
        """Add rows; none of them may be there yet."""
        names = tuple(columns.split(", "))
        told = [names.index(column) for column in TOUCHED.get(table, ())]
        for part in _parts(rows, _BATCH, table in _HEAVY):
            self._made.add(table)
            if table in self._lasts:
                n = names.index("n")
                self._lasts[table] = max(self._lasts[table], *(row[n] for row in part))
            if told:
                self.touched[table].update(tuple(row[i] for i in told) for row in part)
            if table in FRESH:
                shown = [names.index(column) for column in FRESH[table]]
                until = names.index("recorded_to")
                # An erasure inserts rows of earlier revisions too.
                self.fresh[table].update(
                    (row[told[0]], tuple(row[i] for i in shown))
                    for row in part
                    if row[until] == END
                )
            for held, written in stored(table, names, part):
                statement = statements.insert(table, held)
                if table in VERSIONED:
                    self._run(statement, rows=written, revision=self._revision, end=END)
                else:
                    self._run(statement, rows=written)

    def change(self, table: str, columns: str, rows: Iterable[Record]) -> None:
        """Set columns of rows; the last value of each record is the row's ``n``."""
        names = tuple(columns.split(", "))
        statement = statements.change(table, names)
        for part in _parts(rows, _BATCH, table in _HEAVY):
            written = [[*_cut_row(table, names, row[:-1]), row[-1]] for row in part]
            self._touch(table, self._run(statement, rows=written))

    def put(self, table: str, columns: str, rows: Sequence[Record]) -> int:
        """Write rows of a table with a key, one a key; return how many that changed."""
        (key,) = KEYS[table]
        place = columns.split(", ").index(key)
        keys = [row[place] for row in rows]
        held = {row[place]: row for row in self.select(table, columns, **{key: keys})}
        changed = [row for row in rows if held.get(row[place]) != tuple(row)]
        replaced = [row[place] for row in changed if row[place] in held]
        if replaced:
            self._remove(table, {key: replaced}, erase=False)
        self.insert(table, columns, changed)
        return len(changed)

    def until(self, table: str, revision: int, ns: Iterable[int]) -> None:
        """Set ``recorded_to`` of rows, keeping their sums."""
        self._shift(statements.UNTIL, table, revision, ns)

    def since(self, table: str, revision: int, ns: Iterable[int]) -> None:
        """Set ``recorded_from`` of rows, keeping their sums."""
        self._shift(statements.SINCE, table, revision, ns)

    def _shift(self, template: str, table: str, revision: int, ns: Iterable[int]) -> None:
        statement = statements.shift(template, table)
        for part in _parts(ns, _BATCH):
            self._touch(table, self._run(statement, ns=part, revision=revision))

    def delete(self, table: str, **where: Any) -> int:
        """Remove the rows that fit every condition; return how many."""
        removed = self._remove(table, where, self._erasing)
        if table == "vectors":
            self._forget(**where)
        return removed

    def _forget(self, kind: str, item: str | Iterable[str]) -> None:
        """Remove what is kept of vectors for older views."""
        items = [item] if isinstance(item, str) else item
        for part in _parts(map(short, items), _BATCH):
            self._run(statements.FORGET_VECTORS, kind=kind, items=part)

    def _remove(self, table: str, where: dict[str, Any], erase: bool) -> int:
        """Remove rows: for good, or, if they are versions by key, from this revision on."""
        kept = table in VERSIONED and not erase
        templates = (statements.CLOSE, statements.UNDO) if kept else (statements.DELETE,)
        removed = 0
        self._lasts.pop(table, None)
        for template in templates:
            if template is statements.UNDO and table not in self._made:
                continue
            for statement, parameters in self._matching(table, template, where):
                now = {"revision": self._revision} if kept else {}
                removed += self._touch(table, self._run(statement, **parameters, **now))
        return removed

    # Vectors.

    def put_vectors(self, rows: Sequence[Record]) -> int:
        """Write rows of ``vectors``, all columns; return how many that changed."""
        changed = 0
        for part in _parts(rows, _VECTORS):
            keys = {(row[0], row[1], row[2]): (row[3], row[5]) for row in part}
            there: list[list[Any]] = []
            for kind in {row[0] for row in part}:
                for row in self.select(
                    "vectors", "kind, item, generation, digest, sum",
                    kind=kind, item=[row[1] for row in part if row[0] == kind],
                ):  # fmt: skip
                    if keys.get(row[:3]) == row[3:]:
                        del keys[row[:3]]
                    elif row[:3] in keys:
                        there.append([row[0], short(row[1]), row[2]])
            fresh = [row for row in part if row[:3] in keys]
            changed += len(fresh)
            if there:
                self._run(statements.KEEP_VECTORS, rows=there, revision=self._revision)
            self._put_vectors(fresh)
        return changed

    def _put_vectors(self, rows: Sequence[Record]) -> None:
        for size in {len(row[4]) // 4 for row in rows}:
            written = [
                [kind, short(item), generation, digest, self._tx.vector(data), total,
                 None if short(item) == item else item]
                for kind, item, generation, digest, data, total in rows
                if len(data) // 4 == size
            ]  # fmt: skip
            statement = statements.put_vectors(size, self._tx.vectors)
            self._run(statement, rows=written, revision=self._revision)
        self.touched["vectors"].update((row[0], row[1]) for row in rows)

    def flip(self, generation: int) -> None:
        """Note that newer vectors up to a generation replace others; ``retiring`` drops these."""
        self._run(statements.FLIP, generation=generation, revision=self._revision)

    def flush(self) -> None:
        """Bring what searches filter vectors by in line with the rows. The last step of a write."""
        items = {kind: {row[0] for row in self.touched[table]} for kind, table in _ITEMS.items()}
        for kind, item in self.touched["vectors"]:
            items[kind].add(item)
        if not any(items.values()) or self.vector_size() is None:
            return
        for kind, names in items.items():
            for part in _parts(sorted(map(short, names)), _BATCH):
                self._run(statements.LIVE[kind], items=part, begin=BEGIN, end=END)


def stored(
    table: str, columns: tuple[str, ...], rows: list[Record]
) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield properties and rows of them; those with a text that is cut go by themselves.

    These have the texts whole too, after all that the others have.
    """
    shown = columns
    if table in _WORDS:
        parts, folded = _WORDS[table]
        places = [columns.index(column) for column in parts]
        shown = (*columns, TOKENS)
        rows = [(*row, folded(*(row[i] for i in places))) for row in rows]
    cut = [i for i, column in enumerate(columns) if column in CUT[table]]
    # Of four bytes each, so many letters fit into any index.
    most = LONGEST // 4
    long = [r for r in rows if any(type(r[i]) is str and len(r[i]) > most for i in cut)]
    if long:
        rows = [r for r in rows if not any(type(r[i]) is str and len(r[i]) > most for i in cut)]
        names = (*shown, *(columns[i] + LONG for i in cut))
        yield names, [_cut_row(table, shown, row) for row in long]
    if rows:
        yield shown, rows


def _cut_row(table: str, columns: Sequence[str], row: Sequence[Any]) -> list[Any]:
    """Return a row with its texts cut for indexes, then the texts that were, whole."""
    cut = [i for i, column in enumerate(columns) if column in CUT[table]]
    given = list(row)
    whole: list[Any] = []
    for i in cut:
        given[i] = _cut_value(row[i], True)
        whole.append(None if given[i] == row[i] else row[i])
    return [*given, *whole]


def _cut_value(value: Any, cut: bool) -> Any:
    """Return a value or a list of values, each once, as an index holds it."""
    if isinstance(value, str):
        return short(value) if cut else value
    if value is None or isinstance(value, (int, float)):
        return value
    return list(dict.fromkeys(_cut_value(one, cut) for one in value))


def _with_bytes(columns: tuple[str, ...], rows: list[Record]) -> list[Record]:
    """Return rows in which the column ``vector`` is of bytes."""
    if "vector" not in columns:
        return rows
    import numpy as np

    i = columns.index("vector")
    return [(*row[:i], np.asarray(row[i], dtype="<f4").tobytes(), *row[i + 1 :]) for row in rows]


def _parts(rows: Iterable[Any], size: int, heavy: bool = False) -> Iterator[list[Any]]:
    """Yield lists of at most ``size`` rows; of heavy ones, fewer if they have many letters."""
    iterator = iter(rows)
    while part := list(islice(iterator, size)):
        if not heavy:
            yield part
            continue
        some: list[Any] = []
        letters = 0
        for row in part:
            more = sum(len(value) for value in row if isinstance(value, str))
            if some and letters + more > _LETTERS:
                yield some
                some, letters = [], 0
            some.append(row)
            letters += more
        yield some
