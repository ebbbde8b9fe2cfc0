"""What the rooms above ask of the adapters below: protocols and the values they exchange. No code.

Belongs here: Protocol classes, Pattern, Batch and small result records. Must not: behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from typing import Literal as OneOf

from kgqa.model.things import (
    Chunk,
    Claim,
    Document,
    End,
    Fact,
    Failure,
    Item,
    Literal,
    Merge,
    Node,
    Relation,
)  # fmt: skip
from kgqa.temporal.interval import Instant, Interval, Match

if TYPE_CHECKING:
    import numpy as np

ItemKind: TypeAlias = OneOf["node", "chunk", "relation"]
Json: TypeAlias = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Select nodes, facts or chunks; every field narrows, None does not.

    ``valid``: the term possibly holds there under ``match``. ``begun_before``: possibly
    started earlier than this instant (the world of an as_of). ``known_at``: a revision.
    ``kind``: of the node (nodes, find, nearest). ``items``: which kinds of item find and
    nearest return. ``order``: by (earliest start, earliest end, id) or by id; ``after`` is
    the id of the last item of the page before.
    """

    subject: str | None = None
    relation: str | None = None
    object: str | Literal | None = None
    kind: str | None = None
    valid: Interval | None = None
    match: Match = "overlaps"
    begun_before: Instant | None = None
    known_at: int | None = None
    undated: OneOf["include", "exclude"] = "include"
    items: tuple[ItemKind, ...] = ("node", "chunk")
    order: OneOf["start", "id"] = "start"
    limit: int | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """Hold one search result: item kind, id, score (higher is better; cosine or -bm25)."""

    kind: ItemKind
    id: str
    score: float


class Hits(list[Hit]):
    """Hold hits, best first; ``how`` says by which way they were found, and of how many."""

    __slots__ = ("how",)

    def __init__(self, hits: Iterable[Hit] = (), how: str = "") -> None:
        super().__init__(hits)
        self.how = how


@dataclass(frozen=True, slots=True)
class Reached:
    """Hold one expansion result: the facts from a seed, in order, and the node reached."""

    seed: str
    facts: tuple[Fact, ...]
    node: str


@dataclass(frozen=True, slots=True)
class NameHit:
    """Hold one node that bears a name: the key asked, the node, the label as written, when."""

    key: str
    node: str
    label: str
    main: bool
    valid: Any


@dataclass(frozen=True, slots=True)
class VectorRow:
    """Hold one embedding: of which item, of which text (its digest), the vector."""

    kind: ItemKind
    id: str
    digest: str
    vector: np.ndarray


@dataclass(frozen=True, slots=True)
class Pending:
    """Hold one item that waits for ``index``: what to embed and the digest of that text."""

    kind: ItemKind
    id: str
    text: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Hold one atomic write. Everything in it comes from one source, the document ``source``.

    Applying the same batch twice is applying it once: no new revision. ``delete`` lists
    document ids whose support is withdrawn first; ``retract`` and ``ends`` take citation
    labels; ``vectors`` go into generation ``generation``; ``meta`` values are JSON.
    ``resolve_failures`` lists units that no longer fail.
    """

    source: str | None = None
    documents: tuple[Document, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    nodes: tuple[Node, ...] = ()
    claims: tuple[Claim, ...] = ()
    relations: tuple[Relation, ...] = ()
    delete: tuple[str, ...] = ()
    ends: tuple[End, ...] = ()
    retract: tuple[str, ...] = ()
    merges: tuple[Merge, ...] = ()
    undo: int | None = None
    vectors: tuple[VectorRow, ...] = ()
    generation: int | None = None
    failures: tuple[Failure, ...] = ()
    resolve_failures: tuple[str, ...] = ()
    meta: Mapping[str, Json] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Say what a write did: the revision it made (or found), counts by noun, ambiguous names."""

    revision: int
    changed: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    ambiguous: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """Hold one revision: number, wall clock (ms), what it was."""

    revision: int
    wall: Instant
    note: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Hold one finding of ``verify``."""

    part: str
    id: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseOptions:
    """Say what a new base takes and its defaults; they are kept in the base.

    ``mode``: how far a question searches if it does not say. ``embed_nodes_max`` None = 50,000.
    """

    form: OneOf["documents", "nodes", "hybrid"] = "hybrid"
    undated: OneOf["include", "exclude"] = "include"
    passages: OneOf["validity", "published"] = "validity"
    mode: OneOf["fast", "deep"] = "deep"
    embed_nodes_max: int | None = None


@dataclass(frozen=True, slots=True)
class Capability:
    """Say where a store is (never with a password), what it can do and how it searches."""

    location: str
    technology: str
    version: str
    vector_search: str
    text_search: str
    batch_rows: int = 5_000
    """How many rows one write should hold: more may not fit into a small server's memory."""
    user: str | None = None
    """Who asks a server; None where no one is asked for."""


class Reader(Protocol):
    """Read one state of a knowledge base. All reads are filtered inside the search."""

    @property
    def revision(self) -> int: ...
    def get(self, labels: Iterable[str], known_at: int | None = None) -> dict[str, Item]: ...
    def nodes(self, pattern: Pattern) -> list[Node]: ...
    def match(self, pattern: Pattern) -> list[Fact]: ...
    def expand(
        self, seeds: Sequence[str], hops: int, pattern: Pattern, limit: int
    ) -> list[Reached]: ...
    def nearest(self, vector: np.ndarray, k: int, pattern: Pattern) -> Hits: ...
    def find(self, text: str, k: int, pattern: Pattern) -> Hits: ...
    def names(self, keys: Iterable[str], known_at: int | None = None) -> list[NameHit]: ...
    def chunks(self, document: str, known_at: int | None = None) -> list[Chunk]: ...
    def relations(self) -> dict[str, Relation]: ...
    def documents(
        self, limit: int | None = None, after: str | None = None, known_at: int | None = None
    ) -> list[Document]: ...
    def failures(self) -> list[Failure]: ...
    def meta(self) -> dict[str, Json]: ...
    def stats(self) -> dict[str, int]: ...
    def changes(self, since: int = 0) -> list[Change]: ...
    def pending(self, limit: int, after: tuple[str, str] | None = None) -> list[Pending]: ...

    def batches(self) -> Iterator[Batch]:
        """Yield batches that rebuild the current state in an empty store (no vectors).

        First relations and the base's own settings, then for each document its row, chunks,
        node rows and claims as they were stated (refs, not resolved ids; at most 5,000 claims
        a batch), then the merges in force. Deterministic order.
        """
        ...


class Rows(Protocol):
    """Read one state of a base row by row, to move it whole to another store.

    ``read`` yields all columns of a table by its key, from after a key; ``name`` is the base as
    people write it, without a password. Tables and columns are the store room's affair.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> int: ...
    def count(self, table: str) -> int: ...
    def read(
        self, table: str, after: tuple[Any, ...] | None = None
    ) -> Iterator[tuple[Any, ...]]: ...


class Store(Reader, Protocol):
    """Keep a knowledge base. Writes are atomic and idempotent; one writer at a time."""

    @property
    def capabilities(self) -> Capability: ...
    def write(self, batch: Batch) -> Receipt: ...
    def erase(self, labels: Sequence[str]) -> Receipt: ...
    def view(self) -> AbstractContextManager[Reader]: ...
    def rows(self) -> AbstractContextManager[Rows]: ...
    def verify(self) -> list[Problem]: ...
    def backup(self, path: Path) -> None: ...
    def close(self) -> None: ...


class Embedder(Protocol):
    """Turn texts into vectors: (n, d) float32, rows L2-normalised, deterministic."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> np.ndarray: ...


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Say how a source is to be read; times are texts, parsed by the loader's border."""

    valid: str | None = None
    published: str | None = None
    reference_date: str | None = None
    year_numbering: OneOf["historical", "astronomical"] = "historical"
    calendar: OneOf["gregorian", "julian"] = "gregorian"
    ends: OneOf["inclusive", "exclusive"] = "inclusive"
    source: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """Hold one part of a parsed document: heading path, text, page (1-based) if it has one."""

    path: tuple[str, ...]
    text: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Hold a parsed text document: title, sections in order, media type."""

    title: str
    media: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one row of a table of facts or nodes: where it stands and what it says, or why not."""

    line: int
    value: Node | Claim | Failure


class TextLoader(Protocol):
    """Read one text document from bytes."""

    def __call__(self, data: bytes, name: str) -> Loaded: ...


class RowLoader(Protocol):
    """Read rows of facts and nodes from a file, streaming; a bad row is a Failure, not the end."""

    def __call__(
        self, path: Path, options: LoadOptions, literal_relations: frozenset[str]
    ) -> Iterator[Row]: ...


class Extractor(Protocol):
    """Read claims out of a document's chunks; validity only from the claim's own clause."""

    def __call__(
        self, document: Document, chunks: Sequence[Chunk], reference: Interval | None
    ) -> Iterable[Claim]: ...


Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a stage name, units done, units in all (None = unknown)."""
