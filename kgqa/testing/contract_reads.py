"""The store contract: what match, nodes and expand let through, in which order, page by page.

Belongs here: tests of filtered reads. Must not: one back-end, text and vector search.
"""

from __future__ import annotations

from random import Random

import pytest

from kgqa.model.things import Claim, Literal, Node, Ref, Relation
from kgqa.protocols import Batch, Pattern, Store
from kgqa.temporal.interval import BEGIN, DAY_MS, END, UNBOUNDED, UNDATED, Interval, Match, Validity
from kgqa.testing.contract_base import ContractBase, instant, objects, only, says, term
from kgqa.testing.naive import certain, holds
from kgqa.testing.sizes import counts

YEAR = 365 * DAY_MS
TERMS = {
    "exact": term(10, 20),
    "coarse": Validity(10, 14, 16, 20),
    "open": term(10),
    "unknown end": Validity(10, 10, 11, END),
    "unknown start": Validity(BEGIN, 19, 20, 20),
    "open start": Validity(BEGIN, BEGIN, 20, 20),
    "always": UNBOUNDED,
    "undated": UNDATED,
    "instant": term(15, 16),
    "before zero": term(-20, -10),
    "across zero": term(-10, 11),
}
SPANS = [
    Interval(a, b)
    for a, b in (
        (9, 10), (10, 11), (19, 20), (20, 21), (15, 16), (14, 15), (16, 17), (10, 20), (9, 21),
        (10, 14), (13, 14),
        (-11, -10), (-10, -9), (-21, -20), (-20, -19), (0, 1), (-1, 0), (BEGIN, 10), (BEGIN, 11),
        (20, END), (19, END), (BEGIN, END),
    )
]  # fmt: skip
POLICIES: list[Match] = ["overlaps", "start", "end", "all"]


def _functional(*relations: Relation) -> Batch:
    return Batch(relations=relations)


class ReadsContract(ContractBase):
    """Time filters, literals, functional relations, order, paging, hops."""

    @pytest.mark.parametrize("match", POLICIES)
    def test_time_filters(self, store: Store, match: Match) -> None:
        store.write(says("d", *(("X", "was", name, valid) for name, valid in TERMS.items())))
        for span in SPANS:
            expected = {"name:" + n for n, v in TERMS.items() if holds(v.bounds, span, match)}
            assert set(objects(store, Pattern(valid=span, match=match))) == expected, span
            for fact in store.match(Pattern(valid=span, match=match)):
                sure = certain(fact.valid.bounds, span, match)
                assert fact.valid.certainty(span, match) == ("definite" if sure else "possible")
            strict = Pattern(valid=span, match=match, undated="exclude")
            assert set(objects(store, strict)) == expected - {"name:undated"}

    def test_begun_before(self, store: Store) -> None:
        store.write(says("d", *(("X", "was", name, valid) for name, valid in TERMS.items())))
        for t in (-20, -19, 10, 11, 15, 16):
            expected = {"name:" + n for n, v in TERMS.items() if v.es < t}
            assert set(objects(store, Pattern(begun_before=t))) == expected
        assert "name:undated" not in objects(store, Pattern(undated="exclude"))

    @pytest.mark.parametrize("match", POLICIES)
    def test_existence_filters_nodes_and_no_facts(self, store: Store, match: Match) -> None:
        nodes = [Node(f"q {name}", name, existence=(v,)) for name, v in TERMS.items()]
        twice = Node("q twice", "twice", existence=(term(-20, -10), term(10, 20)))
        store.write(Batch(source="n", nodes=(*nodes, twice, Node("q none", "none"))))
        store.write(says("f", ("twice", "knew", "none", UNBOUNDED)))
        for span in SPANS:
            expected = {f"q {n}" for n, v in TERMS.items() if holds(v.bounds, span, match)}
            expected.add("q none")
            if any(holds(v.bounds, span, match) for v in twice.existence):
                expected.add("q twice")
            found = {n.id for n in store.nodes(Pattern(valid=span, match=match))}
            assert found == expected, span
            assert len(store.match(Pattern(valid=span))) == 1

    def test_kinds(self, store: Store) -> None:
        store.write(Batch(source="n", nodes=(Node("q1", "A", "person"), Node("q2", "B"))))
        assert [n.id for n in store.nodes(Pattern(kind="person"))] == ["q1"]
        assert store.nodes(Pattern(kind="PERSON'--")) == []

    def test_literals_keep_their_type(self, store: Store) -> None:
        values: list[str | int | float | bool] = [1, True, "1", 1.0, -44, "x'y\"", False, 1e300]
        claims = tuple(Claim(Ref("X"), "is", Literal(v)) for v in values)
        store.write(Batch(source="d", claims=claims))
        facts = store.match(Pattern(relation="is"))
        found = [f.object.value for f in facts if isinstance(f.object, Literal)]
        assert sorted(map(repr, found)) == sorted(map(repr, values))
        for value in values:
            (fact,) = store.match(Pattern(object=Literal(value)))
            assert isinstance(fact.object, Literal)
            assert repr(fact.object.value) == repr(value)

    def test_relation_words_are_one_relation(self, store: Store) -> None:
        words = ("Held_Office", "held-office", "HELD  office", "ʰeld office")
        store.write(says("d", *(("X", word, "Y", term(i)) for i, word in enumerate(words))))
        assert len(store.match(Pattern(relation="held office"))) == 4

    def test_order_across_zero(self, store: Store) -> None:
        years = [-(10**7), -10_000, -101, -45, -44, -1, 0, 1, 2, 44, 1970, 9999, 12_024, 10**7]
        facts = [("X", "was", f"y{y}", term(y * YEAR, (y + 1) * YEAR)) for y in years]
        Random(7).shuffle(facts)
        store.write(says("d", *facts))
        assert objects(store, Pattern(subject="name:x")) == [f"name:y{y}" for y in years]
        for i, y in enumerate(years):
            assert objects(store, Pattern(valid=instant(y * YEAR))) == [f"name:y{y}"]
            after = objects(store, Pattern(valid=Interval(y * YEAR, END)))
            assert after == [f"name:y{v}" for v in years[i:]]
            assert objects(store, Pattern(begun_before=y * YEAR)) == [
                f"name:y{v}" for v in years[:i]
            ]

    @pytest.mark.parametrize("count", counts(300, 5000))
    def test_range_scans_across_zero(self, store: Store, count: int) -> None:
        rnd = Random(11)
        spans = []
        for i in range(200):
            start = rnd.randrange(-(10**7), 10**7) * YEAR
            spans.append((start, start + rnd.choice((1, YEAR, 10**5 * YEAR)), f"name:v{i}"))
        store.write(says("d", *(("X", "was", name[5:], term(s, e)) for s, e, name in spans)))
        borders = [t for s, e, _ in spans for t in (s - 1, s, s + 1, e - 1, e)]
        for _ in range(self.some(count)):
            a, b = sorted((rnd.choice(borders), rnd.choice(borders)))
            expected = [(s, e, n) for s, e, n in spans if s < b + 1 and e > a]
            found = objects(store, Pattern(valid=Interval(a, b + 1)))
            assert sorted(found) == sorted(n for _, _, n in expected)
            ordered = {n: (s, e) for s, e, n in expected}
            assert [ordered[n] for n in found] == sorted(ordered.values())

    @pytest.mark.parametrize("count", counts(40, 2000))
    def test_paging_neither_skips_nor_repeats(self, store: Store, count: int) -> None:
        rnd = Random(13)
        ties = [("X", "was", f"stays {i}", term(rnd.choice((1, 1, 2)), 9)) for i in range(25)]
        store.write(says("d", *ties, nodes=[Node(f"q{i}", f"N {i}") for i in range(25)]))
        steady = {f.id for f in store.match(Pattern())}
        steady_nodes = {n.id for n in store.nodes(Pattern())}
        for run in range(self.some(count)):
            size = (1, 2, 3, 4, 5, 6, 7, 100)[run % 8]
            order = ("start", "id")[run % 2]
            seen, after, moved = [], None, 0
            while page := store.match(Pattern(order=order, limit=size, after=after)):  # type: ignore[arg-type]
                assert len(page) <= size
                seen += [f.id for f in page]
                assert len(seen) == len(set(seen)), f"run {run}"
                after = page[-1].id
                if moved < 3:
                    moved += 1
                    store.write(Batch(delete=("extra",)))
                    new = says("extra", ("X", "was", f"moves {run} {moved}", term(moved, 9)))
                    store.write(new)
            assert steady <= set(seen), f"run {run}"
            names, after = [], None
            while nodes := store.nodes(Pattern(order=order, limit=size, after=after)):  # type: ignore[arg-type]
                names += [n.id for n in nodes]
                assert len(names) == len(set(names))
                after = nodes[-1].id
            assert steady_nodes <= set(names)

    def test_pages_put_together_are_the_whole(self, store: Store) -> None:
        store.write(
            says("d", *(("X", "was", f"v{i % 9}", term(i % 4, 9 + i % 2)) for i in range(40)))
        )
        whole = [f.id for f in store.match(Pattern(valid=instant(3)))]
        for size in (1, 2, 3, 7, 100):
            seen: list[str] = []
            after = None
            while page := store.match(Pattern(valid=instant(3), limit=size, after=after)):
                seen += [f.id for f in page]
                assert len(seen) <= len(whole), size
                after = page[-1].id
            assert seen == whole

    @pytest.mark.parametrize(
        ("relation", "facts", "ends"),
        [
            (Relation("r", "r"), [(1, END), (5, END)], [END, END]),
            (Relation("r", "r", max_objects=1), [(1, END), (5, END), (9, 10)], [5, 9, 10]),
            (Relation("r", "r", max_objects=1), [(1, 8), (5, END)], [8, END]),
            (Relation("r", "r", max_objects=1), [(1, END), (1, END)], [END, END]),
            (Relation("r", "r", max_objects=2), [(1, END), (3, END), (5, END)], [5, END, END]),
            (Relation("r", "r", max_subjects=1), [(1, END), (5, END)], [END, END]),
        ],
    )
    def test_functional_relations(
        self, store: Store, relation: Relation, facts: list[tuple[int, int]], ends: list[int]
    ) -> None:
        store.write(_functional(relation))
        terms = [term(s, e) for s, e in facts]
        store.write(says("d", *(("X", "r", f"v{i}", v) for i, v in enumerate(terms))))
        found = {f.object: f for f in store.match(Pattern(subject="name:x", relation="r"))}
        assert [found[f"name:v{i}"].valid.le for i in range(len(facts))] == ends
        for i, (_, stated) in enumerate(facts):
            assert (found[f"name:v{i}"].ended_by is not None) == (ends[i] != stated)

    def test_stopped_end_filters(self, store: Store) -> None:
        store.write(_functional(Relation("seat", "seat", max_subjects=1)))
        store.write(says("d", ("A", "seat", "town", term(1)), ("B", "seat", "town", term(5))))
        assert [f.subject for f in store.match(Pattern(valid=instant(4)))] == ["name:a"]
        (now,) = store.match(Pattern(valid=instant(5)))
        assert now.subject == "name:b"
        (past,) = store.match(Pattern(subject="name:a"))
        assert past.ended_by == now.id
        reached = store.expand(["name:town"], 1, Pattern(valid=instant(9)), 10)
        assert [r.node for r in reached] == ["name:b"]
        known = store.revision
        store.write(Batch(retract=(f"fact:{now.id}",)))  # reopens the older
        assert [f.subject for f in store.match(Pattern(valid=instant(9)))] == ["name:a"]
        assert [f.subject for f in store.match(Pattern(valid=instant(9), known_at=known))] == [
            "name:b"
        ]

    def test_limit_counts_what_is_left_after_stopping(self, store: Store) -> None:
        store.write(_functional(Relation("seat", "seat", max_subjects=1)))
        store.write(says("d", *((f"H{i}", "seat", "town", term(i)) for i in range(30))))
        found = store.match(Pattern(relation="seat", valid=instant(29), limit=5))
        assert [f.subject for f in found] == ["name:h29"]

    def test_functional_leaves_other_relations_alone(self, store: Store) -> None:
        store.write(_functional(Relation("seat", "seat", max_objects=1, max_subjects=1)))
        store.write(
            says("d", ("A", "seat", "town", term(1)), ("A", "knew", "B", term(1)),
                 ("B", "knew", "town", term(5)), ("B", "seat", "village", term(5)))
        )  # fmt: skip
        assert all(f.valid.le == END and f.ended_by is None for f in store.match(Pattern()))

    def test_known_end_overrides_an_open_one(self, store: Store) -> None:
        store.write(says("one", ("A", "seat", "town", term(1))))
        store.write(says("two", ("A", "seat", "town", term(1, 7))))
        facts = store.match(Pattern())
        assert {f.valid.le for f in facts} == {7}
        assert {s.document for f in facts for s in f.sources} == {"one", "two"}
        assert store.match(Pattern(valid=instant(7))) == []

    def test_every_hop_holds(self, store: Store) -> None:
        store.write(
            says("d", ("A", "knew", "B", term(0, 10)), ("C", "knew", "B", term(5, 10)),
                 ("C", "knew", "D", term(0, 5)), ("A", "knew", "A", term(0, 10)),
                 ("B", "age", 7, term(0, 10)))
        )  # fmt: skip
        for t, reached in ((4, ["b"]), (5, ["b", "c"])):
            found = store.expand(["name:a"], 4, Pattern(valid=instant(t)), 100)
            assert sorted(r.node[5:] for r in found) == reached
            for r in found:
                assert all(f.valid.possible(instant(t)) for f in r.facts)
        whole = store.expand(["name:a"], 4, Pattern(), 100)
        assert [(r.node[5:], len(r.facts)) for r in whole] == [("b", 1), ("c", 2), ("d", 3)]
        assert store.expand(["name:a"], 4, Pattern(), 2) == whole[:2]
        assert store.expand(["name:nobody"], 2, Pattern(), 9) == []

    def test_expand_from_a_hub(self, store: Store) -> None:
        store.write(says("d", *((f"N{i}", "knew", "hub", term(i, i + 5)) for i in range(500))))
        found = store.expand(["name:hub"], 2, Pattern(valid=instant(250)), 50)
        assert {r.node for r in found} == {f"name:n{i}" for i in range(246, 251)}
        assert len(store.expand(["name:hub"], 2, Pattern(), 50)) == 50

    def test_unknown_known_at(self, store: Store) -> None:
        store.write(says("d", ("A", "knew", "B", term(1))))
        assert store.match(Pattern(known_at=0)) == []
        assert only(store.match(Pattern(known_at=store.revision)))
