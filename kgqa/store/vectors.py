"""Exact filtered nearest neighbours over a matrix in memory.

Belongs here: arithmetic on vectors and masks. Must not: SQL, files, times; who may see which
row is decided by the caller, in the mask. No approximate index: one scan of 100,000 rows costs
milliseconds, and a filter costs an approximate index its recall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgqa.errors import FaultError, InputError

_GATHER_BELOW = 0.12
"""Share of rows under which copying them out beats a product with all of them."""
_BLOCK = 4096
_EPSILON = float(np.finfo(np.float32).eps)


class VectorIndex:
    """Find the rows of ``matrix`` with the largest dot product; row i belongs to ``ids[i]``.

    ``matrix`` is (n, d) float32, kept and never copied or changed. With unit rows and a unit
    query the scores are cosines. Raises FaultError (``vectors.corrupt``) if the matrix has
    another shape or type, or numbers that are not finite.

    >>> index = VectorIndex(["b", "a", "c"], np.float32([[1, 0], [1, 0], [0, 1]]))
    >>> index.search(np.float32([1, 0]), 2)
    [(1, 1.0), (0, 1.0)]
    >>> index.search(np.float32([1, 0]), 2, np.array([True, False, True]))
    [(0, 1.0), (2, 0.0)]
    """

    __slots__ = ("_longest", "ids", "matrix")

    def __init__(self, ids: Sequence[str], matrix: NDArray[np.float32]):
        if matrix.dtype != np.float32 or matrix.ndim != 2 or len(matrix) != len(ids):
            raise FaultError(
                f"{len(ids)} ids with a {matrix.dtype} matrix of shape {matrix.shape}",
                code="vectors.corrupt",
                hint="run kgqa index",
            )
        self.ids = ids
        self.matrix = matrix
        squares = np.einsum("ij,ij->i", matrix, matrix)
        self._longest = float(np.sqrt(squares.max(initial=0.0)))
        if not np.isfinite(self._longest):
            raise FaultError(
                "a stored vector is not finite", code="vectors.corrupt", hint="run kgqa index"
            )

    def __len__(self) -> int:
        return len(self.ids)

    def search(
        self, vector: NDArray[np.float32], k: int, mask: NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """Return the ``k`` best (row, score), by score downwards, then by id upwards.

        ``mask`` is (n,) bool, the rows allowed; None is all. If k are allowed, k are returned.
        Exact: scores are summed in float64 in the order of the columns, so that equal rows tie
        wherever they stand and however they were found. Raises InputError (``vectors.query``)
        for a vector of another length or not finite.
        """
        length = (
            math.sqrt(vector.dot(vector)) if vector.shape == self.matrix.shape[1:] else math.nan
        )
        if not math.isfinite(length):
            raise InputError(
                f"query vector of shape {vector.shape}, or not finite; "
                f"the index holds {self.matrix.shape[1]} numbers a row",
                code="vectors.query",
                hint="embed the question with the model that made the index",
            )
        rows = np.arange(len(self)) if mask is None else np.flatnonzero(mask)
        k = min(k, len(rows))
        if k < 1:
            return []
        if mask is None:
            scores = self.matrix @ vector
        elif len(rows) < _GATHER_BELOW * len(self):
            scores = self.matrix[rows] @ vector
        else:
            scores = (self.matrix @ vector)[mask]
        # A float32 dot product is off by at most d * eps * |a| * |b|, in any order of summation:
        # the k-th best as computed may be too high by that and the true k-th best too low.
        slack = 2 * len(vector) * _EPSILON * self._longest * length
        kth = np.partition(scores, len(scores) - k)[len(scores) - k]
        rows = rows[np.flatnonzero(scores >= kth - slack)]
        scored = zip(self._exact(rows, vector).tolist(), rows.tolist(), strict=True)
        best = sorted((-score, self.ids[row], row) for score, row in scored)[:k]
        return [(row, -score) for score, _, row in best]

    def _exact(self, rows: NDArray[np.intp], vector: NDArray[np.float32]) -> NDArray[np.float64]:
        wide = vector.astype(np.float64)
        exact = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            exact[start : start + _BLOCK] = (self.matrix[block] * wide).sum(axis=1)
        return exact
