"""VectorIndex against a naive sort of float64 dot products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.errors import FaultError, InputError
from kgqa.store.vectors import VectorIndex


def naive(ids, matrix, vector, k, mask):
    scored = []
    for row, label in enumerate(ids):
        if mask is None or mask[row]:
            score = float((matrix[row] * vector.astype(np.float64)).sum())
            scored.append((-score, label, row))
    return [(row, -score) for score, _, row in sorted(scored)[:k]]


def unit(rng, count, width):
    rows = rng.standard_normal((count, width), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@st.composite
def cases(draw):
    count, width = draw(st.integers(0, 24)), draw(st.integers(1, 4))
    number = st.sampled_from([-1.0, -0.5, 0.0, 0.1, 1 / 3, 0.7, 1.0])  # few values: many ties
    matrix = np.array(
        draw(st.lists(number, min_size=count * width, max_size=count * width)), np.float32
    ).reshape(count, width)
    vector = np.array(draw(st.lists(number, min_size=width, max_size=width)), np.float32)
    order = draw(st.permutations(range(count)))
    ids = [f"id{n:02}" for n in order]
    flags = st.lists(st.booleans(), min_size=count, max_size=count)
    sparse = st.sets(st.integers(0, max(count - 1, 0)), max_size=3).map(
        lambda rows: [row in rows for row in range(count)]
    )
    mask = draw(st.none() | flags | sparse)
    return (
        ids,
        matrix,
        vector,
        draw(st.integers(0, 30)),
        None if mask is None else np.array(mask, bool),
    )


@given(cases())
@settings(max_examples=150, deadline=None)
def test_equals_a_naive_sort(case):
    ids, matrix, vector, k, mask = case
    assert VectorIndex(ids, matrix).search(vector, k, mask) == naive(ids, matrix, vector, k, mask)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.002, 0.05, 0.3, 1.0]))
@settings(max_examples=20, deadline=None)
def test_equals_a_naive_sort_on_dense_vectors(seed, share):
    rng = np.random.default_rng(seed)
    matrix = unit(rng, 1500, 48)
    matrix[700:] = matrix[:800]  # near and exact duplicates, far apart
    matrix[-100:] += np.float32(1e-7)
    ids = [f"n{n}" for n in rng.permutation(1500)]
    mask = rng.random(1500) < share
    vector = unit(rng, 1, 48)[0]
    assert VectorIndex(ids, matrix).search(vector, 25, mask) == naive(ids, matrix, vector, 25, mask)


def test_equal_rows_tie_by_id_wherever_they_stand_and_however_they_are_found():
    rng = np.random.default_rng(7)
    matrix = np.repeat(unit(rng, 1, 384), 5003, axis=0)  # more than one block of exact sums
    ids = [f"{n:05}" for n in rng.permutation(5003)]
    index = VectorIndex(ids, matrix)
    vector = unit(rng, 1, 384)[0]
    full = index.search(vector, 50)
    assert [ids[row] for row, _ in full] == sorted(ids)[:50]
    assert len({score for _, score in full}) == 1
    mask = np.zeros(5003, bool)
    mask[[row for row, _ in full]] = True  # 1 %: gathered
    assert index.search(vector, 50, mask) == full


@pytest.mark.parametrize("mask", [None, np.zeros(3, bool), np.array([True, False, True])])
def test_gives_all_allowed_when_k_is_larger(mask):
    index = VectorIndex(["a", "b", "c"], np.eye(3, dtype=np.float32))
    found = index.search(np.float32([0.5, 0.25, 1]), 10, mask)
    allowed = {0, 1, 2} if mask is None else set(np.flatnonzero(mask).tolist())
    assert {row for row, _ in found} == allowed


def test_an_empty_index_finds_nothing():
    index = VectorIndex([], np.empty((0, 4), np.float32))
    assert len(index) == 0
    assert index.search(np.ones(4, np.float32), 5) == []
    assert index.search(np.ones(4, np.float32), 5, np.zeros(0, bool)) == []


@pytest.mark.parametrize(
    "vector", [[1.0], [1.0, 0.0, 0.0], [[1.0, 0.0]], [np.nan, 0.0], [np.inf, 0.0]]
)
def test_refuses_a_query_of_another_space(vector):
    index = VectorIndex(["a"], np.ones((1, 2), np.float32))
    with pytest.raises(InputError) as caught:
        index.search(np.array(vector, np.float32), 1)
    assert caught.value.code == "vectors.query"


@pytest.mark.parametrize(
    "matrix",
    [
        np.ones((1, 2), np.float64),
        np.ones(2, np.float32),
        np.ones((2, 2), np.float32),
        np.float32([[np.nan, 0]]),
        np.float32([[-np.inf, 0]]),
    ],
)
def test_refuses_a_damaged_matrix(matrix):
    with pytest.raises(FaultError) as caught:
        VectorIndex(["a"], matrix)
    assert caught.value.code == "vectors.corrupt"


@pytest.mark.full
@pytest.mark.parametrize("percent", [0.1, 1, 10, 50, 100])
def test_finds_what_a_bare_product_finds_at_size(percent):
    """k = 10 of 100,000 x 384; what it costs is measured in benchmarks/store.py."""
    rng = np.random.default_rng(1)
    matrix = unit(rng, 100_000, 384)
    mask = rng.random(100_000) < percent / 100
    index = VectorIndex([str(n) for n in range(100_000)], matrix)
    for vector in unit(rng, 30, 384):
        scores = np.where(mask, matrix @ vector, -np.inf)
        expected = np.argpartition(scores, -10)[-10:]
        assert {row for row, _ in index.search(vector, 10, mask)} == set(expected.tolist())
