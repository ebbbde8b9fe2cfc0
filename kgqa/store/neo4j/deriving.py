"""What a server keeps beside rows, for rows that came all at once: search filters, the picture.

Belongs here: deriving that of a whole base, in parts, each of which may be repeated. Must not: how
a part is derived (``tables``, ``picture``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from kgqa.protocols import Progress
from kgqa.store.neo4j import cypher, schema
from kgqa.store.neo4j.cypher import LABELS
from kgqa.store.neo4j.picture import Picture
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.store.neo4j.statements import ANY_VECTOR, CUT, TOUCHED
from kgqa.store.neo4j.tables import Neo4jTables
from kgqa.store.rows import Record
from kgqa.temporal.interval import END

_AT_ONCE = 2_000
_DRAWN = ("nodes", "facts", "chunks")
"""In this order: facts stand at entities, chunks mention them."""

_CURRENT = (
    "MATCH (t:@label) USING INDEX t:@label(kb, n) WHERE t.kb = $kb AND t.n > $after "
    "AND t.recorded_to = $end RETURN t.n, @columns ORDER BY t.kb, t.n LIMIT $most"
)
_COUNT = (
    "MATCH (t:@label) USING INDEX t:@label(kb, n) WHERE t.kb = $kb AND t.n IS NOT NULL "
    "AND t.recorded_to = $end RETURN count(*)"
)
_VECTORS = (
    "MATCH (t:Vector) USING INDEX t:Vector(kb, kind, item, generation) WHERE t.kb = $kb "
    "AND t.kind IS NOT NULL AND t.item IS NOT NULL AND t.generation IS NOT NULL "
    "RETURN DISTINCT t.kind, coalesce(t.item_long, t.item)"
)
_RELATIONS = (
    "MATCH (f:Fact) USING INDEX f:Fact(kb, relation, es, ee) WHERE f.kb = $kb "
    "AND f.relation IS NOT NULL AND f.es IS NOT NULL AND f.ee IS NOT NULL "
    "AND f.recorded_to = $end "
    "RETURN coalesce(f.relation_long, f.relation) AS relation, count(*) AS facts "
    "ORDER BY facts DESC, relation"
)
_TYPES = "MATCH (b:Base {kb: $kb}) SET b.types = $types"
_HELD_TYPES = "MATCH (b:Base {kb: $kb}) RETURN coalesce(b.types, [])"
_ADOPTED = "MATCH (b:Base {kb: $kb}) REMOVE b.imported"


def derive(client: Client, revision: int, progress: Progress | None = None) -> None:
    """Derive everything of a base whose rows are those of a revision, and which none else uses."""
    kb = client.address.kb
    vectors = client.rows(_VECTORS, kb=kb)
    for start in range(0, len(vectors), _AT_ONCE):
        part = vectors[start : start + _AT_ONCE]
        client.write(partial(_filter, kb, revision, part))
    _index_vectors(client)
    types = _give_types(client)
    done, total = 0, sum(_count(client, table) for table in _DRAWN) if progress else 0
    for table in _DRAWN:
        for rows in _current(client, table):
            client.write(partial(_draw, kb, revision, types, {table: rows}))
            done += len(rows)
            if progress:
                progress("picture", done, total)


def adopt(client: Client) -> None:
    """Make what is missing of a base that was imported with all else derived (``admin``)."""
    kb = client.address.kb
    _index_vectors(client)
    for (types,) in client.rows(_HELD_TYPES, kb=kb):
        schema.ensure_types(client, types)
    client.write(lambda tx: tx.rows(_ADOPTED, kb=kb))


def _index_vectors(client: Client) -> None:
    found = client.rows(ANY_VECTOR, kb=client.address.kb)
    if found:
        schema.ensure_vectors(client, int(found[0][0]))


def _filter(kb: str, revision: int, vectors: Sequence[Record], tx: Transaction) -> None:
    tables = Neo4jTables(tx, kb, revision)
    tables.touched["vectors"].update(vectors)
    tables.flush()


def _give_types(client: Client) -> list[str]:
    """Let the commonest relations have relationship types of their own."""
    kb = client.address.kb
    found = client.rows(_RELATIONS, kb=kb, end=END)
    types = list(dict.fromkeys(cypher.relationship(relation) for relation, _ in found))
    types = types[: schema.TYPES_MAX]
    schema.ensure_types(client, types)
    client.write(lambda tx: tx.rows(_TYPES, kb=kb, types=types))
    return types


def _count(client: Client, table: str) -> int:
    statement = cypher.text(_COUNT, label=LABELS[table])
    return int(client.rows(statement, kb=client.address.kb, end=END)[0][0])


def _current(client: Client, table: str) -> Iterator[list[Record]]:
    """Yield the columns that tell the picture of rows that are on record."""
    columns = cypher.whole("t", TOUCHED[table], CUT[table])
    statement = cypher.text(_CURRENT, label=LABELS[table], columns=columns)
    after = 0
    while found := client.rows(
        statement, kb=client.address.kb, after=after, end=END, most=_AT_ONCE
    ):
        yield [tuple(row[1:]) for row in found]
        after = found[-1][0]


def _draw(
    kb: str,
    revision: int,
    types: Sequence[str],
    touched: Mapping[str, list[Record]],
    tx: Transaction,
) -> None:
    nothing: dict[str, list[Record]] = {table: [] for table in TOUCHED}
    Picture(tx, kb, revision, types).draw({**nothing, **touched})
