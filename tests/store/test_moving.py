"""A base moved whole: equal in every read, wherever it stops, and every difference is seen."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import filelock
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgqa.errors import ConflictError, FaultError, InputError, NotFoundError, UnavailableError
from kgqa.model.things import Failure, Merge
from kgqa.protocols import Batch, Pattern, Reader
from kgqa.store import files, hooks, moving, open_store
from kgqa.store.moving import CopyPlan, Marker, Tally, layouts
from kgqa.store.sqlite import SQLiteStore
from kgqa.store.sqlite_rows import SQLiteRows, SQLiteTarget
from kgqa.testing.canonical import canonical
from kgqa.testing.compare import Pair
from kgqa.testing.contract_base import direction, index
from kgqa.testing.generate import LABELS, base, correction, pattern
from kgqa.testing.naive import key
from kgqa.testing.sizes import counts

from .small import small


def full(path: Path) -> SQLiteStore:
    """Make a base with rows in every table, and with history."""
    store = SQLiteStore.create(path)
    for i in range(3):
        batch = small(f"d{i}", i)
        store.write(replace(batch, failures=(Failure(f"{i}.csv:1", "a.b", "bad", None),)))
    store.write(Batch(delete=("d1",)))
    index(store)
    store.write(small("d3", 7))
    store.write(Batch(merges=(Merge("name:ben", "q1"),)))
    store.erase(["document:d2"])
    return store


@pytest.fixture
def source(path: Path):
    with closing(full(path)) as store:
        yield store


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there.kgqa"


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages be small."""
    monkeypatch.setattr(moving, "PAGE_ROWS", 5)


def move(store: SQLiteStore, there: Path, **plan: bool) -> moving.CopyReport:
    return moving.move(store, str(there), CopyPlan(**plan), 0.2)


def stop_after(pages: int) -> moving.Progress:
    """Return a progress that raises as Ctrl-C does, once so many pages are written."""
    left = pages

    def progress(stage: str, done: int, total: int | None) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    return progress


def stopped(store: SQLiteStore, there: Path, pages: int = 3) -> Marker:
    """Leave an unfinished copy; return how far it is."""
    with pytest.raises(KeyboardInterrupt):
        moving.move(store, str(there), progress=stop_after(pages))
    return SQLiteTarget(there).marker()


def said(store: SQLiteStore, patterns: Sequence[Pattern] = ()):
    """Return what every read of a base says, now and at each revision."""
    with store.view() as reader:
        every = [None, *range(reader.revision + 1)]
        return [_whole(reader)] + [_at(reader, known, patterns) for known in every]


def _whole(reader: Reader):
    return (
        reader.revision, reader.meta(), reader.stats(), reader.failures(), reader.relations(),
        reader.changes(), list(reader.batches()), reader.pending(99),
    )  # fmt: skip


def _at(reader: Reader, known: int | None, patterns: Sequence[Pattern]):
    asked = [replace(p, known_at=known) for p in (Pattern(), *patterns)]
    documents = reader.documents(known_at=known)
    labels = [f"node:{n.id}" for n in reader.nodes(asked[0])] + ["fact:none", "document:d2"]
    seeds = [label[5:] for label in labels if label.startswith("node:")][:4]
    names = ["q1", *(key(label) for label in LABELS), "ada", "ben"]
    query = direction("Rome", 16)
    return (
        canonical(reader, known), documents, reader.get(labels, known), reader.names(names, known),
        [reader.chunks(d.id, known) for d in documents], reader.revision,
        [(reader.match(p), reader.nodes(p), reader.find("Rome Ada Thing", 9, p)) for p in asked],
        [reader.nearest(query, 9, p) for p in asked] if reader.stats()["vectors"] else [],
        [reader.expand(seeds, 2, p, 99) for p in asked[:3]],
    )  # fmt: skip


def test_a_copy_is_equal_in_every_read(source: SQLiteStore, there: Path) -> None:
    report = move(source, there)
    assert report.action == "copied"
    assert (report.revision, report.kept) == (source.revision, 0)
    assert all(tally.rows for tally in report.tables.values()), "every table is tried"
    assert report.written == sum(tally.rows for tally in report.tables.values())
    with closing(SQLiteStore(there)) as copy:
        assert said(copy) == said(source)
        assert copy.verify() == []
        assert copy.write(small("d0", 0)).changed is False
        assert copy.write(small("d9", 9)).revision == source.revision + 1
        assert copy.verify() == []


@pytest.mark.parametrize("examples", counts(8, 300))
def test_generated_bases_are_equal_in_every_read(tmp_path_factory, examples: int) -> None:
    @settings(max_examples=examples, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(rnd=st.randoms(use_true_random=False), page=st.integers(1, 40))
    def compare(rnd: Random, page: int) -> None:
        folder = tmp_path_factory.mktemp("generated")
        with closing(SQLiteStore.create(folder / "a")) as store, pytest.MonkeyPatch.context() as m:
            made = base(rnd, 6, 10)
            pair = Pair(store)
            for batch in made.batches:
                pair.write(batch)
            for _ in range(rnd.randrange(4)):
                pair.write(correction(rnd, pair.oracle, made))
            index(store)
            m.setattr(moving, "PAGE_ROWS", page)
            report = moving.move(store, str(folder / "b"))
            with closing(SQLiteStore(folder / "b")) as copy:
                patterns = [pattern(rnd, made) for _ in range(3)]
                assert said(copy, patterns) == said(store, patterns)
                assert copy.verify() == []
                with store.rows() as one, copy.rows() as other:
                    found = moving.compare(one, other)
            assert (found.tables, found.digest) == (report.tables, report.digest)
            assert found.differing == ()

    compare()


# Differences.

OTHER = {
    "INTEGER": "coalesce({}, 0) + 1",
    "REAL": "{} + 1e-15",
    "TEXT": "coalesce({} || 'x', '')",
    "BLOB": "CAST({} || 'x' AS BLOB)",
}


@pytest.mark.parametrize("table", layouts())
def test_a_difference_in_any_column_of_any_table_is_seen(
    table: str, source: SQLiteStore, there: Path
) -> None:
    move(source, there)
    with source.rows() as read, closing(sqlite3.connect(there, isolation_level=None)) as raw:
        other = SQLiteRows(raw, there)
        assert moving.compare(read, other).differing == ()
        row = f"rowid = (SELECT max(rowid) FROM {table})"
        if (
            "WITHOUT ROWID"
            in raw.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
        ):
            name = layouts()[table].columns[0]
            row = f"{name} = (SELECT max({name}) FROM {table})"
        changes = [f"DELETE FROM {table} WHERE {row}"]
        for column, kind in zip(layouts()[table].columns, layouts()[table].types, strict=True):
            value = OTHER[kind].format(column)
            changes.append(f"UPDATE {table} SET {column} = {value} WHERE {row}")
        for change in changes:
            raw.execute("BEGIN")
            assert raw.execute(change).rowcount == 1, change
            assert moving.compare(read, other).differing == (table,), change
            raw.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((None,), ("",)), ((1,), (1.0,)), ((0.0,), (-0.0,)), (("1",), (1,)), ((b"a",), ("a",)),
        (("a", "b"), ("ab", "")), ((0.1,), (0.1 + 2**-56,)), (("é",), ("e\u0301",)),
        ((1,), (True,)),
    ],
)  # fmt: skip
def test_a_digest_tells_values_apart(one, other) -> None:
    assert Tally().plus([one]) != Tally().plus([other])


def test_a_digest_knows_no_order_but_counts() -> None:
    rows = [(n, str(n), n / 3, None) for n in range(50)]
    assert Tally().plus(rows) == Tally().plus(rows[30:]).plus(reversed(rows[:30]))
    assert Tally().plus([*rows, rows[0]]) != Tally().plus([*rows, rows[1]])
    assert Tally().plus([rows[0], rows[0]]).digest != Tally().digest


def test_two_bases_are_compared_without_writing(source: SQLiteStore, there: Path) -> None:
    move(source, there)
    assert move(source, there, verify_only=True).differing == ()
    with closing(SQLiteStore(there)) as copy:
        copy.write(Batch(meta={"form": "nodes"}))
    report = move(source, there, verify_only=True)
    assert report.action == "compared"
    assert report.differing == ("meta", "revisions")
    with pytest.raises(NotFoundError):
        move(source, there.with_name("none"), verify_only=True)


# Again, and where something is already.


def test_a_finished_copy_is_left_alone(source: SQLiteStore, there: Path) -> None:
    first = move(source, there)
    before = there.read_bytes()
    again = move(source, there)
    assert (again.action, again.written) == ("unchanged", 0)
    assert again.digest == first.digest
    assert there.read_bytes() == before
    assert move(source, there, restart=True).action == "unchanged"
    assert move(source, source.path).action == "unchanged"


@pytest.mark.parametrize("restart", [False, True])
def test_a_base_that_is_no_copy_is_never_touched(
    restart: bool, source: SQLiteStore, there: Path
) -> None:
    SQLiteStore.create(there).close()
    before = there.read_bytes()
    with pytest.raises(ConflictError) as caught:
        move(source, there, restart=restart)
    assert caught.value.code == "store.exists"
    assert there.read_bytes() == before


def test_a_damaged_copy_is_told(source: SQLiteStore, there: Path) -> None:
    move(source, there)
    with closing(sqlite3.connect(there)) as raw, raw:
        raw.execute("UPDATE facts SET le = le + 1 WHERE n = 1")
    with pytest.raises(ConflictError) as caught:
        move(source, there)
    assert "no copy of this state, other in: facts" in str(caught.value)


def test_a_file_that_is_no_base_is_left_alone(source: SQLiteStore, there: Path) -> None:
    there.write_text("mine")
    for plan in ({}, {"restart": True}, {"dry_run": True}, {"verify_only": True}):
        with pytest.raises(InputError) as caught:
            move(source, there, **plan)
        assert caught.value.code == "store.not_a_base"
    assert there.read_text() == "mine"


def test_a_dry_run_counts_and_writes_nothing(source: SQLiteStore, there: Path, pages) -> None:
    before = sorted(there.parent.iterdir())
    report = move(source, there, dry_run=True)
    assert (report.action, report.kept, report.digest) == ("would copy", 0, "")
    assert sorted(there.parent.iterdir()) == before
    with source.rows() as rows:
        assert {name: t.rows for name, t in report.tables.items()} == {
            name: len(list(rows.read(name))) for name in layouts()
        }
    kept = sum(tally.rows for tally in stopped(source, there).tallies.values())
    data = there.read_bytes()
    later = move(source, there, dry_run=True)
    assert (later.kept, later.kept + later.written) == (kept, report.written)
    assert move(source, there, dry_run=True, restart=True).kept == 0
    assert there.read_bytes() == data


# Stopped, and gone on with.


def test_a_stopped_copy_goes_on_where_it_stopped(source: SQLiteStore, there: Path, pages) -> None:
    with pytest.MonkeyPatch.context() as whole:
        whole.setattr(moving, "PAGE_ROWS", 5_000)
        wanted = move(source, there.with_name("whole"))
    kept = 0
    for pause in (3, 1, 9, 4):
        marker = stopped(source, there, pause)
        assert sum(tally.rows for tally in marker.tallies.values()) > kept
        kept = sum(tally.rows for tally in marker.tallies.values())
    told: list[tuple[str, int, int | None]] = []
    report = moving.move(source, str(there), progress=lambda *said: told.append(said))
    assert (report.kept, report.written) == (kept, wanted.written - kept)
    assert (report.tables, report.digest) == (wanted.tables, wanted.digest)
    assert [done for stage, done, _ in told if stage == "copy"][-1] == wanted.written
    assert told[-1] == ("verify", wanted.written, wanted.written)


def test_an_unfinished_copy_is_no_base(source: SQLiteStore, there: Path, pages) -> None:
    stopped(source, there)
    for open_it in (lambda: open_store(there), lambda: move(source, there, verify_only=True)):
        with pytest.raises(UnavailableError) as caught:
            open_it()
        assert caught.value.code == "store.unfinished"
        assert f"kgqa copy {source.path} {there}" in str(caught.value)
    with pytest.raises(ConflictError):
        SQLiteStore.create(there)
    move(source, there)
    open_store(there).close()


def test_what_is_copied_is_one_state_while_others_write(
    source: SQLiteStore, there: Path, pages
) -> None:
    before = said(source)
    revision = source.revision

    def write(stage: str, done: int, total: int | None) -> None:
        with closing(SQLiteStore(source.path)) as other:
            other.write(small(f"{stage}{done}", done))

    report = moving.move(source, str(there), progress=write)
    assert report.revision == revision < source.revision
    with closing(SQLiteStore(there)) as copy:
        assert said(copy) == before


def test_a_source_that_changed_since_is_told(source: SQLiteStore, there: Path, pages) -> None:
    revision = stopped(source, there).revision
    source.write(small("new", 3))
    for plan in ({}, {"dry_run": True}):
        with pytest.raises(ConflictError) as caught:
            move(source, there, **plan)
        assert caught.value.code == "store.copy_of_other"
        assert f"at revision {revision}, not of" in str(caught.value)
        assert f"at revision {revision + 1}" in str(caught.value)
        assert "--restart" in str(caught.value)
    assert move(source, there, restart=True).kept == 0
    with closing(SQLiteStore(there)) as copy:
        assert copy.revision == revision + 1


def test_a_copy_goes_on_from_a_source_that_was_moved(
    source: SQLiteStore, there: Path, pages
) -> None:
    stopped(source, there)
    source.backup(there.with_name("moved"))
    with closing(SQLiteStore(there.with_name("moved"))) as moved:
        assert move(moved, there).kept > 0
    with closing(full(there.with_name("alike"))) as alike, pytest.raises(ConflictError):
        move(alike, there)


def test_rows_that_change_before_the_end_are_told(source: SQLiteStore, there: Path, pages) -> None:
    stopped(source, there)
    with closing(sqlite3.connect(there)) as raw, raw:
        raw.execute("DELETE FROM refs WHERE n = 1")
    with pytest.raises(FaultError) as caught:
        move(source, there)
    assert caught.value.code == "store.copy_differs"
    assert "refs differ" in str(caught.value)
    assert SQLiteTarget(there).standing() == "unfinished"
    assert move(source, there, restart=True).action == "copied"


def test_two_do_not_copy_to_one_place(source: SQLiteStore, there: Path, pages) -> None:
    marker = stopped(source, there)
    with filelock.FileLock(f"{there}.lock"):
        for plan in ({}, {"restart": True}):
            with pytest.raises(UnavailableError) as caught:
                move(source, there, **plan)
            assert caught.value.code == "store.locked"
    assert SQLiteTarget(there).marker() == marker


def test_a_copy_that_another_finished_is_told(source: SQLiteStore, there: Path, pages) -> None:
    class Late(SQLiteTarget):
        def hold(self):
            move(source, there)
            return super().hold()

    stopped(source, there)
    with source.rows() as rows, pytest.raises(ConflictError) as caught:
        moving.copy(rows, Late(there))
    assert caught.value.code == "store.exists"


def test_an_unfinished_copy_that_was_removed_leaves_nothing_behind(
    source: SQLiteStore, there: Path, pages
) -> None:
    target = SQLiteTarget(there)
    stopped(source, there)
    target.discard()
    assert target.standing() == "absent"
    assert not list(there.parent.glob("there.kgqa-*"))
    move(source, there)
    target.discard()
    assert target.standing() == "finished"


def test_pages_are_bounded_by_size_too(source: SQLiteStore, there: Path, monkeypatch) -> None:
    written = []
    monkeypatch.setattr(moving, "PAGE_SIZE", 100)
    report = moving.move(source, str(there), progress=lambda *said: written.append(said))
    assert len([stage for stage, *_ in written if stage == "copy"]) > len(report.tables) + 5


def test_no_index_is_missing_and_none_is_left_over(source: SQLiteStore, there: Path) -> None:
    move(source, there)
    with closing(files.connect(source.path)) as one, closing(files.connect(there)) as other:
        for sql in (
            "SELECT type, name, sql FROM sqlite_schema ORDER BY 2",
            "PRAGMA application_id",
            "PRAGMA user_version",
            "PRAGMA journal_mode",
        ):
            assert one.execute(sql).fetchall() == other.execute(sql).fetchall()


# Killed.


def killed_at(point: int, source: Path, there: Path) -> bool:
    """Copy in a process of its own that dies at the n-th named point; tell whether it did."""
    child = os.fork()
    if not child:
        try:
            left = point

            def reached(name: str) -> None:
                nonlocal left
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

            hooks.reached = reached
            move(SQLiteStore(source), there)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


@pytest.mark.parametrize("points", counts(10, 50))
def test_a_killed_copy_goes_on(source: SQLiteStore, there: Path, pages, points: int) -> None:
    wanted = move(source, there.with_name("whole"))
    last = 3 * (sum(-(-tally.rows // 5) for tally in wanted.tables.values()) + 1)
    chance = Random(points)
    seen = set()
    for i in range(points):
        place = there.with_name(f"{i}.kgqa")
        assert killed_at(chance.randrange(1, last), source.path, place)
        # Once more, so that a copy that goes on is killed too.
        killed_at(chance.randrange(1, last), source.path, place)
        target = SQLiteTarget(place)
        seen.add(target.standing())
        kept = 0
        if target.standing() == "unfinished":
            kept = sum(tally.rows for tally in target.marker().tallies.values())
        report = move(source, place)
        assert (report.tables, report.digest) == (wanted.tables, wanted.digest)
        if report.action == "copied":
            assert (report.kept, report.written) == (kept, wanted.written - kept)
        with closing(SQLiteStore(place)) as copy:
            assert copy.verify() == []
        place.unlink()
    assert "unfinished" in seen


def test_vectors_are_the_same_bytes(source: SQLiteStore, there: Path) -> None:
    move(source, there)
    with closing(SQLiteStore(there)) as copy, source.rows() as one, copy.rows() as other:
        rows = list(one.read("vectors"))
        assert rows == list(other.read("vectors"))
        assert all(np.isfinite(np.frombuffer(row[4], "<f4")).all() for row in rows)
        first = layouts()["vectors"].key_of(rows[0])
        assert list(one.read("vectors", first)) == rows[1:]
