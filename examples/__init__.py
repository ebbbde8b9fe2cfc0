"""Sample documents, facts and the script of the demo; read through ``path`` and ``names``.

Belongs here: data written for the project, and the two functions that find it wherever the
package is installed. Must not: loading, parsing, or anything that a user needs for data of
their own. May import ``kgqa.errors`` only.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from kgqa.errors import NotFoundError


def path(name: str) -> Path:
    """Return where the sample file ``name`` lies; names are relative and use ``/``.

    Raises NotFoundError (``examples.unknown``) for a name that ``names`` does not list.

    >>> path("rome/consuls.csv").name
    'consuls.csv'
    """
    if name not in names():
        raise NotFoundError(
            f"no such example: {name!r}",
            code="examples.unknown",
            hint="kgqa.examples.names() lists them",
        )
    return _root() / name


def names() -> list[str]:
    """Return the names of all sample files, sorted."""
    root = _root()
    return sorted(
        file.relative_to(root).as_posix()
        for file in root.rglob("*")
        if file.is_file() and file.suffix not in {".py", ".pyc"}
    )


def _root() -> Path:
    return Path(str(files(__name__)))
