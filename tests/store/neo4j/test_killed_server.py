"""kill -9 of the server while loading: what was acknowledged stays, the load finishes, as if
nothing had been (R-CR-10)."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from kgqa.errors import UnavailableError
from kgqa.ingest import pipeline
from kgqa.ingest.pipeline import LoadPlan, load
from kgqa.model.things import Chunk, Claim, Document, Ref
from kgqa.protocols import Batch, Receipt
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import Interval
from kgqa.testing.canonical import canonical, difference
from kgqa.testing.servers import Neo4jServer
from kgqa.testing.sizes import counts

_REVISIONS = "MATCH (r:Revision {kb: $kb}) RETURN r.n"
_BETWEEN = 3
"""How many writes there are to each kill."""
_ROWS = 5
_SECONDS = 1200


class Acknowledged(Neo4jStore):
    """Remember every write that the store said it had made."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.acknowledged: list[tuple[int, str | None]] = []

    def write(self, batch: Batch) -> Receipt:
        receipt = super().write(batch)
        self.acknowledged.append((receipt.revision, batch.source))
        return receipt


def first_words(
    document: Document, chunks: Sequence[Chunk], reference: Interval | None
) -> Iterator[Claim]:
    for chunk in chunks:
        subject, verb, thing = chunk.text.split()[:3]
        yield Claim(Ref(subject), verb, Ref(thing), chunk=chunk.id, span=chunk.span)


def _files(folder: Path, kills: int) -> tuple[Path, ...]:
    for k in range(kills):
        (folder / f"{k}.txt").write_text(f"Hill{k} governed Oslo in 19{k:02}. " * 3)
    rows = [
        {"subject": f"P{k % 7}", "relation": "held", "object": f"O{k}", "start": "1990"}
        for k in range(_BETWEEN * kills * _ROWS)
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tuple(sorted(folder.iterdir()))


@pytest.mark.parametrize("kills", counts(3, 20))
def test_a_killed_server(
    kills: int, server: Neo4jServer, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_ROWS", _ROWS)
    plan = LoadPlan(paths=_files(tmp_path, kills), extractor=first_words)
    with closing(SQLiteStore.create(tmp_path / "undisturbed.kg")) as undisturbed:
        load(undisturbed, plan)
        expected = canonical(undisturbed)
    Neo4jStore.create(parse(url), {}).close()
    store = Acknowledged(parse(url))
    stopped: list[str] = []
    faults: list[BaseException] = []

    def work() -> None:
        try:
            while time.monotonic() < end:
                try:
                    load(store, plan)
                    return
                except UnavailableError as exc:
                    stopped.append(exc.code)
        except BaseException as exc:
            faults.append(exc)

    end = time.monotonic() + _SECONDS
    loading = threading.Thread(target=work, daemon=True)
    loading.start()
    chance, killed = random.Random(kills), 0
    while killed < kills and loading.is_alive():
        reached = len(store.acknowledged) + chance.randrange(1, _BETWEEN)
        while loading.is_alive() and len(store.acknowledged) < reached:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.3)
        server.kill()
        server.start()
        killed += 1
    loading.join()
    assert (faults, killed) == ([], kills)
    assert set(stopped) <= {"store.unreachable"}
    assert store.verify() == []
    assert difference(canonical(store), expected) == []
    with closing(Client(parse(url))) as client:
        recorded = {n for (n,) in client.rows(_REVISIONS, kb=store.address.kb)}
    assert {n for n, _ in store.acknowledged} <= recorded == set(range(1, store.revision + 1))
    assert {source for _, source in store.acknowledged} <= {d.id for d in store.documents()}
    print(
        f"{killed} kills, {len(store.acknowledged)} writes acknowledged, "
        f"{len(recorded)} revisions, the load was begun again {len(stopped)} times"
    )
    store.close()
