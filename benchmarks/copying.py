"""Time copying a base, with history: to another file, and to a server and back if one is given.

Run ``python benchmarks/copying.py [claims] [bolt://USER:PASSWORD@HOST:PORT/BASE]``. The base is
drawn from one seeded generator. Prints rows a second and the share of each stage.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bases import SEED, claim_batches

from kgqa.protocols import Batch, Rows
from kgqa.store import open_target
from kgqa.store.moving import Tally, copy, layouts
from kgqa.store.sqlite import SQLiteStore


def history(count: int) -> Iterator[Batch]:
    """Yield claims, then retract some of the nodes that they name."""
    named: set[str] = set()
    for batch in claim_batches(count, people=count // 2):
        named.update(claim.subject.label for claim in batch.claims[::50])
        yield batch
    yield Batch(retract=tuple(f"node:name:{label}" for label in sorted(named)))


def timed(source: Rows, url: str, what: str) -> None:
    """Copy to a path or URL; print what it cost."""
    spent: defaultdict[str, float] = defaultdict(float)
    last = time.perf_counter()

    def progress(stage: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.perf_counter()
        spent[stage] += now - last
        last = now

    with closing(open_target(url)) as target:
        began = time.perf_counter()
        report = copy(source, target, progress=progress)
        took = time.perf_counter() - began
    facts = report.tables["facts"].rows
    stages = ", ".join(f"{stage} {seconds / took:.0%}" for stage, seconds in spent.items())
    print(
        f"{what}: {report.written:,} rows in {took:.1f} s, {report.written / took:,.0f} rows/s, "
        f"{facts / took:,.0f} facts/s; {stages}; digest {report.digest}"
    )


def main(count: int, url: str | None) -> None:
    """Run everything in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with closing(SQLiteStore.create(folder / "a.kb")) as store:
            for batch in history(count):
                store.write(batch)
            print(f"seed {SEED}, {count:,} claims, {store.path.stat().st_size / 2**20:.0f} MiB")
            began = time.perf_counter()
            store.backup(folder / "backup.kb")
            print(f"backup, pages of the file: {time.perf_counter() - began:.1f} s")
            with store.rows() as rows:
                began = time.perf_counter()
                read = sum(1 for table in layouts() for _ in rows.read(table))
                bare = time.perf_counter() - began
                began = time.perf_counter()
                for table in layouts():
                    Tally().plus(rows.read(table))
                digest = time.perf_counter() - began
                print(f"reading {read:,} rows: {bare:.1f} s, with digests {digest:.1f} s")
                timed(rows, str(folder / "b.kb"), "file to file")
                if url is None:
                    return
                timed(rows, url, "file to server")
        with closing(open_target(url)) as target, target.rows() as there:
            timed(there, str(folder / "c.kb"), "server to file")


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["200000"])[0]), (sys.argv[2:] or [None])[0])
