"""Neo4j against the oracle: as-of queries, paths and two times at once (R-TM-01, R-TM-03)."""

from __future__ import annotations

from random import Random

import pytest

from kgqa.protocols import Pattern
from kgqa.testing.compare import Pair
from kgqa.testing.generate import LABELS, POLICIES, base, pattern, span
from kgqa.testing.naive import key
from kgqa.testing.sizes import counts

SIZES = ((5, 10, 1), (8, 40, 3), (30, 60, 2), (60, 150, 4))


@pytest.mark.parametrize("count", counts(100, 10_000))
def test_as_of_queries(on_server, count):
    for seed, size in enumerate(SIZES):
        rnd = Random(seed)
        print(f"seed {seed}")
        of = base(rnd, *size)
        pair = Pair(on_server())
        for batch in of.batches:
            pair.write(batch)
        pair.check_nodes(Pattern())
        pair.check_names(sorted({key(n.label) for n in of.nodes} | {key(name) for name in LABELS}))
        for _ in range(count // len(SIZES)):
            pair.check(pattern(rnd, of))


@pytest.mark.parametrize("count", counts(60, 10_000))
def test_multi_hop_queries(on_server, count):
    for seed in range(4):
        rnd = Random(seed)
        print(f"seed {seed}")
        of = base(rnd, nodes=5 + seed * 4, facts=6 + seed * 4)
        pair = Pair(on_server())
        for batch in of.batches:
            pair.write(batch)
        for _ in range(count // 4):
            asked = Pattern(
                valid=span(rnd, of.borders),
                match=rnd.choice(POLICIES),
                undated=rnd.choice(("include", "exclude")),
            )
            pair.check_paths([rnd.choice(of.nodes).id], rnd.randrange(1, 5), asked)


@pytest.mark.parametrize("count", counts(150, 10_000))
def test_bitemporal_pairs(on_server, count):
    for seed in range(max(3, count // 200)):
        rnd = Random(seed)
        print(f"seed {seed}")
        of = base(rnd, nodes=6, facts=12)
        Pair(on_server()).check_history(rnd, of)
