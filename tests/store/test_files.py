"""The file of a base: made whole, recognised, migrated, locked, its damage told."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from kgqa.errors import (
    ConflictError,
    DeniedError,
    FaultError,
    InputError,
    KGQAError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
)
from kgqa.protocols import Batch, Pattern
from kgqa.store import create_store, files, open_store
from kgqa.store.schema import APPLICATION_ID, MIGRATIONS
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.canonical import canonical

from .small import small

FIXTURE = Path(__file__).parent / "fixtures" / "version-1.kgqa"
NEXT = (*MIGRATIONS, "CREATE TABLE later(x INTEGER); INSERT INTO later VALUES (42)")


def dump(store: SQLiteStore):
    with store.view() as reader:
        return canonical(reader)


def test_schemes(tmp_path):
    made = create_store(f"sqlite://{tmp_path}/a.kgqa", {"form": "nodes"})
    made.close()
    for url in (str(tmp_path / "a.kgqa"), tmp_path / "a.kgqa"):
        opened = open_store(url)
        assert opened.meta() == {"form": "nodes"}
        opened.close()
    with pytest.raises(InputError) as caught:
        open_store("mongodb://localhost/x")
    assert caught.value.code == "store.unknown_scheme"
    assert "sqlite" in (caught.value.hint or "")


def test_create_leaves_one_file_and_never_overwrites(path):
    SQLiteStore.create(path).close()
    assert {p.name for p in path.parent.iterdir()} == {path.name}
    before = path.read_bytes()
    with pytest.raises(ConflictError) as caught:
        SQLiteStore.create(path)
    assert caught.value.code == "store.exists"
    assert path.read_bytes() == before


def test_failed_creation_leaves_nothing(path):
    def fail(draft: Path) -> None:
        assert draft.exists()
        raise sqlite3.OperationalError("boom")

    with pytest.raises(sqlite3.OperationalError):
        files.create(path, fail)
    assert list(path.parent.iterdir()) == []


def test_publish_loses_a_race(tmp_path):
    draft, taken = tmp_path / "draft", tmp_path / "taken"
    draft.write_text("a")
    taken.write_text("b")
    with pytest.raises(ConflictError):
        files.publish(draft, taken)
    assert taken.read_text() == "b"


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "store.not_a_base"), (b"hello " * 100, "store.not_a_base"), (None, "store.not_found")],
)
def test_other_files(path, content, code):
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((InputError, NotFoundError)) as caught:
        open_store(path)
    assert caught.value.code == code
    assert (path.read_bytes() if path.exists() else None) == content


def test_other_sqlite_database(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t(x)")
    other.close()
    with pytest.raises(InputError, match="not a knowledge base"):
        open_store(path)


def test_newer_file_is_refused_and_left_alone(path):
    SQLiteStore.create(path).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(UnsupportedError) as caught:
        open_store(path)
    assert caught.value.code == "store.too_new"
    assert path.read_bytes() == before


def test_migration_keeps_a_copy(path):
    store = SQLiteStore.create(path)
    store.write(small())
    before = dump(store)
    store.close()
    newer = SQLiteStore(path, NEXT)
    assert dump(newer) == before
    newer.close()
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT x FROM later").fetchall() == [(42,)]
    assert raw.execute("PRAGMA user_version").fetchone()[0] == len(NEXT)
    raw.close()
    kept = SQLiteStore(path.with_name(path.name + ".before-v2"))
    assert dump(kept) == before
    kept.close()
    SQLiteStore(path, NEXT).close()


def test_failed_migration_changes_nothing(path):
    store = SQLiteStore.create(path)
    store.write(small())
    before = dump(store)
    store.close()
    with pytest.raises(KGQAError):
        SQLiteStore(path, (*MIGRATIONS, "CREATE TABLE later(x); SELECT nonsense FROM nowhere"))
    again = SQLiteStore(path)
    assert dump(again) == before
    again.close()


def test_file_of_version_1_reads_as_then(tmp_path):
    copy = tmp_path / "old.kgqa"
    shutil.copy(FIXTURE, copy)
    store = SQLiteStore(copy)
    assert store.verify() == []
    governed = store.match(Pattern(relation="governed"))
    assert [(f.subject, f.object) for f in governed] == [
        ("q1", "name:rome"),
        ("name:ben", "name:rome"),
    ]
    assert store.find("Ada", 5, Pattern())
    store.close()


def test_second_writer_learns_who_writes(path):
    SQLiteStore.create(path).close()
    script = (
        "import sys, pathlib\n"
        "from kgqa.store import files\n"
        "with files.writer_lock(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    store = SQLiteStore(path, lock_timeout=0.2)
    with pytest.raises(UnavailableError) as caught:
        store.write(small())
    assert caught.value.code == "store.locked"
    assert str(child.pid) in str(caught.value)
    assert store.match(Pattern()) == []
    child.communicate("")
    assert store.write(small()).changed
    store.close()


def test_lock_of_a_dead_process_needs_no_help(path):
    SQLiteStore.create(path).close()
    script = (
        "import os, signal, sys, pathlib\n"
        "from kgqa.store import files\n"
        "with files.writer_lock(pathlib.Path(sys.argv[1])):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    store = SQLiteStore(path)
    assert store.write(small()).changed
    store.close()


def test_threads_of_one_process_queue(path):
    store = SQLiteStore.create(path)
    threads = [threading.Thread(target=store.write, args=(small(f"d{i}", i),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.revision == 8
    assert len(store.documents()) == 8
    assert store.verify() == []
    store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(path):
    store = SQLiteStore.create(path)
    store.close()
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(DeniedError):
            SQLiteStore(path).write(small())
    finally:
        path.parent.chmod(stat.S_IRWXU)


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("SQLITE_FULL", UnavailableError, "store.disk_full"),
        ("SQLITE_IOERR_SHMSIZE", UnavailableError, "store.disk_full"),
        ("SQLITE_BUSY_SNAPSHOT", UnavailableError, "store.locked"),
        ("SQLITE_CORRUPT_VTAB", FaultError, "store.corrupt"),
        ("SQLITE_READONLY_DIRECTORY", DeniedError, "store.not_permitted"),
        ("SQLITE_TOOBIG", InputError, "store.too_big"),
        ("SQLITE_IOERR_READ", FaultError, "store.io"),
    ],
)
def test_errors_of_sqlite_are_typed(path, name, kind, code):
    raw = sqlite3.OperationalError("boom")
    raw.sqlite_errorname = name
    found = files.typed(raw, path)
    assert (type(found), found.code) == (kind, code)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (OSError(28, "no space"), "store.disk_full"),
        (PermissionError(13, "no"), "store.not_permitted"),
        (FileNotFoundError(2, "no"), "store.not_found"),
        (OSError(5, "input/output error"), "store.io"),
        (OverflowError("int too large"), "store.number_range"),
        (InputError("as it is", code="a.b"), "a.b"),
    ],
)
def test_errors_of_the_system_are_typed(path, raw, code):
    assert files.typed(raw, path).code == code


def test_full_disk(path):
    store = SQLiteStore.create(path)
    store.write(small())
    before = dump(store)
    connect = files.connect

    def tight(*args, **kwargs):
        connection = connect(*args, **kwargs)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    files.connect = tight
    try:
        with pytest.raises(UnavailableError) as caught:
            store.write(Batch(meta={"big": "x" * 500_000}))
    finally:
        files.connect = connect
    assert caught.value.code == "store.disk_full"
    assert dump(store) == before
    assert store.write(small("two")).changed
    store.close()


def test_fixture_has_the_mark_of_a_base():
    head = FIXTURE.read_bytes()[:100]
    assert int.from_bytes(head[68:72], "big") == APPLICATION_ID
    assert int.from_bytes(head[60:64], "big") == 1


def test_logs_of_a_removed_base_stay_out_of_a_new_one(path):
    script = (
        "import os, pathlib, signal, sys\n"
        "from kgqa.protocols import Batch\n"
        "from kgqa.store.sqlite import SQLiteStore\n"
        "store = SQLiteStore.create(pathlib.Path(sys.argv[1]))\n"
        "store.write(Batch(meta={'old': 'x' * 50_000}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert path.with_name(path.name + "-wal").stat().st_size
    path.unlink()
    store = SQLiteStore.create(path, {"form": "nodes"})
    assert store.write(small()).changed
    assert (store.verify(), store.meta().get("old")) == ([], None)
    store.close()


@pytest.mark.parametrize("name", ["x" * 300, "a.kgqa/b/c", "x/" * 3_000])
def test_where_no_file_can_be(path, name):
    SQLiteStore.create(path).close()
    place = path.parent / name
    with pytest.raises(InputError) as caught:
        create_store(place)
    assert caught.value.code == "store.bad_path"
    assert len(str(caught.value)) < 400


def test_a_copy_needs_its_folder(path):
    with closing(SQLiteStore.create(path)) as store, pytest.raises(InputError) as caught:
        store.backup(path.parent / "none" / "copy")
    assert caught.value.code == "store.bad_path"
