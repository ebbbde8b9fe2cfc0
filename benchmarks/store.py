"""Time the store beside bare SQLite and bare numpy; each figure and its ratio are of one run.

Run ``python benchmarks/store.py [claims] [chunks]``. Every claim, node and vector is drawn from
one seeded generator. Prints rates, medians, ratios and the resident memory.
"""

from __future__ import annotations

import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from kgqa.model.things import Chunk, Claim, Document, Ref, Span
from kgqa.protocols import Batch, Pattern, VectorRow
from kgqa.store import files, rows
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import END, Interval, Validity

SEED = 7
BATCH = 10_000
DIMENSION = 384
YEAR = 31_556_952_000
TABLES = ("refs", "nodes", "names", "facts", "claims")


def claims(count: int) -> Iterator[Claim]:
    """Yield claims of which subjects have 1, 10 or 100 facts of one relation."""
    rnd = Random(SEED)
    line = 0
    while line < count:
        size = rnd.choice((1, 1, 1, 1, 10, 10, 100))
        name = f"Person {line}"
        for _ in range(min(size, count - line)):
            start = rnd.randrange(-500, 2000) * YEAR
            end = start + rnd.randrange(1, 40) * YEAR
            line += 1
            yield Claim(
                Ref(name), f"relation {size}", Ref(f"Thing {rnd.randrange(count // 5)}"),
                Validity(start, start + YEAR - 1, end + 1, end + YEAR, "year", "year", f"{line}"),
                line=line,
            )  # fmt: skip


def batches(count: int) -> Iterator[Batch]:
    held: list[Claim] = []
    for claim in claims(count):
        held.append(claim)
        if len(held) == BATCH:
            yield Batch(source="table", claims=tuple(held))
            held = []
    if held:
        yield Batch(source="table", claims=tuple(held))


def write(path: Path, count: int) -> tuple[SQLiteStore, float]:
    store = SQLiteStore.create(path)
    made = list(batches(count))
    began = time.perf_counter()
    for batch in made:
        store.write(batch)
    return store, time.perf_counter() - began


def write_bare(source: Path, path: Path) -> float:
    """Insert the same final rows, in batches of the same size, into the same tables."""
    files.create(path)
    old = files.connect(source)
    made = {t: old.execute(f"SELECT * FROM {t} ORDER BY rowid").fetchall() for t in TABLES}
    made["node_text"] = old.execute("SELECT n, words FROM nodes ORDER BY n").fetchall()
    old.close()
    total = len(made["claims"])
    steps = -(-total // BATCH)
    began = time.perf_counter()
    for step in range(steps):
        db = files.connect(path, write=True)
        db.execute("BEGIN IMMEDIATE")
        for table, data in made.items():
            share = data[len(data) * step // steps : len(data) * (step + 1) // steps]
            if share:
                columns = "(rowid, words)" if table == "node_text" else ""
                marks = ",".join("?" * len(share[0]))
                db.executemany(f"INSERT INTO {table}{columns} VALUES ({marks})", share)
        db.execute("COMMIT")
        db.close()
    return time.perf_counter() - began


def medians(
    arguments: list[Any], *calls: Callable[[Any], Any], rounds: int = 7
) -> tuple[float, ...]:
    """Return each call's median over arguments of its best of some rounds, in microseconds.

    The calls take turns on one argument, so that whatever else the machine does meets all alike.
    """
    times: list[list[float]] = [[] for _ in calls]
    for argument in arguments:
        best = [float("inf")] * len(calls)
        for _ in range(rounds):
            for i, call in enumerate(calls):
                began = time.perf_counter()
                call(argument)
                best[i] = min(best[i], time.perf_counter() - began)
        for each, one in zip(times, best, strict=True):
            each.append(one * 1e6)
    return tuple(statistics.median(each) for each in times)


def match(store: SQLiteStore) -> None:
    """Print match(subject, relation, at) beside the same SQL that returns tuples."""
    db = files.connect(store.path)
    for size in (1, 10, 100):
        subjects = [
            s
            for (s,) in db.execute(
                "SELECT subject FROM facts WHERE relation = ? GROUP BY subject "
                "HAVING count(*) = ? LIMIT 200",
                (f"relation {size}", size),
            )
        ]
        span = Interval(-10_000 * YEAR, 10_000 * YEAR)
        sql = (
            f"SELECT {rows.FACT} FROM facts f CROSS JOIN claims c ON c.fact = f.n "
            "WHERE f.subject = ? AND f.relation = ? AND f.es < ? AND f.le > ? "
            f"AND f.recorded_to = {END} AND c.recorded_to = {END} ORDER BY f.es, f.ee, f.id"
        )

        def bare(subject: str, sql: str = sql, size: int = size, span: Interval = span) -> Any:
            return db.execute(sql, (subject, f"relation {size}", span.end, span.start)).fetchall()

        def ours(subject: str, size: int = size, span: Interval = span) -> Any:
            return store.match(Pattern(subject=subject, relation=f"relation {size}", valid=span))

        assert len(bare(subjects[0])) == len(ours(subjects[0])) == size
        with store.view() as reader:

            def pinned(subject: str, size: int = size, span: Interval = span) -> Any:
                return reader.match(
                    Pattern(subject=subject, relation=f"relation {size}", valid=span)
                )

            plain, full, inside = medians(subjects, bare, ours, pinned)
        print(
            f"match of {size:3} rows: {full:7.1f} us, bare SQL {plain:7.1f} us, "
            f"ratio {full / plain:.2f}; in a view {inside:7.1f} us, ratio {inside / plain:.2f}"
        )
    db.close()


def nearest(store: SQLiteStore, count: int) -> None:
    """Print a filtered nearest with its evidence beside a bare masked product and same fetch."""
    rnd = np.random.default_rng(SEED)
    chunks, vectors = [], []
    starts = rnd.permutation(count)
    for i in range(count):
        start = int(starts[i])
        valid = Validity(start, start, 10**9, 10**9)
        chunks.append(
            Chunk(f"c{i:07}", "text", i, f"words {i} " * 20, Span(i, i + 1), (), None, valid)
        )
    matrix = rnd.standard_normal((count, DIMENSION), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    store.write(Batch(source="text", documents=(Document("text", "text"),), chunks=tuple(chunks)))
    for first in range(0, count, BATCH):
        part = range(first, min(first + BATCH, count))
        vectors = [VectorRow("chunk", f"c{i:07}", "x", matrix[i]) for i in part]
        store.write(Batch(vectors=tuple(vectors), generation=1))
    store.write(Batch(meta={"generation": 1}))
    es = starts
    le = np.full(count, 10**9)
    db = files.connect(store.path)
    fetch = f"SELECT {rows.CHUNK} FROM chunks t WHERE t.id IN ({{}}) AND t.recorded_to = {END}"
    for share in (0.001, 0.01, 0.1, 0.5, 1.0):
        span = Interval(-1, max(1, round(share * count)))
        queries = [
            matrix[i] + 0.1 * rnd.standard_normal(DIMENSION, dtype=np.float32) for i in range(30)
        ]
        pattern = Pattern(valid=span, items=("chunk",))

        def wanted(q: Any, span: Interval = span) -> Any:
            mask = (es < span.end) & (le > span.start)
            if mask.mean() < 0.12:
                found = np.flatnonzero(mask)
                scores = matrix[found] @ q
            else:
                found = np.arange(count)
                scores = np.where(mask, matrix @ q, -2.0)
            best = found[np.argpartition(-scores, 9)[:10]]
            return [f"c{i:07}" for i in best]

        def bare(q: Any, wanted: Any = wanted) -> Any:
            ids = wanted(q)
            return db.execute(fetch.format(",".join("?" * len(ids))), ids).fetchall()

        def ours(q: Any, pattern: Pattern = pattern) -> Any:
            with store.view() as reader:
                return reader.get([f"chunk:{h.id}" for h in reader.nearest(q, 10, pattern)])

        hits = [{label[6:] for label in ours(q)} for q in queries]
        recall = statistics.mean(
            len(hit & set(wanted(q))) / 10 for hit, q in zip(hits, queries, strict=True)
        )
        plain, full = medians(queries, bare, ours)
        print(
            f"nearest of {count} at {share:.1%}: {full / 1000:.2f} ms, bare numpy and fetch "
            f"{plain / 1000:.2f} ms, ratio {full / plain:.2f}, recall {recall:.3f}"
        )
    db.close()


def main(count: int, chunks: int) -> None:
    """Run everything in a temporary folder."""
    print(f"seed {SEED}, {count} claims, {chunks} chunks, SQLite {sqlite3.sqlite_version}")
    with tempfile.TemporaryDirectory() as folder:
        store, ours = write(Path(folder, "ours.kb"), count)
        bare = write_bare(store.path, Path(folder, "bare.kb"))
        print(
            f"write: {count / ours:,.0f} claims/s, bare executemany {count / bare:,.0f}, "
            f"share {bare / ours:.2f}"
        )
        match(store)
        nearest(store, chunks)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = store.path.stat().st_size / 2**20
        print(f"file {size:.0f} MiB, peak resident {peak:.0f} MiB (generator's data included)")
        store.close()


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:3]]
    main(*(numbers + [100_000, 20_000][len(numbers) :]))
