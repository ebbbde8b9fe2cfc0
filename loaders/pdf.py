"""PDF text by page, read in a child process that has limits of memory and time.

Belongs here: pypdf behind limits. Must not: OCR, pictures, links.

A crafted file of a few kilobytes can cost minutes or gigabytes, and no check before parsing can
tell; so the parser runs where it can be stopped. Where the system has no ``resource`` module,
only the wall clock limits it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from kgqa.errors import InputError
from kgqa.loaders.text import title_of, unwrapped
from kgqa.protocols import Loaded, Section

MEMORY_BYTES = 1 << 30
CPU_SECONDS = 30
WALL_SECONDS = 60
MAX_OUTPUT = 200_000_000
_CHILD = "from kgqa.loaders.pdf import child; child()"


def load(data: bytes, name: str) -> Loaded:
    """Return one section per page that has text.

    Raises InputError: ``load.encrypted``, ``load.broken``, ``load.limits`` (memory, time).
    """
    if b"%PDF-" not in data[:1024]:
        raise InputError(
            f"{name}: not a PDF: no %PDF- header", code="load.broken", hint="check the file"
        )
    reply = _ask_child(data, name)
    if "error" in reply:
        raise InputError(
            f"{name}: {reply['error']}",
            code=reply["code"],
            hint="save it again without a password"
            if reply["code"] == "load.encrypted"
            else "print it to a new PDF",
        )
    sections = tuple(
        Section((), unwrapped(text.strip()), page)
        for page, text in enumerate(reply["pages"], start=1)
        if text.strip()
    )
    return Loaded(reply["title"] or title_of(name), "application/pdf", sections)


def _ask_child(data: bytes, name: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(  # noqa: S603  our own interpreter and code; the file is its input
            [sys.executable, "-P", "-c", _CHILD],
            input=data,
            capture_output=True,
            env=environment,
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise _limits(name) from exc
    try:
        reply = json.loads(done.stdout)
    except ValueError:
        raise _limits(name) from None
    return dict(reply)


def child() -> None:
    """Read a PDF from standard input, write its pages as JSON; the body of the child process."""
    _limit_this_process()
    try:
        reply: dict[str, Any] = _read(sys.stdin.buffer.read())
    except MemoryError:
        reply = {"error": "needs too much memory", "code": "load.limits"}
    sys.stdout.buffer.write(json.dumps(reply).encode())


def _limit_this_process() -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def _read(data: bytes) -> dict[str, Any]:
    import io
    import logging

    from pypdf import PdfReader
    from pypdf.errors import LimitReachedError, PyPdfError

    logging.disable(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"error": "encrypted", "code": "load.encrypted"}
        pages, size = [], 0
        for page in reader.pages:
            text = page.extract_text()
            size += len(text)
            if size > MAX_OUTPUT:
                return {"error": f"more than {MAX_OUTPUT:,} characters", "code": "load.limits"}
            pages.append(_clean(text))
        title = _clean(str((reader.metadata and reader.metadata.title) or "")).strip()
        if title.casefold() == "untitled":
            title = ""
    except LimitReachedError as exc:
        return {"error": f"a limit was reached: {exc}", "code": "load.limits"}
    except (MemoryError, RecursionError):
        raise MemoryError from None
    except PyPdfError as exc:
        return {"error": f"cannot be read: {exc}", "code": "load.broken"}
    except Exception as exc:
        # a damaged file makes pypdf raise KeyError, TypeError, zlib.error, ... anywhere
        return {"error": f"cannot be read ({type(exc).__name__})", "code": "load.broken"}
    return {"title": title, "pages": pages}


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _limits(name: str) -> InputError:
    return InputError(
        f"{name}: reading it took more than {CPU_SECONDS} s or {MEMORY_BYTES >> 20} MiB",
        code="load.limits",
        hint="print it to a new PDF",
    )
