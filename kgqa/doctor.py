"""Is this installation whole: the interpreter, search features, models and optional parts.

Belongs here: one probe per part and what each found. Must not: opening a base, printing.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass

from kgqa.errors import KGQAError


@dataclass(frozen=True, slots=True)
class Check:
    """Hold one finding of ``doctor``; ``hint`` is the next thing to type."""

    name: str
    ok: bool
    found: str
    hint: str | None = None


def doctor() -> list[Check]:
    """Check the interpreter, the search features, the models and the optional parts."""
    return [_checked(name, probe) for name, probe in _PROBES.items()]


def _checked(name: str, probe: Callable[[], str]) -> Check:
    try:
        return Check(name, True, probe())
    except KGQAError as exc:
        return Check(name, False, exc.message, exc.hint)
    except Exception as exc:
        return Check(
            name,
            False,
            f"{type(exc).__name__}: {exc}",
            "reinstall: pip install --force-reinstall kgqa",
        )


def _python() -> str:
    return sys.version.split()[0]


def _sqlite() -> str:
    import sqlite3

    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    return f"SQLite {sqlite3.sqlite_version} with FTS5"


def _embedder() -> str:
    from kgqa import settings
    from kgqa.inference.embed import open_embedder

    embedder = open_embedder(settings.read().embedder)
    vector = embedder.embed(["ready"])
    return f"{embedder.name}, {vector.shape[1]} dimensions, weights verified"


def _language() -> str:
    from kgqa.language.extract import parse

    parse("Ready.")
    return f"spaCy {importlib.metadata.version('spacy')} with its English model"


def _extra() -> str:
    if importlib.util.find_spec("sentence_transformers"):
        return "installed"
    return "not installed (optional: pip install 'kgqa[sentence-transformers]')"


_PROBES: dict[str, Callable[[], str]] = {
    "python": _python,
    "store": _sqlite,
    "embedder": _embedder,
    "language": _language,
    "sentence-transformers": _extra,
}
