"""The store contract: one question sees one state; threads, second openers, closed stores.

Belongs here: tests of isolation and life cycle. Must not: one back-end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from kgqa.errors import KGQAError
from kgqa.model.things import Relation
from kgqa.protocols import Batch, Pattern, Store
from kgqa.temporal.interval import UNBOUNDED
from kgqa.testing.contract_base import ContractBase, dump, only, says, term, texts
from kgqa.testing.sizes import counts


class SharingContract(ContractBase):
    """view, concurrency, reopening, closing."""

    def test_view_sees_one_state(self, store: Store) -> None:
        store.write(says("a", ("A", "knew", "B", term(1)), passages=texts("zebra one")))
        with store.view() as reader:
            revision = reader.revision
            store.write(says("b", ("A", "knew", "C", term(1)), passages=texts("zebra two")))
            store.write(Batch(relations=(Relation("knew", "knew", max_objects=1),), meta={"x": 1}))
            assert reader.revision == revision
            assert only(reader.match(Pattern())).object == "name:b"
            assert [h.id for h in reader.find("zebra", 5, Pattern())] == ["a-0"]
            assert reader.names(["c"]) == []
            assert "x" not in reader.meta()
            assert reader.relations()["knew"].max_objects is None
        assert len(store.match(Pattern())) == 2
        assert store.relations()["knew"].max_objects == 1

    @pytest.mark.parametrize("count", counts(150, 10_000))
    def test_no_torn_states(self, store: Store, count: int) -> None:
        """Keep exactly one holder of an office, moved in one batch; readers check it (R-TM-08)."""
        store.write(says("h0", ("P0", "seat", "town", UNBOUNDED)))
        stop, torn = threading.Event(), list[object]()

        def move() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                new = says(f"h{number}", (f"P{number}", "seat", "town", UNBOUNDED))
                store.write(Batch(source=new.source, documents=new.documents, claims=new.claims,
                                  delete=(f"h{number - 1}",)))  # fmt: skip

        def read() -> None:
            for _ in range(self.some(count)):
                with store.view() as reader:
                    one = [f.subject for f in reader.match(Pattern(object="name:town"))]
                    two = [r.node for r in reader.expand(["name:town"], 1, Pattern(), 9)]
                    three = [f.subject for f in reader.match(Pattern(subject=one[0]))]
                if not (len(one) == 1 and one == two == three):
                    torn.append((one, two, three))

        writer = threading.Thread(target=move)
        readers = [threading.Thread(target=read) for _ in range(2)]
        writer.start()
        for thread in readers:
            thread.start()
        for thread in readers:
            thread.join(600)
        stop.set()
        writer.join(60)
        assert torn == []
        assert not any(thread.is_alive() for thread in [writer, *readers])

    def test_threads_share_a_store(self, store: Store) -> None:
        problems = list[BaseException]()

        def work(number: int) -> None:
            try:
                for i in range(3):
                    store.write(says(f"d{number}-{i}", (f"S{number}", "was", f"v{i}", term(i))))
                    assert len(store.match(Pattern(subject=f"name:s{number}"))) == i + 1
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert problems == []
        assert len(store.match(Pattern())) == 96
        numbers = [c.revision for c in store.changes()]
        assert numbers == sorted(set(numbers))

    def test_another_opener_sees_commits(
        self, store: Store, reopen: Callable[[Store], Store]
    ) -> None:
        store.write(says("a", ("A", "knew", "B", term(1))))
        other = reopen(store)
        assert dump(other) == dump(store)
        store.write(says("b", ("A", "knew", "C", term(1))))
        assert other.revision == store.revision
        assert len(other.match(Pattern())) == 2
        other.write(says("c", ("A", "knew", "D", term(1))))
        assert len(store.match(Pattern())) == 3
        other.close()
        assert len(store.match(Pattern())) == 3

    def test_reopened_is_the_same(
        self, store_factory: Callable[[], Store], reopen: Callable[[Store], Store]
    ) -> None:
        store = store_factory()
        store.write(says("a", ("A", "knew", "B", term(1)), passages=texts("one")))
        before, revision = dump(store), store.revision
        other = reopen(store)
        store.close()
        assert (dump(other), other.revision) == (before, revision)
        other.close()

    def test_closed_store(self, store_factory: Callable[[], Store]) -> None:
        store = store_factory()
        store.write(says("a", ("A", "knew", "B", term(1))))
        store.close()
        store.close()
        for call in (
            lambda: store.match(Pattern()),
            lambda: store.write(Batch(meta={"x": 1})),
            lambda: store.erase(["node:x"]),
            lambda: store.find("x", 1, Pattern()),
            store.verify,
            store.stats,
        ):
            with pytest.raises(KGQAError) as refused:
                call()
            assert refused.value.code == "store.closed"

    def test_capabilities(self, store: Store) -> None:
        c = store.capabilities
        assert all((c.technology, c.version, c.vector_search, c.text_search))
