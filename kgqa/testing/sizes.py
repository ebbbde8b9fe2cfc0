"""How many cases a test runs, in every change and under ``full``.

Belongs here: the choice. Must not: the counts, which stand beside each test.
"""

from __future__ import annotations

from typing import Any

import pytest


def counts(pr: int, full: int) -> list[Any]:
    """Return the parameters of a test by size: ``pr`` on every change, ``full`` under its marker.

    >>> [getattr(size, "values", size) for size in counts(20, 1000)]
    [20, (1000,)]
    """
    return [pr, pytest.param(full, marks=pytest.mark.full)]
