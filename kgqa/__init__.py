"""kgqa: questions about how things were at a given time, answered from what holds then.

Belongs here: public names, imported when first used. Must not: anything heavy at import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgqa.errors import KGQAError
    from kgqa.ingest.index import IndexNodeKBase
    from kgqa.kbase import KBase
    from kgqa.model.answer import Answer, AskOptions
    from kgqa.model.things import Alias, Chunk, Claim, Document, Fact, Literal, Node, Ref, Relation
    from kgqa.protocols import BaseOptions, LoadOptions
    from kgqa.temporal.interval import Interval, Validity

__version__ = "0.1.0"

_HOMES = {
    "Alias": "kgqa.model.things",
    "Answer": "kgqa.model.answer",
    "AskOptions": "kgqa.model.answer",
    "BaseOptions": "kgqa.protocols",
    "Chunk": "kgqa.model.things",
    "Claim": "kgqa.model.things",
    "Document": "kgqa.model.things",
    "Fact": "kgqa.model.things",
    "IndexNodeKBase": "kgqa.ingest.index",
    "Interval": "kgqa.temporal.interval",
    "KBase": "kgqa.kbase",
    "KGQAError": "kgqa.errors",
    "Literal": "kgqa.model.things",
    "LoadOptions": "kgqa.protocols",
    "Node": "kgqa.model.things",
    "Ref": "kgqa.model.things",
    "Relation": "kgqa.model.things",
    "Validity": "kgqa.temporal.interval",
}

__all__ = [
    "Alias",
    "Answer",
    "AskOptions",
    "BaseOptions",
    "Chunk",
    "Claim",
    "Document",
    "Fact",
    "IndexNodeKBase",
    "Interval",
    "KBase",
    "KGQAError",
    "Literal",
    "LoadOptions",
    "Node",
    "Ref",
    "Relation",
    "Validity",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kgqa' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
