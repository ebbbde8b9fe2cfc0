"""Export lines and back: equal batches, typed errors, whole files or none."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa import KBase
from kgqa.errors import ConflictError, InputError, UnavailableError
from kgqa.exchange import export
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
from kgqa.protocols import Batch, Capability
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import BEGIN, END, UNDATED, Validity

names = st.text(min_size=1, max_size=8)
instants = st.integers(-(10**14), 10**14)


@st.composite
def terms(draw: st.DrawFn) -> Validity:
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([UNDATED, Validity(BEGIN, BEGIN, END, END)]))
    es = draw(instants)
    ls = es + draw(st.integers(0, 10**9))
    ee = es + 1 + draw(st.integers(0, 10**9))
    le = ee + draw(st.integers(0, 10**9))
    return Validity(es, ls, ee, le, text=draw(names), uncertain=draw(st.booleans()))


refs = st.builds(Ref, names, st.none() | names, st.none() | names)
values = st.builds(
    Literal,
    names | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
)
claims = st.builds(
    Claim,
    subject=refs,
    relation=names,
    object=refs | values,
    valid=terms(),
    span=st.none() | st.just(Span(0, 3)),
    line=st.none() | st.integers(1, 9),
    properties=st.dictionaries(names, names, max_size=1),
)
nodes = st.builds(
    Node,
    names,
    names,
    st.none() | names,
    st.lists(st.builds(Alias, names, terms()), max_size=2).map(tuple),
    st.lists(terms(), max_size=2).map(tuple),
    st.dictionaries(names, names, max_size=1),
    st.booleans(),
)


@st.composite
def bases(draw: st.DrawFn) -> list[Batch]:
    found = [
        Batch(
            relations=(Relation("held office", "held office", ("was",), max_subjects=2),),
            meta={"form": "hybrid"},
            note="import",
        )
    ]
    for number in range(draw(st.integers(0, 3))):
        doc = Document(
            f"d{number}",
            "a.txt",
            draw(names),
            published=draw(st.none() | terms().filter(lambda t: t.dated)),
        )
        chunk = Chunk(
            f"c{number}", doc.id, 0, draw(names), Span(0, 1), ("A", "b"), (1, 2), draw(terms())
        )
        found.append(
            Batch(
                source=doc.id,
                documents=(doc,),
                chunks=(chunk,),
                nodes=tuple(draw(st.lists(nodes, max_size=2))),
                claims=tuple(draw(st.lists(claims, max_size=2))),
                note="import",
            )
        )
    return found


@given(bases())
def test_reading_back_gives_the_same_batches(base: list[Batch]) -> None:
    again = list(export.batches(export.lines(base), "x", 5_000))
    assert repr(again) == repr(base)


def test_merges_and_long_sources_survive() -> None:
    claim = Claim(Ref("a"), "r", Ref("b"))
    base = [
        Batch(source="d", documents=(Document("d", "p"),), claims=(claim,) * 4_000),
        Batch(source="d", claims=(claim,) * 4_000),
        Batch(merges=(Merge("x", "y"),)),
    ]
    again = list(export.batches(export.lines(base), "x", 5_000))
    assert sum(len(b.claims) for b in again) == 8_000
    assert {b.source for b in again} == {"d"}
    assert again[-1].merges == (Merge("x", "y"),)


def test_a_base_is_written_in_batches_that_its_store_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = tuple(Claim(Ref(f"a{i}"), "r", Ref("b")) for i in range(25))
    export.write([Batch(source="d", claims=claims)], str(tmp_path / "out.jsonl"))
    few = Capability("a.kg", "sqlite", "3", "", "", batch_rows=10)
    monkeypatch.setattr(SQLiteStore, "capabilities", few)
    with KBase.create(tmp_path / "a.kg") as kb:
        sizes: list[int] = []
        write = SQLiteStore.write

        def counted(store: SQLiteStore, batch: Batch) -> object:
            sizes.append(len(batch.claims))
            return write(store, batch)

        monkeypatch.setattr(SQLiteStore, "write", counted)
        kb.import_(tmp_path / "out.jsonl")
        assert sizes == [9, 10, 6]


GOOD = '{"kgqa_export":{"version":1}}'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", None),
        ("hello", ":1:"),
        ('{"meta":{}}', ":1:"),
        ('{"kgqa_export":{"version":99}}', ":1:"),
        (GOOD + "\n\n[1]", ":3:"),
        (GOOD + '\n{"claim":{}}', ":2:"),
        (GOOD + '\n{"claim":{},"node":{}}', ":2:"),
        (GOOD + '\n{"wonder":{}}', ":2:"),
        (GOOD + '\n{"node":' + "[" * 100_000, ":2:"),
    ],
)
def test_a_line_that_is_none_is_named(text: str, place: str | None) -> None:
    if place is None:
        assert list(export.batches([], "f.jsonl", 9)) == [Batch(note="import")]
        return
    with pytest.raises(InputError, match=f"f.jsonl{place}") as caught:
        list(export.batches(text.split("\n"), "f.jsonl", 9))
    assert caught.value.code == "import.invalid"


def broken() -> Iterator[Batch]:
    yield Batch(meta={"a": 1})
    raise UnavailableError("gone", code="store.locked")


def test_a_failed_export_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    export.write([Batch(meta={"a": 1})], str(path))
    before = path.read_text()
    with pytest.raises(UnavailableError):
        export.write(broken(), str(path))
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="export") as caught:
        export.write([], str(tmp_path / "no" / "export.jsonl"))
    assert caught.value.code == "export.unwritable"
    with pytest.raises(InputError) as caught_read:
        list(export.read(str(tmp_path / "no.jsonl"), 9))
    assert caught_read.value.code == "import.unreadable"


def test_dash_is_standard_input_and_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    seen: list[tuple[str, int, int | None]] = []
    base = [Batch(claims=(Claim(Ref("a"), "r", Ref("b")),) * 1_500)]
    export.write(base, "-")
    text = capsys.readouterr().out
    export.write(base, str(tmp_path / "a"), lambda *a: seen.append(a))
    assert (tmp_path / "a").read_text() == text
    assert seen == [("export", 1_000, None)]
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert sum(len(b.claims) for b in export.read("-", 9)) == 1_500


def test_a_knowledge_base_is_not_replaced(tmp_path: Path) -> None:
    for name in ("a.kg", "b.kg"):
        KBase.create(tmp_path / name).close()
    with KBase.open(tmp_path / "a.kg") as kb:
        for name in ("a.kg", "b.kg"):
            before = (tmp_path / name).read_bytes()
            with pytest.raises(ConflictError) as caught:
                kb.export(tmp_path / name)
            assert caught.value.code == "store.exists"
            assert (tmp_path / name).read_bytes() == before
        assert kb.verify() == []
