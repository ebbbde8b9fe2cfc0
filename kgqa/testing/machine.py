"""Random sequences of writes on a store and on the oracle, compared after every step.

Belongs here: the state machine; a back-end's test subclasses it with ``make_store``. Must not:
expectations, which are the oracle's.
"""

from __future__ import annotations

from abc import abstractmethod
from random import Random

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kgqa.protocols import Batch, Pattern, Store
from kgqa.testing.compare import Pair
from kgqa.testing.generate import LABELS, Base, bases, correction, pattern, span
from kgqa.testing.naive import key

_RANDOMS = st.randoms(use_true_random=False)


class StoreMachine(RuleBasedStateMachine):
    """Load, correct, delete, merge, undo and erase; read with every kind of time."""

    pair: Pair
    base: Base

    @abstractmethod
    def make_store(self) -> Store:
        """Return a new, empty store."""

    @initialize(base=bases())
    def begin(self, base: Base) -> None:
        """Open an empty store; choose what may be written to it."""
        self.base = base
        self.pair = Pair(self.make_store())
        self.draws = Random(0)

    @rule(number=st.integers(0, 2))
    def load(self, number: int) -> None:
        """Load one document, possibly again."""
        self.pair.write(self.base.batches[number % len(self.base.batches)])

    @rule(number=st.integers(0, 2), cut=st.integers(0, 20))
    def load_part(self, number: int, cut: int) -> None:
        """Load some rows of a document."""
        whole = self.base.batches[number % len(self.base.batches)]
        self.pair.write(
            Batch(
                source=whole.source,
                documents=whole.documents,
                nodes=whole.nodes[cut % 5 :],
                claims=whole.claims[cut:],
            )
        )

    @precondition(lambda self: self.pair.oracle.revision > 0)
    @rule(rnd=_RANDOMS)
    def correct(self, rnd: Random) -> None:
        """End, retract, delete, merge, undo or erase something that is there."""
        self.pair.write(correction(rnd, self.pair.oracle, self.base))

    @precondition(lambda self: self.pair.oracle.revision > 0)
    @rule(rnd=_RANDOMS)
    def ask(self, rnd: Random) -> None:
        """Ask for facts and paths at a nasty time, of the present and of the past."""
        known = rnd.randrange(len(self.pair.revisions))
        asked = pattern(rnd, self.base)
        self.pair.check(asked)
        self.pair.check(asked, known)
        seeds = [rnd.choice(self.base.nodes).id, "name:" + key(rnd.choice(LABELS))]
        time = Pattern(valid=span(rnd, self.base.borders), match=asked.match)
        self.pair.check_paths(seeds, rnd.randrange(1, 5), time)
        self.pair.check_nodes(Pattern(valid=asked.valid, match=asked.match, kind="person"))

    @invariant()
    def agree(self) -> None:
        """Compare the whole present state, and one past one."""
        if not hasattr(self, "pair"):
            return
        self.pair.check(Pattern())
        self.pair.check(Pattern(), self.draws.randrange(len(self.pair.revisions)))
        self.pair.check_nodes(Pattern())
        labels = [node.label for node in self.base.nodes] + list(LABELS)
        self.pair.check_names(sorted({key(label) for label in labels}))

    def teardown(self) -> None:
        """Verify the store and close it."""
        if hasattr(self, "pair"):
            assert self.pair.store.verify() == []
            self.pair.store.close()
