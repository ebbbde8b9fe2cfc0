"""Time writing facts to a Neo4j server, beside bare ``UNWIND ... MERGE`` of the same rows.

Run ``python benchmarks/neo4j_write.py bolt://USER:PASSWORD@HOST:PORT [facts] [facts a write]``.
Makes two bases in one database, under the same constraints and indexes: in turns, one write by
``Neo4jStore.write``, then what that made - every node with all its labels, every relationship -
merged by id into the other base, a statement a label, all in one transaction. Not done there:
finding what is known, linking, closing old rows. Prints rows a second and the share of the bare
rate. Both bases stay on the server.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import bases

from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client, Transaction
from kgqa.store.neo4j.store import Neo4jStore

_NODES = "MATCH (t:`%s` {kb: $kb}) WHERE %s RETURN properties(t), [l IN labels(t) WHERE l <> '%s'] "
_PART = 5_000
_NUMBERED = ("Fact", "Claim", "Reference", "Version", "Document", "Chunk", "Revision")
_LINES = (
    "MATCH (a)-[t {kb: $kb}]->(b) WHERE a.kb = $kb AND t.n > $after AND t.n <= $upto "
    "RETURN a.id, b.id, type(t), properties(t)"
)
Work = list[tuple[str, list[dict[str, Any]]]]


def made(
    client: Client, bare: str, before: dict[str, int], after: dict[str, int], last: int
) -> Work:
    """Return the statements and rows that make, in the base ``bare``, what one write made."""
    kb = client.address.kb
    work: Work = []

    def nodes(label: str, where: str, key: tuple[str, ...], **given: Any) -> list[Any]:
        found = client.rows(_NODES % (label, where, label), kb=kb, **given)
        keys = ", ".join(f"`{k}`: r.`{k}`" for k in key)
        by_kind: dict[str, list[dict[str, Any]]] = {}
        for held, others in found:
            by_kind.setdefault("".join(f":`{o}`" for o in sorted(others)), []).append(held)
        for others_, rows in by_kind.items():
            label_too = f", t{others_}" if others_ else ""
            work.append(
                (
                    f"UNWIND $rows AS r MERGE (t:`{label}` {{kb: $kb, {keys}}}) "
                    f"SET t = r{label_too}",
                    rows,
                )
            )
        return [held for held, _ in found]

    for label in _NUMBERED:
        nodes(
            label, "t.n > $after AND t.n <= $upto", ("n",), after=before[label], upto=after[label]
        )
    span = {"after": before["Version"], "upto": after["Version"]}
    nodes("Name", "t.node > $after AND t.node <= $upto", ("node", "key", "label"), **span)
    nodes("Term", "t.node > $after AND t.node <= $upto", ("node", "es", "le"), **span)
    nodes("Setting", "t.recorded_from = $last", ("key", "recorded_to"), last=last)
    ids = [
        i for (i,) in client.rows(
            "MATCH (t:Version {kb: $kb}) WHERE t.n > $after AND t.n <= $upto RETURN t.id",
            kb=kb, **span,
        )
    ]  # fmt: skip
    nodes("Entity", "t.id IN $ids", ("id",), ids=ids)
    types: dict[str, list[dict[str, Any]]] = {}
    for a, b, kind, held in client.rows(_LINES, kb=kb, after=before["Fact"], upto=after["Fact"]):
        types.setdefault(kind, []).append({"a": a, "b": b, "n": held["n"], "held": held})
    for kind, rows in types.items():
        work.append(
            (
                "UNWIND $rows AS r MATCH (a:Entity {kb: $kb, id: r.a}) "
                "MATCH (b:Entity {kb: $kb, id: r.b}) "
                f"MERGE (a)-[t:`{kind}` {{kb: $kb, n: r.n}}]->(b) SET t = r.held",
                rows,
            )
        )
    for _, rows in work:
        for row in rows:
            row.get("held", row)["kb"] = bare
    return work


def numbers(client: Client) -> dict[str, int]:
    """Return the highest number of each label's rows."""
    query = "MATCH (t:`%s`) WHERE t.kb = $kb AND t.n IS NOT NULL RETURN max(t.n)"
    kb = client.address.kb
    return {label: client.rows(query % label, kb=kb)[0][0] or 0 for label in _NUMBERED}


def merge(client: Client, work: Work) -> tuple[int, float]:
    """Write rows as any program would; return how many and the seconds."""
    kb = client.address.kb

    def run(tx: Transaction) -> None:
        for statement, rows in work:
            for start in range(0, len(rows), _PART):
                tx.rows(statement, rows=rows[start : start + _PART], kb=kb)

    began = time.perf_counter()
    client.write(run)
    return sum(len(rows) for _, rows in work), time.perf_counter() - began


def turns(store: Neo4jStore, ours: Client, bare: Client, facts: int) -> Iterator[list[float]]:
    """Yield rows, our seconds and bare seconds of each write."""
    for batch in bases.claim_batches(facts):
        before = numbers(ours)
        began = time.perf_counter()
        receipt = store.write(batch)
        took = time.perf_counter() - began
        rows, beside = merge(
            bare, made(ours, bare.address.kb, before, numbers(ours), receipt.revision)
        )
        yield [len(batch.claims), rows, took, beside]


def main(url: str, facts: int, each: int) -> None:
    """Make both bases and print every write, then the sum of all after the first."""
    bases.BATCH = each
    name = f"{url}/write{time.time_ns()}"
    with (
        closing(Neo4jStore.create(parse(name), {})) as store,
        closing(Client(parse(name))) as ours,
        closing(Client(parse(f"{name}-bare"))) as bare,
    ):
        total = [0.0] * 4
        for k, one in enumerate(turns(store, ours, bare, facts)):
            claims, rows, took, beside = one
            share = beside / took
            print(
                f"{claims:,.0f} facts, {rows:,.0f} rows: {rows / took:,.0f} rows/s, "
                f"bare {rows / beside:,.0f} rows/s, {share:.0%}",
                flush=True,
            )
            if k:  # the first write of each warms the server up
                total = [a + b for a, b in zip(total, one, strict=True)]
        claims, rows, took, beside = total
        print(
            f"{store.capabilities.version}, seed {bases.SEED}: {claims:,.0f} facts, "
            f"{rows:,.0f} rows: {claims / took:,.0f} facts/s, {rows / took:,.0f} rows/s, "
            f"bare {rows / beside:,.0f} rows/s: {beside / took:.0%} of the bare rate"
        )


if __name__ == "__main__":
    main(
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else 20_000,
        int(sys.argv[3]) if len(sys.argv) > 3 else 5_000,
    )
