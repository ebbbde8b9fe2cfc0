"""A base moved to a server and back: equal by digest, wherever it stops."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from kgqa.errors import (
    ConflictError,
    FaultError,
    InputError,
    NotFoundError,
    UnavailableError,
)
from kgqa.model.things import Claim, Failure, Ref
from kgqa.protocols import Batch
from kgqa.store import hooks, moving, open_target
from kgqa.store.moving import CopyPlan, Marker, Tally, layouts
from kgqa.store.neo4j import address, schema
from kgqa.store.neo4j.cypher import LABELS, text
from kgqa.store.neo4j.moving import Neo4jReceiver, Neo4jRows, Neo4jTarget
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.sqlite import SQLiteStore
from kgqa.store.sqlite_rows import SQLiteTarget
from kgqa.temporal.interval import END
from kgqa.testing.canonical import canonical
from kgqa.testing.compare import Pair
from kgqa.testing.contract_base import index
from kgqa.testing.generate import base, correction

from ..small import small
from ..test_moving import full, said, stop_after


@pytest.fixture
def source(tmp_path: Path):
    with closing(full(tmp_path / "a.kgqa")) as store:
        yield store


@pytest.fixture
def target(url: str):
    with closing(Neo4jTarget(address.parse(url), 0.5)) as target:
        yield target


@pytest.fixture
def client(url: str):
    with closing(Client(address.parse(url))) as client:
        yield client


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "PAGE_ROWS", 5)


def copy(store: SQLiteStore, target: Neo4jTarget, **options) -> moving.CopyReport:
    with store.rows() as rows:
        return moving.copy(rows, target, **options)


def test_there_and_back_everything_is_the_same(
    source: SQLiteStore, target: Neo4jTarget, tmp_path: Path
) -> None:
    assert target.standing() == "absent"
    report = copy(source, target)
    assert all(tally.rows for tally in report.tables.values()), "every table is tried"
    assert target.standing() == "finished"
    with target.rows() as there:
        assert there.revision == source.revision
        back = moving.copy(there, SQLiteTarget(tmp_path / "back.kgqa"))
        assert {name: there.count(name) for name in layouts()} == {
            name: tally.rows for name, tally in report.tables.items()
        }
    assert (back.tables, back.digest) == (report.tables, report.digest)
    with closing(SQLiteStore(tmp_path / "back.kgqa")) as store:
        assert said(store) == said(source)
        assert store.verify() == []


def test_a_generated_history_is_the_same(target: Neo4jTarget, tmp_path: Path) -> None:
    rnd = random.Random(7)
    made = base(rnd, 20, 60)
    with closing(SQLiteStore.create(tmp_path / "a")) as store:
        pair = Pair(store)
        for batch in made.batches:
            pair.write(batch)
        for _ in range(12):
            pair.write(correction(rnd, pair.oracle, made))
        index(store)
        report = copy(store, target)
    with target.rows() as there:
        assert moving.copy(there, SQLiteTarget(tmp_path / "b")).digest == report.digest


def test_long_texts_and_odd_ones_are_whole(target: Neo4jTarget, tmp_path: Path) -> None:
    path = tmp_path / "a"
    odd = ["é" * 3000, "z" * 9000, "\U0001f3db" * 40, "\uffff", "a`b\\u0060", "", "A", "a", "ß"]
    with closing(SQLiteStore.create(path)) as store:
        claims = [Claim(Ref(one or "x"), one or "r", Ref(two or "y")) for one in odd for two in odd]
        failures = tuple(Failure(one or "u", "a.b", one, one) for one in odd)
        store.write(Batch(source="s", claims=tuple(claims), failures=failures))
        store.write(Batch(meta={one or "m": one for one in odd}))
        report = copy(store, target)
    with target.rows() as there:
        key = sorted(row[0] for row in there.read("meta"))[4]
        assert min(row[0] for row in there.read("meta", (key,))) > key
        assert moving.copy(there, SQLiteTarget(tmp_path / "b")).digest == report.digest


def test_a_stopped_copy_goes_on(source: SQLiteStore, target: Neo4jTarget, pages) -> None:
    kept = 0
    for pause in (3, 1, 9):
        with pytest.raises(KeyboardInterrupt):
            copy(source, target, progress=stop_after(pause))
        assert target.standing() == "unfinished"
        kept = sum(tally.rows for tally in target.marker().tallies.values())
        with pytest.raises(UnavailableError) as caught, target.rows():
            pass
        assert caught.value.code == "store.unfinished"
        assert f"kgqa copy {source.path} {target.name}" in str(caught.value)
    report = copy(source, target)
    assert report.kept == kept > 0
    assert report.written == sum(tally.rows for tally in report.tables.values()) - kept
    with pytest.raises(ConflictError) as taken:
        copy(source, target)
    assert taken.value.code == "store.exists"


def test_restart_leaves_nothing_of_the_copy_before(
    source: SQLiteStore, target: Neo4jTarget, client: Client, pages
) -> None:
    with pytest.raises(KeyboardInterrupt):
        copy(source, target, progress=stop_after(30))
    target.discard()
    assert target.standing() == "absent"
    for label in (*LABELS.values(), "Base"):
        count = text("MATCH (t:@label) WHERE t.kb = $kb RETURN count(*)", label=label)
        assert client.rows(count, kb=client.address.kb) == [(0,)], label
    with pytest.raises(NotFoundError), target.rows():
        pass
    assert copy(source, target, restart=True).kept == 0


def test_a_page_is_written_once(source: SQLiteStore, target: Neo4jTarget, client: Client) -> None:
    start = Marker("x", 3, "m")
    target.begin(start)
    target.begin(start)  # a commit that was not known to have succeeded
    with pytest.raises(ConflictError):
        target.begin(Marker("y", 3, "m"))
    with source.rows() as rows:
        page = list(rows.read("refs"))
    now = start.moved("refs", page)
    with target.hold() as receiver:
        receiver.write("refs", page, start, now)
        receiver.write("refs", page, start, now)
        assert receiver.count("refs") == len(page)
        with pytest.raises(UnavailableError) as caught:
            receiver.write("refs", page, start, now.moved("refs", page))
        assert caught.value.code == "store.locked"


def _other(value):
    """Return a value of the same type that no other row has."""
    if isinstance(value, list):
        return [1.5, *value[1:]]
    if isinstance(value, int):
        return value - 10_000 if value > 0 else value + 10_000
    return value + 1e-15 if isinstance(value, float) else f"{value or ''}x"


def test_a_difference_in_any_column_of_any_table_is_seen(
    source: SQLiteStore, target: Neo4jTarget, client: Client
) -> None:
    wanted = copy(source, target).tables
    there = Neo4jReceiver(client, source.revision)

    def change(name: str, changed: dict[str, object]) -> None:
        setting = "MATCH (t) WHERE elementId(t) = $name SET t += $changed"
        client.write(lambda tx: tx.rows(setting, name=name, changed=changed))

    for table, layout in layouts().items():
        one = text(
            "MATCH (t:@label) WHERE t.kb = $kb RETURN elementId(t), properties(t) LIMIT 1",
            label=LABELS[table],
        )
        ((name, was),) = client.rows(one, kb=client.address.kb)
        keys = [layout.columns[place] for place in layout.key]
        held = wanted[table]
        # One after the other, the key last: without it the row may not be found again.
        for column in [c for c in layout.columns if c not in keys] + keys:
            shown = "embedding" if column == "vector" else column
            change(name, {shown: _other(was.get(shown))})
            before, held = held, Tally().plus(there.read(table))
            assert held != before, (table, column)


def test_damage_before_the_end_is_told(
    source: SQLiteStore, target: Neo4jTarget, client: Client, pages
) -> None:
    with pytest.raises(KeyboardInterrupt):
        copy(source, target, progress=stop_after(4))
    client.write(lambda tx: tx.rows(
        "MATCH (t:Reference) WHERE t.kb = $kb WITH t LIMIT 1 DELETE t", kb=client.address.kb
    ))  # fmt: skip
    with pytest.raises(FaultError) as caught:
        copy(source, target)
    assert caught.value.code == "store.copy_differs"
    assert copy(source, target, restart=True).action == "copied"


def test_what_was_closed_since_is_read_as_it_was(
    source: SQLiteStore, target: Neo4jTarget, client: Client, tmp_path: Path
) -> None:
    """A state that a later write closed: as in the source at an earlier revision."""
    copy(source, target)
    kb = client.address.kb
    with target.rows() as there:
        wanted = {name: Tally().plus(there.read(name)) for name in layouts()}
    later = source.revision + 1
    client.write(lambda tx: [
        tx.rows(
            "MATCH (t:Claim {kb: $kb, recorded_to: $end}) WITH t LIMIT 2 "
            "SET t.sum = t.sum + t.recorded_to - $later, t.recorded_to = $later",
            kb=kb, end=END, later=later,
        ),
        tx.rows(
            "MATCH (t:Setting {kb: $kb, key: 'form'}) SET t.recorded_to = $later "
            "CREATE (:Setting {kb: $kb, key: 'form', value: '1', sum: 1, "
            "recorded_from: $later, recorded_to: $end})",
            kb=kb, end=END, later=later,
        ),
        tx.rows(
            "CREATE (:Revision {kb: $kb, n: $later, wall: 1, note: 'x', sum: 1}) "
            "CREATE (:Version {kb: $kb, n: 99999, id: 'new', recorded_from: $later, "
            "recorded_to: $end}) CREATE (:Name {kb: $kb, node: 99999, key: 'new'}) "
            "CREATE (:Tombstone {kb: $kb, label: 'node:z', revision: $later, sum: 1})",
            kb=kb, end=END, later=later,
        ),
        tx.rows("MATCH (b:Base {kb: $kb}) SET b.revision = $later", kb=kb, later=later),
    ])  # fmt: skip
    rows = Neo4jRows(client, source.revision)
    for name in layouts():
        if name in moving.EARLY:
            with pytest.raises(UnavailableError) as caught:
                list(rows.read(name))
            assert caught.value.code == "store.source_moved"
        else:
            assert Tally().plus(rows.read(name)) == wanted[name], name
    client.write(lambda tx: tx.rows("MATCH (r:Revision {kb: $kb, n: $n}) SET r.note = 'erase'",
                                    kb=kb, n=later))  # fmt: skip
    with pytest.raises(UnavailableError):
        list(rows.read("claims"))


def test_vectors_can_be_searched_after_a_copy(
    source: SQLiteStore, target: Neo4jTarget, client: Client
) -> None:
    source.write(Batch(delete=("d0",)))
    copy(source, target)
    found = client.rows(
        "MATCH (v:Vector) WHERE v.kb = $kb RETURN v.kind, v.live, v.es, v.le, size(v.embedding)",
        kb=client.address.kb,
    )
    assert found
    assert {size for *_, size in found} == {16}
    assert {live for _, live, *_ in found} == {True, False}
    assert all(es < le for _, live, es, le, _ in found if live)
    names = {name for (name,) in client.rows("SHOW INDEXES YIELD name RETURN name")}
    assert schema.vector_index(16) in names


# By URL, from the store.


def test_by_url_and_again(source: SQLiteStore, url: str, tmp_path: Path) -> None:
    assert moving.move(source, url, CopyPlan(dry_run=True)).action == "would copy"
    with pytest.raises(NotFoundError):
        moving.move(source, url, CopyPlan(verify_only=True))
    report = moving.move(source, url)
    assert (report.action, report.kept) == ("copied", 0)
    assert "@" not in report.target
    assert moving.move(source, url).action == "unchanged"
    assert moving.move(source, url, CopyPlan(verify_only=True)).differing == ()
    with closing(Neo4jStore(address.parse(url))) as there:
        back = moving.move(there, str(tmp_path / "back"))
        assert (back.tables, back.digest) == (report.tables, report.digest)
        there.write(small("d9", 9))
        assert "claims" in moving.move(source, url, CopyPlan(verify_only=True)).differing
        with pytest.raises(ConflictError):
            moving.move(source, url)


def test_a_copy_is_equal_in_every_read(source: SQLiteStore, url: str) -> None:
    moving.move(source, url)
    with closing(Neo4jStore(address.parse(url))) as there:
        assert canonical(there) == canonical(source)
        for known in range(source.revision + 1):
            assert canonical(there, known) == canonical(source, known), known
        assert there.meta() == source.meta()
        assert there.stats() == source.stats()
        assert there.changes() == source.changes()
        assert list(there.batches()) == list(source.batches())
        assert there.write(small("d0", 0)).changed is False
        assert there.verify() == []


def test_a_copy_that_stopped_in_drawing_goes_on(source: SQLiteStore, url: str) -> None:
    left = 2

    def stop(stage: str, done: int, total: int | None) -> None:
        nonlocal left
        assert total is None or done <= total
        left -= stage == "picture"
        if not left:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moving.move(source, url, progress=stop)
    assert moving.move(source, url, CopyPlan(dry_run=True)).written == 0
    report = moving.move(source, url)
    assert (report.action, report.written) == ("copied", 0)
    with closing(Neo4jStore(address.parse(url))) as there:
        assert there.verify() == []


@pytest.mark.parametrize("late", [False, True], ids=["at the beginning", "later"])
def test_a_server_is_written_to_meanwhile(
    late: bool, source: SQLiteStore, url: str, tmp_path: Path, pages
) -> None:
    """What changes in place is read again; of the rest a later write changes nothing."""
    moving.move(source, url)
    with source.rows() as rows:
        early = sum(rows.count(table) for table in moving.EARLY)
    with closing(Neo4jStore(address.parse(url))) as there:
        left = 1

        def write(stage: str, done: int, total: int | None) -> None:
            nonlocal left
            if left and stage == "copy" and (not late or done > early):
                left = 0
                there.write(small("new", 5))
                there.write(Batch(delete=("d0",)))

        report = moving.move(there, str(tmp_path / "back"), progress=write)
        assert report.revision == (source.revision if late else there.revision)
        same = open_target(str(source.path) if late else url)
        with closing(same), same.rows() as one, SQLiteTarget(tmp_path / "back").rows() as two:
            assert moving.compare(one, two).differing == ()


@pytest.mark.full
def test_a_server_is_killed_meanwhile(source: SQLiteStore, server, url: str, pages) -> None:
    chance = random.Random(3)
    due = {chance.randrange(1, 30) for _ in range(3)}
    seen = 0

    def kill(stage: str, done: int, total: int | None) -> None:
        nonlocal seen
        seen += 1
        if seen in due:
            server.kill()
            server.start()

    assert moving.move(source, url, progress=kill).action == "copied"
    assert seen > max(due)


def test_an_interrupted_backup_leaves_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Neo4jStore.create(address.parse(url))) as store:
        store.write(small("one"))
        for stop in ("opened", "commit", "done"):

            def die(name: str, stop: str = stop) -> None:
                if name == stop:
                    raise KeyboardInterrupt

            with monkeypatch.context() as patch:
                patch.setattr(hooks, "reached", die)
                with pytest.raises(KeyboardInterrupt):
                    store.backup(tmp_path / "a.kg")
            assert list(tmp_path.iterdir()) == []
        store.backup(tmp_path / "a.kg")
        with closing(SQLiteStore(tmp_path / "a.kg")) as kept:
            assert kept.revision == store.revision
            assert kept.verify() == []
        with pytest.raises(ConflictError):
            store.backup(tmp_path / "a.kg")
        with pytest.raises(InputError, match="no folder"):
            store.backup(tmp_path / "none" / "a.kg")


def test_a_backup_is_of_one_state_whatever_is_written_meanwhile(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Neo4jStore.create(address.parse(url))) as store:
        store.write(small("one"))
        read, left = Neo4jRows.read, ["two"]

        def written_to(rows: Neo4jRows, table: str, after=None):
            for row in read(rows, table, after):
                if table == "names" and left:
                    store.write(small(left.pop()))
                yield row

        monkeypatch.setattr(Neo4jRows, "read", written_to)
        store.backup(tmp_path / "a.kg")
        assert left == []
        with closing(SQLiteStore(tmp_path / "a.kg")) as kept:
            assert kept.revision == store.revision
            assert kept.verify() == []
