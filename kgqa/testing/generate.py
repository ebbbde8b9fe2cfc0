"""Random bases, histories and queries that over-weight what goes wrong (RELIABILITY section 4).

Belongs here: generators over ``random.Random``, so that one seed makes one base, and the
hypothesis strategies made of them, which shrink. Must not: expectations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

from kgqa.model.things import (
    Alias,
    Claim,
    Document,
    End,
    Literal,
    Merge,
    Node,
    Ref,
    Relation,
)
from kgqa.protocols import Batch, Pattern
from kgqa.temporal.interval import BEGIN, DAY_MS, END, UNBOUNDED, UNDATED, Interval, Match, Validity
from kgqa.testing.naive import day_number, fact_label, granule

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from kgqa.testing.oracle import Oracle

LABELS = ("Rome", "ROME", "rome", "Aquae", "Lutetia", "Ab Urbe", "Straße", "Ünal", "Ostia")
KINDS = ("person", "place", None)
RELATIONS = (
    Relation("held office", "held office", max_subjects=1),
    Relation("consul of", "consul of", max_subjects=2),
    Relation("capital", "capital", inverse="capital of", max_objects=1),
    Relation("located in", "located in"),
    Relation("has part", "has part"),
    Relation("population", "population", range="literal", max_objects=1),
)
WORDS = ("held_office", "Consul of", "capital", "located in", "has-part", "population", "knew")
POLICIES: tuple[Match, ...] = ("overlaps", "start", "end", "all")

_NASTY_DAYS = tuple(
    day_number(*ymd)
    for ymd in (
        (0, 12, 31), (1, 1, 1), (0, 2, 29), (-43, 3, 15), (-44, 1, 1), (1582, 10, 4),
        (1582, 10, 15), (1752, 9, 14), (1918, 2, 14), (2000, 2, 29), (1970, 1, 1), (1969, 12, 31),
        (9999, 12, 31), (10_000, 1, 1), (-9999, 1, 1), (12_024, 1, 1), (-100_000, 6, 1),
    )
)  # fmt: skip
_NASTY_YEARS = (-100_000, -10_000, -44, -43, -1, 0, 1, 2, 1582, 1752, 1918, 1970, 2000, 9999)


@dataclass
class Borders:
    """Hold instants that occur, so that later draws meet them exactly or miss them by one."""

    seen: list[int] = field(default_factory=lambda: [day * DAY_MS for day in _NASTY_DAYS])

    def draw(self, rnd: Random) -> int:
        """Return an instant: on a border, one unit or one day beside it, or anywhere."""
        if rnd.random() < 0.05:
            return rnd.randrange(-(10**7), 10**7) * 365 * DAY_MS
        return rnd.choice(self.seen) + rnd.choice((0, 0, 0, 1, -1, DAY_MS, -DAY_MS))

    def note(self, validity: Validity) -> Validity:
        """Remember the bounds of a validity and return it."""
        self.seen += [b for b in validity.bounds if BEGIN + 1 < b < END - 1]
        return validity


def unit(rnd: Random) -> tuple[int, int]:
    """Return the granule of a year, month or day in a year that matters."""
    year = rnd.choice(_NASTY_YEARS) + rnd.choice((0, 0, 1, -1, 3))
    parts = (rnd.choice((1, 2, 12)), rnd.choice((1, 28)))
    return granule(year, *parts[: rnd.randrange(3)])


def validity(rnd: Random, borders: Borders) -> Validity:
    """Return a term: exact, coarse, open, unknown, undated, one instant wide, or circa."""
    shape = rnd.randrange(12)
    if shape == 0:
        return rnd.choice((UNDATED, UNBOUNDED))
    if shape <= 3:  # coarse, inclusive end, possibly one granule
        (s0, s1), (e0, e1) = sorted((unit(rnd), unit(rnd) if rnd.random() < 0.6 else (0, 1)))
        if e1 <= s0 or rnd.random() < 0.4:
            e0, e1 = s0, s1
        bounds = (s0, s1 - 1, e0 + 1, e1)
    elif shape <= 5:  # open or unknown end
        s0, s1 = unit(rnd)
        bounds = (s0, s1 - 1, END, END) if rnd.random() < 0.6 else (s0, s1 - 1, s1, END)
    elif shape == 6:  # open or unknown start
        e = borders.draw(rnd)
        bounds = (BEGIN, BEGIN, e, e) if rnd.random() < 0.5 else (BEGIN, e - 1, e, e)
    elif shape == 7:  # one instant
        t = borders.draw(rnd)
        bounds = (t, t, t + 1, t + 1)
    elif shape == 8:  # circa: no instant is certain
        s, e = sorted((borders.draw(rnd), borders.draw(rnd)))
        bounds = (s - DAY_MS, s + DAY_MS, e - DAY_MS, e + 2 * DAY_MS)
    else:  # exact, open at times
        s, e = sorted((borders.draw(rnd), borders.draw(rnd)))
        bounds = (s, s, END, END) if rnd.random() < 0.3 else (s, s, max(e, s + 1), max(e, s + 1))
    return borders.note(Validity(*bounds))


def span(rnd: Random, borders: Borders) -> Interval:
    """Return what a query asks: an instant at, before or after a border, a granule, or more."""
    shape = rnd.randrange(6)
    if shape <= 2:
        t = borders.draw(rnd)
        return Interval(t, t + 1)
    if shape <= 4:
        return Interval(*unit(rnd))
    start = borders.draw(rnd)
    return Interval(start, max(start + 1, borders.draw(rnd)))


@dataclass(frozen=True)
class Base:
    """Hold a generated base: batches, one a document, in any order; what queries may name."""

    batches: tuple[Batch, ...]
    nodes: tuple[Node, ...]
    borders: Borders

    @property
    def claims(self) -> list[Claim]:
        """Return every claim of every batch."""
        return [claim for batch in self.batches for claim in batch.claims]


def node(rnd: Random, number: int, borders: Borders) -> Node:
    """Return node ``n<number>``; its kind follows from its id, its name is shared by others."""
    label = rnd.choice(LABELS) if rnd.random() < 0.3 else f"Thing {number}"
    aliases = tuple(
        Alias(rnd.choice((*LABELS, f"Old {number}", f"Thing {number + 1}")), validity(rnd, borders))
        for _ in range(rnd.choice((0, 0, 0, 1, 2)))
    )
    year = rnd.choice((-60, 1, 1500, 1900))
    exact = [(granule(y)[0], granule(y + 20)[0]) for y in (year, year + 50)]
    terms = tuple(Validity(s, s, e, e) for s, e in exact[: rnd.choice((0, 0, 1, 2))])
    for term in terms:
        borders.note(term)
    return Node(f"n{number}", label, KINDS[number % 3], aliases, terms)


def ref(rnd: Random, of: Node) -> Ref:
    """Return a reference to a node: by name, by name and kind, or by id."""
    shape = rnd.randrange(4)
    label = of.label
    if of.aliases and rnd.random() < 0.3:
        label = rnd.choice(of.aliases).label
    if shape == 0:
        return Ref(of.label, of.id, of.kind)
    return Ref(label.upper() if shape == 1 else label, None, of.kind if shape == 2 else None)


def claim(rnd: Random, nodes: Sequence[Node], borders: Borders) -> Claim:
    """Return a claim between nodes of the base, or to a literal."""
    word = rnd.choice(WORDS)
    target: Ref | Literal = ref(rnd, rnd.choice(nodes))
    if word == "population":
        target = Literal(rnd.choice((1, True, "1", 1.5, -44, "Rome")))
    subject = ref(rnd, rnd.choice(nodes))
    return Claim(
        subject, word, target, validity(rnd, borders), line=rnd.randrange(3),
        confidence=rnd.choice((1.0, 0.5)),
    )  # fmt: skip


def follower(rnd: Random, of: Claim, borders: Borders) -> Claim:
    """Return the same again from where a claim may end, give or take one unit."""
    start = of.valid.le + rnd.choice((0, 0, 0, 1, -1))
    end = start + rnd.choice((1, DAY_MS, 366 * DAY_MS))
    bounds = rnd.choice(((start, start, end, end), (start, start, END, END)))
    return replace(of, valid=borders.note(Validity(*bounds)))


def chain(rnd: Random, nodes: Sequence[Node], borders: Borders) -> list[Claim]:
    """Return a path of up to four hops that all hold at one instant, except exactly one."""
    t = borders.draw(rnd)
    length = min(len(nodes) - 1, rnd.randrange(1, 5))
    stops = rnd.sample(list(nodes), length + 1)
    fails = rnd.randrange(length)
    claims = []
    for i in range(length):
        term = Validity(t, t, t + 1, t + 1) if rnd.random() < 0.5 else Validity(t, t, END, END)
        if i == fails:
            bounds = rnd.choice(((t - 9, t - 9, t, t), (t + 1, t + 1, END, END)))
            term = Validity(*bounds)
        here, there = (Ref(n.label, n.id, n.kind) for n in stops[i : i + 2])
        if rnd.random() < 0.3:
            here, there = there, here
        claims.append(Claim(here, rnd.choice(("has part", "knew")), there, borders.note(term)))
    return claims


def base(rnd: Random, nodes: int = 12, facts: int = 30, documents: int = 3) -> Base:
    """Return a base of about so many nodes and facts in so many documents.

    Every document states some facts of the others again: facts have several sources.
    """
    borders = Borders()
    things = tuple(node(rnd, i, borders) for i in range(nodes))
    claims = [claim(rnd, things, borders) for _ in range(facts)]
    claims += [follower(rnd, c, borders) for c in claims if c.valid.le < END and rnd.random() < 0.3]
    while rnd.random() < 0.7:
        claims += chain(rnd, things, borders)
    batches = []
    for i in range(documents):
        name = f"d{i}"
        said = [c for c in claims if rnd.random() < 1.5 / documents]
        known = tuple(n for n in things if rnd.random() < 1.5 / documents)
        batches.append(
            Batch(
                source=name,
                documents=(Document(name, f"{name}.jsonl", media="application/jsonl"),),
                nodes=known,
                claims=tuple(said),
                relations=RELATIONS,
            )
        )
    return Base(tuple(batches), things, borders)


def pattern(rnd: Random, of: Base, known_at: int | None = None) -> Pattern:
    """Return a query over facts, mostly with a time."""
    subject = rnd.choice(of.nodes).id if rnd.random() < 0.4 else None
    value: str | Literal | None = rnd.choice(of.nodes).id if rnd.random() < 0.2 else None
    if rnd.random() < 0.05:
        value = Literal(rnd.choice((1, True, "1")))
    return Pattern(
        subject=subject,
        relation=rnd.choice(RELATIONS).key if rnd.random() < 0.3 else None,
        object=value,
        valid=span(rnd, of.borders) if rnd.random() < 0.9 else None,
        match=rnd.choice(POLICIES),
        begun_before=of.borders.draw(rnd) if rnd.random() < 0.2 else None,
        known_at=known_at,
        undated=rnd.choice(("include", "include", "exclude")),
    )


def correction(rnd: Random, oracle: Oracle, of: Base) -> Batch | tuple[str, ...]:
    """Return the next step of a history: end, retract, delete, re-add, merge, undo or erase."""
    rows, choice = oracle.facts(), rnd.randrange(10)
    label = fact_label(rnd.choice(rows)) if rows else None
    if label and choice <= 1:
        return Batch(retract=(label,), note="retract")
    if label and choice <= 3:
        open_ended = [row for row in rows if row.stated[3] == END and row.stated[0] > BEGIN]
        row = rnd.choice(open_ended or rows)
        t = max(of.borders.draw(rnd), row.stated[0] + 1)
        return Batch(ends=(End(fact_label(row), t, t),), note="end")
    if label and choice == 4:
        return (label,)
    state = oracle.state()
    if choice == 5 and state.documents:
        return Batch(delete=(rnd.choice(sorted(state.documents)),), note="delete")
    if choice == 6 and state.merges:
        return Batch(undo=rnd.choice(state.merges)[0], note="undo")
    declared = sorted({n.id for _, _, n in state.nodes})
    if choice == 7 and len(declared) > 3:
        one = rnd.choice(declared)
        alike = [n for n in declared if n != one and (int(n[1:]) - int(one[1:])) % 3 == 0]
        if alike:
            return Batch(merges=(Merge(one, rnd.choice(alike)),), note="merge")
    return rnd.choice(of.batches)


def validities() -> SearchStrategy[Validity]:
    """Return the hypothesis strategy of terms."""
    from hypothesis import strategies as st

    return st.randoms(use_true_random=False).map(lambda rnd: validity(rnd, Borders()))


def bases(nodes: int = 6, facts: int = 10) -> SearchStrategy[Base]:
    """Return the hypothesis strategy of bases; they shrink towards few facts."""
    from hypothesis import strategies as st

    sizes = st.tuples(st.integers(2, nodes), st.integers(0, facts), st.integers(1, 3))
    rnds = st.randoms(use_true_random=False)
    return st.builds(lambda rnd, size: base(rnd, *size), rnds, sizes)
