"""Words are what SQLite's tokenizer makes of a text, in the scripts that Europe writes."""

from __future__ import annotations

import sqlite3
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.store import queries
from kgqa.store.neo4j.words import chunk_tokens, expression, folded

# U+03A2 is no letter.
_LETTERS = (
    string.printable
    + "".join(map(chr, range(0xA1, 0x180)))
    + "".join(map(chr, range(0x391, 0x3D0)))
    + "".join(map(chr, range(0x400, 0x460)))
    + "’“”–—…€\u0301\u0308日本語가"
)


@pytest.fixture(scope="module")
def fts5():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 2')")
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")

    def words(text: str) -> list[str]:
        db.execute("DELETE FROM t")
        db.execute("INSERT INTO t VALUES (?)", (text,))
        return [word for (word,) in db.execute("SELECT term FROM v ORDER BY offset")]

    yield words
    db.close()


@given(st.text(st.sampled_from(sorted(set(_LETTERS) - {"\u03a2"})), max_size=60))
def test_words_are_those_of_sqlite(fts5, text):
    assert folded(text).split() == fts5(text)


@given(st.text(max_size=300))
def test_no_text_is_syntax(text):
    query = expression(text)
    if query is not None:
        assert query.replace('"', "").replace(" ", "").isalnum()
        assert query.count('"') % 2 == 0
        assert query == query.lower()
        assert len(query.split('"')[0].split()) <= len(queries.tokens(text))


@pytest.mark.parametrize("text", ["", " ", "?!", "_", "\x00", "\ud800", "🙂", '"', "--"])
def test_a_text_without_words_is_no_query(text):
    assert expression(text) is None


def test_words_are_asked_for_once():
    assert expression("Mill mill MILL möll") == "mill moll"
    assert len((expression(" ".join(f"w{i}" for i in range(5000))) or "").split()) == 64


def test_a_chunk_is_found_by_where_it_stands():
    assert chunk_tokens("Annals", '["Rome","Walls"]', "Built.") == "annals rome walls built"
