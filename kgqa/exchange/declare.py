"""Relations as people declare them: JSON objects.

Belongs here: reading and checking declarations. Must not: storing them.
"""

from __future__ import annotations

import json
from typing import Any

from kgqa.errors import InputError
from kgqa.model.ids import relation_key
from kgqa.model.things import Relation
from kgqa.ontology import text as ontology_text


def read(text: str, name: str) -> list[Relation]:
    """Read relation declarations: a JSON list, or one JSON object a line; ``name`` is the file's.

    Keys are those of Relation; ``label`` is needed, ``key`` follows from it. Raises
    InputError (``relation.invalid``) naming file and entry.
    """
    try:
        entries = json.loads(text) if text.lstrip().startswith("[") else _lines(text)
    except (ValueError, RecursionError) as exc:
        raise InputError(
            f"cannot read relations from {name!r}: {exc}",
            code="relation.invalid",
            hint="give a JSON list of objects with label, synonyms, inverse, max_objects, …",
        ) from None
    return [relation_from(entry, f"{name}:{n}") for n, entry in enumerate(entries, 1)]


def shipped() -> list[Relation]:
    """Return the relations that every new base starts with."""
    return read(ontology_text("relations.json"), "relations.json")


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


_TEXTS = ("inverse", "domain", "range")
_COUNTS = ("max_objects", "max_subjects")
_EXISTENCE = (None, "subject", "object", "both")


def relation_from(entry: Any, where: str) -> Relation:
    """Return the relation that a JSON object declares.

    Raises InputError (``relation.invalid``) quoting the bad value.

    >>> relation_from({"label": "held office", "max_subjects": 2}, "x").max_subjects
    2
    """

    def bad(what: str) -> InputError:
        return InputError(
            f"{where}: {what}", code="relation.invalid", hint="see docs/fact-format.md"
        )

    if not isinstance(entry, dict) or not isinstance(entry.get("label"), str):
        raise bad(f"a relation is an object with a label, not {entry!r}"[:300])
    known = {"key", "label", "synonyms", "requires_existence", *_TEXTS, *_COUNTS}
    if unknown := sorted(set(entry) - known):
        raise bad(f"unknown keys {unknown!r}")
    synonyms = entry.get("synonyms") or []
    if not isinstance(synonyms, list) or not all(isinstance(s, str) for s in synonyms):
        raise bad(f"synonyms is a list of texts, not {synonyms!r}")
    for name in _TEXTS:
        if not isinstance(entry.get(name), (str, type(None))):
            raise bad(f"{name} is a text, not {entry[name]!r}")
    for name in _COUNTS:
        value = entry.get(name)
        if value is not None and (type(value) is not int or value < 1):
            raise bad(f"{name} is a whole number of at least 1, not {value!r}")
    if entry.get("requires_existence") not in _EXISTENCE:
        raise bad(
            f"requires_existence is subject, object or both, not {entry['requires_existence']!r}"
        )
    return Relation(
        key=relation_key(str(entry.get("key") or entry["label"])),
        label=entry["label"],
        synonyms=tuple(synonyms),
        inverse=entry.get("inverse"),
        domain=entry.get("domain"),
        range=entry.get("range"),
        max_objects=entry.get("max_objects"),
        max_subjects=entry.get("max_subjects"),
        requires_existence=entry.get("requires_existence"),
    )
