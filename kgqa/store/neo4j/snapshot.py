"""One state of a base on a server, read.

Belongs here: the reads in Cypher of ``State``. Must not: writing, sessions. There is no long
transaction: a state is a revision, and every statement takes only rows that were on record then.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from kgqa.protocols import Hits, Pattern
from kgqa.store import queries, rows, status
from kgqa.store.neo4j.cypher import Cypher, short, text, whole
from kgqa.store.neo4j.statements import CUT, VERSIONED
from kgqa.store.neo4j.where import CypherWhere, conditions, counted, found, ordered
from kgqa.store.queries import Where, slices
from kgqa.store.rows import Record
from kgqa.store.state import Cache, State
from kgqa.store.tables import KEYS
from kgqa.temporal.interval import END

if TYPE_CHECKING:
    import numpy as np

Run: TypeAlias = Callable[[str, Mapping[str, Any]], list[Record]]
"""Run one reading statement with its parameters; return its rows as tuples."""

_CLAIMS = 5_000
_MOST_K = 10_000

_SELECT = "@found RETURN @columns @order"
_COUNT = "@found RETURN count(n)"
_DISTINCT = "@found RETURN DISTINCT @columns"
_FACTS = (
    "@found MATCH (c:Claim) USING INDEX SEEK c:Claim(kb, fact) "
    "WHERE c.kb = $kb AND c.fact = f.n AND @support RETURN @columns @order"
)
_BESIDE = (
    "UNWIND range(0, size($values) - 1) AS i "
    "MATCH (f:Fact) USING INDEX SEEK f:Fact(kb, @side, relation, es) WHERE f.kb = $kb "
    "AND f.@side = $values[i] AND f.relation = $relations[i] AND f.es IS NOT NULL AND @where "
    "RETURN i, collect([f.es, f.ls, f.ee, f.le, @columns])"
)
_NAMES = (
    "MATCH (m:Name) USING INDEX SEEK m:Name(kb, key) WHERE m.kb = $kb AND m.key IN ? "
    "MATCH (n:Version) USING INDEX SEEK n:Version(kb, n) "
    "WHERE n.kb = $kb AND n.n = m.node AND @where RETURN @columns"
)
_NEXT_RELATION = (
    "MATCH (f:Fact) USING INDEX SEEK f:Fact(kb, relation, es, ee) WHERE f.kb = $kb "
    "AND f.relation >= $least AND f.es IS NOT NULL AND f.ee IS NOT NULL "
    "RETURN f.relation, @columns ORDER BY f.kb, f.relation LIMIT 1"
)
_STANDING = (
    "UNWIND range(0, size($relations) - 1) AS i WITH i WHERE EXISTS { "
    "MATCH (f:Fact) USING INDEX SEEK f:Fact(kb, relation, es, ee) WHERE f.kb = $kb "
    "AND f.relation = $relations[i] AND f.es IS NOT NULL AND f.ee IS NOT NULL AND @where } "
    "RETURN i"
)
_CLAIM_KEYS = (
    "MATCH (c:Claim) USING INDEX SEEK c:Claim(kb, document) WHERE c.kb = $kb AND @where "
    "MATCH (f:Fact {kb: $kb, n: c.fact}) MATCH (s:Reference {kb: $kb, n: c.subject_ref}) "
    "OPTIONAL MATCH (o:Reference {kb: $kb, n: c.object_ref}) RETURN @columns"
)
_CLAIM = (
    "UNWIND $ns AS n MATCH (c:Claim {kb: $kb, n: n}) "
    "MATCH (f:Fact {kb: $kb, n: c.fact}) MATCH (s:Reference {kb: $kb, n: c.subject_ref}) "
    "OPTIONAL MATCH (o:Reference {kb: $kb, n: c.object_ref}) RETURN n, @columns"
)

_JOINED = {"f": "facts", "c": "claims", "s": "refs", "o": "refs", "m": "names", "n": "nodes"}
"""The variables of joined rows."""
_CLAIM_ORDER = "c.line, c.chunk, c.span_start, f.id, s.label, o.label, c.n"
_NAME = "m.key, n.id, m.label, m.main, m.es, m.ls, m.ee, m.le, m.how"


_END = "CASE WHEN @variable.recorded_to > $revision THEN $end ELSE @variable.recorded_to END"


@lru_cache(maxsize=200)
def _shown(table: str, columns: str) -> list[Cypher]:
    """Return columns of a table's row ``n`` as this state has them: whole, closed by then."""
    return [_column("n", table, name) for name in columns.split(", ")]


@lru_cache(maxsize=20)
def _joined(columns: str) -> list[Cypher]:
    """Return columns of joined rows, likewise."""
    named = (column.partition(".") for column in columns.split(", "))
    return [_column(variable, _JOINED[variable], name) for variable, _, name in named]


def _column(variable: str, table: str, name: str) -> Cypher:
    if name == "recorded_to":
        return text(_END, variable=variable)
    return whole(variable, [name], CUT[table])[0]


def _claim_place(row: Record) -> Record:
    """Return what orders claims, as SQLite does: what is absent comes first."""
    line, chunk, start, fact, subject, object_, n = row
    return (
        line or 0, chunk is not None, chunk or "", -1 if start is None else start,
        fact, subject, object_ is not None, object_ or "", n,
    )  # fmt: skip


class Neo4jSnapshot(State):
    """Read the state of the base ``kb`` at a revision.

    ``cypher25``: the server takes statements that begin with ``CYPHER 25``.
    """

    __slots__ = ("_revision", "cypher25", "kb", "run")

    where = CypherWhere

    def __init__(
        self, run: Run, kb: str, revision: int, cache: Cache, cypher25: bool = False
    ) -> None:
        super().__init__(cache)
        self.run = run
        self.kb = kb
        self.cypher25 = cypher25
        self._revision = revision

    @property
    def revision(self) -> int:
        """Return the revision of this state."""
        return self._revision

    def known(self, known_at: int | None) -> int:
        """Return the revision whose rows count: a past one, else this state's own."""
        return self._revision if known_at is None else min(known_at, self._revision)

    def seen(self, table: str) -> Where:
        """Return the condition that a row was there at this state's revision."""
        where = CypherWhere()
        if table in VERSIONED:
            return queries.recorded(where, "n", self._revision)
        if table not in KEYS:
            return where.add("n.recorded_from <= ?", self._revision)
        dated = {"revisions": "n.n <= ?", "tombstones": "n.revision <= ?"}
        return where.add(dated[table], self._revision) if table in dated else where

    def _run(self, statement: Cypher, values: Sequence[Any] = (), /, **named: Any) -> list[Record]:
        """Run a statement in which each ``?`` is the next value."""
        query, parameters = counted(statement, values)
        asked = {"kb": self.kb, "revision": self._revision, "end": END}
        return self.run(query, {**asked, **parameters, **named})

    def select(
        self, table: str, columns: str, where: Where, order: str = "", limit: int | None = None
    ) -> Iterable[Record]:
        """Return columns of a table's rows in order."""
        part, values = found(table, "n", where, order, limit is not None)
        statement = text(
            _SELECT, found=part, columns=_shown(table, columns), order=ordered("n", order)
        )
        return self._run(statement, values, limit=limit)

    def count(self, table: str, where: Where, most: int | None = None) -> int:
        """Return how many rows fit, ``most`` if there are more."""
        part, values = found(table, "n", where, limited=most is not None)
        counted: int = self._run(text(_COUNT, found=part), values, limit=most)[0][0]
        return counted

    def distinct(self, table: str, column: str, where: Where) -> Iterable[Any]:
        """Return each value of a column once."""
        part, values = found(table, "n", where, "n." + column)
        statement = text(_DISTINCT, found=part, columns=_shown(table, column))
        return [value for (value,) in self._run(statement, values)]

    def fact_rows(
        self, where: Where, known_at: int | None, order: str, size: int | None = None
    ) -> list[Record]:
        """Return rows FACT of the facts on record; claims of one fact follow one another."""
        queries.recorded(where, "f", known_at)
        part, values = found("facts", "f", where, order, size is not None)
        support = queries.recorded(CypherWhere(), "c", known_at)
        statement = text(
            _FACTS, found=part, support=conditions(support), columns=_joined(rows.FACT),
            order=ordered("f", order),
        )  # fmt: skip
        return self._run(statement, [*values, *support.parameters], limit=size)

    def beside(
        self, side: str, pairs: Sequence[tuple[str, str]], known_at: int | None, closed: bool
    ) -> Iterator[tuple[tuple[str, str], Iterable[Record]]]:
        """Yield each pair with the facts that share it: es, ls, ee, le, id, the other side."""
        where = queries.recorded(CypherWhere(), "f", known_at)
        if closed:
            where.add(f"f.le < {END}")
        other = "object" if side == "subject" else "subject"
        statement = text(
            _BESIDE, side=side, where=conditions(where), columns=_joined(f"f.id, f.{other}")
        )
        for part in slices(pairs, 5000):
            values, relations = (
                [short(text) for text in texts] for texts in zip(*part, strict=True)
            )
            for i, facts in self._run(
                statement, where.parameters, values=values, relations=relations
            ):
                yield part[i], facts

    def name_rows(self, keys: Sequence[str], known_at: int | None) -> Iterable[Record]:
        """Return key, node id, label, main and validity of the names with these keys."""
        where = queries.recorded(CypherWhere(), "n", known_at)
        statement = text(_NAMES, where=conditions(where), columns=_joined(_NAME))
        return self._run(statement, [[short(key) for key in keys], *where.parameters])

    def touched(self, part: str) -> int:
        """Return the revision that last changed a part; of facts, any may have."""
        return self._revision if part == "facts" else super().touched(part)

    def used(self, known: Container[str]) -> Iterable[str]:
        """Return each relation of facts on record now, without those that are known."""
        return [key for key in self.cache.get("facts", self, self._used) if key not in known]

    def _used(self) -> list[str]:
        # One index probe per relation, however many facts each has.
        keys: dict[str, str] = {}
        probe = text(_NEXT_RELATION, columns=_joined("f.relation"))
        least = ""
        while following := self._run(probe, least=least):
            held, whole_key = following[0]
            keys[held] = whole_key
            # No text lies between the two.
            least = held + "\0"
        where = queries.recorded(CypherWhere(), "f", self._revision)
        statement = text(_STANDING, where=conditions(where))
        standing = self._run(statement, where.parameters, relations=list(keys))
        return [list(keys.values())[i] for (i,) in standing]

    def claim_rows(self, document: str) -> Iterator[Record]:
        """Yield a document's claims as stated."""
        where = queries.recorded(CypherWhere().add("c.document = ?", document), "c", self._revision)
        statement = text(_CLAIM_KEYS, where=conditions(where), columns=_joined(_CLAIM_ORDER))
        # Sorted here: a server would hold all the rows in its memory.
        keys = sorted(map(_claim_place, self._run(statement, where.parameters)))
        fetch = text(_CLAIM, columns=_joined(status.CLAIM))
        for ns in slices((key[-1] for key in keys), _CLAIMS):
            claims = {n: row for n, *row in self._run(fetch, ns=ns)}
            for n in ns:
                yield tuple(claims[n])

    def find(self, text: str, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` best full-text hits that satisfy the pattern, best first."""
        from kgqa.store.neo4j import search

        return search.find(self, text, min(k, _MOST_K), pattern)

    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` nearest embedded items that satisfy the pattern."""
        from kgqa.store.neo4j import search

        return search.nearest(self, vector, min(k, _MOST_K), pattern)
