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
from kgqa.store.neo4j.cypher import LABELS, Cypher, short, text, whole
from kgqa.store.neo4j.statements import CUT, VERSIONED
from kgqa.store.neo4j.where import CypherWhere, conditions, counted, first, ordered, using
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

_ROWS = "MATCH (n:@label) @using WHERE n.kb = $kb AND @where "
_SELECT = "@rows RETURN @columns @order @limit"
_COUNT = "@rows @limit RETURN count(n)"
_DISTINCT = "@rows RETURN DISTINCT @columns"
_FACTS = (
    "MATCH (f:Fact) @using WHERE f.kb = $kb AND @where @first "
    "MATCH (c:Claim) USING INDEX c:Claim(kb, fact) WHERE c.kb = $kb AND c.fact = f.n AND @support "
    "RETURN @columns @order"
)
_BESIDE = (
    "UNWIND range(0, size($values) - 1) AS i "
    "MATCH (f:Fact) USING INDEX f:Fact(kb, @side, relation, es) WHERE f.kb = $kb "
    "AND f.@side = $values[i] AND f.relation = $relations[i] AND f.es IS NOT NULL AND @where "
    "RETURN i, collect([f.es, f.ls, f.ee, f.le, @columns])"
)
_NAMES = (
    "MATCH (m:Name) USING INDEX m:Name(kb, key) WHERE m.kb = $kb AND m.key IN ? "
    "MATCH (n:Version) USING INDEX n:Version(kb, n) "
    "WHERE n.kb = $kb AND n.n = m.node AND @where RETURN @columns"
)
_NEXT_RELATION = (
    "MATCH (f:Fact) USING INDEX f:Fact(kb, relation, es, ee) WHERE f.kb = $kb "
    "AND f.relation > $last AND f.es IS NOT NULL AND f.ee IS NOT NULL "
    "RETURN f.relation, @columns ORDER BY f.kb, f.relation LIMIT 1"
)
_STANDING = (
    "UNWIND range(0, size($relations) - 1) AS i WITH i WHERE EXISTS { "
    "MATCH (f:Fact) USING INDEX f:Fact(kb, relation, es, ee) WHERE f.kb = $kb "
    "AND f.relation = $relations[i] AND f.es IS NOT NULL AND f.ee IS NOT NULL AND @where } "
    "RETURN i"
)
_CLAIM_ORDER = (
    "MATCH (c:Claim) USING INDEX c:Claim(kb, document) WHERE c.kb = $kb AND @where "
    "MATCH (f:Fact {kb: $kb, n: c.fact}) MATCH (s:Reference {kb: $kb, n: c.subject_ref}) "
    "OPTIONAL MATCH (o:Reference {kb: $kb, n: c.object_ref}) "
    # SQLite puts what is absent first.
    "RETURN c.n ORDER BY coalesce(c.line, 0), c.chunk IS NOT NULL, @chunk, "
    "c.span_start IS NOT NULL, c.span_start, f.id, @subject, o IS NOT NULL, @object, c.n"
)
_CLAIM = (
    "UNWIND $ns AS n MATCH (c:Claim {kb: $kb, n: n}) "
    "MATCH (f:Fact {kb: $kb, n: c.fact}) MATCH (s:Reference {kb: $kb, n: c.subject_ref}) "
    "OPTIONAL MATCH (o:Reference {kb: $kb, n: c.object_ref}) RETURN n, @columns"
)

_JOINED = {"f": "facts", "c": "claims", "s": "refs", "o": "refs", "m": "names", "n": "nodes"}
"""The variables of joined rows."""
_NAME = "m.key, n.id, m.label, m.main, m.es, m.ls, m.ee, m.le, m.how"


@lru_cache(maxsize=100)
def _joined(columns: str) -> list[Cypher]:
    """Return columns of joined rows, whole."""
    named = [column.partition(".") for column in columns.split(", ")]
    return [one for t, _, name in named for one in whole(t, [name], CUT[_JOINED[t]])]


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
        return self.run(query, {"kb": self.kb, **parameters, **named})

    def _rows(self, table: str, where: Where, order: str = "") -> Cypher:
        hint = using(where, table, "n", order)
        return text(_ROWS, label=LABELS[table], using=hint, where=conditions(where))

    def select(
        self, table: str, columns: str, where: Where, order: str = "", limit: int | None = None
    ) -> Iterable[Record]:
        """Return columns of a table's rows in order."""
        statement = text(
            _SELECT,
            rows=self._rows(table, where, order),
            columns=whole("n", columns.split(", "), CUT[table]),
            order=ordered("n", order),
            limit=first(limit),
        )
        return self._run(statement, where.parameters)

    def count(self, table: str, where: Where, most: int | None = None) -> int:
        """Return how many rows fit, ``most`` if there are more."""
        limit = Cypher("") if most is None else text("WITH n @limit", limit=first(most))
        statement = text(_COUNT, rows=self._rows(table, where), limit=limit)
        found: int = self._run(statement, where.parameters)[0][0]
        return found

    def distinct(self, table: str, column: str, where: Where) -> Iterable[Any]:
        """Return each value of a column once."""
        shown = whole("n", [column], CUT[table])
        rows = self._rows(table, where, "n." + column)
        statement = text(_DISTINCT, rows=rows, columns=shown)
        return [value for (value,) in self._run(statement, where.parameters)]

    def fact_rows(
        self, where: Where, known_at: int | None, order: str, size: int | None = None
    ) -> list[Record]:
        """Return rows FACT of the facts on record; claims of one fact follow one another."""
        hint = using(queries.recorded(where, "f", known_at), "facts", "f", order)
        support = queries.recorded(CypherWhere(), "c", known_at)
        inner = Cypher("")
        if size is not None:
            inner = text("WITH f @order @limit", order=ordered("f", order), limit=first(size))
        statement = text(
            _FACTS, using=hint, where=conditions(where), first=inner, support=conditions(support),
            columns=_joined(rows.FACT), order=ordered("f", order),
        )  # fmt: skip
        return self._run(statement, [*where.parameters, *support.parameters])

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
            for i, found in self._run(
                statement, where.parameters, values=values, relations=relations
            ):
                yield part[i], found

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
        found: dict[str, str] = {}
        probe = text(_NEXT_RELATION, columns=_joined("f.relation"))
        last = ""
        while following := self._run(probe, last=last):
            last, relation = following[0]
            found[last] = relation
        where = queries.recorded(CypherWhere(), "f", self._revision)
        statement = text(_STANDING, where=conditions(where))
        standing = self._run(statement, where.parameters, relations=list(found))
        return [list(found.values())[i] for (i,) in standing]

    def claim_rows(self, document: str) -> Iterator[Record]:
        """Yield a document's claims as stated."""
        where = queries.recorded(CypherWhere().add("c.document = ?", document), "c", self._revision)
        (chunk, subject, object_) = _joined("c.chunk, s.label, o.label")
        statement = text(
            _CLAIM_ORDER, where=conditions(where), chunk=chunk, subject=subject, object=object_
        )
        fetch = text(_CLAIM, columns=_joined(status.CLAIM))
        for ns in slices((n for (n,) in self._run(statement, where.parameters)), _CLAIMS):
            found = {n: row for n, *row in self._run(fetch, ns=ns)}
            for n in ns:
                yield tuple(found[n])

    def find(self, text: str, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` best full-text hits that satisfy the pattern, best first."""
        from kgqa.store.neo4j import search

        return search.find(self, text, min(k, _MOST_K), pattern)

    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> Hits:
        """Return the ``k`` nearest embedded items that satisfy the pattern."""
        from kgqa.store.neo4j import search

        return search.nearest(self, vector, min(k, _MOST_K), pattern)
