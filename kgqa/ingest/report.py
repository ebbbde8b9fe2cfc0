"""What a load did: counted while it runs, told once at its end.

Belongs here: LoadReport and its tally. Must not: reading or writing anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgqa.model.things import Failure
from kgqa.protocols import Batch, Receipt

MAX_LISTED = 1_000
"""Failures that a report lists; the base keeps all of them."""


def together(receipts: Sequence[Receipt], revision: int) -> Receipt:
    """Return the receipt of writes that a user made as one."""
    counts = sum((Counter(r.counts) for r in receipts), Counter[str]())
    ambiguous = dict.fromkeys(name for r in receipts for name in r.ambiguous)
    return Receipt(revision, any(r.changed for r in receipts), counts, tuple(ambiguous))


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Hold what a load did, or under ``dry_run`` would do.

    ``counts``: documents, chunks, nodes, claims, failed, replaced. ``ambiguous``: keys
    of names that several nodes bear. ``skipped``: sources whose content is in the base.
    ``ignored``: files in folders that have no known format. ``conflicts``: one id with two
    descriptions.
    """

    counts: Mapping[str, int]
    failures: tuple[Failure, ...] = ()
    ambiguous: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    revision: int = 0
    dry_run: bool = False


@dataclass(slots=True)
class Tally:
    """Count what happens; ``report`` freezes it."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    ambiguous: set[str] = field(default_factory=set)
    skipped: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)

    def fail(self, failure: Failure) -> None:
        """Count a unit that could not be read."""
        self.counts["failed"] += 1
        if len(self.failures) < MAX_LISTED:
            self.failures.append(failure)

    def document(self, batch: Batch) -> None:
        """Count what came of a document."""
        self.counts.update(documents=1, chunks=len(batch.chunks), claims=len(batch.claims))

    def rows(self, batch: Batch) -> None:
        """Count what came of rows."""
        self.counts["nodes"] += len(batch.nodes)
        self.counts["claims"] += len(batch.claims)
        for failure in batch.failures:
            self.fail(failure)

    def take(self, receipt: Receipt) -> None:
        """Keep what the store said of a write."""
        self.ambiguous.update(receipt.ambiguous)

    def report(self, revision: int, *, dry_run: bool = False) -> LoadReport:
        """Return the report."""
        return LoadReport(
            counts={noun: n for noun, n in sorted(self.counts.items()) if n},
            failures=tuple(self.failures),
            ambiguous=tuple(sorted(self.ambiguous)),
            skipped=tuple(self.skipped),
            ignored=tuple(self.ignored),
            conflicts=tuple(self.conflicts),
            revision=revision,
            dry_run=dry_run,
        )
