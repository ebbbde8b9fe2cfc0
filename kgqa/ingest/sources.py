"""Paths as given to the files that are to be loaded: walking, opening, identity.

Belongs here: which files, under which names, with which content hash. Must not: parsing, writing.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import BinaryIO

from kgqa import settings
from kgqa.errors import InputError, KGQAError, NotFoundError
from kgqa.loaders import MAX_TEXT_BYTES, Format, format_of
from kgqa.model.ids import digest
from kgqa.model.things import Failure
from kgqa.protocols import LoadOptions

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """Hold one file to load: where it lies, the name it is known by, how it is read."""

    path: Path
    unit: str
    format: Format


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what the given paths come to: files in order, folders that failed, files passed over."""

    sources: tuple[Source, ...]
    failures: tuple[Failure, ...]
    ignored: tuple[str, ...]


def named(path: str | os.PathLike[str]) -> Path:
    """Return a path that a caller names; an empty one is refused, not the current folder.

    Raises InputError (``load.no_paths``).
    """
    if not os.fspath(path):
        raise InputError(
            "an empty path: ''", code="load.no_paths", hint="name a file, or '.' for this folder"
        )
    return Path(path)


def walk(paths: Iterable[Path], source: str | None = None) -> Found:
    """Return the files under the paths: as given, and within a folder by name.

    In a folder, hidden files and unknown suffixes are passed over and listed, and links that
    lead out of it are not followed. Raises NotFoundError (``load.not_found``), and InputError
    for a file named outright whose suffix is unknown, or one ``source`` for several files.
    """
    sources: list[Source] = []
    failures: list[Failure] = []
    ignored: list[str] = []
    for path in paths:
        if _is_folder(path):
            for file in _files(path, failures):
                try:
                    sources.append(Source(file, name_of(file), format_of(file)))
                except InputError:
                    ignored.append(name_of(file))
        else:
            sources.append(Source(path, name_of(path), format_of(path)))
    if source is not None:
        if len(sources) != 1:
            raise InputError(
                f"one source {source!r} for {len(sources)} files",
                code="load.one_source",
                hint="load them one by one, or leave --source out",
            )
        sources = [replace(sources[0], unit=source)]
    return Found(tuple(sources), tuple(failures), tuple(ignored))


def name_of(path: Path) -> str:
    """Return the name under which a file is known: its path as given, with forward slashes."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def open_file(path: Path) -> BinaryIO:
    """Open a regular file. Raises InputError for a pipe or device, NotFoundError, OSError."""
    try:
        # O_NONBLOCK: a pipe that nobody writes to must be refused, not waited for.
        file = path.open("rb") if not _NONBLOCK else os.fdopen(os.open(path, _FLAGS), "rb")
    except FileNotFoundError:
        raise _missing(path) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError(
            f"not a file: {name_of(path)!r}", code="load.not_a_file", hint="give a regular file"
        )
    return file


def read_bytes(path: Path) -> bytes:
    """Return a document's bytes, one more than allowed at most."""
    with open_file(path) as file:
        return file.read(MAX_TEXT_BYTES + 1)


def content_hash(path: Path) -> str:
    """Return the hash of a file's bytes, read in pieces."""
    hashed = hashlib.blake2b(digest_size=32)
    with open_file(path) as file:
        while piece := file.read(_PIECE):
            hashed.update(piece)
    return hashed.hexdigest()


def identity(content: str | bytes, options: LoadOptions) -> str:
    """Return a document's id: the hash of its content and of how it was told to be read.

    Where it lies does not count; bytes stand for their ``content_hash``.
    """
    if isinstance(content, bytes):
        content = hashlib.blake2b(content, digest_size=32).hexdigest()
    told = [
        f"{field.name}={sorted(value.items()) if field.name == 'columns' else value}"
        for field in fields(options)
        if field.name != "source"
        and (value := getattr(options, field.name)) != getattr(_DEFAULTS, field.name)
    ]
    return digest(content, *told)


def failure_of(unit: str, error: Exception) -> Failure:
    """Return the record of a unit that could not be read."""
    if isinstance(error, KGQAError):
        message = str(error)
        return Failure(unit, error.code, message if unit in message else f"{unit}: {message}")
    if isinstance(error, OSError):
        reason = error.strerror or error
        return Failure(unit, "load.unreadable", f"{unit}: cannot be read: {reason}")
    if settings.read().debug:
        raise error
    why = f"{type(error).__name__}: {error}; please report it"
    return Failure(unit, "internal", f"{unit}: internal fault: {why}")


_DEFAULTS = LoadOptions()
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_FLAGS = os.O_RDONLY | _NONBLOCK


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise _missing(path) from None
    except OSError as exc:
        raise InputError(
            f"cannot look at {name_of(path)!r}: {exc.strerror}",
            code="load.unreadable",
            hint="check the path and its permissions",
        ) from exc


def _files(folder: Path, failures: list[Failure]) -> Iterator[Path]:
    def refused(error: OSError) -> None:
        failures.append(failure_of(name_of(Path(error.filename or folder)), error))

    def resolved(path: Path) -> Path | None:
        try:
            return path.resolve()
        except RuntimeError:  # links in a ring, in Python 3.11 and 3.12
            refused(OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)))
        except OSError as error:  # a link into a closed folder
            refused(error)
        return None

    root = resolved(folder)

    for parent, folders, names in os.walk(folder, onerror=refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(parent, name)
            target = None if name.startswith(".") or root is None else resolved(file)
            if target and root and target.is_relative_to(root):
                yield file


def _missing(path: Path) -> NotFoundError:
    return NotFoundError(
        f"no such file or folder: {name_of(path)!r}", code="load.not_found", hint="check the path"
    )
