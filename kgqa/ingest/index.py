"""IndexNodeKBase: embeddings for whatever changed since the last index.

Belongs here: what is embedded in which batches, the flip to a new generation, and the checks
of form and embedder. Must not: how vectors are stored or searched, how texts are embedded.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgqa.errors import ConflictError, InputError, KGQAError, UnavailableError
from kgqa.protocols import Batch, Embedder, Pending, Progress, Store, VectorRow

PAGE = 256


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Say what an index run did: counts of items, failures with reasons, seconds, the revision.

    ``seen`` = ``embedded`` + ``skipped`` (unchanged) + ``failed``; failed items stay pending.
    """

    seen: int
    embedded: int
    skipped: int
    failed: tuple[tuple[str, str], ...]
    seconds: float
    revision: int
    generation: int


def build(store: Store, embedder: Embedder, progress: Progress | None = None) -> IndexReport:
    """Embed the pending chunks, nodes and relation labels, then make them visible at once.

    Incremental: only new or changed texts are embedded. Resumable: the vectors of a killed
    run are kept. Atomic for readers: they search the old generation until one write flips to
    the new one. Two runs at once share the work.

    Raises ConflictError (``embedding_model_unsupported``) if the base's vectors come from
    another embedder, UnavailableError (``embed.failed``) if nothing can be embedded.
    """
    began = time.monotonic()
    meta = store.meta()
    check_embedder(meta, embedder)
    generation = int(meta.get("generation") or 0) + 1
    before = store.stats()
    run = _Run(store, embedder, generation, before["pending"], progress)
    revision = store.revision
    after: tuple[str, str] | None = None
    while page := store.pending(PAGE, after):
        run.embed(page)
        after = (page[-1].kind, page[-1].id)
    if before["pending"] > len(run.failed) or before["vectors_hidden"] or generation == 1:
        ready = {"generation": generation, "indexed_revision": revision}
        store.write(Batch(meta={**ready, "embedder": describe(embedder)}, note="index"))
    vectors = store.stats()["vectors"]
    return IndexReport(
        seen=vectors + len(run.failed),
        embedded=run.embedded,
        skipped=vectors - run.embedded,
        failed=tuple(run.failed),
        seconds=time.monotonic() - began,
        revision=revision,
        generation=int(store.meta().get("generation") or 0),
    )


class IndexNodeKBase:
    """Index a base that takes nodes; see ``build``."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def run(self, progress: Progress | None = None) -> IndexReport:
        """Index what is pending.

        Raises InputError (``wrong_kb_form``) on a base of documents only.
        """
        check_form(str(self._store.meta().get("form", "hybrid")), "nodes")
        return build(self._store, self._embedder, progress)


@dataclass(slots=True)
class _Run:
    store: Store
    embedder: Embedder
    generation: int
    total: int
    progress: Progress | None
    embedded: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)

    def embed(self, page: Sequence[Pending]) -> None:
        rows = self._together(page)
        self.store.write(
            Batch(
                vectors=tuple(rows),
                generation=self.generation,
                meta={"embedder": describe(self.embedder)},
                note="vectors",
            )
        )
        self.embedded += len(rows)
        if self.progress:
            self.progress("index", self.embedded + len(self.failed), self.total)

    def _together(self, page: Sequence[Pending]) -> list[VectorRow]:
        try:
            return self._rows(page)
        except KGQAError as exc:
            rows = [row for item in page for row in self._alone(item)]
            if not rows:
                raise UnavailableError(
                    f"the embedder failed on every item: {exc.message}",
                    code="embed.failed",
                    hint="run 'kgqa doctor', then index again; what was embedded is kept",
                ) from None
            return rows

    def _alone(self, item: Pending) -> list[VectorRow]:
        try:
            return self._rows([item])
        except KGQAError as exc:
            self.failed.append((f"{item.kind}:{item.id}", str(exc)))
            return []

    def _rows(self, page: Sequence[Pending]) -> list[VectorRow]:
        vectors = self.embedder.embed([p.text for p in page])
        return [VectorRow(p.kind, p.id, p.digest, v) for p, v in zip(page, vectors, strict=True)]


def describe(embedder: Embedder) -> dict[str, Any]:
    """Return what a base remembers of its embedder."""
    return {"name": embedder.name, "digest": embedder.digest, "dimension": embedder.dimension}


def check_embedder(meta: Mapping[str, Any], embedder: Embedder) -> None:
    """Refuse an embedder other than the one that the base's vectors come from.

    Raises ConflictError (``embedding_model_unsupported``).
    """
    known = meta.get("embedder")
    if known is not None and known != describe(embedder):
        raise ConflictError(
            f"the base was indexed with {known['name']!r} ({known['dimension']} dimensions, "
            f"digest {known['digest'][:12]}), not with {embedder.name!r}",
            code="embedding_model_unsupported",
            hint="open it with that embedder, or export it and import into a new base",
        )


def check_form(form: str, content: str) -> None:
    """Refuse content that a base of this form does not take.

    Raises InputError (``wrong_kb_form``).

    >>> check_form("hybrid", "documents")
    """
    if form not in ("hybrid", content):
        raise InputError(
            f"a base of form {form!r} does not take {content}",
            code="wrong_kb_form",
            hint="make one that does: kgqa init KB --form hybrid",
        )
