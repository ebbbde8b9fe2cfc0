"""Progress on standard error, only on a terminal and only after two seconds.

Belongs here: the bar. Must not: knowing what is done.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kgqa.surfaces.text import clean

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 2.0


class Bar:
    """Show stages with counts; quiet where standard error is not a terminal."""

    def __init__(self) -> None:
        self._quiet = not (sys.stderr and sys.stderr.isatty())
        self._began = time.monotonic()
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def update(self, stage: str, done: int, total: int | None) -> None:
        """Show that ``done`` of ``total`` units of a stage are done (total None = unknown)."""
        if self._quiet or time.monotonic() - self._began < DELAY:
            return
        if self._progress is None:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
        if stage not in self._tasks:
            from rich.markup import escape

            self._tasks[stage] = self._progress.add_task(escape(clean(stage)), total=total)
        self._progress.update(self._tasks[stage], completed=done, total=total)
