"""Rows and things: what is written is what is read."""

from __future__ import annotations

import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from kgqa.model.things import Alias, Chunk, Document, Node, Recorded, Relation, Source, Span
from kgqa.store import rows
from kgqa.temporal.interval import BEGIN, END, UNDATED, Calendar, Numbering, Precision, Validity

precisions = st.none() | st.sampled_from(get_args(Precision))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def validities(draw):
    es, ls = sorted(draw(st.tuples(st.integers(BEGIN, END - 2), st.integers(BEGIN, END - 2))))
    ee, le = sorted(draw(st.tuples(st.integers(es + 1, END), st.integers(es + 1, END))))
    return Validity(
        es, ls, ee, le, draw(precisions), draw(precisions), draw(texts),
        draw(st.sampled_from(get_args(Calendar))), draw(st.sampled_from(get_args(Numbering))),
        draw(st.booleans()), draw(st.booleans()),
    )  # fmt: skip


def whole(v: Validity) -> tuple[object, ...]:
    return tuple(getattr(v, name) for name in Validity.__slots__)


@given(validities())
def test_validity_comes_back_whole(v):
    assert whole(rows.validity(*v.bounds, rows.how(v))) == whole(v)


def test_plain_validity_takes_no_text():
    assert rows.how(UNDATED) == ""


@given(st.lists(validities(), max_size=3))
def test_terms_and_aliases_come_back(terms):
    assert [whole(v) for v in rows.terms_load(rows.terms_dump(terms))] == [whole(v) for v in terms]
    aliases = [Alias(f"a{i}", v) for i, v in enumerate(terms)]
    assert list(rows.aliases_load(rows.aliases_dump(aliases))) == aliases


@given(st.text())
def test_clean_text_can_be_stored(text):
    found = rows.clean(text)
    assert found.encode("utf-8").decode("utf-8") == found
    if all(not 0xD800 <= ord(c) < 0xE000 for c in text):
        assert found == text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_json_comes_back_and_can_be_stored(value):
    text = rows.dump({"v": value})
    text.encode("utf-8")
    assert rows.loads(text) == json.loads(json.dumps({"v": value}))


def test_nothing_is_no_text():
    for value in (None, {}, [], ()):
        assert rows.dump(value) == ""
    assert rows.loads("") is None
    assert rows.dump(0) == "0"
    assert rows.properties_dump({}) == ""


@given(validities(), texts)
def test_documents_and_chunks_come_back(valid, text):
    document = Document("d", "p.txt", "T", "text/plain", text, valid, valid, None, {"a": [1]})
    row = rows.document_row(document)
    read = rows.document((*row, 3, END))
    assert read.recorded == Recorded(3, END)
    assert rows.document_row(read) == row
    chunk = Chunk("c", "d", 4, text, Span(1, 9), ("One", text), (2, 3), valid)
    values = dict(zip(_COLUMNS, rows.chunk_row(chunk, "T"), strict=True))
    wanted = [name.strip() for name in rows.CHUNK.split(",")[:-2]]
    again = rows.chunk((*[values[name] for name in wanted], 3, END))
    assert rows.chunk_row(again, "T") == rows.chunk_row(chunk, "T")
    assert (again.pages, again.section, again.span) == ((2, 3), ("One", text), Span(1, 9))


_COLUMNS = (
    "id", "document", "ordinal", "title", "section", "text", "digest", "span_start", "span_end",
    "page_first", "page_last", "es", "ls", "ee", "le", "how",
)  # fmt: skip


def test_relations_come_back():
    for relation in (
        Relation("a", "A"),
        Relation("a", "A", ("x", "y"), "b", "person", "literal", 1, 2, "both"),
    ):
        assert rows.relation_load(rows.relation_dump(relation)) == relation


def test_texts_for_vectors():
    node = Node("q1", "Ada", "person", (Alias("Ada"), Alias("Countess")))
    assert rows.embedding_text(node) == "Ada; Countess (person)"
    assert rows.embedding_text(Node("q1", "Ada")) == "Ada"
    held = Relation("r", "held", ("held", "had"), "held by")
    assert rows.relation_text(held) == "held; had; held by"
    assert rows.relation_text(Relation("r", "held")) == "held"
    assert rows.chunk_text("T", rows.dump(["T", "S"]), "words") == "T > S\nwords"
    assert rows.chunk_text("", "", "words") == "words"


def claim_row(document: str, line: int, confidence: float = 1.0) -> tuple[object, ...]:
    return (
        1, "f", "s", "r", "n:o", 0, 0, 9, 9, 1, END,
        "", document, None, None, None, line, confidence, "",
    )  # fmt: skip


CLAIMS = [claim_row("d1", 1), claim_row("d1", 2), claim_row("d2", 1), claim_row("d1", 1)]


@given(st.permutations(CLAIMS))
def test_sources_are_ordered_and_distinct(found):
    (fact,) = rows.facts(found)
    assert fact.sources == (
        Source("d1", line=1), Source("d1", line=2), Source("d2", line=1),
    )  # fmt: skip


def test_facts_are_told_apart():
    other = (2, "g", *claim_row("d1", 1)[2:])
    assert [f.id for f in rows.facts([claim_row("d1", 1), other])] == ["f", "g"]
    assert rows.facts([]) == []
