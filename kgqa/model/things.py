"""The nouns of a knowledge base: nodes, facts, relations, documents, chunks, and claims about them.

Belongs here: frozen values with no behaviour beyond their own consistency. Must not: storage,
parsing, linking. May import ``kgqa.temporal`` and ``kgqa.errors``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from typing import Literal as OneOf

from kgqa.temporal.interval import END, UNDATED, Instant, Validity

Json: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None
Properties: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Literal:
    """Hold an object that is a value and not a node."""

    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Ref:
    """Name a node before linking: a label, and the id or kind if the source settles it."""

    label: str
    id: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Hold a half-open range of UTF-8 byte offsets into a document's parsed text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """Hold ``[from, to)`` in revisions: when the knowledge base knew a thing; END = still does."""

    start: int
    end: int = END


@dataclass(frozen=True, slots=True)
class Alias:
    """Hold another name of a node and when it was used."""

    label: str
    valid: Validity = UNDATED


@dataclass(frozen=True, slots=True)
class Node:
    """Hold an identified thing.

    ``existence`` is sorted and merged; empty means unknown. ``declared`` is False for a
    placeholder ``name:<key>`` that only facts refer to.
    """

    id: str
    label: str
    kind: str | None = None
    aliases: tuple[Alias, ...] = ()
    existence: tuple[Validity, ...] = ()
    properties: Properties = field(default_factory=dict)
    declared: bool = True


@dataclass(frozen=True, slots=True)
class Claim:
    """Hold what a loader or extractor says, before names are linked.

    ``relation`` is the source's words; ``chunk`` and ``span`` or ``line`` say where.
    """

    subject: Ref
    relation: str
    object: Ref | Literal
    valid: Validity = UNDATED
    chunk: str | None = None
    span: Span | None = None
    line: int | None = None
    confidence: float = 1.0
    properties: Properties = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """Hold one place that states a fact, in that place's words."""

    document: str
    chunk: str | None = None
    span: Span | None = None
    line: int | None = None
    confidence: float = 1.0
    properties: Properties = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Hold one term of a subject-relation-object with its two times and every source of it.

    ``subject`` is a node id, ``relation`` a key, ``object`` a node id or a Literal.
    ``ended_by`` names the fact whose start stops an open or unknown end at read time
    (functional relations); ``valid`` then has that end.
    """

    id: str
    subject: str
    relation: str
    object: str | Literal
    valid: Validity
    recorded: Recorded
    sources: tuple[Source, ...] = ()
    ended_by: str | None = None

    @property
    def confidence(self) -> float:
        """Return the highest confidence among the sources."""
        return max((s.confidence for s in self.sources), default=0.0)

    @property
    def properties(self) -> dict[str, Json]:
        """Return the properties of all sources; the first source in order wins."""
        merged: dict[str, Json] = {}
        for source in reversed(self.sources):
            merged.update(source.properties)
        return merged


@dataclass(frozen=True, slots=True)
class Relation:
    """Hold a predicate as data of the base.

    ``max_objects``/``max_subjects`` bound how many hold at one time (None = unlimited).
    ``range`` is a node kind or ``literal``; ``inverse`` the label read from the object.
    """

    key: str
    label: str
    synonyms: tuple[str, ...] = ()
    inverse: str | None = None
    domain: str | None = None
    range: str | None = None
    max_objects: int | None = None
    max_subjects: int | None = None
    requires_existence: OneOf["subject", "object", "both"] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """Hold a source: a text, or a table of facts. Its id is the hash of its content.

    ``published`` and ``validity`` are separate; ``text`` is the parsed text that spans
    refer to (empty for tables).
    """

    id: str
    path: str
    title: str = ""
    media: str = "text/plain"
    text: str = ""
    published: Validity | None = None
    validity: Validity = UNDATED
    recorded: Recorded | None = None
    properties: Properties = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Hold a piece of a document: its text, where it stands, when it holds."""

    id: str
    document: str
    ordinal: int
    text: str
    span: Span
    section: tuple[str, ...] = ()
    pages: tuple[int, int] | None = None
    validity: Validity = UNDATED
    recorded: Recorded | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Hold a unit that could not be loaded, kept for ``load --retry``.

    ``unit`` is ``path:line`` of a row or the path of a document.
    """

    unit: str
    code: str
    message: str
    payload: str | None = None


@dataclass(frozen=True, slots=True)
class End:
    """Say that a node or fact (a citation label) ended: earliest and latest exclusive end."""

    label: str
    ee: Instant
    le: Instant


@dataclass(frozen=True, slots=True)
class Merge:
    """Say that two node ids are one thing; ``loser`` answers as ``winner`` from then on."""

    loser: str
    winner: str


Item: TypeAlias = Node | Fact | Document | Chunk
