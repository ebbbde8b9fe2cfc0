"""Files to the store: read, split, extract, write; idempotent, resumable, failures kept.

Belongs here: the order of the steps, what is one atomic write, what is reported. Must not:
formats (loaders), sentences (language), linking (the store does it in the same write).

A document is one write. A table is written in batches of rows, and each write says in ``meta``
under ``load:<document id>`` which row comes next: a load that was stopped goes on there. New
content under a known name replaces the old in its first write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from kgqa.errors import InputError
from kgqa.ingest.index import check_form
from kgqa.ingest.preview import Preview
from kgqa.ingest.report import LoadReport, Tally
from kgqa.ingest.sources import (
    Source,
    content_hash,
    failure_of,
    identity,
    name_of,
    read_bytes,
    walk,
)
from kgqa.language.split import split
from kgqa.loaders import format_of, load_rows, load_text, reread
from kgqa.model.things import Claim, Document, Failure, Node
from kgqa.protocols import Batch, Extractor, LoadOptions, Progress, Reader, Row, Store
from kgqa.temporal import parse_any
from kgqa.temporal.interval import UNDATED, Interval, Validity

BATCH_ROWS = 5_000
_PAGE = 1_000
_FAMILIES = {"text": "documents", "rows": "nodes"}


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """Say what to load and how.

    ``strict`` reads everything first and refuses before writing if anything is bad. ``dry_run``
    writes nothing. ``retry`` loads what failed before, of the ``paths`` if any are given.
    ``extractor`` None is the rules over spaCy.
    """

    paths: tuple[Path, ...] = ()
    options: LoadOptions = field(default_factory=LoadOptions)
    strict: bool = False
    dry_run: bool = False
    retry: bool = False
    extractor: Extractor | None = None


def load(store: Store, plan: LoadPlan, *, progress: Progress | None = None) -> LoadReport:
    """Load files and folders in order; what cannot be read is a failure, the rest is written.

    ``progress`` gets ("load", files done, files) and (a table's name, rows done, None). A stop
    at any moment leaves whole writes; the same call goes on where it stopped. Raises InputError
    for options that cannot be read, ``wrong_kb_form``, ``load.strict``, and what the store raises.
    """
    return _Loading(store, plan, progress).run()


class _Loading:
    """One call of ``load``: what the base knows already, and the tally."""

    def __init__(self, store: Store, plan: LoadPlan, progress: Progress | None) -> None:
        self.store, self.plan, self.options = store, plan, plan.options
        self.batch_rows = min(BATCH_ROWS, store.capabilities.batch_rows)
        self.progress: Progress = progress or (lambda stage, done, total: None)
        self.tally = Tally()
        self.validity = self._term(plan.options.valid) or UNDATED
        self.published = self._term(plan.options.published)
        told = self._term(plan.options.reference_date) or self.published
        self.reference: Interval | None = told.hull if told else None
        with store.view() as reader:
            self.documents = dict(_documents(reader))
            self.meta = reader.meta()
            self.failed = {failure.unit: failure for failure in reader.failures()}
            self.literal = frozenset(
                key for key, relation in reader.relations().items() if relation.range == "literal"
            )
        self.ids = set(self.documents.values())

    def run(self) -> LoadReport:
        sources = self._failed_sources() if self.plan.retry else self._sources()
        for source in sources:
            form = str(self.meta.get("form", "hybrid"))
            check_form(form, _FAMILIES[source.format.family])
        if self.plan.strict:
            self._refuse_bad(sources)
        if self.plan.dry_run:
            return self._preview(sources)
        for failure in self.tally.failures:
            self._write_failure(failure)
        if self.plan.retry:
            self._retry_rows()
        for done, source in enumerate(sources):
            self.progress("load", done, len(sources))
            if source.format.family == "text":
                self._load_document(source)
            else:
                self._load_table(source)
        self.progress("load", len(sources), len(sources))
        return self.tally.report(self.store.revision)

    def _sources(self) -> tuple[Source, ...]:
        found = walk(self.plan.paths, self.options.source)
        for failure in found.failures:
            self.tally.fail(failure)
        self.tally.ignored.extend(found.ignored)
        return found.sources

    def _term(self, text: str | None) -> Validity | None:
        if text is None:
            return None
        options = self.options
        return parse_any(text, numbering=options.year_numbering, calendar=options.calendar)

    # --- documents

    def _load_document(self, source: Source) -> None:
        try:
            data = read_bytes(source.path)
            id_ = identity(data, self.options)
            if id_ in self.ids:
                self._skip(source, id_)
                return
            batch = self._read_document(source, data, id_)
        except Exception as error:  # whatever a file does to its reader, the next one is read
            self._fail(failure_of(source.unit, error))
            return
        self._write(batch, source.unit)
        self.tally.document(batch)

    def _read_document(self, source: Source, data: bytes, id_: str) -> Batch:
        loaded = load_text(data, source.path.name)
        text, chunks = split(loaded, id_, source.unit, self.validity)
        document = Document(
            id_,
            source.unit,
            title=loaded.title,
            media=loaded.media,
            text=text,
            published=self.published,
            validity=self.validity,
        )
        return Batch(
            source=id_,
            documents=(document,),
            chunks=chunks,
            claims=tuple(self._extractor(document, chunks, self.reference)),
            delete=self._replaced(source.unit, id_),
            resolve_failures=self._resolved(source.unit),
            note=f"load {source.unit}",
        )

    @cached_property
    def _extractor(self) -> Extractor:
        if self.plan.extractor is not None:
            return self.plan.extractor
        from kgqa.language.extract import SpacyExtractor

        return SpacyExtractor()

    # --- tables

    def _load_table(self, source: Source) -> None:
        batches = self._batches(source)
        while True:
            try:
                batch = next(batches, None)
            except Exception as error:  # whatever a file does to its reader, the next one is read
                self._fail(failure_of(source.unit, error))
                return
            if batch is None:
                return
            self._write(batch, source.unit)
            self.tally.rows(batch)

    def _batches(self, source: Source) -> Iterator[Batch]:
        """Yield the writes of a table from its next row on; the last takes the marker away."""
        id_ = identity(content_hash(source.path), self.options)
        marker = _marker(id_)
        at: int | None = self.meta.get(marker) if id_ in self.ids else 0
        if at is None:
            self._skip(source, id_)
            return
        old = self._replaced(source.unit, id_)
        document = Document(
            id_,
            source.unit,
            title=source.path.name,
            media=source.format.media,
            published=self.published,
            validity=self.validity,
        )
        options = replace(self.options, source=source.unit)
        rows = islice(load_rows(source.path, options, self.literal), at, None)
        marked, opening, last = at > 0, at == 0, False
        while not last:
            part = list(islice(rows, self.batch_rows))
            last = len(part) < self.batch_rows
            at += len(part)
            batch = replace(_of_rows(part), source=id_, documents=(document,))
            meta = {marker: None if last else at} if marked or not last else {}
            if opening:
                still = {failure.unit for failure in batch.failures}
                gone = tuple(unit for unit in self._resolved(source.unit) if unit not in still)
                batch = replace(batch, delete=old, resolve_failures=gone)
                meta |= {_marker(id_): None for id_ in old if self.meta.get(_marker(id_))}
            yield replace(batch, meta=meta, note=f"load {source.unit}")
            self.progress(source.unit, at, None)
            opening, marked = False, True

    # --- failures

    def _failed_sources(self) -> tuple[Source, ...]:
        """Return the files that failed as a whole and can be looked for again."""
        sources = []
        for unit in self.failed:
            try:
                if self._asked(unit) and self._table_of(unit) is None:
                    sources.append(Source(Path(unit), unit, format_of(unit)))
            except InputError:
                continue  # a folder, or a name that was never a path: it stays failed
        return tuple(sources)

    def _retry_rows(self) -> None:
        groups: dict[str, list[Row]] = {}
        for unit, failure in self.failed.items():
            path = self._table_of(unit)
            if path is not None and self._asked(path):
                groups.setdefault(path, []).append(reread(failure, self.options, self.literal))
        for path, rows in groups.items():
            batch = _of_rows(rows)
            still = {failure.unit for failure in batch.failures}
            mended = tuple(u for u in self.failed if self._table_of(u) == path and u not in still)
            batch = replace(batch, source=self.documents[path], resolve_failures=mended)
            self.tally.take(self.store.write(replace(batch, note=f"retry {path}")))
            self.tally.rows(batch)

    def _asked(self, unit: str) -> bool:
        given = [name_of(path) for path in self.plan.paths]
        return not given or any(unit == path or unit.startswith(path + "/") for path in given)

    def _table_of(self, unit: str) -> str | None:
        path, _, line = unit.rpartition(":")
        return path if line.isdigit() and path in self.documents else None

    def _resolved(self, unit: str) -> tuple[str, ...]:
        """Return the failures of a file that a new reading of it does away with."""
        return tuple(u for u in self.failed if u == unit or self._table_of(u) == unit)

    def _fail(self, failure: Failure) -> None:
        self.tally.fail(failure)
        self._write_failure(failure)

    def _write_failure(self, failure: Failure) -> None:
        self.store.write(Batch(failures=(failure,), note=f"fail {failure.unit}"))

    # --- writing

    def _replaced(self, unit: str, id_: str) -> tuple[str, ...]:
        old = self.documents.get(unit)
        return (old,) if old is not None and old != id_ else ()

    def _skip(self, source: Source, id_: str) -> None:
        """Pass over content that the base has; what else stood under this name goes."""
        self.tally.skipped.append(source.unit)
        batch = Batch(
            delete=self._replaced(source.unit, id_),
            resolve_failures=(source.unit,) if source.unit in self.failed else (),
            note=f"load {source.unit}",
        )
        if batch.delete or batch.resolve_failures:
            self._write(batch, source.unit)

    def _write(self, batch: Batch, unit: str) -> None:
        self.tally.take(self.store.write(batch))
        self.ids.difference_update(batch.delete)
        if batch.delete:
            self.tally.counts["replaced"] += len(batch.delete)
            del self.documents[unit]
        if batch.source is not None:
            self.documents[unit] = batch.source
            self.ids.add(batch.source)

    # --- reading only

    def _refuse_bad(self, sources: tuple[Source, ...]) -> None:
        bad = list(self.tally.failures)
        for source in sources:
            bad.extend(unit for unit in self._read_only(source) if isinstance(unit, Failure))
        if bad:
            raise InputError(
                f"{len(bad)} bad, nothing written: {bad[0].message}",
                code="load.strict",
                hint="mend them, or load without --strict",
                failures=bad,
            )
        self.tally.skipped.clear()

    def _preview(self, sources: tuple[Source, ...]) -> LoadReport:
        preview = Preview(self.tally)
        for source in sources:
            for item in self._read_only(source):
                if isinstance(item, Failure):
                    self.tally.fail(item)
                elif isinstance(item, Batch):
                    self.tally.document(item)
                    preview.add(item.claims)
                else:
                    self.tally.counts["nodes" if isinstance(item, Node) else "claims"] += 1
                    preview.add((item,))
        with self.store.view() as reader:
            preview.compare(reader)
            return self.tally.report(reader.revision, dry_run=True)

    def _read_only(self, source: Source) -> Iterator[Batch | Node | Claim | Failure]:
        """Yield what a source holds: the write of a document, or what its rows say."""
        try:
            if source.format.family == "text":
                data = read_bytes(source.path)
                id_ = identity(data, self.options)
                if id_ in self.ids:
                    self.tally.skipped.append(source.unit)
                    return
                yield self._read_document(source, data, id_)
            else:
                id_ = identity(content_hash(source.path), self.options)
                if id_ in self.ids and self.meta.get(_marker(id_)) is None:
                    self.tally.skipped.append(source.unit)
                    return
                options = replace(self.options, source=source.unit)
                for row in load_rows(source.path, options, self.literal):
                    yield row.value
        except Exception as error:  # whatever a file does to its reader, the next one is read
            yield failure_of(source.unit, error)


def _of_rows(rows: list[Row]) -> Batch:
    values = [row.value for row in rows]
    return Batch(
        nodes=tuple(v for v in values if isinstance(v, Node)),
        claims=tuple(v for v in values if isinstance(v, Claim)),
        failures=tuple(v for v in values if isinstance(v, Failure)),
    )


def _marker(id_: str) -> str:
    return "load:" + id_


def _documents(reader: Reader) -> Iterator[tuple[str, str]]:
    """Yield (name, id) of every document in the base, page by page."""
    after = None
    while page := reader.documents(_PAGE, after):
        yield from ((document.path, document.id) for document in page)
        after = page[-1].id
