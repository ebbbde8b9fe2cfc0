"""The store contract: text and vector search filter before they choose; what waits for index.

Belongs here: tests of find, nearest, pending, generations. Must not: one back-end.
"""

from __future__ import annotations

from random import Random

import pytest

from kgqa.errors import InputError
from kgqa.model.things import Alias, Node, Relation
from kgqa.protocols import Batch, Hits, Pattern, Store, VectorRow
from kgqa.temporal.interval import UNDATED
from kgqa.testing.contract_base import (
    ContractBase,
    direction,
    everything_pending,
    index,
    instant,
    says,
    term,
    texts,
)
from kgqa.testing.sizes import counts

ODD = (
    "who ruled in 1815?", "Constantinople/Istanbul", '"', "'", "a AND", "NOT x", "NEAR(a b)",
    "*", "a*", "^a", "col:umn", "(", ")", "- -", "", "   ", "\x00", "a\x00b", "ﬁ", "İstanbul",
    "\ud800", "🙂", "--", ";DROP TABLE x", "a OR b", "{a b}", "+1", "\\", "%", "_", "null",
    "x" * 5000, "text : a", "日本語", "é", "e\u0301",
)  # fmt: skip
_ALPHABET = "ab \"'*^:()-+{}[]\\/.,;%_?!&|~\x00\té🙂AND OR NOT NEAR"


class SearchContract(ContractBase):
    """find, nearest, pending, generations."""

    def test_find_filters_before_it_chooses(self, store: Store) -> None:
        late = term(1000)
        passages = [("The mayor spoke of the mayor and the mayor.", late)] * 1000
        store.write(says("crowd", passages=passages))
        store.write(says("right", passages=[("A long text in which once a mayor is.", term(1, 9))]))
        for k in (1, 5):
            hits = store.find("mayor", k, Pattern(valid=instant(5)))
            assert [(h.kind, h.id) for h in hits] == [("chunk", "right-0")]
        assert len(store.find("mayor", 5, Pattern())) == 5

    def test_find_of_names_filters_by_existence(self, store: Store) -> None:
        store.write(
            Batch(
                source="n",
                nodes=(
                    Node("q1", "Ada Byron", "person", (Alias("Countess Lovelace"),), (term(1, 9),)),
                    Node("q2", "Ada Byron ship", "ship", (), (term(20, 30),)),
                    Node("q3", "Ada undated"),
                ),
            )
        )
        nodes = Pattern(items=("node",))
        assert {h.id for h in store.find("ada", 9, nodes)} == {"q1", "q2", "q3"}
        assert [h.id for h in store.find("lovelace", 9, nodes)] == ["q1"]
        then = Pattern(items=("node",), valid=instant(25))
        assert {h.id for h in store.find("ada", 9, then)} == {"q2", "q3"}
        kind = Pattern(items=("node",), kind="ship")
        assert [h.id for h in store.find("ada", 9, kind)] == ["q2"]
        assert store.find("ada", 9, Pattern(items=("chunk",))) == []

    def test_find_sees_what_is_current(self, store: Store) -> None:
        store.write(says("d", passages=texts("Quaggas grazed.")))
        known = store.revision
        assert [h.id for h in store.find("quaggas", 3, Pattern())] == ["d-0"]
        store.write(Batch(delete=("d",)))
        assert store.find("quaggas", 3, Pattern()) == []
        assert [h.id for h in store.find("quaggas", 3, Pattern(known_at=known))] == ["d-0"]
        assert store.find("quaggas", 3, Pattern(known_at=known - 1)) == []

    def test_find_ranks_and_folds(self, store: Store) -> None:
        store.write(
            says("d", passages=texts("Zürich is a town.", "A mill.", "Zurich zurich zurich mill."))
        )
        hits = store.find("zurich", 3, Pattern(items=("chunk",)))
        assert {h.id for h in hits} == {"d-0", "d-2"}
        assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
        assert store.find("zurich", 3, Pattern(items=("chunk",))) == hits

    @pytest.mark.parametrize("count", counts(300, 5000))
    def test_find_never_raises(self, store: Store, count: int) -> None:
        store.write(says("d", passages=texts("Who ruled in 1815?", "a b")))
        rnd = Random(17)
        queries = [*ODD]
        while len(queries) < self.some(count):
            queries.append("".join(rnd.choices(_ALPHABET, k=rnd.randrange(1, 30))))
        for query in queries:
            hits = store.find(query, 3, Pattern())
            assert {h.id for h in hits} <= {"d-0", "d-1"}, query
        assert [h.id for h in store.find("ruled*", 3, Pattern())] == ["d-0"]
        assert store.find("rul*", 3, Pattern()) == []
        assert store.find("text : zebra", 3, Pattern()) == []

    def test_nearest_filters_before_it_chooses(self, store: Store) -> None:
        import numpy as np

        crowd = [(f"The mayor speaks {i}.", term(1000)) for i in range(300)]
        store.write(says("crowd", passages=crowd))
        store.write(says("right", passages=[("Far away.", term(1, 9))]))
        waiting = everything_pending(store)
        aim = direction("aim")
        rows = []
        for p in waiting:
            vector = direction(p.text) if p.id == "right-0" else aim + 0.01 * direction(p.text)
            rows.append(VectorRow(p.kind, p.id, p.digest, vector / np.linalg.norm(vector)))
        store.write(Batch(vectors=tuple(rows), generation=1))
        store.write(Batch(meta={"generation": 1}))
        for k in (1, 5):
            hits = store.nearest(aim, k, Pattern(valid=instant(5)))
            assert [h.id for h in hits] == ["right-0"]
        assert "right-0" not in {h.id for h in store.nearest(aim, 5, Pattern())}

    @pytest.mark.parametrize("count", counts(60, 1000))
    def test_nearest_is_exact(self, store: Store, count: int) -> None:
        rnd = Random(19)
        terms = {
            f"d-{i}": (s := rnd.randrange(-50, 50), s + rnd.randrange(1, 30)) for i in range(80)
        }
        store.write(says("d", passages=[(f"text {i}", term(*terms[f"d-{i}"])) for i in range(80)]))
        text = {p.id: p.text for p in everything_pending(store)}
        index(store)
        for n in range(count):
            aim, t, k = direction(f"aim {n}"), rnd.randrange(-55, 85), rnd.choice((1, 3, 100))
            scores = {
                name: float(direction(text[name]) @ aim)
                for name, (start, end) in terms.items()
                if start <= t < end
            }
            hits = store.nearest(aim, k, Pattern(items=("chunk",), valid=instant(t)))
            best = sorted(scores, key=lambda name: (-scores[name], name))[:k]
            assert [h.id for h in hits] == best
            assert [h.score for h in hits] == pytest.approx(
                [scores[name] for name in best], abs=1e-5
            )

    def test_nearest_kinds(self, store: Store) -> None:
        store.write(Batch(relations=(Relation("held office", "held office"),)))
        store.write(says("d", nodes=[Node("q1", "Ada", "person")], passages=texts("Ada spoke.")))
        index(store)
        aim = direction("x")
        for kind in ("node", "chunk", "relation"):
            hits = store.nearest(aim, 9, Pattern(items=(kind,)))
            assert {h.kind for h in hits} == {kind}
        assert store.nearest(aim, 9, Pattern(items=("node",), kind="ship")) == []
        with pytest.raises(InputError):
            store.nearest(direction("x", width=3), 9, Pattern())

    def test_never_indexed_finds_nothing(self, store: Store) -> None:
        store.write(says("d", passages=texts("Ada spoke.")))
        assert store.nearest(direction("x"), 5, Pattern()) == []

    def test_deleted_things_drop_before_indexing(self, store: Store) -> None:
        store.write(says("a", passages=texts("one")))
        store.write(says("b", passages=texts("two")))
        index(store)
        store.write(Batch(delete=("a",)))
        assert [h.id for h in store.nearest(direction("x"), 5, Pattern())] == ["b-0"]

    def test_new_generation_is_invisible_until_it_is_active(self, store: Store) -> None:
        store.write(says("a", passages=texts("one", "two")))
        index(store, 1)
        aim = direction("aim")
        before = store.nearest(aim, 5, Pattern())
        rows = tuple(VectorRow("chunk", f"a-{i}", p, aim) for i, p in enumerate("xy"))
        store.write(Batch(vectors=rows, generation=2))
        assert store.nearest(aim, 5, Pattern()) == before
        store.write(Batch(meta={"generation": 2}))
        after = store.nearest(aim, 5, Pattern())
        assert [round(h.score, 5) for h in after] == [1.0, 1.0]

    def test_a_view_keeps_the_vectors_that_it_saw(self, store: Store) -> None:
        """Whatever is indexed meanwhile, in a new generation or in the active one."""
        store.write(Batch(relations=(Relation("held office", "held office"),)))
        store.write(says("d", nodes=[Node("q1", "Ada")], passages=texts("one", "two", "three")))
        waiting = everything_pending(store)
        index(store, 1)
        aim, every = direction("aim"), Pattern(items=("chunk", "node", "relation"))

        def again(seed: str, generation: int, active: int) -> Batch:
            rows = (
                VectorRow(p.kind, p.id, seed + p.digest, direction(seed + p.text)) for p in waiting
            )
            return Batch(vectors=tuple(rows), generation=generation, meta={"generation": active})

        def kinds(found: Hits) -> dict[str, list[tuple[str, float]]]:
            return {k: [(h.id, h.score) for h in found if h.kind == k] for k in
                    ("chunk", "node", "relation")}  # fmt: skip

        with store.view() as first:
            before = kinds(first.nearest(aim, 9, every))
            assert len(before["chunk"]) == 3
            assert before["node"]
            assert before["relation"]
            for change in (again("b", 1, 1), again("c", 2, 1), again("d", 3, 3)):
                with store.view() as then:
                    held = kinds(then.nearest(aim, 9, every))
                    store.write(change)
                    for view, wanted in ((then, held), (first, before)):
                        found = kinds(view.nearest(aim, 9, every))
                        for kind, hits in wanted.items():
                            assert [name for name, _ in found[kind]] == [name for name, _ in hits]
                            assert [score for _, score in found[kind]] == pytest.approx(
                                [score for _, score in hits], abs=1e-5
                            )
        assert store.stats()["vectors"] == len(waiting)
        assert kinds(store.nearest(aim, 9, every)) != before

    def test_pending_counts_changes(self, store: Store) -> None:
        start = len(everything_pending(store))
        store.write(says("d", nodes=[Node("q1", "Ada")], passages=texts("one")))
        assert len(everything_pending(store)) == start + 2 == store.stats()["pending"]
        index(store)
        assert everything_pending(store) == []
        store.write(says("d2", nodes=[Node("q1", "Ada", aliases=(Alias("Countess"),))]))
        assert [(p.kind, p.id) for p in everything_pending(store)] == [("node", "q1")]
        store.write(Batch(delete=("d2",)))
        store.write(Batch(source="x", relations=(Relation("met", "met"),)))
        assert [(p.kind, p.id) for p in everything_pending(store)] == [("relation", "met")]

    @pytest.mark.parametrize("count", counts(60, 2000))
    def test_random_pending(self, store: Store, count: int) -> None:
        """Compare with a dict of what was said and of the text last embedded, deleted since or not.

        (NF-06.)
        """
        rnd = Random(23)
        said: dict[str, str] = {}
        embedded: dict[str, str] = {}
        for step in range(self.some(count)):
            name, move = f"s{rnd.randrange(12)}", rnd.randrange(5)
            if move <= 2 and name in said:
                store.write(Batch(delete=(name,)))
                del said[name]
            elif move <= 3:
                version = f"{name} v{rnd.randrange(2)}"
                gone = (name,) if name in said else ()
                new = says(name, passages=texts(version))
                store.write(Batch(source=name, delete=gone, documents=new.documents,
                                  chunks=new.chunks))  # fmt: skip
                said[name] = version
            else:
                index(store)
                embedded |= said
            expected = {f"{n}-0" for n, text in said.items() if embedded.get(n) != text}
            waiting = {p.id for p in everything_pending(store)}
            assert waiting == expected, f"step {step}"
            found = store.nearest(direction("x"), 99, Pattern(items=("chunk",))) if embedded else []
            assert {h.id for h in found} <= {f"{n}-0" for n in said}, f"step {step}"

    def test_undated_policy_in_search(self, store: Store) -> None:
        store.write(says("d", passages=[("mayor one", UNDATED), ("mayor two", term(1, 9))]))
        index(store)
        strict = Pattern(valid=instant(5), undated="exclude", items=("chunk",))
        assert [h.id for h in store.find("mayor", 5, strict)] == ["d-1"]
        assert [h.id for h in store.nearest(direction("x"), 5, strict)] == ["d-1"]
        late = Pattern(valid=instant(50), items=("chunk",))
        assert [h.id for h in store.find("mayor", 5, late)] == ["d-0"]
        assert [h.id for h in store.nearest(direction("x"), 5, late)] == ["d-0"]
