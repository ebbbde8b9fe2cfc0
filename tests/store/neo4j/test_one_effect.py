"""A write has one effect, whoever else writes and whatever answer is lost (R-CC-01, R-CC-02)."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from contextlib import closing

import pytest

from kgqa.errors import ConflictError
from kgqa.model.things import Claim, Node, Ref
from kgqa.protocols import Batch, Pattern, Receipt
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.testing.servers import Neo4jServer
from kgqa.testing.sizes import counts

from .lossy import Lossy

_ALL = Pattern(order="id")
_WRITERS = 8
_PATIENCE = 3600.0


def _together(work: Callable[[int], None]) -> None:
    """Run work in several threads at once; raise what one of them raises."""
    faults: list[BaseException] = []

    def tried(k: int) -> None:
        try:
            work(k)
        except BaseException as exc:
            faults.append(exc)

    threads = [threading.Thread(target=tried, args=(k,)) for k in range(_WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def test_one_of_several_makes_a_base(url: str) -> None:
    made: list[int] = []
    refused: list[str] = []

    def work(k: int) -> None:
        try:
            Neo4jStore.create(parse(url), {"made": k}).close()
            made.append(k)
        except ConflictError as exc:
            refused.append(exc.code)

    _together(work)
    assert (len(made), refused) == (1, ["store.exists"] * (_WRITERS - 1))
    with closing(Neo4jStore(parse(url))) as store:
        assert store.meta()["made"] == made[0]
        assert store.revision == 1


@pytest.mark.parametrize("each", counts(4, 1000))
def test_writers_of_the_same_nodes(each: int, url: str) -> None:
    at_once = max(2, each // 50)
    Neo4jStore.create(parse(url), {}).close()
    several = max(2, each // 2)
    wrote: list[tuple[int, str, str]] = []

    def work(k: int) -> None:
        # A store of its own, as another process has.
        with closing(Neo4jStore(parse(url), lock_timeout=_PATIENCE)) as store:
            for start in range(0, each, at_once):
                nodes = [
                    Node(f"id{(k * each + i) % several}", f"by {k} at {i}", "person")
                    for i in range(start, min(each, start + at_once))
                ]
                receipt = store.write(Batch(source="shared", nodes=tuple(nodes)))
                wrote.extend((receipt.revision, node.id, node.label) for node in nodes)

    _together(work)
    # Of one write, the last row of a node counts; sorting keeps their order.
    last = {node: label for _, node, label in sorted(wrote, key=lambda row: row[0])}
    with closing(Neo4jStore(parse(url))) as store:
        found = store.nodes(_ALL)
        assert {node.id: node.label for node in found} == last
        assert len(found) == several
        assert store.verify() == []
    print(f"{len(wrote)} upserts by {_WRITERS} writers: {len(found)} nodes")


def test_a_write_is_known_again_after_others(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (Batch(source="s", nodes=(Node("n", label),)) for label in ("old", "new"))
    token = uuid.uuid4()
    with closing(Neo4jStore.create(parse(url))) as store:

        def again() -> Receipt:
            with monkeypatch.context() as patched:
                patched.setattr(uuid, "uuid4", lambda: token)
                return store.write(first)

        told = again()
        last = store.write(second).revision
        # As if the answer had been lost and another had been quicker than the second attempt.
        assert again() == told
        assert store.revision == last
        assert [node.label for node in store.nodes(_ALL)] == ["new"]
        store.write(Batch(source="t", nodes=(Node("other", "gone"),)))
        store.erase(["node:other"])
        assert again().revision > last + 2


@pytest.mark.parametrize("lost", counts(10, 200))
def test_lost_answers_to_commits(lost: int, server: Neo4jServer, url: str) -> None:
    port = int(server.start().url.rpartition(":")[2])

    def claim(k: int) -> Batch:
        return Batch(source="s", claims=(Claim(Ref(f"s{k}"), "knows", Ref("o"), line=k + 1),))

    with Lossy(port) as proxy:
        address = parse(url.replace(f":{port}/", f":{proxy.port}/"))
        with closing(Neo4jStore.create(address, {"form": "nodes"})) as store:
            before = store.write(claim(lost)).revision
            for k in range(lost):
                proxy.lose = 1
                receipt = store.write(claim(k))
                assert (receipt.revision, receipt.changed) == (before + k + 1, True)
                assert receipt.counts == {"claims": 1}
                assert (proxy.lose, proxy.lost) == (0, k + 1)
            assert store.revision == before + lost
            # What was said is there, hence said again it changes nothing.
            assert not any(store.write(claim(k)).changed for k in range(lost))
            facts = store.match(_ALL)
            assert {f.subject for f in facts} == {f"name:s{k}" for k in range(lost + 1)}
            assert len(facts) == lost + 1
            assert all(len(f.sources) == 1 for f in facts)
            assert store.verify() == []
            proxy.lose = 1
            erased = store.erase(["node:name:s0"])
            assert (erased.revision, erased.changed, proxy.lose) == (before + lost + 1, True, 0)
            assert not store.erase(["node:name:s0"]).changed
