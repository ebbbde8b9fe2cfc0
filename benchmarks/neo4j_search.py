"""Time vector searches under a time filter on a Neo4j server, beside the server's own ways.

Run ``python benchmarks/neo4j_search.py URL [chunks]`` with the address of a base that is not there
yet, or was made by an earlier run: ``bolt://user:password@host:port/name``. Vectors, times and
questions are drawn from one seeded generator: 100 topics of sentences, each sentence with nine
noisy copies, each chunk holding for a thousandth of all time. A question asks for the 10 nearest
within a part of time, so that a share of the chunks holds; all ways take turns at it. Prints
recall, medians and ratios.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from random import Random
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgqa.protocols import Pattern, Reader
from kgqa.store.neo4j import schema
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.cypher import text
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.temporal.interval import END, Interval

Vector: TypeAlias = NDArray[np.float32]
Way: TypeAlias = Callable[[Vector, Interval], list[str]]

SEED = 11
DIMENSION = 384
TIME = 10**12
SHARES = (0.001, 0.01, 0.1, 0.5, 1.0)
QUESTIONS = 30
K = 10
GOOD = 0.99
ROWS = 1_000

CHUNKS = """
UNWIND $rows AS r CREATE (c:Chunk {kb: $kb, n: r[0], id: r[1], es: r[2], ls: r[2], ee: r[3],
  le: r[3], recorded_from: 1, recorded_to: $end})
CREATE (v:Vector:@label {kb: $kb, kind: 'chunk', item: r[1], generation: 1, live: true,
  es: r[2], le: r[3], digest: '', sum: 0})
WITH v, r CALL db.create.setNodeVectorProperty(v, 'embedding', r[4])
"""
BASE = """
MERGE (b:Base {kb: $kb}) SET b.revision = 1
MERGE (s:Setting {kb: $kb, key: 'generation', recorded_to: $end})
SET s.value = '1', s.recorded_from = 1
"""
THERE = "MATCH (b:Base {kb: $kb}) RETURN b.revision"
SEARCH = """
CYPHER 25 MATCH (v:@label) SEARCH v IN (VECTOR INDEX @index FOR $vector WHERE v.kb = $kb
  AND v.kind = 'chunk' AND v.live = true AND v.es < $below AND v.le > $above LIMIT $limit)
  SCORE AS score
RETURN v.item ORDER BY score DESC LIMIT $k
"""
QUERY = """
CALL db.index.vector.queryNodes($index, $limit, $vector) YIELD node AS v, score
WITH v, score WHERE v.kb = $kb AND v.kind = 'chunk' AND v.live = true
  AND v.es < $below AND v.le > $above
RETURN v.item ORDER BY score DESC LIMIT $k
"""
EXACT = """
MATCH (v:Vector) USING INDEX v:Vector(kb, kind, live, es, le)
WHERE v.kb = $kb AND v.kind = 'chunk' AND v.live = true AND v.es < $below AND v.le > $above
WITH v, vector.similarity.cosine(v.embedding, $vector) AS score
RETURN v.item ORDER BY score DESC LIMIT $k
"""


class Data:
    """Hold vectors (n, 384), when each holds, questions (30, 384)."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(SEED)
        plane = rng.standard_normal((48, DIMENSION)).astype(np.float32) / np.sqrt(DIMENSION)

        def near(centres: Vector, noise: float) -> Vector:
            """Return unit vectors beside centres, at a distance of about ``noise``."""
            moved = rng.standard_normal(centres.shape).astype(np.float32)
            return _unit(centres + noise * _unit(moved))

        topics = _unit(rng.standard_normal((100, 48)).astype(np.float32) @ plane)
        own = _unit(rng.standard_normal((count // 10, 48)).astype(np.float32) @ plane)
        sentences = _unit(topics[rng.integers(100, size=len(own))] + own)
        self.vectors = np.concatenate([sentences, near(np.repeat(sentences, 9, axis=0), 0.35)])
        chosen = rng.choice(len(sentences), QUESTIONS, replace=False)
        self.questions = near(sentences[chosen], 0.6)
        self.starts = rng.integers(0, TIME, size=len(self.vectors))
        self.ends = self.starts + TIME // 1_000

    def span(self, share: float) -> Interval:
        """Return the part of time in which a share of the vectors holds."""
        if share == 1:
            return Interval(-TIME, 3 * TIME)
        half = max(round((share - 0.001) * TIME / 2), 1)
        return Interval(TIME // 2 - half, TIME // 2 + half)

    def best(self, question: Vector, span: Interval) -> set[str]:
        """Return the ids of the nearest that hold."""
        held = np.flatnonzero((self.starts < span.end) & (self.ends > span.start))
        scores = self.vectors[held].astype(np.float64) @ question
        return {f"c{i}" for i in held[np.argsort(-scores, kind="stable")[:K]]}


def _unit(vectors: Vector) -> Vector:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def load(client: Client, kb: str, data: Data) -> None:
    """Write the rows that searches read, then the index."""
    schema.ensure(client)
    statement = text(CHUNKS, label=schema.vector_label(DIMENSION))
    start = time.perf_counter()
    for first in range(0, len(data.vectors), ROWS):
        part = range(first, min(first + ROWS, len(data.vectors)))

        def work(tx: Any, part: range = part) -> None:
            rows = [
                [i, f"c{i}", int(data.starts[i]), int(data.ends[i]),
                 tx.vector(data.vectors[i].tobytes())]
                for i in part
            ]  # fmt: skip
            tx.rows(statement, rows=rows, kb=kb, end=END)

        client.write(work)
    client.write(lambda tx: tx.rows(BASE, kb=kb, end=END))
    loaded = time.perf_counter()
    schema.ensure_vectors(client, DIMENSION, wait=1800)
    client.rows("CALL db.resampleOutdatedIndexes()")
    built = time.perf_counter()
    print(f"{len(data.vectors)} rows in {loaded - start:.0f} s, index in {built - loaded:.0f} s")


def ways(client: Client, kb: str, share: float, count: int) -> dict[str, Way]:
    """Return the server's own ways by name."""
    label, index = schema.vector_label(DIMENSION), schema.vector_index(DIMENSION)

    def way(template: str, limit: int = 0) -> Way:
        statement = text(template, label=label, index=index)

        def run(question: Vector, span: Interval) -> list[str]:
            found = client.rows(
                statement, kb=kb, index=index, vector=question.tolist(), limit=limit, k=K,
                below=span.end, above=span.start,
            )  # fmt: skip
            return [name for (name,) in found]

        return run

    made = {"exact": way(EXACT)}
    if client.cypher25:
        made |= {f"SEARCH {n}": way(SEARCH, n) for n in (10, 30, 50, 100)}
    for factor in (1, 2, 5, 10):
        limit = min(max(round(factor * K / share), 20), count)
        made[f"queryNodes {limit}"] = way(QUERY, limit)
    return made


def main(url: str, count: int) -> None:
    address = parse(url)
    client = Client(address)
    data = Data(count)
    print(f"Neo4j {client.version}, {count} vectors of {DIMENSION}, k = {K}, seed {SEED}")
    if not client.rows(THERE, kb=address.kb):
        load(client, address.kb, data)
    with closing(Neo4jStore(address)) as store, store.view() as view:
        first = time.perf_counter()
        view.nearest(data.questions[0], K, Pattern(items=("chunk",)))
        print(f"first search after a change {time.perf_counter() - first:.2f} s")
        for share in SHARES:
            span = data.span(share)
            run = {
                "ours": _way(store, span),
                "ours in a view": _way(view, span),
                **ways(client, address.kb, share, count),
            }
            how = store.nearest(data.questions[0], K, _pattern(span)).how
            _print(share, how, *_turns(run, data, span))
    client.close()


def _way(reader: Reader, span: Interval) -> Way:
    return lambda question, _: [hit.id for hit in reader.nearest(question, K, _pattern(span))]


def _pattern(span: Interval) -> Pattern:
    return Pattern(valid=span, items=("chunk",))


def _turns(
    run: dict[str, Way], data: Data, span: Interval
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return recall and seconds of every way at every question."""
    rnd = Random(SEED)
    recall: dict[str, list[float]] = {name: [] for name in run}
    times: dict[str, list[float]] = {name: [] for name in run}
    for one in run.values():  # every plan is made before the clock runs
        one(data.questions[0], span)
    for question in data.questions:
        best = data.best(question, span)
        # Whoever comes first at a question finds the server's memory cold.
        for name, one in rnd.sample(list(run.items()), len(run)):
            start = time.perf_counter()
            found = one(question, span)
            times[name].append(time.perf_counter() - start)
            recall[name].append(len(best & set(found)) / len(best))
    return recall, times


def _print(
    share: float, how: str, recall: dict[str, list[float]], times: dict[str, list[float]]
) -> None:
    mean = {name: statistics.mean(values) for name, values in recall.items()}
    middle = {name: 1000 * statistics.median(values) for name, values in times.items()}
    ours = [name for name in middle if name.startswith("ours")]
    good = [name for name in middle if name not in ours and mean[name] >= GOOD]
    best = min(good, key=lambda name: middle[name])
    print(f"{share:6.1%} hold. {how}")
    for name in sorted(middle, key=lambda name: (name not in ours, middle[name])):
        note = f"  ratio {middle[name] / middle[best]:.2f} to {best}" if name in ours else ""
        print(f"    {name:18} recall {mean[name]:.3f}  {middle[name]:7.1f} ms{note}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50_000)
