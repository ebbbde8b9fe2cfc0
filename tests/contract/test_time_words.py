"""The operators of queries, on facts as a store reads them, against the naive time words."""

from __future__ import annotations

from random import Random

import pytest

from kgqa.model.things import Fact
from kgqa.protocols import Pattern
from kgqa.query import operators
from kgqa.testing import naive
from kgqa.testing.generate import base, span
from kgqa.testing.naive import Row, token
from kgqa.testing.sizes import counts


def row(fact: Fact) -> Row:
    bounds = fact.valid.bounds
    return Row(fact.subject, fact.relation, token(fact.object), bounds, bounds, frozenset())


def said(terms) -> list[tuple]:
    """Return terms of either side as plain tuples."""
    return [
        (t.subject, t.relation, t.object, t.bounds)
        if isinstance(t, naive.Term)
        else (t.subject, t.relation, token(t.object), t.valid.bounds)
        for t in terms
    ]


@pytest.mark.parametrize("count", counts(300, 10_000))
def test_words(fresh, count):
    for seed in range(5):
        rnd = Random(seed)
        print(f"seed {seed}")
        of = base(rnd, nodes=4, facts=40)
        store = fresh()
        for batch in of.batches:
            store.write(batch)
        for _ in range(count // 5):
            asked = Pattern(
                subject=rnd.choice([None, *(n.id for n in of.nodes)]),
                relation=rnd.choice((None, "consul of", "capital", "knew")),
            )
            facts = store.match(asked)
            rnd.shuffle(facts)
            theirs = operators.coalesce(facts)
            mine = naive.coalesce(row(fact) for fact in facts)
            assert sorted(said(theirs)) == sorted(said(mine))
            when = span(rnd, of.borders)
            pairs = [(operators.nth(theirs, n), naive.nth(mine, n)) for n in (1, 2, 3, 99)]
            pairs += [
                (operators.first(theirs), naive.nth(mine, 1)),
                (operators.last(theirs), naive.nth(mine, -1)),
                (operators.before(theirs, when.start), naive.before(mine, when.start)),
                (operators.after(theirs, when.end), naive.after(mine, when.end)),
            ]
            for anchor in mine[:3]:
                start = anchor.bounds[0]
                pairs.append((operators.next_(theirs, start), naive.following(mine, anchor)))
                pairs.append((operators.previous(theirs, start), naive.preceding(mine, anchor)))
            for one, two in pairs:
                assert sorted(said(one)) == sorted(said(two))
            held = {fact.id for fact in facts if naive.holds(fact.valid.bounds, when)}
            assert held == {f.id for f in store.match(Pattern(valid=when))} & {f.id for f in facts}
            assert operators.count(theirs, "subject") == len({t.subject for t in mine})
            assert operators.count(theirs, "object") == len({t.object for t in mine})
            assert operators.count(theirs, "terms") == len(mine)
