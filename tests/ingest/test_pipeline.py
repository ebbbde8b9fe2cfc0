"""Loading: idempotent, replaceable, resumable; what fails is kept and the rest is there."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.errors import InputError, NotFoundError, UnavailableError
from kgqa.ingest import pipeline
from kgqa.ingest.pipeline import LoadPlan, load
from kgqa.ingest.report import LoadReport
from kgqa.model.things import Chunk, Claim, Document, Ref, Relation
from kgqa.protocols import Batch, LoadOptions, Pattern
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal import parse
from kgqa.temporal.interval import Interval
from kgqa.testing.canonical import canonical

EVERYTHING = Pattern(order="id")
FACT = {"subject": "a", "relation": "r", "object": "b", "start": "1990"}


def first_words(
    document: Document, chunks: Sequence[Chunk], reference: Interval | None
) -> Iterator[Claim]:
    """Claim the first three words of each chunk; a fake that needs no parser."""
    for chunk in chunks:
        subject, verb, thing = (chunk.text.split() * 3)[:3]
        if subject == "down":
            raise UnavailableError("the model is down", code="llm.down")
        yield Claim(Ref(subject), verb, Ref(thing), chunk=chunk.id, span=chunk.span)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    made = SQLiteStore.create(tmp_path / "base.kgqa")
    yield made
    assert made.verify() == []
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


def run(store: SQLiteStore, *paths: Path, **plan: Any) -> LoadReport:
    return load(store, LoadPlan(paths=paths, extractor=first_words, **plan))


def jsonl(path: Path, *rows: dict[str, Any] | str) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows))
    return path


def test_a_folder_is_loaded_in_order_and_twice_is_once(store: SQLiteStore, folder: Path) -> None:
    (folder / "b.txt").write_text("Rome had walls.")
    (folder / "a.md").write_text("# Lviv\n\nLviv had gates.")
    (folder / "note.xyz").write_text("?")
    (folder / ".hidden.txt").write_text("no")
    (folder / "sub").mkdir()
    jsonl(folder / "sub" / "facts.jsonl", FACT, {"label": "a", "id": "q1"})
    seen: list[tuple[str, int, int | None]] = []
    plan = LoadPlan(paths=(folder,), extractor=first_words)
    report = load(store, plan, progress=lambda *step: seen.append(step))
    assert report.counts == {"chunks": 2, "claims": 3, "documents": 2, "nodes": 1}
    assert report.ignored == (f"{folder}/note.xyz",)
    assert [s for s in seen if s[0] == "load"] == [("load", k, 3) for k in range(4)]
    assert (f"{folder}/sub/facts.jsonl", 2, None) in seen
    revision = store.revision
    again = run(store, folder)
    assert again.counts == {}
    assert len(again.skipped) == 3
    elsewhere = folder / "copy.txt"
    elsewhere.write_text("Rome had walls.")
    assert run(store, elsewhere).skipped == (str(elsewhere),)
    assert store.revision == revision


def test_new_content_replaces_the_old_and_history_stays(store: SQLiteStore, folder: Path) -> None:
    text = folder / "a.txt"
    text.write_text("Rome had walls.")
    facts = jsonl(folder / "a.jsonl", FACT)
    before = run(store, text, facts).revision
    text.write_text("Rome has gates.")
    jsonl(facts, {**FACT, "object": "c"})
    report = run(store, text, facts)
    assert report.counts["replaced"] == 2
    assert {f.object for f in store.match(EVERYTHING)} == {"name:gates.", "name:c"}
    assert len(store.documents()) == 2
    then = store.match(Pattern(order="id", known_at=before))
    assert {f.object for f in then} == {"name:walls.", "name:b"}
    jsonl(facts, FACT)
    text.write_text("Rome had walls.")
    run(store, text, facts)
    assert canonical(store)["facts"] == canonical(store, known_at=before)["facts"]


def test_content_that_moved_here_takes_the_place_of_the_old(
    store: SQLiteStore, folder: Path
) -> None:
    one, two = folder / "1.txt", folder / "2.txt"
    one.write_text("Rome had walls.")
    two.write_text("Rome has gates.")
    run(store, one, two)
    one.write_text("Rome has gates.")
    assert run(store, one).skipped == (str(one),)
    assert [d.path for d in store.documents()] == [str(two)]


def test_the_same_bytes_read_otherwise_are_another_reading(
    store: SQLiteStore, folder: Path
) -> None:
    facts = jsonl(folder / "a.jsonl", {**FACT, "end": "1995"})
    run(store, facts)
    run(store, facts, options=LoadOptions(ends="exclusive"))
    (fact,) = store.match(EVERYTHING)
    assert fact.valid == parse("1990/<1995")


def test_options_reach_documents_chunks_and_extraction(store: SQLiteStore, folder: Path) -> None:
    text = folder / "a.txt"
    text.write_text("Rome had walls.")
    references: list[Interval | None] = []

    def extractor(document: Document, chunks: Any, reference: Any) -> list[Claim]:
        references.append(reference)
        return []

    options = LoadOptions(valid="1990/1995", published="2001-05-03", source="the source")
    load(store, LoadPlan((text,), options, extractor=extractor))
    options = LoadOptions(reference_date="1980")
    load(store, LoadPlan((text,), options, extractor=extractor))
    first, second = sorted(store.documents(), key=lambda d: d.path, reverse=True)
    assert (first.path, first.validity, first.published) == (
        "the source", parse("1990/1995"), parse("2001-05-03"),
    )  # fmt: skip
    assert store.chunks(first.id)[0].validity == parse("1990/1995")
    assert not second.validity.dated
    assert second.published is None
    assert references == [parse("2001-05-03").hull, parse("1980").hull]
    with pytest.raises(InputError):
        run(store, text, options=LoadOptions(valid="someday"))


def test_what_fails_is_listed_and_the_rest_is_there(store: SQLiteStore, folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"\xff\xfe\xfd")
    (folder / "b.txt").write_text("")
    (folder / "c.pdf").write_text("no pdf")
    (folder / "d.txt").write_text("down")
    (folder / "e.txt").write_text("Rome had walls.")
    (folder / "f.csv").write_text("subject,relation\na,b\n")
    jsonl(folder / "g.jsonl", FACT, "broken", {**FACT, "start": "1990-13"}, {"label": "x"})
    os.mkfifo(folder / "h.txt")
    report = run(store, folder)
    units = [(Path(f.unit).name, f.code) for f in report.failures]
    assert units == [
        ("a.txt", "load.encoding"), ("b.txt", "load.empty"), ("c.pdf", "load.broken"),
        ("d.txt", "llm.down"), ("f.csv", "load.missing_column"), ("g.jsonl:2", "row.json"),
        ("g.jsonl:3", "time.invalid"), ("h.txt", "load.not_a_file"),
    ]  # fmt: skip
    assert report.counts["failed"] == 8
    assert {f.unit for f in store.failures()} == {f.unit for f in report.failures}
    assert all(f.unit in f.message for f in store.failures())
    assert len(store.match(EVERYTHING)) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_a_failure(store: SQLiteStore, folder: Path) -> None:
    locked = folder / "locked"
    locked.mkdir()
    secret = folder / "secret.txt"
    secret.write_text("x")
    secret.chmod(0)
    locked.chmod(0)
    report = run(store, folder)
    locked.chmod(0o700)
    assert [f.code for f in report.failures] == ["load.unreadable", "load.unreadable"]


def test_unreadable_files_and_folders(
    store: SQLiteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("x y z")
    (folder / "sub").mkdir()
    real_scan, real_open = os.scandir, os.open

    def scan(path: Any) -> Any:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return real_scan(path)

    def opened(path: Any, *more: Any) -> int:
        if str(path).endswith("a.txt"):
            raise PermissionError(13, "Permission denied")
        return real_open(path, *more)

    monkeypatch.setattr(os, "scandir", scan)
    monkeypatch.setattr(os, "open", opened)
    report = run(store, folder)
    monkeypatch.undo()
    assert [(Path(f.unit).name, f.code) for f in report.failures] == [
        ("sub", "load.unreadable"), ("a.txt", "load.unreadable"),
    ]  # fmt: skip
    assert "Permission denied" in report.failures[0].message


@pytest.mark.parametrize("name", ["none.txt", "a\0b.txt", "x/../none.txt", "a.txt/b.txt"])
def test_a_path_that_is_not_there_is_refused_before_anything(
    store: SQLiteStore, folder: Path, name: str
) -> None:
    (folder / "a.txt").write_text("Rome had walls.")
    with pytest.raises(NotFoundError) as caught:
        run(store, folder / "a.txt", folder / name)
    assert caught.value.code == "load.not_found"
    assert store.documents() == []


def test_odd_paths_are_typed_errors(store: SQLiteStore, folder: Path) -> None:
    with pytest.raises(InputError):
        run(store, folder / ("x" * 300 + ".txt"))
    (folder / "a.exe").write_text("x")
    with pytest.raises(InputError) as caught:
        run(store, folder / "a.exe")
    assert caught.value.code == "load.unknown_format"
    (folder / "a.txt").write_text("x")
    (folder / "b.txt").write_text("y")
    with pytest.raises(InputError) as caught:
        run(store, folder / "a.txt", folder / "b.txt", options=LoadOptions(source="one"))
    assert caught.value.code == "load.one_source"


def test_links_out_of_a_folder_are_not_followed(store: SQLiteStore, folder: Path) -> None:
    outside = folder.parent / "outside.txt"
    outside.write_text("Secret had words.")
    (folder / "link.txt").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "a.txt").write_text("Rome had walls.")
    run(store, folder)
    assert [Path(d.path).name for d in store.documents()] == ["a.txt"]


def test_links_that_cannot_be_followed_fail_alone(store: SQLiteStore, folder: Path) -> None:
    (folder / "a.txt").write_text("sun rose high")
    (folder / "b.txt").symlink_to("c.txt")
    (folder / "c.txt").symlink_to("b.txt")
    (folder / "long.txt").symlink_to(folder / ("x" * 300))
    report = run(store, folder)
    assert {Path(failure.unit).name for failure in report.failures} == {
        "b.txt", "c.txt", "long.txt",
    }  # fmt: skip
    assert {failure.code for failure in report.failures} == {"load.unreadable"}
    assert [document.title for document in store.documents()] == ["a"]


@pytest.mark.parametrize("fault", [KeyError("x"), RecursionError("deep"), MemoryError()])
def test_a_fault_in_a_reader_ends_its_file_alone(
    store: SQLiteStore, folder: Path, fault: Exception
) -> None:
    def faulty(document: Document, *rest: Any) -> Iterator[Claim]:
        if document.title == "bad":
            raise fault
        yield from ()

    for name in ("a", "bad", "c"):
        (folder / f"{name}.txt").write_text(f"sun rose {name}")
    report = load(store, LoadPlan(paths=(folder,), extractor=faulty))
    (failure,) = report.failures
    assert (Path(failure.unit).name, failure.code) == ("bad.txt", "internal")
    assert type(fault).__name__ in failure.message
    assert {document.title for document in store.documents()} == {"a", "c"}
    assert [kept.unit for kept in store.failures()] == [failure.unit]


def test_names_that_are_no_text_stay_apart(store: SQLiteStore, folder: Path) -> None:
    for number, name in enumerate((b"\xff.txt", b"\xfe.txt")):
        with os.fdopen(
            os.open(os.fsencode(folder) + b"/" + name, os.O_CREAT | os.O_RDWR), "w"
        ) as f:
            f.write(f"sun rose {number}")
    assert run(store, folder).failures == ()
    assert len(store.documents()) == 2


def test_a_folder_that_went_is_told(
    store: SQLiteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    folder.rmdir()
    (failure,) = run(store, Path()).failures
    assert failure.code == "load.unreadable"


def test_the_form_of_the_base_is_kept(tmp_path: Path, folder: Path) -> None:
    text, facts = folder / "a.txt", jsonl(folder / "a.jsonl", FACT)
    text.write_text("Rome had walls.")
    for form, good, bad in [("documents", text, facts), ("nodes", facts, text)]:
        store = SQLiteStore.create(tmp_path / f"{form}.kgqa", {"form": form})
        with pytest.raises(InputError) as caught:
            run(store, good, bad)
        assert caught.value.code == "wrong_kb_form"
        assert store.documents() == []
        assert run(store, good).counts["claims"] == 1
        store.close()


def test_failures_are_cleared_by_a_reading_that_works(store: SQLiteStore, folder: Path) -> None:
    text = folder / "a.txt"
    text.write_text("")
    facts = jsonl(folder / "a.jsonl", FACT, "broken")
    run(store, folder)
    assert len(store.failures()) == 2
    text.write_text("Rome had walls.")
    jsonl(facts, FACT, {**FACT, "object": "c"})
    run(store, folder)
    assert store.failures() == []
    text.write_text("")
    run(store, text)
    text.write_text("Rome had walls.")
    assert run(store, text).skipped == (str(text),)
    assert store.failures() == []


def test_retry_takes_up_what_failed(store: SQLiteStore, folder: Path) -> None:
    text = folder / "a.txt"
    text.write_text("down")
    facts = folder / "a.csv"
    facts.write_text("subject,relation,object,from\na,r,b,0000\na,r\n")
    options = LoadOptions(columns={"start": "from"})
    run(store, folder, options=options)
    units = {f"{facts}:2", f"{facts}:3", str(text)}
    assert {f.unit for f in store.failures()} == units
    report = run(store, folder, retry=True, options=options)
    assert {f.unit for f in report.failures} == units
    revision = store.revision
    assert run(store, folder, retry=True, options=options).revision == revision
    text.write_text("Rome had walls.")
    mended = LoadOptions(columns={"start": "from"}, year_numbering="astronomical")
    report = run(store, retry=True, options=mended)
    assert [f.unit for f in store.failures()] == [f"{facts}:3"]
    assert {f.object for f in store.match(EVERYTHING)} == {"name:b", "name:walls."}
    assert run(store, folder.parent / "other", retry=True).counts == {}
    text.unlink()
    store.write(Batch(failures=(pipeline.failure_of("gone.txt", OSError(2, "x")),)))
    store.write(Batch(failures=(pipeline.failure_of("a folder", OSError(2, "x")),)))
    assert [f.code for f in run(store, Path("gone.txt"), retry=True).failures] == ["load.not_found"]


def test_strict_writes_nothing_if_anything_is_bad(store: SQLiteStore, folder: Path) -> None:
    (folder / "a.txt").write_text("Rome had walls.")
    facts = jsonl(folder / "b.jsonl", FACT, "broken", "worse")
    with pytest.raises(InputError, match="2 bad, nothing written") as caught:
        run(store, folder, strict=True)
    assert caught.value.code == "load.strict"
    assert len(caught.value.context["failures"]) == 2
    assert store.documents() == []
    jsonl(facts, FACT)
    assert run(store, folder, strict=True).counts["documents"] == 1
    assert len(run(store, folder, strict=True).skipped) == 2


def test_dry_run_says_what_would_be(store: SQLiteStore, folder: Path) -> None:
    old = jsonl(
        folder / "old.jsonl",
        {"label": "Rome", "id": "rome", "kind": "place"},
        {"label": "Rome", "id": "rome-film", "kind": "film"},
        {"label": "Anna", "id": "anna"},
    )
    run(store, old)
    (folder / "a.txt").write_text("Rome had walls.")
    jsonl(
        folder / "new.jsonl",
        {**FACT, "subject": "rome", "subject_kind": "place"},
        {**FACT, "subject": "Bo", "subject_id": "b1"},
        {**FACT, "subject": "Bo", "subject_id": "b2"},
        {**FACT, "subject": "Bo"},
        {"label": "Anne", "id": "anna", "aliases": ["Nan"]},
        {"label": "Nan", "id": "n2"},
        {"label": "Nan", "id": "n2", "kind": "person"},
        {**FACT, "object": "NAN"},
        "broken",
    )
    before = store.revision
    report = run(store, folder, dry_run=True)
    assert report.dry_run
    assert report.counts == {"chunks": 1, "claims": 6, "documents": 1, "failed": 1, "nodes": 3}
    assert report.ambiguous == ("bo", "nan", "rome")
    assert report.conflicts == ("n2: 'Nan' and 'Nan' (person)", "anna: 'Anna' and 'Anne'")
    assert report.skipped == (str(old),)
    assert store.revision == before == report.revision
    assert run(store, folder / "a.txt", folder / "old.jsonl").ambiguous == ("rome",)
    assert run(store, folder / "a.txt", dry_run=True).skipped == (str(folder / "a.txt"),)


def test_literal_relations_are_known_to_rows(store: SQLiteStore, folder: Path) -> None:
    store.write(Batch(relations=(Relation("r", "r", range="literal"),)))
    run(store, jsonl(folder / "a.jsonl", FACT))
    (fact,) = store.match(EVERYTHING)
    assert not isinstance(fact.object, str)


ROWS = [
    {"label": "P0", "id": "p0", "kind": "person"},
    {"label": "P1", "id": "p1", "aliases": ["Q"]},
    *(
        {**FACT, "subject": f"P{k % 3}", "object": f"O{k % 5}", "start": str(1900 + k)}
        for k in range(9)
    ),
    {**FACT, "subject": "Q", "start": "2000"},
]


def test_any_partition_and_order_gives_the_same_graph(tmp_path: Path) -> None:
    """R-ID-04: one file, singles, random partitions in random order, batches of any size."""
    chance = random.Random(3)
    dumps = []
    for k in range(8):
        store = SQLiteStore.create(tmp_path / f"{k}.kgqa")
        rows = ROWS[:]
        chance.shuffle(rows)
        cuts = sorted({0, len(rows), *(chance.randrange(len(rows)) for _ in range(k))})
        pipeline_rows = chance.choice((1, 3, 5_000))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pipeline, "BATCH_ROWS", pipeline_rows)
            for a, b in itertools.pairwise(cuts):
                run(store, jsonl(tmp_path / f"{k}-{a}.jsonl", *rows[a:b]))
        assert not [key for key, v in store.meta().items() if key.startswith("load:") and v]
        dump = canonical(store)
        dumps.append(({n: _bare(v) for n, v in dump["nodes"].items()}, set(dump["facts"])))
        store.close()
    assert all(dump == dumps[0] for dump in dumps)


def _bare(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "properties"}


def test_a_stopped_table_goes_on_where_it_stopped(
    store: SQLiteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_ROWS", 3)
    facts = jsonl(folder / "a.jsonl", *ROWS, "broken")
    done: list[int] = []

    def stop(stage: str, rows: int, total: int | None) -> None:
        done.append(rows)
        if rows == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(store, LoadPlan(paths=(facts,)), progress=stop)
    (marker,) = [v for key, v in store.meta().items() if key.startswith("load:")]
    assert marker == 6
    seen = len(store.match(EVERYTHING))
    done.clear()
    report = load(store, LoadPlan(paths=(facts,)), progress=lambda s, n, t: done.append(n))
    assert report.counts == {"claims": 6, "failed": 1}
    assert done == [0, 9, 12, 13, 1]
    assert len(store.match(EVERYTHING)) == seen + 6
    assert run(store, facts).skipped == (str(facts),)


def test_a_stopped_table_that_changed_is_begun_anew(
    store: SQLiteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_ROWS", 3)
    facts = jsonl(folder / "a.jsonl", *ROWS)

    def stop(stage: str, rows: int, total: int | None) -> None:
        if rows == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(store, LoadPlan(paths=(facts,)), progress=stop)
    jsonl(facts, FACT)
    run(store, facts)
    assert len(store.match(EVERYTHING)) == 1
    assert not [key for key, v in store.meta().items() if key.startswith("load:") and v]


@settings(max_examples=15)
@given(st.permutations(["Rome had walls.", "Lviv had gates.", "Rome was old."]))
def test_documents_in_any_order_give_equal_bases(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("order")
    store = SQLiteStore.create(folder / "a.kgqa")
    for text in texts:
        path = folder / f"{text[:6]}{len(text)}.txt"
        path.write_text(text)
        run(store, path, options=LoadOptions(source=path.name))
    facts = {f.id for f in store.match(EVERYTHING)}
    paths = {d.path for d in store.documents()}
    store.close()
    assert len(facts) == 3
    assert paths == {f"{t[:6]}{len(t)}.txt" for t in texts}


def test_a_real_document_is_read_by_rules(store: SQLiteStore, folder: Path) -> None:
    text = folder / "caesar.txt"
    text.write_text("From 58 BC to 50 BC Caesar governed Gaul.")
    load(store, LoadPlan(paths=(text,)))
    (fact,) = store.match(EVERYTHING)
    assert fact.relation == "governed"
    assert fact.valid == parse("-0058/-0050")
    assert fact.sources[0].span is not None
    data = store.documents()[0].text.encode()
    assert data[fact.sources[0].span.start : fact.sources[0].span.end] == text.read_bytes()
