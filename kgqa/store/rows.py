"""Rows and things: how the nouns of the model are written into tables and read back.

Belongs here: pure conversion, both ways. Must not: SQL that runs, decisions about what is true.
Reading is a hot path, hence positional constructors and no JSON for what is empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, TypeAlias, cast

from kgqa.model.ids import digest, object_value
from kgqa.model.things import (
    Alias,
    Chunk,
    Document,
    Fact,
    Literal,
    Node,
    Recorded,
    Relation,
    Source,
    Span,
)
from kgqa.temporal.interval import Precision, Validity

Record: TypeAlias = tuple[Any, ...]

_CODES: dict[Precision | None, str] = {
    None: "-", "millennium": "M", "century": "C", "decade": "D", "season": "S", "quarter": "Q",
    "year": "y", "month": "m", "week": "w", "day": "d", "hour": "h", "minute": "i",
    "second": "s", "millisecond": "l",
}  # fmt: skip
_PRECISIONS = {code: precision for precision, code in _CODES.items()}
_PLAIN = "--gh--"


def how(v: Validity) -> str:
    """Return what a validity says beyond its bounds: six letters, then the source's text.

    The letters are start and end precision, calendar, numbering, uncertain, approximate; all
    defaults and no text is the empty string.
    """
    head = (
        _CODES[v.start_precision] + _CODES[v.end_precision] + v.calendar[0] + v.numbering[0]
        + ("?" if v.uncertain else "-") + ("~" if v.approximate else "-")
    )  # fmt: skip
    return head + v.text if v.text or head != _PLAIN else ""


def validity(es: int, ls: int, ee: int, le: int, written: str) -> Validity:
    """Return the validity of four bounds and what ``how`` made."""
    if not written:
        return Validity(es, ls, ee, le)
    return Validity(
        es, ls, ee, le,
        _PRECISIONS[written[0]], _PRECISIONS[written[1]], written[6:],
        "gregorian" if written[2] == "g" else "julian",
        "historical" if written[3] == "h" else "astronomical",
        written[4] == "?", written[5] == "~",
    )  # fmt: skip


def dump(value: Any) -> str:
    """Return a value as compact JSON with sorted keys; nothing at all for an empty one."""
    if value is None or value in ({}, [], ()):
        return ""
    # Lone surrogates cannot be stored as UTF-8, hence ASCII escapes where there are any.
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text if text.isascii() or _encodable(text) else json.dumps(value, sort_keys=True)


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def loads(text: str) -> Any:
    """Return what ``dump`` wrote; None for nothing."""
    return json.loads(text) if text else None


def clean(text: str) -> str:
    """Return a text that UTF-8 can hold: lone surrogates become U+FFFD."""
    return text if text.isascii() or _encodable(text) else _replaced(text)


def _replaced(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def terms_dump(terms: Iterable[Validity]) -> str:
    """Return validities as JSON."""
    return dump([[*v.bounds, how(v)] for v in terms])


def terms_load(text: str) -> tuple[Validity, ...]:
    """Return what ``terms_dump`` wrote."""
    return tuple(validity(*row) for row in json.loads(text)) if text else ()


def aliases_dump(aliases: Iterable[Alias]) -> str:
    """Return aliases as JSON."""
    return dump([[a.label, *a.valid.bounds, how(a.valid)] for a in aliases])


def aliases_load(text: str) -> tuple[Alias, ...]:
    """Return what ``aliases_dump`` wrote."""
    return tuple(Alias(row[0], validity(*row[1:])) for row in json.loads(text)) if text else ()


def properties(text: str) -> dict[str, Any]:
    """Return stored properties."""
    return cast("dict[str, Any]", json.loads(text)) if text else {}


NODE = "id, label, kind, aliases, existence, properties, declared"


def node(row: Record) -> Node:
    """Return a node from the columns NODE."""
    return Node(
        row[0], row[1], row[2] or None, aliases_load(row[3]), terms_load(row[4]),
        properties(row[5]), bool(row[6]),
    )  # fmt: skip


def embedding_text(node: Node) -> str:
    """Return the text that stands for a node in the vector index: names, then kind."""
    names = dict.fromkeys([node.label, *(a.label for a in node.aliases)])
    return "; ".join(names) + (f" ({node.kind})" if node.kind else "")


def relation_text(relation: Relation) -> str:
    """Return the text that stands for a relation in the vector index."""
    names = [relation.label, *relation.synonyms]
    return "; ".join(dict.fromkeys([*names, relation.inverse] if relation.inverse else names))


def chunk_text(title: str, section: str, text: str) -> str:
    """Return the text that stands for a chunk in the vector index: where it stands, then it."""
    path = " > ".join(dict.fromkeys(part for part in (title, *(loads(section) or ())) if part))
    return f"{path}\n{text}" if path else text


DOCUMENT_SAID = "id, path, title, media, text, published, es, ls, ee, le, how, properties"
DOCUMENT = f"{DOCUMENT_SAID}, recorded_from, recorded_to"


def document_row(d: Document) -> Record:
    """Return the columns DOCUMENT_SAID of a document."""
    published = terms_dump([d.published]) if d.published else ""
    return (
        d.id, clean(d.path), clean(d.title), d.media, clean(d.text), published,
        *d.validity.bounds, clean(how(d.validity)), dump(dict(d.properties)),
    )  # fmt: skip


def document(row: Record) -> Document:
    """Return a document from the columns DOCUMENT."""
    return Document(
        row[0], row[1], row[2], row[3], row[4],
        terms_load(row[5])[0] if row[5] else None, validity(*row[6:11]),
        Recorded(row[12], row[13]), properties(row[11]),
    )  # fmt: skip


CHUNK_SAID = (
    "id, document, ordinal, title, section, text, digest, span_start, span_end, page_first, "
    "page_last, es, ls, ee, le, how"
)
CHUNK = (
    "id, document, ordinal, section, text, span_start, span_end, page_first, page_last, "
    "es, ls, ee, le, how, recorded_from, recorded_to"
)


def chunk_row(c: Chunk, title: str) -> Record:
    """Return the columns CHUNK_SAID of a chunk."""
    section, text = dump([clean(part) for part in c.section]), clean(c.text)
    first, last = c.pages or (None, None)
    return (
        c.id, c.document, c.ordinal, title, section, text,
        digest(chunk_text(title, section, text)), c.span.start, c.span.end, first, last,
        *c.validity.bounds, clean(how(c.validity)),
    )  # fmt: skip


def chunk(row: Record) -> Chunk:
    """Return a chunk from the columns CHUNK."""
    return Chunk(
        row[0], row[1], row[2], row[4], Span(row[5], row[6]), tuple(loads(row[3]) or ()),
        None if row[7] is None else (row[7], row[8]), validity(*row[9:14]),
        Recorded(row[14], row[15]),
    )  # fmt: skip


def relation_dump(relation: Relation) -> str:
    """Return a relation as JSON."""
    return dump({k: v for k, v in asdict(relation).items() if v not in (None, ())})


def relation_load(text: str) -> Relation:
    """Return what ``relation_dump`` wrote."""
    body = json.loads(text)
    return Relation(**{**body, "synonyms": tuple(body.get("synonyms", ()))})


FACT = (
    "f.n, f.id, f.subject, f.relation, f.object, f.es, f.ls, f.ee, f.le, "
    "f.recorded_from, f.recorded_to, "
    "c.how, c.document, c.chunk, c.span_start, c.span_end, c.line, c.confidence, c.properties"
)
"""Columns of a fact joined with one of its claims."""


@lru_cache(maxsize=100_000)
def object_of(token: str) -> str | Literal:
    """Return a fact's object from its token."""
    return object_value(token)


# Immutable, and the same ones are read again and again.
_term = lru_cache(maxsize=50_000)(validity)
_recorded = lru_cache(maxsize=1_000)(Recorded)


def facts(found: Iterable[Record]) -> list[Fact]:
    """Return facts from rows FACT in which the claims of one fact follow one another."""
    facts: list[Fact] = []
    several: dict[int, list[Record]] = {}
    last: Record = (None,)
    for row in found:
        if row[0] == last[0]:
            several.setdefault(len(facts) - 1, [last]).append(row)
        else:
            facts.append(_fact(row))
            last = row
    for i, group in several.items():
        group.sort(key=_source_order)
        # Claims that name the nodes by other words are one source if all else is the same.
        sources = [source for row in group for source in _fact(row).sources]
        distinct = [s for j, s in enumerate(sources) if j == 0 or s != sources[j - 1]]
        facts[i] = replace(_fact(group[0]), sources=tuple(distinct))
    return facts


def _fact(row: Record) -> Fact:
    (
        _, name, subject, relation, token, es, ls, ee, le, since, until,
        written, document, chunk, start, end, line, confidence, body,
    ) = row  # fmt: skip
    span = None if start is None else Span(start, end)
    told = properties(body) if body else {}
    return Fact(
        name, subject, relation, object_of(token), _term(es, ls, ee, le, written),
        _recorded(since, until),
        (Source(document, chunk, span, line, confidence, told, written[6:]),),
    )  # fmt: skip


def _source_order(row: Record) -> tuple[Any, ...]:
    document, chunk, start, end, line, confidence, body = row[12:19]
    return document, chunk or "", line or 0, start or 0, end or 0, -confidence, row[11], body


def span_columns(span: Span | None) -> tuple[int | None, int | None]:
    """Return a span's two columns."""
    return (span.start, span.end) if span else (None, None)


def properties_dump(value: Mapping[str, Any]) -> str:
    """Return properties as JSON; nothing for none."""
    return dump(dict(value)) if value else ""
