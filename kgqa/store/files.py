"""The file of a base: making, recognising, migrating, locking it, and what sqlite3 says of it.

Belongs here: connections and everything about the file as a whole. Must not: what is in it.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

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
from kgqa.store import LOCK_SECONDS, refused
from kgqa.store.schema import APPLICATION_ID, MIGRATIONS

_MAGIC = b"SQLite format 3\x00"
UNFINISHED_ID = 0x6B676763
"""``kggc``: takes the place of APPLICATION_ID in the header of an unfinished copy."""


def connect(path: Path, *, write: bool = False, wait: float = LOCK_SECONDS) -> sqlite3.Connection:
    """Return a connection in autocommit mode; a reading one cannot write.

    ``wait``: seconds to wait for a lock that another program holds.
    """
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        _set_up(connection, write)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, write: bool) -> None:
    if write:
        # Acknowledged means on the disk.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -65536")
        # What is deleted now must not linger in free space if it is erased later.
        connection.execute("PRAGMA secure_delete = 1")
    else:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -8192")


FOREIGN = (sqlite3.Error, OSError, UnicodeError, OverflowError)
"""What SQLite and the operating system raise."""
READING = (*FOREIGN, ValueError, TypeError, LookupError, AttributeError, AssertionError)
"""What reading raises: what is stored may be damaged in ways that SQLite does not see."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise typed errors in place of FOREIGN ones."""
    try:
        yield
    except KGQAError:
        raise
    except FOREIGN as exc:
        raise typed(exc, path) from exc


def typed(exc: BaseException, path: Path) -> KGQAError:
    """Return the typed error that stands for a FOREIGN one; a typed one as it is."""
    if isinstance(exc, KGQAError):
        return exc
    if (of_value := refused.typed(exc)) is not None:
        return of_value
    if isinstance(exc, FileNotFoundError):
        return _missing(path)
    if isinstance(exc, OSError) and exc.errno in _NO_PLACE:
        shown = str(path) if len(str(path)) <= 200 else str(path)[:197] + "..."
        return InputError(
            f"no file can be at {shown!r}: {exc.strerror}", code="store.bad_path",
            hint="give a file in a folder",
        )  # fmt: skip
    if not isinstance(exc, (sqlite3.Error, OSError)):
        return FaultError(
            f"{str(path)!r}: what is stored cannot be read: {type(exc).__name__}: {exc}",
            code="store.corrupt", hint=_DAMAGED,
        )  # fmt: skip
    name = getattr(exc, "sqlite_errorname", "") or _NAMES.get(getattr(exc, "errno", 0), "")
    for prefixes, kind, code, hint in _ERRORS:
        if name.startswith(prefixes):
            return kind(f"{str(path)!r}: {exc}", code=code, hint=hint)
    return FaultError(f"{str(path)!r}: {exc}", code="store.io", hint="run kgqa verify")


_NAMES = {
    errno.ENOSPC: "SQLITE_FULL", errno.EDQUOT: "SQLITE_FULL",
    errno.EACCES: "SQLITE_PERM", errno.EPERM: "SQLITE_PERM", errno.EROFS: "SQLITE_READONLY",
}  # fmt: skip
_NO_PLACE = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
_DAMAGED = "restore a backup; kgqa verify lists what is wrong"
_ERRORS: tuple[tuple[tuple[str, ...], type[KGQAError], str, str], ...] = (
    (
        ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"), UnavailableError, "store.disk_full",
        "free some space, then retry",
    ),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"), UnavailableError, "store.locked",
        "retry when the writer is done",
    ),
    (("SQLITE_CORRUPT", "SQLITE_NOTADB"), FaultError, "store.corrupt", _DAMAGED),
    (
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"), DeniedError,
        "store.not_permitted", "check the rights of the file and its folder",
    ),
    (("SQLITE_TOOBIG",), InputError, "store.too_big", "split the text"),
)  # fmt: skip


def _missing(path: Path) -> NotFoundError:
    return NotFoundError(
        f"no knowledge base at {str(path)!r}", code="store.not_found",
        hint=f"make one with: kgqa init {path}",
    )  # fmt: skip


def create(path: Path, fill: Callable[[Path], None] | None = None) -> None:
    """Make a base with what ``fill`` writes into it; all of it appears at once or nothing does.

    Raises ConflictError (``store.exists``).
    """
    if path.exists():
        raise taken(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary(path) as draft:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            _apply(connection, 0, MIGRATIONS)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        if fill is not None:
            fill(draft)
        publish(draft, path)


@contextmanager
def made(path: Path) -> Iterator[Path]:
    """Yield the name of a draft of a new file, which it becomes if the block ends well.

    Raises ConflictError (``store.exists``), InputError (``store.bad_path``).
    """
    if path.exists():
        raise taken(path)
    if not path.parent.is_dir():
        raise InputError(
            f"no folder {str(path.parent)!r} for a copy", code="store.bad_path",
            hint="make it first",
        )  # fmt: skip
    with temporary(path) as draft:
        yield draft
        publish(draft, path)


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """Yield the name of a draft beside ``path``; remove what is left of it afterwards."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        for left in (Path(name), Path(f"{name}.lock"), *_logs(Path(name))):
            left.unlink(missing_ok=True)


def _logs(path: Path) -> list[Path]:
    """Return the files that SQLite keeps beside a base."""
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal")]


def remove(path: Path) -> None:
    """Remove a base, whose writer_lock is held; then its logs, without which it is damaged."""
    for left in (path, *_logs(path)):
        left.unlink(missing_ok=True)


def publish(draft: Path, path: Path) -> None:
    """Give a finished draft its name, unless that is taken. Raises ConflictError."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    if any(log.exists() for log in _logs(path)):
        _clear(path)
    try:
        os.link(draft, path)
    except FileExistsError:
        raise taken(path) from None
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _clear(path: Path) -> None:
    """Remove the logs of a base that was itself removed: SQLite would replay them into another."""
    with writer_lock(path):
        if path.exists():  # made just now, and the logs are its own
            raise taken(path)
        for log in _logs(path):
            log.unlink(missing_ok=True)


def taken(path: Path) -> ConflictError:
    """Return the error for a name that is taken."""
    return ConflictError(
        f"{str(path)!r} is there already", code="store.exists", hint="choose another name"
    )


def _apply(connection: sqlite3.Connection, version: int, migrations: Sequence[str]) -> None:
    script = ";\n".join(migrations[version:])
    connection.executescript(
        f"BEGIN IMMEDIATE;\n{script};\nPRAGMA application_id = {APPLICATION_ID};\n"
        f"PRAGMA user_version = {len(migrations)};\nCOMMIT;"
    )


def version_of(path: Path) -> int:
    """Return the version of a base's file, having checked that it is one.

    Raises NotFoundError (``store.not_found``), InputError (``store.not_a_base``),
    UnavailableError (``store.unfinished``), FaultError (``store.corrupt``).
    """
    if not path.is_file():
        raise _missing(path)
    with path.open("rb") as file:
        head = file.read(100)
    if head[:16] != _MAGIC:
        raise _not_a_base(path)
    connection = connect(path)
    try:
        application: int = connection.execute("PRAGMA application_id").fetchone()[0]
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if application == UNFINISHED_ID:
            raise _unfinished(path, connection.execute("SELECT source FROM copying").fetchone()[0])
    finally:
        connection.close()
    if application != APPLICATION_ID or version < 1:
        raise _not_a_base(path)
    return version


def _not_a_base(path: Path) -> InputError:
    return InputError(
        f"{str(path)!r} is not a knowledge base", code="store.not_a_base",
        hint="give the file that kgqa init made",
    )  # fmt: skip


def _unfinished(path: Path, source: str) -> UnavailableError:
    return UnavailableError(
        f"{str(path)!r} is an unfinished copy of {source!r}", code="store.unfinished",
        hint=f"finish it with: kgqa copy {source} {path}",
    )  # fmt: skip


def migrate(path: Path, migrations: Sequence[str] = MIGRATIONS, wait: float = LOCK_SECONDS) -> None:
    """Bring an older file up to date; a copy of it is kept as ``<file>.before-v<N>``.

    Raises UnsupportedError (``store.too_new``).
    """
    version, newest = version_of(path), len(migrations)
    if version > newest:
        raise UnsupportedError(
            f"{str(path)!r} has format {version}; this kgqa reads up to {newest}",
            code="store.too_new", hint="pip install --upgrade kgqa",
        )  # fmt: skip
    if version == newest:
        return
    with writer_lock(path, wait):
        version = version_of(path)
        if version == newest:
            return
        _keep(path, path.with_name(f"{path.name}.before-v{newest}"))
        connection = connect(path, write=True, wait=wait)
        try:
            _apply(connection, version, migrations)
        finally:
            connection.close()


def _keep(path: Path, kept: Path) -> None:
    with temporary(kept) as draft:
        copy_to(path, draft)
        shutil.move(draft, kept)


def copy_to(path: Path, draft: Path) -> None:
    """Copy one consistent state of a base, with what is in its log, while others use it."""
    source = connect(path)
    try:
        target = sqlite3.connect(draft)
        try:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            target.execute("PRAGMA journal_mode = WAL")
        finally:
            target.close()
    finally:
        source.close()


_in_process: dict[str, threading.Lock] = {}


@contextmanager
def writer_lock(path: Path, wait: float = LOCK_SECONDS) -> Iterator[None]:
    """Be the one writer of a base, across processes and threads.

    Waits for another process ``wait`` seconds, then raises UnavailableError (``store.locked``)
    with its pid; threads of this process queue. The operating system frees the lock of a dead
    process.
    """
    import filelock

    name = f"{path}.lock"
    with _in_process.setdefault(os.path.realpath(path), threading.Lock()):
        holder = _pid(name)
        lock = filelock.FileLock(name, timeout=wait)
        try:
            lock.acquire()
        except filelock.Timeout as exc:
            pid = _pid(name) or holder or "unknown"
            raise UnavailableError(
                f"{str(path)!r} is being written by process {pid}", code="store.locked",
                hint="retry when it is done", pid=pid,
            ) from exc  # fmt: skip
        try:
            Path(name).write_text(str(os.getpid()), encoding="ascii")
            yield
        finally:
            lock.release()


def _pid(name: str) -> str:
    try:
        return Path(name).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def scrub(connection: sqlite3.Connection) -> None:
    """Let the text indexes of an open transaction keep no word that was deleted."""
    for index in ("chunk_text", "node_text"):
        connection.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")


def empty_log(path: Path, wait: float) -> None:
    """Empty the log, which may hold bytes that were erased; readers have ``wait`` seconds to go.

    Raises UnavailableError (``store.locked``).
    """
    connection = connect(path, write=True, wait=wait)
    try:
        deadline = time.monotonic() + wait
        while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    "erased, but a reader keeps the log, which still holds the bytes",
                    code="store.locked", hint="end that reader, then erase the same again",
                )  # fmt: skip
            time.sleep(0.05)
    finally:
        connection.close()
