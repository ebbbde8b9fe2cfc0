"""What every database holds besides rows: constraints and indexes, and that they are there.

Belongs here: which there are, making the missing ones, waiting for them. Must not: rows. Names
begin with ``kgqa_``; all but the full-text and vector indexes lead with the base, so that many
bases live in one database. The server takes an index of several properties only if a statement
asks something of each of them (``IS NOT NULL`` will do for the last ones).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from kgqa.errors import ConflictError, FaultError, UnavailableError
from kgqa.store.neo4j import cypher
from kgqa.store.neo4j.cypher import LABELS, OTHER, Cypher
from kgqa.store.neo4j.session import Client

Kind: TypeAlias = Literal["UNIQUE", "RANGE", "FULLTEXT", "VECTOR"]
Progress: TypeAlias = Callable[[float], None]
"""Is told the share of work done, 0 to 1, while indexes are filled."""

TYPES_MAX = 50
"""How many relations of a base have a relationship type of their own, with its schema."""
WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.2
_LOOKS = 10

UNIQUE: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "meta": (("key", "recorded_to"),),
        "revisions": (("n",),),
        "tombstones": (("label",),),
        "relations": (("key", "recorded_to"),),
        "failures": (("unit", "recorded_to"),),
        "merges": (("n",),),
        "documents": (("n",), ("id", "recorded_to")),
        "chunks": (("n",), ("id", "recorded_to")),
        "refs": (("n",), ("label", "kind", "explicit")),
        "node_claims": (("n",), ("node", "document", "recorded_to")),
        "nodes": (("n",), ("id", "recorded_to")),
        "facts": (("n",), ("id", "recorded_to")),
        "claims": (("n",),),
        "vectors": (("kind", "item", "generation"),),
    }
)
"""By table: columns of which no two rows of a base have the same values."""
RANGE: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "chunks": (("document", "ordinal"),),
        "refs": (("key",), ("explicit",)),
        "node_claims": (("document",),),
        "nodes": (("es", "ee", "id"),),
        "names": (("key",), ("node",)),
        "existence": (("node", "es"),),
        "facts": (
            ("subject", "relation", "es"),
            ("object", "relation", "es"),
            ("relation", "es", "ee"),
            ("es", "ee", "id"),
        ),
        "claims": (("fact",), ("document",), ("subject_ref",), ("object_ref",), ("chunk",)),
        "vectors": (("kind", "live", "es", "le"), ("kind", "live", "le", "es")),
    }
)
"""By table: columns that are searched, in this order."""
TOKENS = "tokens"
"""The property with the words of a row, which ``words.folded`` makes."""
CHUNK_TEXT = "kgqa_chunk_text"
NODE_TEXT = "kgqa_node_text"
"""Full-text indexes of it."""
FILTERS = ("kb", "kind", "live", "es", "le", "generation")
"""Properties by which a vector index filters, where the server can."""

_CREATE_UNIQUE = "CREATE CONSTRAINT @name IF NOT EXISTS FOR (t:@label) REQUIRE (@columns) IS UNIQUE"
_CREATE_RANGE = "CREATE INDEX @name IF NOT EXISTS FOR (t:@label) ON (@columns)"
_CREATE_TEXT = (
    "CREATE FULLTEXT INDEX @name IF NOT EXISTS FOR (t:@label) ON EACH [@columns] "
    "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
)
_CREATE_VECTOR = (
    "CREATE VECTOR INDEX @name IF NOT EXISTS FOR (t:@label) ON (t.embedding) "
    "OPTIONS {indexConfig: {`vector.dimensions`: @size, `vector.similarity_function`: 'cosine', "
    "`vector.quantization.enabled`: false, `vector.hnsw.m`: 32}}"
)
_CREATE_FILTERED_VECTOR = (
    "CYPHER 25 CREATE VECTOR INDEX @name IF NOT EXISTS FOR (t:@label) ON (t.embedding) "
    "WITH [@filters] "
    "OPTIONS {indexConfig: {`vector.dimensions`: @size, `vector.similarity_function`: 'cosine', "
    "`vector.quantization.type`: 'none', `vector.hnsw.m`: 32}}"
)
_CREATE_TYPE_UNIQUE = (
    "CREATE CONSTRAINT @name IF NOT EXISTS FOR ()-[t:@label]-() REQUIRE (@columns) IS UNIQUE"
)
_CREATE_TYPE_RANGE = "CREATE INDEX @name IF NOT EXISTS FOR ()-[t:@label]-() ON (@columns)"
_SHOW = (
    "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state, populationPercent, "
    "owningConstraint "
    "RETURN name, type, labelsOrTypes, properties, state, populationPercent, owningConstraint"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Describe a constraint or an index, and how it is made."""

    name: str
    kind: Kind
    label: str
    """A label or a relationship type."""
    properties: tuple[str, ...]
    statement: Cypher


@dataclass(frozen=True, slots=True)
class _Held:
    """Describe an index as the server shows it."""

    name: str
    kind: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    state: str
    percent: float
    unique: bool

    def is_(self, wanted: Wanted) -> bool:
        """Tell whether this does what is wanted, under whatever name."""
        same = self.labels == (wanted.label,) and self.properties == wanted.properties
        if wanted.kind == "UNIQUE":
            return same and self.kind == "RANGE" and self.unique
        # With its filters a vector index shows more properties than the one that is searched.
        first = self.labels == (wanted.label,) and self.properties[:1] == wanted.properties[:1]
        return self.kind == wanted.kind and (first if self.kind == "VECTOR" else same)


def base_schema() -> list[Wanted]:
    """Return what every database that holds bases needs."""
    wanted = [
        *type_schema(OTHER),
        _made("UNIQUE", "Base", ("kb",), _CREATE_UNIQUE),
        _made("UNIQUE", "Entity", ("kb", "id"), _CREATE_UNIQUE),
        _made("UNIQUE", "Literal", ("kb", "token"), _CREATE_UNIQUE),
        _made("RANGE", "OldVector", ("kb", "kind", "item"), _CREATE_RANGE),
        _made("RANGE", "OldVector", ("kb", "until"), _CREATE_RANGE),
    ]
    for table, label in LABELS.items():
        for columns in UNIQUE.get(table, ()):
            wanted.append(_made("UNIQUE", label, ("kb", *columns), _CREATE_UNIQUE))
        for columns in RANGE.get(table, ()):
            wanted.append(_made("RANGE", label, ("kb", *columns), _CREATE_RANGE))
    for name, label, columns in (
        (CHUNK_TEXT, "Chunk", (TOKENS,)),
        (NODE_TEXT, "Version", (TOKENS,)),
    ):
        wanted.append(_made("FULLTEXT", label, columns, _CREATE_TEXT, name))
    return wanted


def vector_schema(dimension: int, filtered: bool) -> Wanted:
    """Return the vector index of vectors of so many numbers; ``filtered``: it takes FILTERS."""
    name = vector_index(dimension)
    template = _CREATE_FILTERED_VECTOR if filtered else _CREATE_VECTOR
    statement = cypher.text(
        template, name=name, label=vector_label(dimension), size=cypher.number(dimension),
        filters=cypher.properties("t", FILTERS),
    )  # fmt: skip
    return Wanted(name, "VECTOR", vector_label(dimension), ("embedding",), statement)


def vector_label(dimension: int) -> str:
    """Return the label of the vectors of so many numbers."""
    return f"Vector{dimension}"


def vector_index(dimension: int) -> str:
    """Return the name of their index."""
    return f"kgqa_vector_{dimension}"


def type_schema(relationship: str) -> list[Wanted]:
    """Return what a relationship type of the picture needs, if it is one of the commonest."""
    return [
        _made("UNIQUE", relationship, ("kb", "n"), _CREATE_TYPE_UNIQUE),
        _made("RANGE", relationship, ("kb", "es", "le"), _CREATE_TYPE_RANGE),
    ]


def _made(
    kind: Kind, label: str, columns: tuple[str, ...], template: str, name: str | None = None
) -> Wanted:
    name = name or "_".join(["kgqa", label.lower(), *(columns[1:] or columns)])
    statement = cypher.text(
        template, name=name, label=label, columns=cypher.properties("t", columns)
    )
    return Wanted(name, kind, label, columns, statement)


def ensure(
    client: Client,
    wanted: Iterable[Wanted] | None = None,
    wait: float = WAIT_SECONDS,
    progress: Progress | None = None,
) -> None:
    """Make what is missing of a schema (``base_schema()``), and wait until all of it works.

    Raises ConflictError (``store.schema``) for what another tool made instead,
    UnavailableError (``store.populating``) if indexes are not filled after ``wait`` seconds,
    FaultError (``store.schema``) for one that failed.
    """
    wanted = base_schema() if wanted is None else list(wanted)
    for left in reversed(range(_LOOKS)):
        held = _held(client)
        missing = [one for one in wanted if not any(index.is_(one) for index in held)]
        try:
            for one in missing:
                _refuse_clash(client, one, held)
            break
        except ConflictError:
            # While another process makes a constraint, only its index is to be seen.
            if not left:
                raise
            time.sleep(_POLL_SECONDS)
    if missing:
        client.schema(one.statement for one in missing)
    _await(client, wanted, wait, progress)


def ensure_vectors(
    client: Client, dimension: int, wait: float = WAIT_SECONDS, progress: Progress | None = None
) -> None:
    """Make the index of vectors of so many numbers if it is missing. Raises as ``ensure``."""
    ensure(client, [vector_schema(dimension, client.cypher25)], wait, progress)


def ensure_types(client: Client, relationships: Iterable[str]) -> None:
    """Make what relationship types of the picture need. Raises as ``ensure``."""
    ensure(client, [one for name in relationships for one in type_schema(name)])


def _held(client: Client) -> list[_Held]:
    return [
        _Held(name, kind, tuple(labels or ()), tuple(properties or ()), state, percent, bool(owner))
        for name, kind, labels, properties, state, percent, owner in client.rows(_SHOW)
    ]


def _refuse_clash(client: Client, wanted: Wanted, held: Iterable[_Held]) -> None:
    """Refuse what stands where ``wanted`` belongs; only who made that may remove it."""
    for index in held:
        same = index.labels == (wanted.label,) and index.properties == wanted.properties
        in_the_way = same and wanted.kind == "UNIQUE" and index.kind == "RANGE"
        if index.name == wanted.name or in_the_way:
            noun = "CONSTRAINT" if index.unique else "INDEX"
            raise ConflictError(
                f"'{client.address}': {index.name!r} is not as kgqa made it",
                code="store.schema", hint=f"if nobody needs it: DROP {noun} {index.name}",
            )  # fmt: skip


def _await(
    client: Client, wanted: Iterable[Wanted], wait: float, progress: Progress | None
) -> None:
    deadline = time.monotonic() + wait
    wanted = list(wanted)
    while True:
        held = [i for i in _held(client) if any(i.is_(one) for one in wanted)]
        for index in held:
            if index.state == "FAILED":
                raise FaultError(
                    f"'{client.address}': the index {index.name!r} failed",
                    code="store.schema", hint=f"DROP INDEX {index.name}, then open the base again",
                )  # fmt: skip
        waiting = [index for index in held if index.state != "ONLINE"]
        if not waiting:
            return
        if progress is not None:
            done = len(held) - len(waiting) + sum(index.percent for index in waiting) / 100
            progress(done / len(held))
        if time.monotonic() > deadline:
            raise UnavailableError(
                f"'{client.address}': the index {waiting[0].name!r} is filled to "
                f"{waiting[0].percent:.0f} %",
                code="store.populating", hint="wait, then the same again",
            )  # fmt: skip
        time.sleep(_POLL_SECONDS)
