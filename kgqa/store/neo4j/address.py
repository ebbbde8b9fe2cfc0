"""Where a base is: ``neo4j://[user[:password]@]host[:port]/BASE[?database=NAME]`` taken apart.

Belongs here: reading URLs. Must not: connecting; a password in any text that is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from kgqa.errors import InputError

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
USER = "neo4j"
BASE = "kgqa"
"""The base's name where the URL gives none."""

_LONGEST = 100
_HOST = re.compile(r"[^\s/?#@]+")


@dataclass(frozen=True, slots=True)
class Address:
    """Say where a base is and who asks; shown without the password."""

    uri: str
    """Scheme, host and port, as the driver takes it."""
    kb: str
    database: str | None
    """None = the server's home database."""
    user: str
    password: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.uri}/{self.kb}" + (f"?database={self.database}" if self.database else "")


def parse(url: str, user: str = USER, password: str = "") -> Address:
    """Return the address that a URL gives; it wins over ``user`` and ``password``.

    Raises InputError (``store.bad_url``), never with a password in it.

    >>> parse("bolt://me:secret@localhost/people")
    Address(uri='bolt://localhost:7687', kb='people', database=None, user='me')
    """
    scheme = url.partition("://")[0]
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 7687
    except ValueError:
        raise _bad(scheme, "cannot be read") from None
    if scheme not in SCHEMES:
        raise _bad(scheme, f"has a scheme other than {', '.join(SCHEMES)}")
    if not _HOST.fullmatch(host):
        raise _bad(scheme, "names no host")
    if parts.fragment:
        raise _bad(scheme, "has a part after #")
    return Address(
        f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}",
        _base(parts),
        _database(parts),
        unquote(parts.username) if parts.username else user,
        unquote(parts.password) if parts.password is not None else password,
    )


def _base(parts: SplitResult) -> str:
    kb = unquote(parts.path.strip("/")) or BASE
    # An unescaped slash in a password leaves the rest of it in the path, before an @.
    if "/" in kb or "@" in kb or not kb.isprintable() or len(kb) > _LONGEST:
        raise _bad(parts.scheme, f"names no base: one name of at most {_LONGEST} characters")
    return kb


def _database(parts: SplitResult) -> str | None:
    try:
        asked = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
    except ValueError:
        asked = {"": [""]}
    database = asked.pop("database", [None])
    if asked or len(database) > 1:
        raise _bad(parts.scheme, "has options other than ?database=NAME")
    return database[0]


def _bad(scheme: str, why: str) -> InputError:
    shown = scheme if re.fullmatch(r"[a-z+]{1,20}", scheme) else ""
    return InputError(
        f"the address {shown + '://…'!r} {why}", code="store.bad_url",
        hint="write neo4j://HOST:PORT/BASE; special characters of a password as %XX",
    )  # fmt: skip
