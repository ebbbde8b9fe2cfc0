"""An SQLite base copied row by row into Neo4j, so that reads of both can be compared.

Belongs here: data for tests. Must not: tests.
"""

from __future__ import annotations

import numpy as np

from kgqa.store import files
from kgqa.store.neo4j.cypher import LABELS, LONG, short, text
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.snapshot import Neo4jSnapshot
from kgqa.store.neo4j.statements import CUT, VERSIONED
from kgqa.store.sqlite import SQLiteStore
from kgqa.store.state import Cache
from kgqa.temporal.interval import END

_CREATE = "UNWIND $rows AS r CREATE (t:@label) SET t = r"
_CLEAR = "MATCH (t) WHERE t.kb = $kb DETACH DELETE t"
_BATCH = 5_000


def mirror(store: SQLiteStore, client: Client, kb: str) -> Neo4jSnapshot:
    """Copy every row of a store into an empty base; return its newest state."""
    db = files.connect(store.path)
    try:
        for table, label in LABELS.items():
            found = db.execute(f"SELECT * FROM {table}")
            columns = [name for name, *_ in found.description]
            statement = text(_CREATE, label=label)
            while rows := found.fetchmany(_BATCH):
                made = [_properties(table, kb, columns, row) for row in rows]
                _run(client, statement, rows=made)
    finally:
        db.close()
    made = [{"kb": kb, "revision": store.revision}]
    _run(client, text(_CREATE, label="Base"), rows=made)
    return newest(client, kb, store.revision)


def newest(client: Client, kb: str, revision: int) -> Neo4jSnapshot:
    """Return a state with a cache of its own."""
    return Neo4jSnapshot(
        lambda query, given: client.rows(query, **given), kb, revision, Cache(), client.cypher25
    )


def clear(client: Client, kb: str) -> None:
    """Remove a base."""
    _run(client, _CLEAR, kb=kb)


def _run(client, statement, **parameters):
    client.write(lambda tx: tx.rows(statement, **parameters))


def _properties(table, kb, columns, row):
    made = dict(zip(columns, row, strict=True)) | {"kb": kb}
    for column in CUT[table]:
        if (cut := short(made[column] or "")) != (made[column] or ""):
            made |= {column: cut, column + LONG: made[column]}
    if table == "vectors":
        made["embedding"] = np.frombuffer(made.pop("vector"), dtype="<f4").tolist()
    if table in VERSIONED:
        made |= {"recorded_from": 0, "recorded_to": END}
    return made
