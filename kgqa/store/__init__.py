"""The store room: what keeps a knowledge base.

Belongs here: implementations of ``protocols.Store`` and what they share. Must not: questions,
loaders, anything that knows why it is asked. May import ``protocols``, ``model``, ``temporal``,
``errors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.errors import InputError
from kgqa.model.things import Relation
from kgqa.protocols import Json, Store

if TYPE_CHECKING:
    from kgqa.store.moving import Target
    from kgqa.store.neo4j.address import Address

LOCK_SECONDS = 5.0
"""How long a writer waits for another one, unless told otherwise."""
_SCHEMES = "sqlite"


def open_store(url: str | Path, lock_timeout: float = LOCK_SECONDS) -> Store:
    """Open the base at a path or URL; writes wait so many seconds for another.

    Raises NotFoundError (``store.not_found``), InputError (``store.not_a_base``,
    ``store.unknown_scheme``, ``store.bad_url``), UnsupportedError (``store.too_new``), FaultError
    (``store.corrupt``) and, for a server, what connecting raises.
    """
    address = _address(url)
    if address is not None:
        from kgqa.store.neo4j.store import Neo4jStore

        return Neo4jStore(address, lock_timeout)
    from kgqa.store.sqlite import SQLiteStore

    return SQLiteStore(_path(url), lock_timeout=lock_timeout)


def create_store(
    url: str | Path,
    meta: Mapping[str, Json] | None = None,
    lock_timeout: float = LOCK_SECONDS,
    relations: Iterable[Relation] = (),
) -> Store:
    """Make a base with settings and relations at a path or URL and open it.

    Raises ConflictError (``store.exists``), InputError (``store.unknown_scheme``,
    ``store.bad_url``) and, for a server, what connecting raises.
    """
    address = _address(url)
    if address is not None:
        from kgqa.store.neo4j.store import Neo4jStore

        return Neo4jStore.create(address, meta, lock_timeout, relations)
    from kgqa.store.sqlite import SQLiteStore

    return SQLiteStore.create(_path(url), meta, lock_timeout, relations)


def open_target(url: str | Path, lock_timeout: float = LOCK_SECONDS) -> Target:
    """Return the place of a path or URL, where a copy may go.

    Raises InputError (``store.unknown_scheme``, ``store.bad_url``) and, for a server, what
    connecting raises.
    """
    address = _address(url)
    if address is not None:
        from kgqa.store.neo4j.moving import Neo4jTarget

        return Neo4jTarget(address, lock_timeout)
    from kgqa.store.sqlite_rows import SQLiteTarget

    return SQLiteTarget(_path(url), lock_timeout)


def _address(url: str | Path) -> Address | None:
    """Return the address that a URL of a server is; None for others."""
    if isinstance(url, Path) or "://" not in url:
        return None
    from kgqa import settings
    from kgqa.store.neo4j.address import SCHEMES, parse

    if url.partition("://")[0] not in SCHEMES:
        return None
    process = settings.read()
    return parse(url, process.neo4j_user, process.neo4j_password.get_secret_value())


def _path(url: str | Path) -> Path:
    if "\0" in str(url):
        raise InputError(
            f"no file can be called {str(url)!r}", code="store.bad_path", hint="give a path"
        )
    if isinstance(url, Path):
        return url
    scheme, separator, rest = url.partition("://")
    if not separator:
        return Path(url)
    if scheme != _SCHEMES:
        raise InputError(
            f"no store is called {scheme!r}", code="store.unknown_scheme",
            hint=f"give a path, or a URL of a known scheme: {_SCHEMES}, neo4j, bolt",
        )  # fmt: skip
    return Path(rest)
