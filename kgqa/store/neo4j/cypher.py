"""The text of statements: how names get into Cypher, where nothing else but constants may.

Belongs here: escaping, naming, putting fragments together. Must not: running statements, values
(those are always parameters). A test reads every module of this room and finds text that comes
from anywhere else (R-CY-02).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "meta": "Setting",
        "revisions": "Revision",
        "tombstones": "Tombstone",
        "relations": "Relation",
        "failures": "Failure",
        "merges": "Merge",
        "documents": "Document",
        "chunks": "Chunk",
        "refs": "Reference",
        "node_claims": "Statement",
        "nodes": "Version",
        "names": "Name",
        "existence": "Term",
        "facts": "Fact",
        "claims": "Claim",
        "vectors": "Vector",
    }
)
"""The label of each table's rows."""
RESERVED = frozenset({*LABELS.values(), "Base", "Entity", "Literal", "OldVector"})
"""Labels that mean something to us: no kind of a node may become one of them."""
OTHER = "OTHER"
"""The relationship type of relations that have none of their own."""
LONG = "_long"
"""What follows a column's name where its value is whole though the column's own was cut."""
LONGEST = 1000
"""How many bytes of a text an index holds; the server refuses more than about 8,000."""

_LONGEST_NAME = 64
_MARK = re.compile(r"@(\w+)")
_OTHERS = re.compile(r"\W+")


class Cypher(str):
    """Text that may stand in a statement as it is; only this module makes it."""

    __slots__ = ()


def name(text: str) -> Cypher:
    r"""Return a label, type, property key or index name, quoted; total, and never syntax.

    What is no letter, digit or underscore becomes an underscore: Cypher reads ``\u0060`` as a
    backtick even between backticks.

    >>> name("Head of `state`")
    '`Head_of_state_`'
    """
    return Cypher(f"`{_OTHERS.sub('_', text)[:_LONGEST_NAME] or '_'}`")


def label(kind: str) -> str:
    """Return the label that shows a kind of node, never one of RESERVED.

    >>> label("head of state"), label("chunk"), label("")
    ('HeadOfState', 'Chunk_', 'Thing')
    """
    words = [word for word in re.split(r"[\W_]+", kind) if word]
    found = "".join(word[0].upper() + word[1:] for word in words)
    # A capital letter may be one with a mark beside it.
    found = _OTHERS.sub("_", found)[:_LONGEST_NAME] or "Thing"
    return f"{found}_" if found in RESERVED or re.fullmatch(r"Vector\d+", found) else found


def relationship(relation: str) -> str:
    """Return the relationship type that shows a relation, never OTHER.

    >>> relationship("held office"), relationship("other")
    ('HELD_OFFICE', 'OTHER_')
    """
    found = _OTHERS.sub("_", relation.upper()).strip("_")[:_LONGEST_NAME] or "_"
    return f"{found}_" if found == OTHER else found


def text(template: str, **parts: str | Iterable[str]) -> Cypher:
    """Return a template with each ``@part`` replaced: Cypher as it is, other text as a name.

    Several parts are separated by commas.

    >>> text("MATCH (t:@table {kb: $kb}) RETURN @columns", table="Fact", columns=["n", "id"])
    'MATCH (t:`Fact` {kb: $kb}) RETURN `n`, `id`'
    """

    def part(found: re.Match[str]) -> str:
        given = parts[found[1]]
        several = [given] if isinstance(given, str) else given
        return ", ".join(one if isinstance(one, Cypher) else name(one) for one in several)

    return Cypher(_MARK.sub(part, template))


def union(queries: Iterable[Cypher]) -> Cypher:
    """Return queries as one that returns the rows of each."""
    return Cypher(" UNION ALL ".join(queries))


def every(conditions: Iterable[Cypher]) -> Cypher:
    """Return conditions that must all hold; no condition holds always."""
    return Cypher(" AND ".join(conditions) or "true")


def properties(variable: str, columns: Iterable[str]) -> list[Cypher]:
    """Return properties of a variable.

    >>> properties("t", ["n"])
    ['`t`.`n`']
    """
    return [Cypher(f"{name(variable)}.{name(column)}") for column in columns]


def whole(variable: str, columns: Iterable[str], cut: frozenset[str]) -> list[Cypher]:
    """Return properties as they were given, also those that ``short`` may have cut.

    >>> whole("t", ["n", "id"], frozenset({"id"}))
    ['`t`.`n`', 'coalesce(`t`.`id_long`, `t`.`id`)']
    """
    t = name(variable)
    return [
        Cypher(f"coalesce({t}.{name(c + LONG)}, {t}.{name(c)})" if c in cut else f"{t}.{name(c)}")
        for c in columns
    ]


def fields(columns: Iterable[str]) -> list[Cypher]:
    """Return a map's entries from the list ``r``.

    >>> fields(["n", "id"])
    ['`n`: r[0]', '`id`: r[1]']
    """
    return [Cypher(f"{name(column)}: r[{i}]") for i, column in enumerate(columns)]


def setting(columns: Iterable[str]) -> list[Cypher]:
    """Return what SET makes of ``t`` from the list ``r``.

    >>> setting(["id"])
    ['t.`id` = r[0]']
    """
    return [Cypher(f"t.{name(column)} = r[{i}]") for i, column in enumerate(columns)]


def equal(columns: Iterable[str]) -> list[Cypher]:
    """Return the conditions that columns of ``t`` have the values of parameters.

    >>> equal(["id"])
    ['t.`id` = $`id`']
    """
    return [Cypher(f"t.{name(column)} = ${name(column)}") for column in columns]


def among(columns: Iterable[str]) -> list[Cypher]:
    """Return the conditions that columns of ``t`` have one of the values of list parameters."""
    return [Cypher(f"t.{name(column)} IN ${name(column)}") for column in columns]


def fits(column: str) -> list[Cypher]:
    """Return the condition that a column of ``t`` has the value ``v`` of a list that is unwound."""
    return [Cypher(f"t.{name(column)} = v")]


def there(columns: Iterable[str]) -> list[Cypher]:
    """Return the conditions that columns of ``t`` have a value, as indexes need them."""
    return [Cypher(f"t.{name(column)} IS NOT NULL") for column in columns]


def number(value: int) -> Cypher:
    """Return a whole number where a statement takes no parameter."""
    return Cypher(int(value))


def short(value: str) -> str:
    """Return a text as indexes hold it: whole, or its beginning and its digest.

    Rows hold a text that was cut in a second property, ``<column>_long``.

    >>> short("Napoleon"), len(short("a" * 5000))
    ('Napoleon', 965)
    """
    if len(value) <= LONGEST // 4 or len(data := value.encode()) <= LONGEST:
        return value
    # 64 letters of digest and a mark fit in what is left.
    head = data[: LONGEST - 100].decode("utf-8", "ignore")
    return f"{head}…{sha256(data).hexdigest()}"
