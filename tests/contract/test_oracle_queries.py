"""A store against the oracle on bases with nasty times (RELIABILITY 2.1); seeds are printed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from kgqa.model.things import Alias, Claim, Node, Ref, Relation
from kgqa.protocols import Batch, Pattern, Store
from kgqa.temporal.interval import BEGIN, DAY_MS, END, Interval, Validity
from kgqa.testing.compare import Pair, seen
from kgqa.testing.contract_base import instant, says, term
from kgqa.testing.generate import (
    LABELS,
    POLICIES,
    Base,
    Borders,
    base,
    pattern,
    span,
    validity,
)
from kgqa.testing.naive import DAY, certain, granule, holds, key
from kgqa.testing.sizes import counts


def loaded(make, of: Base, indexed: bool = True) -> Pair:
    pair = Pair(make())
    for batch in of.batches:
        pair.write(batch)
    if not indexed:
        assert drop_indexes(pair.store) >= 4
    return pair


INDEXED = pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "no indexes"])


SIZES = ((5, 10, 1), (8, 40, 3), (30, 60, 2), (60, 150, 4), (200, 500, 3))


@INDEXED
@pytest.mark.parametrize("count", counts(2000, 10_000))
def test_as_of_queries(fresh, count, indexed):
    """R-TM-01: facts of a node, holders of a value, everything, at nasty times."""
    for seed in range(len(SIZES) * (1 if count <= 2000 else 10)):
        rnd = Random(seed)
        print(f"seed {seed}")
        of = base(rnd, *SIZES[seed % len(SIZES)])
        pair = loaded(fresh, of, indexed)
        pair.check_nodes(Pattern())
        pair.check_names(sorted({key(n.label) for n in of.nodes} | {key(name) for name in LABELS}))
        for _ in range(count // len(SIZES) // (1 if count <= 2000 else 10)):
            asked = pattern(rnd, of)
            pair.check(asked)
            if rnd.random() < 0.1:
                pair.check_nodes(
                    Pattern(valid=asked.valid, match=asked.match, undated=asked.undated)
                )


@INDEXED
@pytest.mark.parametrize("count", counts(300, 10_000))
def test_multi_hop_queries(fresh, count, indexed):
    """R-TM-01: 1 to 4 hops, some of which exactly one hop fails at the time asked."""
    for seed in range(10):
        rnd = Random(seed)
        print(f"seed {seed}")
        of = base(rnd, nodes=5 + seed * 2, facts=6 + seed * 2)
        pair = loaded(fresh, of, indexed)
        for _ in range(count // 10):
            seeds = [rnd.choice(of.nodes).id]
            asked = Pattern(
                valid=span(rnd, of.borders),
                match=rnd.choice(POLICIES),
                undated=rnd.choice(("include", "exclude")),
            )
            pair.check_paths(seeds, rnd.randrange(1, 5), asked)


@pytest.mark.parametrize("count", counts(2_000, 10_000))
def test_bitemporal_pairs(fresh, count):
    """R-TM-03: as_of x known_at over histories of ends, retractions, deletes, merges, erasures."""
    histories = count // 50
    for seed in range(histories):
        rnd = Random(seed)
        print(f"seed {seed}")
        of = base(rnd, nodes=6, facts=12)
        Pair(fresh()).check_history(rnd, of)


# Metamorphic relations (R-TM-02).


def answers(store: Store, asked: Pattern) -> set[tuple]:
    """Return what is asked, without ids of facts and sources."""
    return {seen(fact)[1:5] for fact in store.match(asked)}


def write_all(store: Store, batches) -> Store:
    for batch in batches:
        store.write(batch)
    return store


def changed(of: Base, change) -> list[Batch]:
    """Return the batches with every claim changed."""
    return [
        replace(batch, claims=tuple(new for c in batch.claims for new in change(c)))
        for batch in of.batches
    ]


def moved(v: Validity, by: int) -> Validity:
    """Return a term so many ms later; what is not a date stays."""
    return Validity(*(b + by if BEGIN + 1 < b < END - 1 else b for b in v.bounds))


QUERIES = counts(200, 1000)


@pytest.mark.parametrize("count", QUERIES)
def test_indexes_off_equals_on(fresh, count):
    for seed in range(5):
        rnd = Random(seed)
        of = base(rnd, nodes=20, facts=60)
        on, off = write_all(fresh(), of.batches), write_all(fresh(), of.batches)
        dropped = drop_indexes(off)
        assert dropped >= 4
        for _ in range(count // 5):
            asked = pattern(rnd, of)
            assert on.match(asked) == off.match(asked), f"seed {seed}"
            seeds = [rnd.choice(of.nodes).id]
            time = Pattern(valid=asked.valid, match=asked.match)
            assert on.expand(seeds, 2, time, 10**6) == off.expand(seeds, 2, time, 10**6)
            assert on.nodes(time) == off.nodes(time)


def drop_indexes(store) -> int:
    """Drop every index of a base that no constraint needs; return how many."""
    import sqlite3

    connection = sqlite3.connect(store.path)
    try:
        rows = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT LIKE '%UNIQUE%'"
        ).fetchall()
        for (name,) in rows:
            connection.execute(f'DROP INDEX "{name}"')
        connection.commit()
    finally:
        connection.close()
    return len(rows)


@pytest.mark.parametrize("count", QUERIES)
def test_shifted_dates_shift_answers(fresh, count):
    for seed in range(5):
        rnd = Random(seed)
        of = base(rnd, nodes=10, facts=30)
        by = rnd.choice((1, -1, 366, -2020 * 365, 10**6)) * DAY_MS
        plain = write_all(fresh(), of.batches)
        shifted = write_all(
            fresh(), changed(of, lambda c, by=by: [replace(c, valid=moved(c.valid, by))])
        )
        for _ in range(count // 5):
            asked = pattern(rnd, of)
            valid = asked.valid and Interval(asked.valid.start + by, asked.valid.end + by)
            before = None if asked.begun_before is None else asked.begun_before + by
            later = replace(asked, valid=valid, begun_before=before)
            expected = {
                (s, r, o, moved(Validity(*bounds), by).bounds)
                for s, r, o, bounds in answers(plain, asked)
            }
            assert answers(shifted, later) == expected, f"seed {seed}"


@pytest.mark.parametrize("count", QUERIES)
def test_a_fact_of_another_time_changes_nothing(fresh, count):
    for seed in range(5):
        rnd = Random(seed)
        of = base(rnd, nodes=10, facts=20)
        store = write_all(fresh(), of.batches)
        for i in range(count // 5):
            t = of.borders.draw(rnd)
            asked = Pattern(valid=instant(t), subject=rnd.choice(of.nodes).id)
            before = answers(store, asked)
            ended = term(t - rnd.randrange(1, 9), t) if i % 2 else term(t + 1)
            subject = Ref("", asked.subject)
            store.write(
                Batch(source=f"x{i}", claims=(Claim(subject, "envied", Ref(f"Envy {i}"), ended),))
            )
            assert answers(store, asked) == before, f"seed {seed}"


@pytest.mark.parametrize("count", QUERIES)
def test_split_intervals_hold_at_the_same_times(fresh, count):
    unlimited = {"located in", "has-part", "knew"}

    def split(rnd: Random, c: Claim) -> list[Claim]:
        es, ls, ee, le = c.valid.bounds
        if c.relation not in unlimited or es != ls or ee != le or le - es < 2 or le == END:
            return [c]
        middle = rnd.randrange(es + 1, le)
        return [replace(c, valid=term(es, middle)), replace(c, valid=term(middle, le))]

    for seed in range(5):
        rnd = Random(seed)
        of = base(rnd, nodes=10, facts=40)
        whole = write_all(fresh(), of.batches)
        halves = write_all(fresh(), changed(of, lambda c, rnd=rnd: split(rnd, c)))
        for _ in range(count // 5):
            t = of.borders.draw(rnd)
            asked = Pattern(valid=instant(t), subject=rnd.choice(of.nodes).id)
            for relation in ("located in", "has part", "knew"):
                one = {a[:3] for a in answers(whole, replace(asked, relation=relation))}
                two = {a[:3] for a in answers(halves, replace(asked, relation=relation))}
                assert one == two, f"seed {seed}"


@pytest.mark.parametrize("count", QUERIES)
def test_other_ids_give_the_same_answers(fresh, count):
    def other(name: str) -> str:
        return "z" + name[::-1] if name[0] == "n" and name[1:].isdigit() else name

    def renamed(c: Claim) -> list[Claim]:
        sides = [
            replace(s, id=other(s.id)) if isinstance(s, Ref) and s.id else s
            for s in (c.subject, c.object)
        ]
        return [replace(c, subject=sides[0], object=sides[1])]

    for seed in range(5):
        rnd = Random(seed)
        of = base(rnd, nodes=10, facts=30)
        plain = write_all(fresh(), of.batches)
        batches = [
            replace(b, nodes=tuple(replace(n, id=other(n.id)) for n in b.nodes))
            for b in changed(of, renamed)
        ]
        odd = write_all(fresh(), batches)
        for _ in range(count // 5):
            asked = pattern(rnd, of)
            value = other(asked.object) if isinstance(asked.object, str) else asked.object
            mirrored = replace(asked, subject=asked.subject and other(asked.subject), object=value)
            expected = {
                (other(s), r, (o[0], other(o[1]) if o[0] == "node" else o[1]), bounds)
                for s, r, o, bounds in answers(plain, asked)
            }
            assert answers(odd, mirrored) == expected, f"seed {seed}"


# Functional relations, names, precisions.


@pytest.mark.parametrize("count", counts(100, 2000))
def test_functional_histories(fresh, count):
    """R-TM-12: gaps, overlaps, two sources that disagree; nothing is dropped or moved."""
    bounded = (
        Relation("mayor", "mayor", max_objects=1),
        Relation("consul", "consul", max_objects=2),
        Relation("seat", "seat", max_subjects=1),
    )
    for first in range(0, count, 25):
        borders = Borders()
        pair = Pair(fresh())
        pair.write(Batch(relations=bounded))
        claims: dict[str, list[Claim]] = {"one": [], "two": []}
        for seed in range(first, first + 25):
            rnd = Random(seed)
            for _ in range(rnd.randrange(2, 8)):
                relation = rnd.choice(("mayor", "consul", "seat", "knew"))
                sides = [Ref(f"S{seed}"), Ref(f"v{seed} {rnd.randrange(4)}")]
                if relation == "seat":
                    sides.reverse()
                claim = Claim(sides[0], relation, sides[1], validity(rnd, borders))
                claims[rnd.choice(("one", "two"))].append(claim)
        for source, said in claims.items():
            pair.write(Batch(source=source, claims=tuple(said)))
        pair.check(Pattern())
        stated = {f.id for f in pair.store.match(Pattern())}
        assert len(stated) == len(pair.state(None)[1]), f"seeds from {first}"
        for fact in pair.store.match(Pattern(relation="knew")):
            assert fact.ended_by is None
        for seed in range(first, first + 25):
            rnd = Random(seed)
            pair.check(Pattern(subject=f"name:s{seed}", valid=span(rnd, borders)))


RENAMED = (  # place, the days on which its next name begins, earliest name first
    ("Byzantium", ((330, 5, 11), "Constantinople"), ((1930, 3, 28), "Istanbul")),
    ("Saint Petersburg", ((1914, 9, 1), "Petrograd"), ((1924, 1, 26), "Leningrad")),
    ("Christiania", ((1877, 1, 1), "Kristiania"), ((1925, 1, 1), "Oslo")),
    ("Tsaritsyn", ((1925, 4, 10), "Stalingrad"), ((1961, 11, 10), "Volgograd")),
    ("New Amsterdam", ((1664, 9, 8), "New York")),
    ("Edo", ((1868, 9, 3), "Tokyo")),
    ("Batavia", ((1942, 8, 8), "Jakarta")),
    ("Salisbury", ((1982, 4, 18), "Harare")),
    ("Saigon", ((1976, 7, 2), "Ho Chi Minh City")),
    ("Königsberg", ((1946, 7, 4), "Kaliningrad")),
    ("Danzig", ((1945, 3, 30), "Gdańsk")),
    ("Bombay", ((1995, 11, 1), "Mumbai")),
    ("Madras", ((1996, 7, 17), "Chennai")),
    ("Burma", ((1989, 6, 18), "Myanmar")),
    ("Siam", ((1939, 6, 24), "Thailand")),
    ("Ceylon", ((1972, 5, 22), "Sri Lanka")),
    ("Upper Volta", ((1984, 8, 4), "Burkina Faso")),
    ("Gold Coast", ((1957, 3, 6), "Ghana")),
)


def named_at(store: Store, keys: list[str], t: int) -> dict[str, set[str]]:
    """Return, of each node that bears a key, the labels that certainly hold at an instant."""
    found: dict[str, set[str]] = {}
    for hit in store.names(keys):
        if certain(hit.valid.bounds, instant(t)):
            found.setdefault(hit.node, set()).add(hit.label)
    return found


def test_real_renamings(fresh):
    """R-TM-13: any name finds the place; the name of the day is the one valid on it."""
    nodes, checks = [], 0
    for i, (first, *changes) in enumerate(RENAMED):
        days = [granule(*day)[0] for day, _ in changes]
        names = [first, *(name for _, name in changes)]
        terms = zip([BEGIN, *days], [*days, END], strict=True)
        aliases = [Alias(n, Validity(s, s, e, e)) for n, (s, e) in zip(names, terms, strict=True)]
        nodes.append(Node(f"p{i}", names[-1], "place", tuple(aliases)))
    store = fresh()
    store.write(Batch(source="n", nodes=tuple(nodes)))
    for i, (first, *changes) in enumerate(RENAMED):
        names = [first, *(name for _, name in changes)]
        for name in names:
            store.write(says(f"about {name}", (name.upper(), "knew", "Nobody", term(1, 2))))
        for day, name in changes:
            t = granule(*day)[0]
            before = names[names.index(name) - 1]
            for when, label in ((t - DAY, before), (t - 1, before), (t, name), (t + DAY, name)):
                assert named_at(store, [key(n) for n in names], when) == {f"p{i}": {label}}
                checks += 1
        assert len(store.match(Pattern(subject=f"p{i}"))) == 1
    assert checks >= 60


@pytest.mark.parametrize("count", counts(60, 300))
def test_random_renamings(fresh, count):
    for seed in range(0, count, 20):
        rnd = Random(seed)
        pair = Pair(fresh())
        borders = Borders()
        nodes = []
        for i in range(20):
            cuts = sorted({borders.draw(rnd) for _ in range(rnd.randrange(1, 5))})
            spans = zip([BEGIN, *cuts], [*cuts, END], strict=True)
            pool = [f"Old {rnd.randrange(30)}" for _ in range(5)]
            names = [Alias(rnd.choice(pool), Validity(s, s, e, e)) for s, e in spans]
            nodes.append(Node(f"n{i}", f"Town {i}", "place", tuple(names)))
        claims = [Claim(Ref(rnd.choice(n.aliases).label.lower()), "knew", Ref("x")) for n in nodes]
        steps = [Batch(source="n", nodes=tuple(nodes)), Batch(source="f", claims=tuple(claims))]
        rnd.shuffle(steps)
        for step in steps:
            pair.write(step)
        keys = sorted({key(a.label) for n in nodes for a in n.aliases})
        pair.check_names(keys)
        pair.check(Pattern())
        found = {(h.node, h.label, h.valid.bounds) for h in pair.store.names(keys) if not h.main}
        declared = {(n.id, a.label, a.valid.bounds) for n in nodes for a in n.aliases}
        assert found == declared, f"seed {seed}"


_START, _END = (1815, 6, 18, 14, 30, 15), (1848, 2, 24, 9, 5, 59)


def test_mixed_precisions(fresh):
    """R-TM-14: 6 precisions of start, end and as-of, 4 policies, 3 borders: 2,592 verdicts."""
    facts, bounds = [], {}
    for ps in range(1, 7):
        for pe in range(1, 7):
            (s0, s1), (e0, e1) = granule(*_START[:ps]), granule(*_END[:pe])
            bounds[f"v{ps}{pe}"] = (s0, s1 - 1, e0 + 1, e1)
            facts.append(("X", "was", f"v{ps}{pe}", Validity(s0, s1 - 1, e0 + 1, e1)))
    store = fresh()
    store.write(says("d", *facts))
    verdicts = 0
    for name, (es, _, _, le) in bounds.items():
        for pa in range(1, 7):
            for border in (es, le - 1, le):
                asked = Interval(*containing(border, pa))
                for match in POLICIES:
                    found = store.match(Pattern(object=f"name:{name}", valid=asked, match=match))
                    assert bool(found) is holds(bounds[name], asked, match), (name, asked, match)
                    for fact in found:
                        sure = fact.valid.certainty(asked, match) == "definite"
                        assert sure is certain(bounds[name], asked, match)
                    verdicts += 1
    assert verdicts == 2592


def containing(t: int, precision: int) -> tuple[int, int]:
    """Return the granule of a precision (1 year to 6 second) that an instant lies in."""
    parts: tuple[int, ...] = ()
    for choices in (range(1800, 1900), range(1, 13), range(1, 32), range(24), range(60), range(60)):
        if len(parts) == precision:
            break
        for value in choices:
            start, end = granule(*parts, value)
            if start <= t < end:
                parts = (*parts, value)
                break
    return granule(*parts)
