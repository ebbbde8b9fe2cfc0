"""Identity: name keys, relation keys, content hashes, citation labels.

Belongs here: pure functions from content to id. Must not: storage or randomness.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from functools import lru_cache

from kgqa.model.things import Literal
from kgqa.temporal.interval import Validity

_SEPARATORS = re.compile(r"[\s_\-]+")


@lru_cache(maxsize=200_000)
def name_key(label: str) -> str:
    """Return the key under which a label is looked up: NFKC, casefold, single spaces.

    >>> name_key("  Gaius  JULIUS Caesar ")
    'gaius julius caesar'
    """
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


@lru_cache(maxsize=20_000)
def relation_key(label: str) -> str:
    """Return a relation's key: as a name, and runs of ``_``, ``-`` and space are one space.

    >>> relation_key("Held_Office"), relation_key("held--office")
    ('held office', 'held office')
    """
    return _SEPARATORS.sub(" ", unicodedata.normalize("NFKC", label).casefold()).strip()


def placeholder(label: str) -> str:
    """Return the id of the node that stands for a name nobody has declared.

    >>> placeholder("Rome")
    'name:rome'
    """
    return "name:" + name_key(label)


def digest(*parts: str | bytes) -> str:
    """Return a 26-character lower-case base32 hash (130 bits) of the parts, in order."""
    h = hashlib.blake2b(digest_size=17)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "big"))
        h.update(data)
    return base64.b32encode(h.digest()).decode("ascii").lower()[:26]


def object_token(value: str | Literal) -> str:
    """Return a text that tells a node from a literal and one literal type from another.

    >>> [object_token(o) for o in ("q1", Literal(1), Literal(True), Literal("1"))]
    ['n:q1', 'i:1', 'b:true', 's:1']
    """
    if isinstance(value, str):
        return "n:" + value
    raw = value.value
    if isinstance(raw, bool):
        return "b:true" if raw else "b:false"
    if isinstance(raw, int):
        return f"i:{raw}"
    if isinstance(raw, float):
        return f"f:{raw!r}"
    return "s:" + raw


def object_value(token: str) -> str | Literal:
    """Return what ``object_token`` was made from."""
    tag, text = token[0], token[2:]
    if tag == "n":
        return text
    if tag == "b":
        return Literal(text == "true")
    if tag == "i":
        return Literal(int(text))
    if tag == "f":
        return Literal(float(text))
    return Literal(text)


def fact_id(subject: str, relation: str, object_: str, valid: Validity) -> str:
    """Return the id of a fact: hash of subject id, relation key, object token, four bounds."""
    raw = f"{subject}\x1f{relation}\x1f{object_}\x1f{valid.es},{valid.ls},{valid.ee},{valid.le}"
    h = hashlib.blake2b(raw.encode("utf-8", "surrogatepass"), digest_size=17)
    return base64.b32encode(h.digest())[:26].decode("ascii").lower()
