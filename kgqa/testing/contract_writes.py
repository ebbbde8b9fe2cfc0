"""The store contract: writes are atomic, idempotent, undone in three ways, and remembered.

Belongs here: tests of write, erase and what they leave. Must not: one back-end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from random import Random

import pytest

from kgqa.errors import InputError, KGQAError, NotFoundError
from kgqa.model.things import Alias, Document, End, Failure, Merge, Node, Relation
from kgqa.protocols import Batch, Pattern, Store
from kgqa.temporal.interval import END, UNDATED
from kgqa.testing.canonical import canonical, difference
from kgqa.testing.contract_base import (
    ContractBase,
    Factory,
    dump,
    instant,
    objects,
    only,
    says,
    term,
    texts,
)
from kgqa.testing.generate import base
from kgqa.testing.sizes import counts

FIRST = says(
    "first",
    ("Ada", "held office", "Mayor", term(10, 20)),
    ("Ben", "held office", "Mayor", term(20)),
    ("Ada", "age", 7, UNDATED),
    nodes=[Node("q1", "Ada", "person", (Alias("Countess", term(5, 9)),), (term(0, 40),))],
    passages=texts("Ada was mayor.", "Ben followed her."),
)
SECOND = says(
    "second",
    ("Ada", "held office", "Mayor", term(10, 20)),
    ("Ada", "knew", "Ben", term(1, 2)),
    nodes=[Node("q2", "Ben", "person", (), (term(3, 30),))],
    passages=texts("Ada knew Ben."),
)
THIRD = says("third", ("Cid", "knew", "ada", term(4)), nodes=[Node("q1", "ADA", "person")])


class WritesContract(ContractBase):
    """Atomicity, idempotence, order, delete, end, retract, erase, known_at, meta, failures."""

    def test_new_store_is_empty(self, store: Store) -> None:
        assert store.match(Pattern()) == []
        assert store.nodes(Pattern()) == []
        assert store.documents() == []
        assert store.failures() == []

    def test_write_makes_the_next_revision(self, store: Store) -> None:
        before = store.revision
        receipt = store.write(FIRST)
        assert receipt.changed
        assert receipt.revision == before + 1 == store.revision

    @pytest.mark.parametrize(
        "fault",
        [
            Batch(ends=(End("fact:nosuchfact", 1, 1),)),
            Batch(merges=(Merge("q1", "q404"),)),
            Batch(merges=(Merge("q404", "q1"),)),
            Batch(retract=("fact:nosuchfact",)),
            Batch(undo=10**6),
        ],
        ids=["end", "winner", "loser", "retract", "undo"],
    )
    def test_batch_that_fails_leaves_nothing(self, store: Store, fault: Batch) -> None:
        store.write(FIRST)
        before, revision, waiting = dump(store), store.revision, store.pending(100)
        broken = Batch(
            source="second",
            documents=SECOND.documents,
            chunks=SECOND.chunks,
            nodes=SECOND.nodes,
            claims=SECOND.claims,
            delete=("first",) if not fault.merges else (),
            ends=fault.ends,
            retract=fault.retract,
            merges=fault.merges,
            undo=fault.undo,
            meta={"note": "no"},
        )
        with pytest.raises(KGQAError):
            store.write(broken)
        assert dump(store) == before
        assert (store.revision, store.pending(100)) == (revision, waiting)
        assert "note" not in store.meta()

    def test_inverted_end_is_refused(self, store: Store) -> None:
        store.write(FIRST)
        fact = only(store.match(Pattern(subject="q1", relation="held office")))
        before = dump(store)
        for label in (f"fact:{fact.id}", "node:q1"):
            with pytest.raises(InputError):
                store.write(Batch(ends=(End(label, -5, -5),)))
        assert dump(store) == before

    @pytest.mark.parametrize(
        "batch",
        [FIRST, SECOND, Batch(meta={"a": [1, None]}), Batch(failures=(Failure("f:1", "c", "m"),)),
         Batch(relations=(Relation("knew", "knew", max_objects=1),))],
        ids=["document", "another", "meta", "failure", "relation"],
    )  # fmt: skip
    def test_same_batch_twice_is_once(self, store: Store, batch: Batch) -> None:
        once = store.write(batch)
        before = dump(store)
        again = store.write(batch)
        assert not again.changed
        assert again.revision == once.revision == store.revision
        assert dump(store) == before
        assert len(store.failures()) == len(batch.failures)

    def test_same_correction_twice_is_once(self, store: Store) -> None:
        store.write(FIRST)
        store.write(SECOND)
        facts = {fact.object: fact for fact in store.match(Pattern(subject="q2"))}
        label = f"fact:{facts['name:mayor'].id}"
        for batch in (
            Batch(ends=(End(label, 30, 30),)),
            Batch(ends=(End("node:q1", 35, 35),)),
            Batch(retract=(f"fact:{only(store.match(Pattern(relation='knew'))).id}",)),
            Batch(merges=(Merge("q2", "q1"),)),
            Batch(delete=("second",)),
        ):
            assert store.write(batch).changed
            revision, before = store.revision, dump(store)
            assert not store.write(batch).changed, batch
            assert (store.revision, dump(store)) == (revision, before)

    def test_load_order_leaves_no_trace(self, store_factory: Factory) -> None:
        dumps = []
        for order in permutations((FIRST, SECOND, THIRD)):
            store = store_factory()
            for batch in order:
                store.write(batch)
            dumps.append(dump(store))
            store.close()
        for other in dumps[1:]:
            assert difference(dumps[0], other) == []

    @pytest.mark.parametrize("count", counts(200, 500))
    def test_random_load_order_and_partition_leave_no_trace(
        self, store_factory: Factory, count: int
    ) -> None:
        for seed in range(self.some(count)):
            rnd = Random(seed)
            batches = base(rnd, nodes=8, facts=15).batches
            whole, parts = store_factory(), store_factory()
            for batch in batches:
                whole.write(batch)
            singles = [
                Batch(source=b.source, documents=b.documents, relations=b.relations, nodes=nodes,
                      claims=claims)
                for b in batches
                for nodes, claims in [((n,), ()) for n in b.nodes] + [((), (c,)) for c in b.claims]
            ]  # fmt: skip
            rnd.shuffle(singles)
            for batch in singles:
                parts.write(batch)
            declared = {d.id for d in parts.documents()}
            for batch in batches:  # a document with nothing in it
                if batch.source not in declared:
                    parts.write(batch)
            assert difference(dump(whole), dump(parts)) == [], f"seed {seed}"
            assert parts.verify() == []
            whole.close()
            parts.close()

    def test_deleted_document_was_never_loaded(self, store_factory: Factory) -> None:
        with_it, without = store_factory(), store_factory()
        for batch in (FIRST, SECOND, THIRD):
            with_it.write(batch)
        loaded = dump(with_it)
        revision = with_it.revision
        with_it.write(Batch(delete=("second",)))
        for batch in (FIRST, THIRD):
            without.write(batch)
        assert difference(dump(with_it), dump(without)) == []
        assert difference(dump(with_it, revision), loaded) == []
        assert with_it.verify() == []
        with_it.close()
        without.close()

    def test_delete_then_load_again(self, store: Store) -> None:
        store.write(FIRST)
        before = dump(store)
        store.write(Batch(delete=("first",)))
        assert store.match(Pattern()) == []
        assert store.find("mayor", 5, Pattern()) == []
        store.write(FIRST)
        assert dump(store) == before

    def test_new_content_replaces_old_in_one_batch(self, store: Store) -> None:
        store.write(FIRST)
        revision = store.revision
        new = says("first2", ("Ada", "held office", "Mayor", term(10, 25)))
        store.write(Batch(delete=("first",), source=new.source, documents=new.documents,
                          claims=new.claims))  # fmt: skip
        assert store.revision == revision + 1
        assert [d.id for d in store.documents()] == ["first2"]
        assert only(store.match(Pattern())).valid.bounds == (10, 10, 25, 25)

    def test_node_of_two_documents_outlives_one(self, store: Store) -> None:
        store.write(FIRST)
        store.write(THIRD)
        store.write(Batch(delete=("first",)))
        node = {n.id: n for n in store.nodes(Pattern())}["q1"]
        assert (node.label, node.aliases, node.existence) == ("ADA", (), ())

    def test_end_closes_a_fact_and_keeps_its_sources(self, store: Store) -> None:
        store.write(FIRST)
        store.write(SECOND)
        known = store.revision
        fact = only(store.match(Pattern(subject="q2", relation="held office")))
        store.write(Batch(ends=(End(f"fact:{fact.id}", 30, 30),)))
        ended = only(store.match(Pattern(subject="q2", relation="held office")))
        assert ended.valid.bounds == (20, 20, 30, 30)
        assert ended.id != fact.id
        assert [s.document for s in ended.sources] == ["first"]
        past = only(store.match(Pattern(subject="q2", relation="held office", known_at=known)))
        assert past.valid.bounds == (20, 20, END, END)

    def test_end_of_a_node(self, store: Store) -> None:
        store.write(Batch(source="d", nodes=(Node("q1", "Ada", existence=(term(0),)),)))
        known = store.revision
        store.write(Batch(ends=(End("node:q1", 30, 31),)))
        (node,) = store.nodes(Pattern())
        assert [t.bounds for t in node.existence] == [(0, 0, 30, 31)]
        assert store.nodes(Pattern(valid=instant(31))) == []
        assert len(store.nodes(Pattern(valid=instant(31), known_at=known))) == 1

    def test_retracted_fact_was_never_true_but_was_known(self, store: Store) -> None:
        store.write(FIRST)
        store.write(SECOND)
        known = store.revision
        fact = only(store.match(Pattern(relation="held office", object="name:mayor",
                                        subject="q1")))  # fmt: skip
        assert {s.document for s in fact.sources} == {"first", "second"}
        store.write(Batch(retract=(f"fact:{fact.id}",)))
        pattern = Pattern(subject="q1", relation="held office")
        assert store.match(pattern) == []
        assert len(store.match(Pattern(subject="q1", relation="held office", known_at=known))) == 1
        assert objects(store, Pattern(subject="q1", relation="knew")) == ["q2"]

    def test_retracted_node_takes_its_facts(self, store: Store) -> None:
        store.write(FIRST)
        store.write(SECOND)
        known = store.revision
        store.write(Batch(retract=("node:q1",)))
        assert [f.subject for f in store.match(Pattern())] == ["q2"]
        assert "q1" not in {n.id for n in store.nodes(Pattern())}
        assert len(store.match(Pattern(subject="q1", known_at=known))) == 3

    def test_corrections_of_corrections(self, store: Store) -> None:
        expected: list[tuple[int, list[int]]] = [(store.revision, [])]
        for start in (1998, 1997, 1996):
            for fact in store.match(Pattern()):
                store.write(Batch(retract=(f"fact:{fact.id}",)))
                expected.append((store.revision, []))
            store.write(says(f"d{start}", ("X", "began", "Y", term(start))))
            expected.append((store.revision, [start]))
        for known, starts in expected:
            assert [f.valid.es for f in store.match(Pattern(known_at=known))] == starts, known

    def test_recorded_intervals_tile(self, store: Store) -> None:
        store.write(FIRST)
        fact = only(store.match(Pattern(subject="q1", relation="held office")))
        assert (fact.recorded.start, fact.recorded.end) == (store.revision, END)
        store.write(Batch(retract=(f"fact:{fact.id}",)))
        past = only(
            store.match(Pattern(subject="q1", relation="held office", known_at=fact.recorded.start))
        )
        assert past.recorded.end == store.revision

    @pytest.mark.parametrize("part", ["fact", "node", "document"])
    def test_erased_bytes_are_gone(
        self, store: Store, part: str, peek: Callable[[Store], bytes]
    ) -> None:
        store.write(FIRST)
        canary = "Zyzzyvaquagga"
        secret = says(
            "hush",
            (canary, "was told", canary + " two", term(1, 2)),
            nodes=[Node("q9", canary, properties={"note": canary})],
            passages=texts(f"{canary} is written here.", "Nothing else."),
        )
        if part == "document":
            labels = ["document:hush"]
            store.write(secret)
        elif part == "node":
            labels = ["node:q9"]
            store.write(Batch(source="hush", documents=(Document("hush", "hush"),),
                              nodes=secret.nodes, claims=secret.claims))  # fmt: skip
        else:
            store.write(Batch(source="hush", documents=(Document("hush", "hush"),),
                              claims=secret.claims))  # fmt: skip
            labels = [f"fact:{only(store.match(Pattern(relation='was told'))).id}"]
        known = store.revision
        assert canary.encode() in peek(store)
        store.erase(labels)
        raw = peek(store).lower()
        assert canary.lower().encode() not in raw
        assert store.match(Pattern(relation="was told", known_at=known)) == []
        assert store.names([canary.lower()], known) == []
        assert store.find(canary, 5, Pattern(known_at=known)) == []
        assert len(store.match(Pattern(known_at=known))) == 3

    def test_erase_of_something_unknown(self, store: Store) -> None:
        store.write(FIRST)
        with pytest.raises(NotFoundError):
            store.erase(["fact:nosuchfact"])
        with pytest.raises(InputError):
            store.erase(["nolabel"])

    def test_meta_failures_changes(self, store: Store) -> None:
        start = store.revision
        store.write(Batch(meta={"a": {"b": [1, None, True, "x"]}}, note="settings"))
        assert store.meta()["a"] == {"b": [1, None, True, "x"]}
        store.write(Batch(failures=(Failure("f:1", "c", "m", "{}"), Failure("f:2", "c", "m"))))
        assert [f.unit for f in store.failures()] == ["f:1", "f:2"]
        store.write(Batch(resolve_failures=("f:1",)))
        assert [f.unit for f in store.failures()] == ["f:2"]
        changes = store.changes(start)
        assert changes[0].note == "settings"
        numbers = [c.revision for c in changes]
        assert numbers == sorted(set(numbers))
        assert [c.wall for c in changes] == sorted(c.wall for c in changes)

    def test_get_by_label(self, store: Store) -> None:
        store.write(FIRST)
        fact = only(store.match(Pattern(subject="q1", relation="held office")))
        labels = [f"fact:{fact.id}", "node:q1", "chunk:first-0", "document:first"]
        found = store.get([*labels, "fact:nosuch", "node:nosuch"])
        assert sorted(found) == sorted(labels)
        assert found[labels[0]] == fact
        store.write(Batch(delete=("first",)))
        assert store.get(labels) == {}
        assert sorted(store.get(labels, known_at=fact.recorded.start)) == sorted(labels)

    def test_verify_and_backup(self, store: Store, tmp_path) -> None:  # type: ignore[no-untyped-def]
        store.write(FIRST)
        store.backup(tmp_path / "copy.kb")
        with pytest.raises(KGQAError):
            store.backup(tmp_path / "copy.kb")
        with store.view() as reader:
            assert canonical(reader)["facts"]
