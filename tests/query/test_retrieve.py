"""Search: seeds, fusion, hops, thresholds; the filter is inside every search."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from samples import offices
from small_base import Base, Letters, chunk, fact, node

from kgqa.model.answer import AskOptions, Evidence
from kgqa.protocols import Batch, Embedder, Reader, VectorRow
from kgqa.query.answer import search
from kgqa.query.display import Display
from kgqa.query.retrieve import Request, Search, digest
from kgqa.query.scope import scope_of
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.contract_base import says, texts


def run(base: Reader, request: Request, embedder: Embedder | None = None, **options: Any) -> Search:
    scope = scope_of(base, AskOptions(**options))
    return Search(base, embedder, scope, Display(base, scope))


def found(base: Base, text: str, k: int = 5, **options: Any) -> list[Evidence]:
    request = Request(text, k)
    return run(base, request, **options).run(request)


def test_passages_match_by_their_content_words() -> None:
    items = found(offices(), "when was the lighthouse rebuilt")
    assert [e.label for e in items] == ["chunk:c1"]
    assert items[0].found_by == ("text",)
    assert 0 < items[0].score <= 1
    assert items[0].flags == ()


def test_no_shared_word_is_no_match() -> None:
    assert found(offices(), "where is the silver mine") == []
    assert found(offices(), "   ") == []
    assert found(offices(), "lighthouse", k=0) == []


def test_undated_passages_are_flagged_or_left_out() -> None:
    assert found(offices(), "harbour bell")[0].flags == ("undated",)
    assert found(offices(), "harbour bell", undated="exclude") == []


def test_vectors_find_what_words_do_not() -> None:
    base = Base(chunks_=[chunk("a", "lighthouses"), chunk("b", "xyz")])
    request = Request("lighthouse", 5)
    items = run(base, request, Letters()).run(request)
    assert [e.label for e in items] == ["chunk:a"]
    assert "vector" in items[0].found_by


def test_the_trace_says_how_each_search_ran(tmp_path: Path) -> None:
    with closing(SQLiteStore.create(tmp_path / "a.kgqa")) as store:
        store.write(says("d", passages=texts("a lighthouse", "a mill")))
        rows = [VectorRow(p.kind, p.id, p.digest, Letters().embed([p.text])[0])
                for p in store.pending(9)]  # fmt: skip
        store.write(Batch(vectors=tuple(rows), generation=1, meta={"generation": 1}))
        request = Request("lighthouse", 5)
        ran = run(store, request, Letters())
        assert [e.label for e in ran.run(request)] == ["chunk:d-0"]
        how = {step.name: step.detail.get("how") for step in ran.steps}
        assert how["vectors"] == "exact, 2 of 2 hold"
        assert how["text"] == "fts5, filtered, bm25"


@given(st.integers(1, 8), st.integers(0, 8), st.integers(0, 60))
def test_k_items_that_match_and_hold_are_k_returned(k: int, held: int, past: int) -> None:
    """Near-duplicates that do not hold never crowd out those that do (TM-24)."""
    base = Base(chunks_=[
        *(chunk(f"past{i}", "the silver mine", "1700/1750") for i in range(past)),
        *(chunk(f"now{i}", "a silver mine there", "1800/1850") for i in range(held)),
    ])  # fmt: skip
    items = found(base, "silver mine", k, as_of="1820")
    assert len(items) == min(k, held)
    assert all(e.label.startswith("chunk:now") for e in items)


def test_hidden_passages_do_not_crowd_out_either() -> None:
    base = Base(chunks_=[
        *(chunk(f"later{i}", f"The silver mine opened in {1900 + i}.") for i in range(60)),
        chunk("then", "The silver mine was sought in 1790."),
    ])  # fmt: skip
    assert [e.label for e in found(base, "silver mine", 3, as_of="1800")] == ["chunk:then"]


def test_hops_hold_at_the_time_asked_and_say_their_path() -> None:
    base = Base(
        [
            fact("ada", "led", "firm", "1790/1795"),
            fact("firm", "based in", "port", "1780/1793"),
            fact("firm", "based in", "hill", "1794/1799"),
        ],
        [node(i, i.title()) for i in ("ada", "firm", "port", "hill")],
    )
    request = Request("Where was the firm that Ada led based?", 10, "deep", nodes=("ada",))
    items = {e.label: e for e in run(base, request, as_of="1792").run(request)}
    assert set(items) >= {f"fact:{base.facts[1].id}"}
    assert f"fact:{base.facts[2].id}" not in items
    assert items[f"fact:{base.facts[1].id}"].path == tuple(f"fact:{f.id}" for f in base.facts[:2])
    shallow = Request(request.text, 10, "fast", nodes=("ada",))
    near = run(base, shallow, as_of="1792").run(shallow)
    assert f"fact:{base.facts[1].id}" not in {e.label for e in near}


def test_what_the_reading_found_comes_first() -> None:
    result = search(offices(), Letters(), "Who was Chair of the Council in 1798?", 5, AskOptions())
    assert result.items[0].text.startswith("Ben Nash held office")
    assert "graph" in result.items[0].found_by
    assert result.items[0].score > 0.5
    assert [e.score for e in result.items] == sorted((e.score for e in result.items), reverse=True)


def test_only_context_where_the_asked_fact_is_missing() -> None:
    question = "Who was Chair of the Council on 1 September 1812?"
    result = search(offices(), None, question, 5, AskOptions())
    assert all("context" in e.flags for e in result.items)


def test_published_filters_only_where_the_base_says_so() -> None:
    from dataclasses import replace

    from kgqa.temporal import parse

    for setting, labels in (("validity", ["chunk:c"]), ("published", [])):
        base = Base(chunks_=[chunk("c", "the silver mine")], settings={"passages": setting})
        base.document = replace(base.document, published=parse("1900"))
        assert [e.label for e in found(base, "silver mine", as_of="1800")] == labels


def test_node_hits_show_the_name_of_the_time() -> None:
    base = Base(nodes_=[node("t", "Newgate", "city", "1250/..", Altor="1250/1500")])
    items = found(base, "Altor city", as_of="1300")
    assert items[0].text == "Altor (city) 1250/.. (as of 1300)"
    assert found(base, "Altor city", as_of="1200") == []


def test_digest_numbers_places_and_texts() -> None:
    base = offices()
    items = found(base, "lighthouse harbour bell", undated="include")
    scope = scope_of(base, AskOptions())
    text = digest(items, Display(base, scope))
    first, *rest = text.split("\n")
    assert first == "Retrieval evidence answer:"
    assert rest[0].startswith("[1] ")
    # A passage without headings is named by its document.
    assert [line for line in rest if line.startswith("[")] == ["[1] A history"]


def test_results_do_not_depend_on_chance() -> None:
    one, two = (search(offices(), Letters(), "Chair lighthouse", 5, AskOptions()) for _ in range(2))
    assert one.items == two.items
