"""The comparison itself: it agrees on refusals, and says what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.model.things import Merge, Node
from kgqa.protocols import Batch, Pattern
from kgqa.store import create_store
from kgqa.testing.canonical import difference
from kgqa.testing.compare import Pair
from kgqa.testing.contract_base import dump, says, term
from kgqa.testing.data import shared

FACT = says("d", ("A", "knew", "B", term(1, 2)))


@pytest.fixture
def pair(tmp_path):
    store = create_store(str(tmp_path / "a.kb"), {})
    yield Pair(store)
    store.close()


def test_both_refuse_a_cycle(pair):
    assert pair.write(Batch(source="n", nodes=(Node("q1", "A"), Node("q2", "B"))))
    assert pair.write(Batch(merges=(Merge("q1", "q2"),)))
    assert not pair.write(Batch(merges=(Merge("q2", "q1"),)))
    assert not pair.write(Batch(merges=(Merge("q2", "q404"),)))
    pair.check_nodes(Pattern())


def test_a_store_that_differs_is_found_out(pair):
    pair.write(FACT)
    pair.check(Pattern())
    pair.store.write(says("e", ("C", "knew", "B", term(1, 2))))
    for check in (
        lambda: pair.check(Pattern()),
        lambda: pair.check_nodes(Pattern()),
        lambda: pair.check_names(["c"]),
        lambda: pair.check_paths(["name:b"], 1, Pattern()),
    ):
        with pytest.raises(AssertionError):
            check()
    pair.check(Pattern(), 1)  # the past is the same


def test_a_store_that_takes_what_must_be_refused_is_found_out(pair):
    pair.store.write(Batch(source="n", nodes=(Node("q1", "A"), Node("q2", "B"))))
    with pytest.raises(AssertionError, match="must refuse"):
        pair.write(Batch(merges=(Merge("q1", "q2"),)))  # the oracle knows no such nodes


def test_difference_names_what_differs(pair):
    pair.write(FACT)
    before = dump(pair.store)
    pair.write(says("e", ("C", "knew", "B", term(1, 2))))
    lines = difference(before, dump(pair.store))
    assert {line.split()[0] for line in lines} == {"nodes", "facts", "documents"}
    assert difference(before, before) == []


def test_shared_data_is_found_where_it_is_said_to_be(tmp_path, monkeypatch):
    (tmp_path / "dates").mkdir()
    monkeypatch.setenv("KGQA_SHARED_DATA", str(tmp_path))
    assert shared("dates") == tmp_path / "dates"
    assert shared("nothing") is None
    monkeypatch.delenv("KGQA_SHARED_DATA")
    found = shared()
    assert found is None or isinstance(found, Path)
