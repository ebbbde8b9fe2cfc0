"""A base moved whole from one store to another, row by row: history, vectors and all.

Belongs here: pages, digests, how far a copy is, copying and comparing over ``Rows`` and
``Target``. Must not: SQL, Cypher, what rows mean. Tables and columns are those of ``schema``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, Protocol

from kgqa.errors import ConflictError, FaultError, UnavailableError
from kgqa.protocols import Progress, Rows, Store
from kgqa.store import LOCK_SECONDS, open_target
from kgqa.store.rows import Record
from kgqa.store.schema import MIGRATIONS
from kgqa.store.tables import KEYS

PAGE_ROWS = 5_000
PAGE_SIZE = 16_000_000
"""At most so many rows, and about so many characters and bytes, are written at once."""

EARLY = ("refs", "names", "vectors")
"""Tables whose rows change in place. They come first: a store that keeps no old states has to
read these while nothing is written; the rest it can read as of a revision."""
_ATTEMPTS = 3
"""How often a copy begins where its source cannot be read as it was any more."""
_WIDTH = 16

Action = Literal["copied", "unchanged", "compared", "would copy"]
Standing = Literal["absent", "unfinished", "finished"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Hold the shape of a table's rows: column names, their SQL types, the places of the key.

    All rows of one key are in one page. Rows of ``names`` and ``existence`` have no key of their
    own: theirs is the version of a node that they belong to.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: tuple[int, ...]

    def key_of(self, row: Record) -> Record:
        """Return the key of a row."""
        return tuple(row[place] for place in self.key)


@lru_cache(maxsize=1)
def layouts() -> dict[str, Layout]:
    """Return the layout of every table, in the order in which tables are copied.

    >>> list(layouts())[:3], layouts()["existence"].columns
    (['refs', 'names', 'vectors'], ('node', 'es', 'ls', 'ee', 'le'))
    """
    import sqlite3

    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(";".join(MIGRATIONS))
        named = fresh.execute(
            "SELECT s.name FROM sqlite_schema s JOIN pragma_table_list l ON l.name = s.name "
            "WHERE l.type = 'table' AND s.type = 'table' ORDER BY s.rowid"
        ).fetchall()
        names = list(dict.fromkeys([*EARLY, *(name for (name,) in named)]))
        return {name: _layout(name, fresh.execute(f"PRAGMA table_info({name})")) for name in names}


def _layout(table: str, described: Iterable[Record]) -> Layout:
    columns, types = zip(*((row[1], row[2]) for row in described), strict=True)
    key = KEYS.get(table, ("n",) if "n" in columns else ("node",))
    return Layout(columns, types, tuple(columns.index(name) for name in key))


@dataclass(frozen=True, slots=True)
class Tally:
    """Count rows and digest them, whatever their order.

    The digest is a sum of digests of rows, so that equal tables have equal ones wherever they
    are kept. It tells 1 from 1.0, NULL from '' and one row from two of it.

    >>> one = Tally().plus([(1, None), (2, "")])
    >>> one == Tally().plus([(2, "")]).plus([(1, None)]), one == Tally().plus([(1, ""), (2, "")])
    (True, False)
    """

    rows: int = 0
    digest: str = "0" * 2 * _WIDTH

    def plus(self, rows: Iterable[Record]) -> Tally:
        """Return the tally with more rows in it."""
        count, total = self.rows, int(self.digest, 16)
        for row in rows:
            # As in ``sums``: ``ascii`` is the same in every Python and exact for floats.
            said = ascii(tuple(row)).encode("ascii")
            total += int.from_bytes(blake2b(said, digest_size=_WIDTH).digest(), "big")
            count += 1
        return Tally(count, f"{total % (1 << 8 * _WIDTH):0{2 * _WIDTH}x}")


@dataclass(frozen=True, slots=True)
class Marker:
    """Say of which state a copy is, and how far it is: in ``table`` up to the key ``after``.

    ``mark`` tells the state by its revisions. ``tallies`` are of the rows written so far.
    """

    source: str
    revision: int
    mark: str
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    table: str = ""
    after: Record = ()

    def dump(self) -> str:
        """Return the marker as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Marker:
        """Return what ``dump`` wrote."""
        said = json.loads(text)
        tallies = {table: Tally(**one) for table, one in said.pop("tallies").items()}
        return cls(tallies=tallies, after=tuple(said.pop("after")), **said)

    def moved(self, table: str, rows: list[Record]) -> Marker:
        """Return the marker once these rows of a table, the next ones, are written too."""
        tally = self.tallies.get(table, Tally()).plus(rows)
        after = layouts()[table].key_of(rows[-1])
        return replace(self, tallies={**self.tallies, table: tally}, table=table, after=after)


class Receiver(Rows, Protocol):
    """Take the rows of a copy. What it reads is what it took."""

    def write(self, table: str, rows: list[Record], before: Marker, now: Marker) -> None:
        """Add rows and let the marker be ``now``, in one transaction.

        The marker was ``before``; one that is ``now`` already says that an attempt whose outcome
        was unknown succeeded, and nothing is to be done.
        """
        ...

    def finish(self, progress: Progress | None = None) -> None:
        """Derive what the store keeps beside rows; make a base of the copy, for anyone to open."""
        ...


class Target(Protocol):
    """A place for a base, where there may be none, an unfinished copy or a base."""

    @property
    def name(self) -> str:
        """Return the place as people write it, without a password."""
        ...

    def standing(self) -> Standing: ...

    def rows(self) -> AbstractContextManager[Rows]:
        """Read the base that is there.

        Raises NotFoundError (``store.not_found``), UnavailableError (``store.unfinished``).
        """
        ...

    def marker(self) -> Marker:
        """Return how far an unfinished copy is."""
        ...

    def begin(self, marker: Marker) -> None:
        """Make an unfinished copy without rows. Raises ConflictError (``store.exists``)."""
        ...

    def discard(self) -> None:
        """Remove an unfinished copy."""
        ...

    def hold(self) -> AbstractContextManager[Receiver]:
        """Be the only one who goes on with an unfinished copy."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """Say how to copy; see ``KBase.copy``."""

    restart: bool = False
    dry_run: bool = False
    verify_only: bool = False


@dataclass(frozen=True, slots=True)
class CopyReport:
    """Say what a copy did.

    ``tables``: rows and digest by table, ``digest``: of all of them. ``written``: rows that this
    run wrote, ``kept``: those that runs before it had. ``differing``: tables that are not equal.
    """

    action: Action
    source: str
    target: str
    revision: int
    tables: Mapping[str, Tally]
    digest: str
    written: int = 0
    kept: int = 0
    differing: tuple[str, ...] = ()
    seconds: float = 0.0


def move(
    store: Store,
    url: str,
    plan: CopyPlan = CopyPlan(),
    wait: float = LOCK_SECONDS,
    progress: Progress | None = None,
) -> CopyReport:
    """Copy a base to a path or URL, all of one state; go on where such a copy stopped.

    A finished copy is compared, and nothing is written. Raises ConflictError (``store.exists``:
    another base is there; ``store.copy_of_other``: a copy of another state is), FaultError
    (``store.copy_differs``).
    """
    for left in reversed(range(_ATTEMPTS)):
        with closing(open_target(url, wait)) as target, store.rows() as source:
            try:
                return _move(source, target, plan, progress)
            except UnavailableError as exc:
                if exc.code != "store.source_moved" or not left:
                    raise
                plan = replace(plan, restart=True)
    raise AssertionError("unreachable")


def _move(source: Rows, target: Target, plan: CopyPlan, progress: Progress | None) -> CopyReport:
    if plan.verify_only or target.standing() == "finished":
        return _finished(source, target, plan, progress)
    if plan.dry_run:
        return _would_copy(source, target, plan)
    return copy(source, target, restart=plan.restart, progress=progress)


def _finished(
    source: Rows, target: Target, plan: CopyPlan, progress: Progress | None
) -> CopyReport:
    with target.rows() as there:
        # Digests take time; another history is told at once.
        if not plan.verify_only and _beginning(there).mark != _beginning(source).mark:
            raise _taken(target, ())
        report = compare(source, there, progress)
    if plan.verify_only:
        return report
    if report.differing:
        raise _taken(target, report.differing)
    return replace(report, action="unchanged")


def copy(
    source: Rows, target: Target, *, restart: bool = False, progress: Progress | None = None
) -> CopyReport:
    """Copy all rows, then compare what was read with what is there.

    ``restart`` throws an unfinished copy away first. Raises as ``move``.
    """
    began, start = time.monotonic(), _beginning(source)
    if restart and target.standing() == "unfinished":
        target.discard()
    if target.standing() == "absent":
        target.begin(start)
    with target.hold() as receiver:
        first = _fitting(target, start)
        last = _write(source, receiver, first, progress)
        read = {table: last.tallies.get(table, Tally()) for table in layouts()}
        found = _tallies(receiver, "verify", progress)
        if differing := _differing(read, found):
            raise FaultError(
                f"{target.name!r} is not what was copied: {', '.join(differing)} differ",
                code="store.copy_differs", hint="copy again with --restart",
            )  # fmt: skip
        receiver.finish(progress)
    kept, rows = _rows(first.tallies), _rows(read)
    return replace(
        _report("copied", source, target.name, read),
        written=rows - kept, kept=kept, seconds=time.monotonic() - began,
    )  # fmt: skip


def compare(source: Rows, there: Rows, progress: Progress | None = None) -> CopyReport:
    """Compare two bases by the digests of their tables."""
    began = time.monotonic()
    read = _tallies(source, "read", progress)
    differing = _differing(read, _tallies(there, "verify", progress))
    report = _report("compared", source, there.name, read)
    return replace(report, differing=differing, seconds=time.monotonic() - began)


def _would_copy(source: Rows, target: Target, plan: CopyPlan) -> CopyReport:
    kept = 0
    if target.standing() == "unfinished" and not plan.restart:
        kept = _rows(_fitting(target, _beginning(source)).tallies)
    counts = {table: Tally(source.count(table), "") for table in layouts()}
    report = _report("would copy", source, target.name, counts)
    return replace(report, digest="", written=_rows(counts) - kept, kept=kept)


def _report(action: Action, source: Rows, target: str, tables: dict[str, Tally]) -> CopyReport:
    return CopyReport(action, source.name, target, source.revision, tables, digest(tables))


def digest(tables: Mapping[str, Tally]) -> str:
    """Return one digest for those of all tables."""
    said = json.dumps([[table, tally.rows, tally.digest] for table, tally in tables.items()])
    return blake2b(said.encode("ascii"), digest_size=_WIDTH).hexdigest()


def _beginning(source: Rows) -> Marker:
    """Return the marker of a copy of this state without rows."""
    tally = Tally().plus(source.read("revisions"))
    return Marker(source.name, source.revision, f"{len(MIGRATIONS)}:{tally.digest}")


def _fitting(target: Target, start: Marker) -> Marker:
    """Return how far a copy is, having checked that it is one of this state."""
    marker = target.marker()
    if marker.mark != start.mark:
        raise ConflictError(
            f"{target.name!r} is an unfinished copy of {marker.source!r} at revision "
            f"{marker.revision}, not of {start.source!r} at revision {start.revision}",
            code="store.copy_of_other", hint="copy with --restart to start again",
        )  # fmt: skip
    return marker


def _taken(target: Target, differing: tuple[str, ...]) -> ConflictError:
    how = f", other in: {', '.join(differing)}" if differing else ""
    return ConflictError(
        f"{target.name!r} is there already and is no copy of this state{how}",
        code="store.exists", hint="choose another name",
    )  # fmt: skip


def _write(source: Rows, receiver: Receiver, marker: Marker, progress: Progress | None) -> Marker:
    """Write the rows that are not there yet; return the last marker."""
    order = list(layouts())
    todo = order[order.index(marker.table) :] if marker.table else order
    done, total = _rows(marker.tallies), sum(source.count(table) for table in order)
    for table in todo:
        after = marker.after if table == marker.table else None
        for page in pages(source.read(table, after), layouts()[table]):
            now = marker.moved(table, page)
            receiver.write(table, page, marker, now)
            marker = now
            done += len(page)
            if progress:
                progress("copy", done, total)
    return marker


def pages(rows: Iterable[Record], layout: Layout) -> Iterator[list[Record]]:
    """Yield rows in lists that memory holds; those of one key are in one."""
    page: list[Record] = []
    size = 0
    for row in rows:
        full = len(page) >= PAGE_ROWS or size >= PAGE_SIZE
        if full and layout.key_of(row) != layout.key_of(page[-1]):
            yield page
            page, size = [], 0
        page.append(row)
        size += sum(len(value) for value in row if isinstance(value, (str, bytes)))
    if page:
        yield page


def _tallies(rows: Rows, stage: str, progress: Progress | None) -> dict[str, Tally]:
    found = {table: Tally() for table in layouts()}
    total = sum(rows.count(table) for table in layouts()) if progress else 0
    for table, layout in layouts().items():
        for page in pages(rows.read(table), layout):
            found[table] = found[table].plus(page)
            if progress:
                progress(stage, _rows(found), total)
    return found


def _differing(one: Mapping[str, Tally], other: Mapping[str, Tally]) -> tuple[str, ...]:
    return tuple(table for table in one if one[table] != other[table])


def _rows(tallies: Mapping[str, Tally]) -> int:
    return sum(tally.rows for tally in tallies.values())
