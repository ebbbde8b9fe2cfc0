"""Nodes and claims handed over by a program, not read from a file.

Belongs here: one atomic write of what a caller built. Must not: files, linking.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kgqa.errors import InputError
from kgqa.exchange.arguments import check
from kgqa.ingest.index import check_form
from kgqa.loaders.rows import read_row
from kgqa.model.ids import digest, name_key, relation_key
from kgqa.model.things import Claim, Document, Node, Ref
from kgqa.protocols import Batch, LoadOptions, Receipt, Store

MEDIA = "application/x-kgqa-rows"


def write(store: Store, items: Iterable[Node | Claim | Mapping[str, Any]], source: str) -> Receipt:
    """Write everything as one batch under the document ``api:<source>``; all or nothing.

    Raises InputError naming the first bad item by its place, counted from 1.
    """
    check_form(str(store.meta().get("form", "hybrid")), "nodes")
    literal = frozenset(k for k, r in store.relations().items() if r.range == "literal")
    parsed = [_read(item, literal, n) for n, item in enumerate(items, 1)]
    document = Document(digest("api", source), f"api:{source}", title=source, media=MEDIA)
    return store.write(
        Batch(
            source=document.id,
            documents=(document,),
            nodes=tuple(i for i in parsed if isinstance(i, Node)),
            claims=tuple(i for i in parsed if isinstance(i, Claim)),
            note=f"write {source}",
        )
    )


def _read(item: object, literal: frozenset[str], number: int) -> Node | Claim:
    where = f"item {number}"
    if isinstance(item, Mapping):
        try:
            value = read_row(item, LoadOptions(), literal, number)
        except InputError as exc:
            raise InputError(f"{where}: {exc.message}", code=exc.code, hint=exc.hint) from None
    elif isinstance(item, (Node, Claim)):
        value = item
    else:
        raise InputError(
            f"{where} is a {type(item).__name__}, not a Node, a Claim or a row: {item!r}"[:300],
            code="row.type",
            hint="give rows as in docs/fact-format.md",
        )
    try:
        json.dumps(dict(value.properties), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as exc:
        raise InputError(
            f"{where}: a property is no JSON value: {exc}",
            code="row.properties",
            hint="give texts, numbers, booleans, lists and objects",
        ) from None
    check(where, value, type(value))
    if empty := _unnamed(value):
        raise InputError(
            f"{where}: {empty} is empty or has no words: {value!r}"[:300],
            code="row.missing",
            hint=f"give {empty} a text",
        )
    return value


def _unnamed(value: Node | Claim) -> str | None:
    """Return the first name in a node or claim that cannot be one."""
    if isinstance(value, Node):
        names = {"id": value.id, "label": name_key(value.label)}
    else:
        refs = {"subject": value.subject, "object": value.object}
        names = {k: name_key(r.label) for k, r in refs.items() if isinstance(r, Ref)}
        names["relation"] = relation_key(value.relation)
    return next((key for key, name in names.items() if not name), None)
