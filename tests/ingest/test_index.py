"""Indexing: only what is new, nothing lost in a stop, nothing seen before it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from letters import Letters

from kgqa import IndexNodeKBase, KBase
from kgqa.errors import ConflictError, InputError, UnavailableError
from kgqa.ingest.index import PAGE, build, check_embedder, check_form, describe
from kgqa.protocols import Pattern, Store
from kgqa.store import create_store, open_store

NODES = [{"id": f"n{n}", "label": f"Node {n}"} for n in range(2 * PAGE)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A base without relations, so that counts are those of its nodes."""
    made = create_store(tmp_path / "a.kg", {"form": "hybrid"})
    yield made
    made.close()


def fill(store: Store, count: int, first: int = 0, source: str = "s") -> None:
    KBase(store, Letters()).write(NODES[first : first + count], source=source)


def found(store: Store, text: str) -> list[str]:
    """Return what the vectors find."""
    vector = Letters().embed([text])[0]
    with store.view() as reader:
        return [hit.id for hit in reader.nearest(vector, 3, Pattern())]


def test_only_what_is_new_is_embedded(store: Store) -> None:
    fill(store, 10)
    embedder = Letters()
    first = build(store, embedder)
    assert (first.seen, first.embedded, first.skipped, first.failed) == (10, 10, 0, ())
    assert first.generation == 1
    assert len(embedder.seen) == 10
    fill(store, 15, source="t")
    second = build(store, embedder)
    assert (second.seen, second.embedded, second.skipped) == (15, 5, 10)
    assert second.generation == 2
    third = build(store, embedder)
    assert (third.embedded, third.skipped, third.generation) == (0, 15, 2)
    assert len(embedder.seen) == 15
    assert store.stats()["pending"] == 0


def test_an_empty_base_is_indexed_too(store: Store) -> None:
    report = build(store, Letters())
    assert (report.seen, report.embedded, report.generation) == (0, 0, 1)


def test_progress_counts_up_to_all(store: Store) -> None:
    fill(store, PAGE + 5)
    told: list[tuple[str, int, int | None]] = []
    build(store, Letters(), lambda *step: told.append(step))
    assert told == [("index", PAGE, PAGE + 5), ("index", PAGE + 5, PAGE + 5)]


def test_a_stopped_run_goes_on_where_it_stopped(store: Store) -> None:
    fill(store, 2 * PAGE)
    with pytest.raises(KeyboardInterrupt):
        build(store, Letters(stop_after=1))
    assert store.stats()["vectors_hidden"] == PAGE
    assert not store.meta().get("generation")
    again = Letters()
    report = build(store, again)
    assert len(again.seen) == PAGE
    assert report.embedded == PAGE
    assert report.seen == 2 * PAGE
    assert store.stats()["vectors"] == 2 * PAGE
    assert store.stats()["vectors_hidden"] == 0


def test_a_stop_before_the_flip_is_mended_without_embedding(store: Store) -> None:
    fill(store, PAGE)

    def stop(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(store, Letters(), stop)
    assert found(store, "node 7") == []
    again = Letters()
    build(store, again)
    assert again.seen == []
    assert len(found(store, "node 7")) == 3


def test_readers_see_the_old_generation_until_the_flip(store: Store) -> None:
    fill(store, 1)
    build(store, Letters())
    fill(store, PAGE + 2, source="t")
    seen: list[list[str]] = []
    build(store, Letters(), lambda *step: seen.append(found(store, "node 9")))
    assert seen == [["n0"], ["n0"]]
    assert "n9" in found(store, "node 9")


def test_items_that_fail_stay_pending_and_the_rest_is_there(store: Store) -> None:
    fill(store, 10)
    report = build(store, Letters(bad="Node 7"))
    assert report.embedded == 9
    assert report.seen == 10
    assert [item for item, _ in report.failed] == ["node:n7"]
    assert "Node 7" in report.failed[0][1]
    assert store.stats()["pending"] == 1
    assert build(store, Letters()).embedded == 1


def test_an_embedder_that_fails_always_is_unavailable(store: Store) -> None:
    fill(store, 3)
    with pytest.raises(UnavailableError) as caught:
        build(store, Letters(bad="Node"))
    assert caught.value.code == "embed.failed"
    assert store.stats()["pending"] == 3


def test_another_embedder_is_refused_before_any_search(store: Store, tmp_path: Path) -> None:
    fill(store, 3)
    build(store, Letters())
    other = Letters("other")
    with pytest.raises(ConflictError, match="indexed with 'letters'") as caught:
        build(store, other)
    assert caught.value.code == "embedding_model_unsupported"
    kb = KBase(open_store(tmp_path / "a.kg"), other)
    for call in (kb.ask, kb.search, kb.explain):
        with pytest.raises(ConflictError):
            call("Who?")
    assert other.seen == []
    kb.close()


def test_the_node_index_refuses_a_base_of_documents(tmp_path: Path) -> None:
    store = create_store(tmp_path / "d.kg", {"form": "documents"})
    with pytest.raises(InputError) as caught:
        IndexNodeKBase(store, Letters()).run()
    assert caught.value.code == "wrong_kb_form"
    store.close()


def test_the_node_index_is_build(store: Store) -> None:
    fill(store, 3)
    told: list[str] = []
    report = IndexNodeKBase(store, Letters()).run(lambda stage, done, total: told.append(stage))
    assert report.embedded == 3
    assert told == ["index"]


@pytest.mark.parametrize(
    ("form", "content", "fits"),
    [("hybrid", "documents", True), ("nodes", "nodes", True), ("nodes", "documents", False)],
)
def test_forms(form: str, content: str, fits: bool) -> None:
    if fits:
        check_form(form, content)
    else:
        with pytest.raises(InputError, match="form 'nodes' does not take documents"):
            check_form(form, content)
    assert form in ("hybrid", "nodes")


def test_a_base_without_vectors_takes_any_embedder() -> None:
    check_embedder({}, Letters())
    check_embedder({"embedder": describe(Letters())}, Letters())
    with pytest.raises(ConflictError):
        check_embedder({"embedder": describe(Letters("x"))}, Letters())
