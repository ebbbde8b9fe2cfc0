"""A batch with everything that a base can hold. Belongs here: data for tests. Must not: tests."""

from __future__ import annotations

from kgqa.model.things import Alias, Chunk, Claim, Document, Literal, Node, Ref, Relation, Span
from kgqa.protocols import Batch
from kgqa.temporal.interval import END, Validity


def term(start: int, end: int = END) -> Validity:
    """Return the exact term ``[start, end)``; open without an end."""
    return Validity(start, start, end, end)


def small(source: str = "doc", shift: int = 0) -> Batch:
    """Everything a base can hold, from one source."""
    text = f"Ada governed Rome. Ben came after {shift}."
    return Batch(
        source=source,
        documents=(Document(source, f"{source}.txt", "Annals", text=text, validity=term(0, 90)),),
        chunks=(
            Chunk(f"{source}-0", source, 0, text[:18], Span(0, 18), ("Rome",), (1, 2), term(0, 9)),
            Chunk(f"{source}-1", source, 1, text[19:], Span(19, len(text))),
        ),
        nodes=(
            Node("q1", "Ada", "person", (Alias("The Lady", term(3, 6)),), (term(1, 40),), {"n": 1}),
        ),
        claims=(
            Claim(Ref("Ada"), "governed", Ref("Rome", kind="city"), term(shift + 1, shift + 9),
                  f"{source}-0", Span(0, 18), None, 0.5, {"page": 3}),
            Claim(Ref("Ben"), "governed", Ref("Rome", kind="city"), term(shift + 9), line=2),
            Claim(Ref("Ben"), "age", Literal(7)),
        ),
        relations=(Relation("governed", "governed", ("ruled",), max_subjects=1),),
        meta={"form": "hybrid"},
    )  # fmt: skip
