"""JSONL that holds a base's current state, out and in again.

Belongs here: the lines and their reading. Must not: history (that is ``backup``), storage.

One JSON object a line, each with one key that says what it is: ``kgqa_export`` (header),
``meta``, ``relation``, ``document`` (the source of the lines up to the next one), ``chunk``,
``node``, ``claim``, ``merge``. Times are EDTF in historical numbering.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from kgqa.errors import ConflictError, InputError, KGQAError, UnavailableError
from kgqa.model.things import (
    Alias,
    Chunk,
    Claim,
    Document,
    Literal,
    Merge,
    Node,
    Ref,
    Relation,
    Span,
)
from kgqa.protocols import Batch, Progress
from kgqa.temporal.interval import UNDATED, Validity
from kgqa.temporal.printing import format as format_validity
from kgqa.temporal.terms import parse

VERSION = 1
_BASE = b"SQLite format 3\0"
"""How the file of a knowledge base begins."""
_TERM = (
    "text",
    "calendar",
    "numbering",
    "start_precision",
    "end_precision",
    "uncertain",
    "approximate",
)
_DEFAULTS = {f.name: f.default for f in fields(Validity) if f.name in _TERM}


def lines(batches: Iterable[Batch]) -> Iterator[str]:
    """Yield the export of a base's batches, line by line, without newlines."""
    yield _line("kgqa_export", {"version": VERSION, "numbering": "historical", "form": "claims"})
    current: str | None = None
    for batch in batches:
        if batch.meta:
            yield _line("meta", dict(batch.meta))
        for relation in batch.relations:
            yield _line("relation", _some(relation))
        for document in batch.documents:
            yield _line("document", _document(document))
            current = document.id
        if batch.source is not None and batch.source != current:
            yield _line("source", batch.source)
            current = batch.source
        for chunk in batch.chunks:
            yield _line("chunk", _chunk(chunk))
        for node in batch.nodes:
            yield _line("node", _node(node))
        for claim in batch.claims:
            yield _line("claim", _claim(claim))
        for merge in batch.merges:
            yield _line("merge", {"loser": merge.loser, "winner": merge.winner})


def batches(source: Iterable[str], name: str, most: int) -> Iterator[Batch]:
    """Yield the batches of an export, of at most so many lines; errors call the file ``name``.

    Raises InputError (``import.invalid``) naming the line, before that line's batch.
    """
    pending = _Pending(most)
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            ((key, value),) = entry.items()
            if number == 1:
                _check_header(key, value)
                continue
            if pending.full(key):
                yield pending.take()
            pending.add(key, value)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InputError) as exc:
            raise InputError(
                f"{name}:{number}: not a line of an export: {exc}",
                code="import.invalid",
                hint="give a file that 'kgqa export' wrote",
            ) from None
    yield pending.take()


def write(source: Iterable[Batch], path: str, progress: Progress | None = None) -> Path:
    """Write an export to a file (``-`` = standard output), whole or not at all.

    Another file of that name is replaced, but no knowledge base. Raises ConflictError
    (``store.exists``), UnavailableError (``export.unwritable``).
    """
    try:
        if path != "-" and _is_base(Path(path)):
            raise ConflictError(
                f"{path!r} is a knowledge base", code="store.exists", hint="choose another name"
            )
        if path == "-":
            for line in lines(source):
                sys.stdout.write(line + "\n")
            return Path(path)
        with _replacing(Path(path)) as out:
            for number, line in enumerate(lines(source), 1):
                out.write(line + "\n")
                if progress and number % 1_000 == 0:
                    progress("export", number, None)
    except BrokenPipeError:
        return Path(path)  # the reader of standard output wants no more
    except KGQAError:
        raise
    except OSError as exc:
        raise UnavailableError(
            f"cannot write {path!r}: {exc.strerror}",
            code="export.unwritable",
            hint="give a file in a folder that you may write to, on a disk with room",
        ) from None
    return Path(path)


def _is_base(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_BASE)) == _BASE


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Any]:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: str, most: int) -> Iterator[Batch]:
    """Yield the batches of an export file (``-`` = standard input), of at most so many lines.

    Raises InputError (``import.invalid``, ``import.unreadable``).
    """
    try:
        if path == "-":
            yield from batches(sys.stdin, "standard input", most)
            return
        with Path(path).open(encoding="utf-8") as source:
            yield from batches(source, path, most)
    except (OSError, UnicodeDecodeError) as exc:
        raise InputError(
            f"cannot read {path!r}: {exc}",
            code="import.unreadable",
            hint="give a file that 'kgqa export' wrote",
        ) from None


def _check_header(key: str, value: Any) -> None:
    if key != "kgqa_export":
        raise ValueError("the first line is not the header")
    if value["version"] > VERSION:
        raise ValueError(f"version {value['version']} is newer than {VERSION}")


class _Pending:
    """Gather lines into batches: a new one at each document and where one is full."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._source: str | None = None
        self._parts: dict[str, list[Any]] = {}
        self._meta: dict[str, Any] = {}
        self._count = 0

    def full(self, key: str) -> bool:
        return self._count > 0 and (key in ("document", "source") or self._count >= self._most)

    def add(self, key: str, value: Any) -> None:
        self._count += 1
        if key == "meta":
            self._meta.update(value)
        elif key == "source":
            self._source = str(value)
        else:
            part, read = _READERS[key]
            item = read(value)
            if isinstance(item, Document):
                self._source = item.id
            self._parts.setdefault(part, []).append(item)

    def take(self) -> Batch:
        parts: dict[str, Any] = {name: tuple(items) for name, items in self._parts.items()}
        batch = Batch(source=self._source, meta=self._meta, note="import", **parts)
        self._parts, self._meta, self._count = {}, {}, 0
        return batch


def _line(key: str, value: Any) -> str:
    return json.dumps({key: value}, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _some(value: Any) -> dict[str, Any]:
    pairs = ((f.name, getattr(value, f.name)) for f in fields(value))
    return {k: list(v) if isinstance(v, tuple) else v for k, v in pairs if v not in (None, (), {})}


def _term(valid: Validity) -> dict[str, Any] | None:
    if not valid.dated:
        return None
    extra = {n: getattr(valid, n) for n in _TERM if getattr(valid, n) != _DEFAULTS[n]}
    return {"edtf": format_validity(valid), **extra}


def _read_term(value: Any) -> Validity:
    if value is None:
        return UNDATED
    bounds = parse(value["edtf"]).bounds
    return Validity(*bounds, **{n: value[n] for n in _TERM if n in value})


def _document(d: Document) -> dict[str, Any]:
    return {
        "id": d.id, "path": d.path, "title": d.title, "media": d.media, "text": d.text,
        "published": None if d.published is None else _term(d.published),
        "valid": _term(d.validity), "properties": dict(d.properties),
    }  # fmt: skip


def _read_document(v: Any) -> Document:
    published = None if v["published"] is None else _read_term(v["published"])
    return Document(
        v["id"], v["path"], v["title"], v["media"], v["text"], published,
        _read_term(v["valid"]), None, v["properties"],
    )  # fmt: skip


def _chunk(c: Chunk) -> dict[str, Any]:
    return {
        "id": c.id, "document": c.document, "ordinal": c.ordinal, "text": c.text,
        "span": [c.span.start, c.span.end], "section": list(c.section),
        "pages": None if c.pages is None else list(c.pages), "valid": _term(c.validity),
    }  # fmt: skip


def _read_chunk(v: Any) -> Chunk:
    pages = None if v["pages"] is None else (v["pages"][0], v["pages"][1])
    return Chunk(
        v["id"], v["document"], v["ordinal"], v["text"], Span(*v["span"]),
        tuple(v["section"]), pages, _read_term(v["valid"]),
    )  # fmt: skip


def _node(n: Node) -> dict[str, Any]:
    return {
        "id": n.id, "label": n.label, "kind": n.kind, "declared": n.declared,
        "aliases": [{"label": a.label, "valid": _term(a.valid)} for a in n.aliases],
        "existence": [_term(e) for e in n.existence], "properties": dict(n.properties),
    }  # fmt: skip


def _read_node(v: Any) -> Node:
    return Node(
        v["id"], v["label"], v["kind"],
        tuple(Alias(a["label"], _read_term(a["valid"])) for a in v["aliases"]),
        tuple(_read_term(e) for e in v["existence"]), v["properties"], v["declared"],
    )  # fmt: skip


def _claim(c: Claim) -> dict[str, Any]:
    object_ = {"value": c.object.value} if isinstance(c.object, Literal) else _some(c.object)
    return {
        "subject": _some(c.subject), "relation": c.relation, "object": object_,
        "valid": _term(c.valid), "chunk": c.chunk, "line": c.line, "confidence": c.confidence,
        "span": None if c.span is None else [c.span.start, c.span.end],
        "properties": dict(c.properties),
    }  # fmt: skip


def _read_claim(v: Any) -> Claim:
    object_ = v["object"]
    return Claim(
        subject=Ref(**v["subject"]),
        relation=v["relation"],
        object=Literal(object_["value"]) if "value" in object_ else Ref(**object_),
        valid=_read_term(v["valid"]),
        chunk=v["chunk"],
        span=None if v["span"] is None else Span(*v["span"]),
        line=v["line"],
        confidence=v["confidence"],
        properties=v["properties"],
    )


def _read_relation(v: Any) -> Relation:
    return Relation(**{**v, "synonyms": tuple(v.get("synonyms", ()))})


_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "relation": ("relations", _read_relation),
    "document": ("documents", _read_document),
    "chunk": ("chunks", _read_chunk),
    "node": ("nodes", _read_node),
    "claim": ("claims", _read_claim),
    "merge": ("merges", lambda v: Merge(v["loser"], v["winner"])),
}
