"""The store contract: names resolve from what is declared, whatever came first; merges; undo.

Belongs here: tests of linking. Must not: one back-end.
"""

from __future__ import annotations

import pytest

from kgqa.errors import KGQAError
from kgqa.model.things import Alias, Claim, Merge, Node, Ref
from kgqa.protocols import Batch, Pattern, Store
from kgqa.temporal.interval import UNDATED
from kgqa.testing.contract_base import ContractBase, dump, only, says, term

ROME = Node("q1", "Rome", "place", (Alias("Caput Mundi", term(5, 9)),))
NAMESAKE = Node("q2", "ROME", "ship")
FACT = says("facts", ("rome", "knew", "Caput  MUNDI", term(1, 2)))


def _sides(store: Store, known_at: int | None = None) -> tuple[str, str]:
    fact = only(store.match(Pattern(known_at=known_at)))
    assert isinstance(fact.object, str)
    return fact.subject, fact.object


class NamesContract(ContractBase):
    """Resolution, ambiguity, relinking, merge, undo."""

    def test_unknown_name_is_a_placeholder(self, store: Store) -> None:
        store.write(FACT)
        assert _sides(store) == ("name:rome", "name:caput mundi")
        nodes = {n.id: n for n in store.nodes(Pattern())}
        assert not nodes["name:rome"].declared
        assert {n.node for n in store.names(["rome", "nothing"])} == {"name:rome"}

    def test_declaring_relinks_and_deleting_unlinks(self, store: Store) -> None:
        store.write(FACT)
        first = store.revision
        store.write(Batch(source="nodes", nodes=(ROME,)))
        second = store.revision
        assert _sides(store) == ("q1", "q1")
        assert {n.id for n in store.nodes(Pattern())} == {"q1"}
        store.write(Batch(delete=("nodes",)))
        assert _sides(store) == ("name:rome", "name:caput mundi")
        assert _sides(store, first) == ("name:rome", "name:caput mundi")
        assert _sides(store, second) == ("q1", "q1")

    def test_second_bearer_makes_a_name_ambiguous(self, store: Store) -> None:
        store.write(Batch(source="nodes", nodes=(ROME,)))
        assert store.write(FACT).ambiguous == ()
        store.write(Batch(source="more", nodes=(NAMESAKE,)))
        assert _sides(store) == ("name:rome", "q1")
        later = says("later", ("ROME", "met", "Nobody", UNDATED))
        assert [name.casefold() for name in store.write(later).ambiguous] == ["rome"]
        store.write(Batch(delete=("more",)))
        assert {f.subject for f in store.match(Pattern())} == {"q1"}

    @pytest.mark.parametrize(
        ("ref", "expected"),
        [
            (Ref("Rome", None, "place"), "q1"),
            (Ref("Rome", None, "ship"), "q2"),
            (Ref("Rome", None, "king"), "name:rome"),
            (Ref("Rome", "q2"), "q2"),
            (Ref("Rome"), "name:rome"),
            (Ref("caput mundi"), "q1"),
        ],
    )
    def test_kind_and_id_settle_it(self, store: Store, ref: Ref, expected: str) -> None:
        store.write(Batch(source="f", claims=(Claim(ref, "knew", Ref("Nobody")),)))
        store.write(Batch(source="n", nodes=(ROME, NAMESAKE)))
        assert _sides(store)[0] == expected

    def test_explicit_id_declares(self, store: Store) -> None:
        store.write(FACT)
        claim = Claim(Ref("Rome", "q7", "place"), "met", Ref("Nobody"))
        store.write(Batch(source="f", claims=(claim,)))
        assert {f.subject for f in store.match(Pattern())} == {"q7"}
        assert {n.id: n.declared for n in store.nodes(Pattern())}["q7"]

    def test_alias_added_later_relinks(self, store: Store) -> None:
        store.write(Batch(source="n", nodes=(Node("q1", "Rome", "place"),)))
        store.write(FACT)
        assert _sides(store) == ("q1", "name:caput mundi")
        store.write(Batch(source="n2", nodes=(ROME,)))
        assert _sides(store) == ("q1", "q1")

    def test_names_carry_their_time(self, store: Store) -> None:
        store.write(Batch(source="n", nodes=(ROME, NAMESAKE)))
        hits = store.names(["rome", "caput mundi"])
        assert {(h.key, h.node, h.label, h.main) for h in hits} == {
            ("rome", "q1", "Rome", True),
            ("rome", "q2", "ROME", True),
            ("caput mundi", "q1", "Caput Mundi", False),
        }
        (alias,) = [h for h in hits if not h.main]
        assert alias.valid.bounds == (5, 5, 9, 9)

    def test_thousands_of_keys(self, store: Store) -> None:
        store.write(Batch(source="n", nodes=tuple(Node(f"q{i}", f"N {i}") for i in range(50))))
        keys = [f"n {i}" for i in range(5000)]
        assert {h.node for h in store.names(keys)} == {f"q{i}" for i in range(50)}

    def test_two_labels_of_one_id(self, store: Store) -> None:
        store.write(Batch(source="a", nodes=(Node("q1", "ROMA"),)))
        store.write(Batch(source="b", nodes=(Node("q1", "Rome"),)))
        (node,) = store.nodes(Pattern())
        assert node.label == "Rome"
        assert [a.label for a in node.aliases] == ["ROMA"]

    def test_merge_and_undo(self, store: Store) -> None:
        store.write(Batch(source="n", nodes=(ROME, NAMESAKE)))
        store.write(FACT)
        before, known = dump(store), store.revision
        merged = store.write(Batch(merges=(Merge("q2", "q1"),)))
        assert _sides(store) == ("q1", "q1")
        assert {n.id for n in store.nodes(Pattern())} == {"q1"}
        assert [f.subject for f in store.match(Pattern(subject="q2"))] == ["q1"]
        assert _sides(store, known) == ("name:rome", "q1")
        store.write(Batch(undo=merged.revision))
        assert dump(store) == before
        assert _sides(store, merged.revision) == ("q1", "q1")

    def test_merge_of_a_placeholder(self, store: Store) -> None:
        store.write(Batch(source="n", nodes=(ROME, NAMESAKE)))
        store.write(FACT)
        store.write(Batch(merges=(Merge("name:rome", "q1"),)))
        assert _sides(store) == ("q1", "q1")

    def test_chain_of_merges(self, store: Store) -> None:
        store.write(Batch(source="n", nodes=tuple(Node(f"q{i}", f"N{i}") for i in range(4))))
        store.write(says("f", ("N0", "knew", "N3", term(1, 2))))
        for i in range(3):
            store.write(Batch(merges=(Merge(f"q{i}", f"q{i + 1}"),)))
        assert _sides(store) == ("q3", "q3")
        for pair in (Merge("q3", "q0"), Merge("q3", "q3"), Merge("q3", "q9")):
            with pytest.raises(KGQAError):
                store.write(Batch(merges=(pair,)))

    def test_undo_only_undoes_merges(self, store: Store) -> None:
        revision = store.write(FACT).revision
        with pytest.raises(KGQAError) as refused:
            store.write(Batch(undo=revision))
        assert refused.value.code == "store.cannot_undo"
