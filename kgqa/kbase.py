"""KBase: an opened knowledge base; puts store, embedder and language together.

Belongs here: composition and the facade that users construct. Must not: algorithms; each
method hands over to one room.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar
from typing import Literal as OneOf

from kgqa import settings
from kgqa.errors import NotFoundError
from kgqa.exchange import declare, export
from kgqa.exchange.arguments import check, checked_methods
from kgqa.ingest import index, pipeline, rows, sources
from kgqa.ingest import merge as merging
from kgqa.ingest.report import together
from kgqa.model.answer import Answer, AskOptions, SearchResult
from kgqa.model.things import Claim, Document, End, Failure, Merge, Node, Relation
from kgqa.protocols import (
    BaseOptions,
    Batch,
    Capability,
    Embedder,
    LoadOptions,
    Problem,
    Progress,
    Receipt,
    Store,
)
from kgqa.query import answer as answering
from kgqa.query import history, labels
from kgqa.query.scope import at_most, scope_of
from kgqa.store import create_store, open_store
from kgqa.temporal.dates import parse_end_points
from kgqa.temporal.interval import Numbering

if TYPE_CHECKING:
    from kgqa.ingest.index import IndexReport
    from kgqa.ingest.report import LoadReport
    from kgqa.store.moving import CopyReport
    from kgqa.store.neo4j.admin import AdminExport

Place: TypeAlias = str | os.PathLike[str]
OPEN = AskOptions()
T = TypeVar("T")


@checked_methods
class KBase:
    """Hold an opened knowledge base: load, index, ask; close it, or use it in a ``with``.

    Safe to share between threads. Times in arguments are texts (ISO 8601, EDTF, or as
    docs/time.md says); ends of intervals are exclusive inside and inclusive in text.

    >>> import tempfile
    >>> with KBase.create(tempfile.mkdtemp() + "/a.kg") as kb:
    ...     _ = kb.write([{"subject": "Cicero", "relation": "held office", "object": "consul",
    ...                    "start": "-0063", "end": "-0063"}])
    ...     kb.ask("Who was consul in 63 BC?").answers
    ('Cicero',)
    """

    def __init__(self, store: Store, embedder: Embedder | None = None) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings.read()

    @classmethod
    def create(
        cls,
        url: Place,
        options: BaseOptions = BaseOptions(),  # noqa: B008 - frozen
        *,
        embedder: str | Embedder | None = None,
    ) -> KBase:
        """Make a new base and open it; ConflictError if there is one."""
        process = settings.read()
        chosen = embedder or process.embedder
        meta = {name: value for name, value in asdict(options).items() if value is not None}
        if isinstance(chosen, str):
            meta["embedder_spec"] = chosen
        store = create_store(os.fspath(url), meta, process.lock_timeout, declare.shipped())
        return cls(store, None if isinstance(chosen, str) else chosen)

    @classmethod
    def open(cls, url: Place, *, create: bool = False, embedder: Embedder | None = None) -> KBase:
        """Open a base; NotFoundError if there is none, unless ``create``."""
        try:
            return cls(open_store(os.fspath(url), settings.read().lock_timeout), embedder)
        except NotFoundError:
            if not create:
                raise
        return cls.create(url, embedder=embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; every later call raises InputError (``store.closed``)."""
        self._store.close()

    @property
    def embedder(self) -> Embedder:
        """Return the base's embedder, opened at first use."""
        if self._embedder is None:
            from kgqa.inference.embed import open_embedder

            meta = self._store.meta()
            self._embedder = open_embedder(meta.get("embedder_spec", self._settings.embedder))
        return self._embedder

    # -- writing ---------------------------------------------------------------------------

    def load(
        self,
        paths: Place | Sequence[Place],
        options: LoadOptions | None = None,
        *,
        strict: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        progress: Progress | None = None,
    ) -> LoadReport:
        """Load documents and tables; each document and each 5,000 rows is one atomic write.

        Bad units are in the report's ``failures`` and are kept for ``retry``.
        """
        many = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        plan = pipeline.LoadPlan(
            paths=tuple(map(sources.named, many)),
            options=options or LoadOptions(),
            strict=strict,
            dry_run=dry_run,
            retry=retry,
        )
        return pipeline.load(self._store, plan, progress=progress)

    def write(
        self, items: Iterable[Node | Claim | Mapping[str, Any]], *, source: str = "api"
    ) -> Receipt:
        """Write nodes and claims, or rows as in docs/fact-format.md, as one atomic batch.

        Everything written under one ``source`` is one document; deleting that withdraws it.
        """
        return rows.write(self._store, items, source)

    def declare(self, relations: Iterable[Relation]) -> Receipt:
        """Declare relations, or change what is declared of them; facts are not touched.

        Declarations are rules of reading: those in force now read past revisions too.
        """
        many = tuple(relations)
        check("relations", many, tuple[Relation, ...])
        return self._store.write(Batch(relations=many, note="declare"))

    def end(
        self,
        label: str,
        at: str,
        *,
        ends: OneOf["inclusive", "exclusive"] = "inclusive",
        year_numbering: Numbering = "historical",
        dry_run: bool = False,
    ) -> Receipt:
        """Say that a node or fact ended: ``at`` is the last granule it held in, by default."""
        term = parse_end_points(None, at, numbering=year_numbering, ends=ends)
        end = End(labels.label(self._store, label), term.ee, term.le)
        return self._change(Batch(ends=(end,), note=f"end {end.label}"), end.label, dry_run)

    def retract(self, label: str, *, dry_run: bool = False) -> Receipt:
        """Say that a node or fact was never true; ``known_at`` before now still shows it."""
        full = labels.label(self._store, label)
        return self._change(Batch(retract=(full,), note=f"retract {full}"), full, dry_run)

    def erase(self, label: str, *, dry_run: bool = False) -> Receipt:
        """Remove the bytes of an item from every revision; a tombstone without content stays."""
        full = labels.label(self._store, label)
        if dry_run:
            return self._would(full)
        return self._store.erase([full])

    def delete(self, document: str, *, dry_run: bool = False) -> Receipt:
        """Withdraw a document (id or path) and exactly what only it supports."""
        found = labels.document(self._store, document)
        label = f"document:{found.id}"
        return self._change(Batch(delete=(found.id,), note=f"delete {label}"), label, dry_run)

    def merge(self, loser: str, winner: str) -> Receipt:
        """Say that two nodes are one: ``loser`` answers as ``winner`` from now on."""
        pair = Merge(self._node(loser), self._node(winner))
        note = f"merge {pair.loser} into {pair.winner}"
        return self._store.write(Batch(merges=(pair,), note=note))

    def proposals(self) -> list[merging.Proposal]:
        """Return pairs of nodes that may be one, best first; nothing is merged."""
        with self._store.view() as reader:
            return merging.propose(reader)

    def undo(self, revision: int) -> Receipt:
        """Undo the merge made in a revision."""
        return self._store.write(Batch(undo=revision, note=f"undo {revision}"))

    def index(self, *, progress: Progress | None = None) -> IndexReport:
        """Embed what is pending; see IndexNodeKBase."""
        return index.build(self._store, self.embedder, progress)

    # -- asking ----------------------------------------------------------------------------

    def ask(self, question: str, options: AskOptions = OPEN, *, as_of: str | None = None) -> Answer:
        """Answer a question from what holds under the scope; abstaining is an Answer too."""
        return self._query(answering.ask, question, _with(options, as_of))

    def search(
        self, text: str, k: int = 10, options: AskOptions = OPEN, *, as_of: str | None = None
    ) -> SearchResult:
        """Return the best ``k`` pieces of evidence that hold under the scope, without an answer."""
        return self._query(answering.search, text, k, _with(options, as_of))

    def explain(
        self, question: str, options: AskOptions = OPEN, *, as_of: str | None = None
    ) -> Answer:
        """Return how a question was read and answered: readings, stages, whole intervals."""
        return self._query(answering.explain, question, _with(options, as_of))

    def at(
        self, name: str, options: AskOptions = OPEN, *, as_of: str | None = None
    ) -> history.NodeHistory:
        """Return what holds of a node."""
        return self._history(history.at, name, options=_with(options, as_of))

    def timeline(
        self,
        name: str,
        relation: str | None = None,
        options: AskOptions = OPEN,
        *,
        as_of: str | None = None,
    ) -> history.NodeHistory:
        """Return the facts of a node in order of start."""
        return self._history(history.timeline, name, relation, options=_with(options, as_of))

    def snapshot(
        self, options: AskOptions = OPEN, *, as_of: str | None = None, limit: int | None = None
    ) -> history.Snapshot:
        """Return every fact and node that holds."""
        return self._history(history.snapshot, limit, options=_with(options, as_of))

    def diff(
        self,
        start: str,
        end: str,
        name: str | None = None,
        *,
        known_at: str | int | None = None,
        year_numbering: Numbering = "historical",
    ) -> history.Diff:
        """Return what ceased to hold and what came to hold between two times."""
        options = AskOptions(known_at=known_at, numbering=year_numbering)
        return self._history(history.diff, start, end, name, options=options)

    def when(
        self,
        subject: str,
        relation: str,
        object: str,
        options: AskOptions = OPEN,
        *,
        as_of: str | None = None,
    ) -> history.When:
        """Return the times in which a statement held, touching terms as one."""
        return self._history(history.when, subject, relation, object, options=_with(options, as_of))

    def nodes(
        self,
        kind: str | None = None,
        options: AskOptions = OPEN,
        *,
        limit: int | None = None,
        after: str | None = None,
    ) -> list[Node]:
        """Return nodes by id; under an ``as_of``, those that existed then."""
        with self._store.view() as reader:
            scope = scope_of(reader, options)
            return history.nodes(reader, kind, limit=limit, after=after, scope=scope)

    def documents(self, *, limit: int | None = None, after: str | None = None) -> list[Document]:
        """Return the documents and tables that were loaded, by id."""
        return self._store.documents(at_most(limit), after)

    def relations(self) -> list[Relation]:
        """Return the relations of the base, by key."""
        return sorted(self._store.relations().values(), key=lambda r: r.key)

    # -- keeping ---------------------------------------------------------------------------

    def stats(self) -> dict[str, int]:
        """Count what the base holds, and what waits for ``index``."""
        return self._store.stats()

    def failures(self) -> list[Failure]:
        """Return the units that could not be loaded."""
        return self._store.failures()

    @property
    def capabilities(self) -> Capability:
        """Say where the base is, what keeps it and how that searches."""
        return self._store.capabilities

    def verify(self) -> list[Problem]:
        """Check that every part of the base agrees with the others; empty = clean."""
        return self._store.verify()

    def backup(self, path: Place) -> Path:
        """Copy the base, history and all, while it is in use; ConflictError if the file exists."""
        self._store.backup(Path(path))
        return Path(path)

    def copy(
        self,
        url: Place,
        *,
        restart: bool = False,
        dry_run: bool = False,
        verify_only: bool = False,
        progress: Progress | None = None,
    ) -> CopyReport:
        """Copy the base, history and vectors and all, to another store, while it is in use.

        Goes on where a copy of this same state stopped (``restart``: from the start); one that
        is finished is compared, and nothing is written. See docs/copy.md.
        """
        from kgqa.store import moving

        plan, wait = moving.CopyPlan(restart, dry_run, verify_only), self._settings.lock_timeout
        return moving.move(self._store, os.fspath(url), plan, wait, progress)

    def export(self, path: Place, *, progress: Progress | None = None) -> Path:
        """Write the current state as JSONL (``-`` = standard output), whole or not at all."""
        with self._store.view() as reader:
            return export.write(reader.batches(), os.fspath(path), progress)

    def export_neo4j(
        self, path: Place, base: str | None = None, *, progress: Progress | None = None
    ) -> AdminExport:
        """Write one state, history and all, into a folder for neo4j-admin. See docs/copy.md."""
        from kgqa.store.neo4j import admin

        return admin.export(self._store, Path(path), base, progress)

    def import_(self, path: Place, *, progress: Progress | None = None) -> Receipt:
        """Write what an export holds into this base; again is a no-op."""
        written: list[Receipt] = []
        most = self._store.capabilities.batch_rows
        for number, batch in enumerate(export.read(os.fspath(path), most), 1):
            written.append(self._store.write(batch))
            if progress:
                progress("import", number, None)
        return together(written, self._store.revision)

    # -- inside ----------------------------------------------------------------------------

    def _change(self, batch: Batch, label: str, dry_run: bool) -> Receipt:
        return self._would(label) if dry_run else self._store.write(batch)

    def _would(self, label: str) -> Receipt:
        if label not in self._store.get([label]):
            raise labels.unknown(label)
        return Receipt(self._store.revision, False, {label.partition(":")[0] + "s": 1})

    def _history(self, function: Callable[..., T], *args: Any, options: AskOptions) -> T:
        with self._store.view() as reader:
            return function(reader, *args, scope=scope_of(reader, options))

    def _query(self, function: Callable[..., T], *args: Any) -> T:
        with self._store.view() as reader:
            meta, embedder = reader.meta(), None
            if meta.get("generation"):
                embedder = self.embedder
                index.check_embedder(meta, embedder)
            return function(reader, embedder, *args)

    def _node(self, text: str) -> str:
        with self._store.view() as reader:
            return history.resolve(reader, text)


def _with(options: AskOptions, as_of: str | None) -> AskOptions:
    return options if as_of is None else replace(options, as_of=as_of)
