"""The naive reference model: lists, replays and full scans, to compare real stores with.

Belongs here: the obvious meaning of every write and read (RELIABILITY section 4). Must not:
indexes, caches, cleverness, or any code of kgqa but the input types; slowness is welcome.

Every read replays the log of operations up to the revision asked for, so that what was known
when, and that the order of loading does not matter, need no argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from kgqa.model.things import Claim, Relation
from kgqa.protocols import Batch, Pattern
from kgqa.temporal.interval import END
from kgqa.testing.naive import (
    UNDATED_BOUNDS,
    Bounds,
    Row,
    admits,
    fact_label,
    key,
    token,
)
from kgqa.testing.replay import (
    State,
    Thing,
    about,
    apply,
    bearers,
    canonical,
    drop_source,
    remove,
    stated,
    things,
)

Path: TypeAlias = tuple[str, tuple[str, ...], str]


class Name(NamedTuple):
    """One node that bears a name; ``bounds`` is when."""

    key: str
    node: str
    label: str
    main: bool
    bounds: Bounds


class Erasure(NamedTuple):
    """An entry of the log: the labels erased, and the claims they ever stood for."""

    labels: tuple[str, ...]
    claims: list[tuple[int, str, Claim]]


class Oracle:
    """Keep a log of writes; answer every read from a replay of it."""

    def __init__(self) -> None:
        self.log: list[Batch | Erasure] = []

    @property
    def revision(self) -> int:
        """Return the number of writes that changed something."""
        return len(self.log)

    def write(self, batch: Batch) -> int:
        """Apply a batch if it changes anything; return the revision. Raises Refused."""
        before = self.state()
        after = before.copy()
        apply(after, batch, self.revision + 1)
        if after.content() != before.content():
            self.log.append(batch)
        return self.revision

    def erase(self, labels: Sequence[str]) -> int:
        """Remove what the labels name, or ever named, from every revision so far."""
        past = [self._replay(number) for number in range(1, self.revision + 1)]
        claims = [entry for old in past for label in labels for entry in about(old, label)]
        self.log.append(Erasure(tuple(labels), claims))
        return self.revision

    def state(self, known_at: int | None = None) -> State:
        """Replay the log up to a revision, without what any erasure took, then or later."""
        last = self.revision if known_at is None else known_at
        state = self._replay(last)
        for entry in self.log[last:]:
            if isinstance(entry, Erasure):
                forget(state, entry)
        return state

    def _replay(self, last: int) -> State:
        state = State()
        for number, entry in enumerate(self.log[:last], 1):
            if isinstance(entry, Batch):
                apply(state, entry, number)
            else:
                forget(state, entry)
        return state

    # Reads.

    def facts(self, known_at: int | None = None) -> list[Row]:
        """Return every fact as read: ends overridden, then stopped by functional relations."""
        s = self.state(known_at)
        # What a name meant then, though what declared the bearer has been erased since.
        named = bearers(self._replay(self.revision if known_at is None else known_at))
        plain = stated(s, named)
        rows = [row._replace(bounds=_override(row, plain)) for row in plain]
        # Declarations are rules of reading: those in force now read every revision.
        relations = self.state().relations
        return [row._replace(bounds=_stop(row, rows, relations)) for row in rows]

    def match(self, p: Pattern) -> list[Row]:
        """Return the facts a pattern lets through, by (start, earliest end as stated, label)."""
        return select(self.state(p.known_at), self.facts(p.known_at), p)

    def expand(self, seeds: Sequence[str], hops: int, p: Pattern) -> set[Path]:
        """Return every simple path of 1 to ``hops`` facts from each seed, either direction."""
        return walks(self.state(p.known_at), self.match(p), seeds, hops)

    def nodes(self, p: Pattern) -> list[Thing]:
        """Return the nodes a pattern lets through, by id; existence filters, never facts."""
        return [
            thing
            for _, thing in sorted(things(self.state(p.known_at)).items())
            if (p.kind is None or thing.kind == p.kind)
            and any(admits(p, term) for term in thing.existence or (UNDATED_BOUNDS,))
        ]

    def names(self, keys: Iterable[str], known_at: int | None = None) -> set[Name]:
        """Return who bears each key, by label or alias, at any time."""
        wanted = set(keys)
        found = set()
        for thing in things(self.state(known_at)).values():
            for label, bounds in {(thing.label, UNDATED_BOUNDS), *thing.aliases}:
                if key(label) in wanted:
                    main = label == thing.label and bounds == UNDATED_BOUNDS
                    found.add(Name(key(label), thing.id, label, main, bounds))
        return found


def forget(s: State, erasure: Erasure) -> None:
    """Take what an erasure took out of a state."""
    remove(s, erasure.claims)
    for label in erasure.labels:
        if label.startswith("document:"):
            drop_source(s, label[9:])
        s.nodes = [n for n in s.nodes if "node:" + n[2].id != label]


def select(s: State, rows: Iterable[Row], p: Pattern) -> list[Row]:
    """Return the rows a pattern lets through, by (start, earliest end as stated, label)."""
    subject = p.subject and canonical(s, p.subject)
    wanted = canonical(s, p.object) if isinstance(p.object, str) else p.object
    found = []
    for row in rows:
        if (
            (subject is None or row.subject == subject)
            and (p.relation is None or row.relation == p.relation)
            and (wanted is None or row.object == token(wanted))
            and admits(p, row.bounds)
        ):
            found.append(row)
    return sorted(found, key=lambda r: (r.stated[0], r.stated[2], fact_label(r)))


def walks(s: State, rows: Iterable[Row], seeds: Iterable[str], hops: int) -> set[Path]:
    """Return every simple path of 1 to ``hops`` rows from each seed, in either direction."""
    edges = [(row, fact_label(row)) for row in rows if row.object[0] == "node"]
    found: set[Path] = set()

    def walk(path: tuple[str, ...], seen: tuple[str, ...]) -> None:
        if len(path) == hops:
            return
        for row, label in edges:
            for here, there in ((row.subject, row.object[1]), (row.object[1], row.subject)):
                if here == seen[-1] and there not in seen:
                    found.add((seen[0], (*path, label), there))
                    walk((*path, label), (*seen, there))

    for seed in {canonical(s, name) for name in seeds}:
        walk((), (seed,))
    return found


def _override(row: Row, rows: list[Row]) -> Bounds:
    """Give an open or unknown end the earliest known end of the same three, started alike."""
    es, ls, _, le = row.bounds
    if le != END or row.bounds == UNDATED_BOUNDS:
        return row.bounds
    ends = []
    for other in rows:
        b = other.bounds
        if other[:3] == row[:3] and b[3] != END and b[0] <= ls and es <= b[1] and es < b[3]:
            ends.append((b[2], b[3]))
    return (es, ls, *min(ends)) if ends else row.bounds


def _stop(row: Row, rows: list[Row], relations: dict[str, Relation]) -> Bounds:
    """Stop an open or unknown end where the next value starts, if the relation bounds them."""
    relation = relations.get(row.relation)
    if relation is None or row.bounds[3] != END or row.bounds == UNDATED_BOUNDS:
        return row.bounds
    stops = []
    sides = ((0, 2, relation.max_objects), (2, 0, relation.max_subjects))
    for same, other, limit in sides:
        later: dict[object, tuple[int, int]] = {}
        for r in sorted(rows, key=lambda r: r.bounds, reverse=True):
            alike = r.relation == row.relation and r[same] == row[same]
            if alike and r[other] != row[other] and r.bounds[0] > row.bounds[0]:
                later[r[other]] = r.bounds[:2]
        if limit is not None and len(later) >= limit:
            stops.append(sorted(later.values())[limit - 1])
    return (*row.bounds[:2], *min(stops)) if stops else row.bounds
