"""An embedder for tests: counts of letters; fast, deterministic, fails where it is told to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgqa.errors import UnavailableError

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Letters:
    """Embed by letters. ``bad``: texts with this in them fail; ``stop_after``: calls until ^C."""

    dimension = len(_LETTERS)

    def __init__(
        self, name: str = "letters", bad: str | None = None, stop_after: int | None = None
    ) -> None:
        self.name, self.digest = name, f"digest of {name}"
        self.bad, self.stop_after = bad, stop_after
        self.seen: list[str] = []
        self._calls = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors; raise where told."""
        self._calls += 1
        if self.stop_after is not None and self._calls > self.stop_after:
            raise KeyboardInterrupt
        if self.bad is not None and any(self.bad in text for text in texts):
            raise UnavailableError(f"no vector for {self.bad!r}", code="ollama.failed")
        self.seen += texts
        counts = np.array([[t.lower().count(c) + 1e-3 for c in _LETTERS] for t in texts])
        return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)
