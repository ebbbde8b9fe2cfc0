"""The facade: each method does what it says, wrong calls are told by argument, nothing breaks."""

from __future__ import annotations

import inspect
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from letters import Letters

from kgqa import AskOptions, BaseOptions, KBase, LoadOptions, Node, Relation
from kgqa.errors import (
    ConflictError,
    FaultError,
    InputError,
    KGQAError,
    NotFoundError,
    UnavailableError,
)
from kgqa.model.things import Claim, Ref
from kgqa.store import open_store
from kgqa.testing.canonical import canonical, difference

ROWS = [
    {"id": "cicero", "label": "Cicero", "kind": "person", "existence": "-0106-01-03/-0043-12-07"},
    {"id": "caesar", "label": "Julius Caesar", "kind": "person", "aliases": ["Caesar"]},
    {"subject": "Cicero", "relation": "consul of", "object": "Rome", "valid": "-0063"},
    {"subject": "Caesar", "relation": "consul of", "object": "Rome", "valid": "-0059"},
    {"subject": "Caesar", "relation": "governed", "object": "Gaul", "start": "-0058", "end": ""},
]
CONSUL = "Who was consul of Rome in 63 BC?"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KBase]:
    with KBase.create(tmp_path / "a.kg", embedder=Letters()) as made:
        made.write(ROWS)
        yield made


def subjects(kb: KBase, name: str = "Rome", **options: Any) -> list[str]:
    return [line.subject for line in kb.timeline(name, None, AskOptions(**options)).lines]


# -- opening -------------------------------------------------------------------------------


def test_create_and_open(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        KBase.open(tmp_path / "a.kg")
    with KBase.open(tmp_path / "a.kg", create=True) as made:
        assert {r.key for r in made.relations()} >= {"born in"}
        relations = len(made.relations())
    with pytest.raises(ConflictError):
        KBase.create(tmp_path / "a.kg")
    with KBase.open(str(tmp_path / "a.kg"), create=True) as again:
        assert len(again.relations()) == relations


def test_the_setting_says_how_long_a_writer_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_LOCK_TIMEOUT", "0.2")
    for open_ in (KBase.create, KBase.open):
        with open_(tmp_path / "a.kg", embedder=Letters()) as kb:
            with closing(sqlite3.connect(tmp_path / "a.kg", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                began = time.monotonic()
                with pytest.raises(UnavailableError) as caught:
                    kb.write(ROWS)
                assert caught.value.code == "store.locked"
                assert 0.1 < time.monotonic() - began < 3
            assert kb.write([*ROWS, {**ROWS[2], "valid": f"19{len(open_.__name__)}0"}]).changed


@pytest.mark.parametrize("url", ["", "\0", "ftp://x/y", "neo4j://x"])
def test_names_that_can_be_no_base(url: str) -> None:
    for opening in (KBase.open, KBase.create):
        with pytest.raises(KGQAError) as caught:
            opening(url)
        assert not isinstance(caught.value, FaultError)


def test_settings_of_a_base_stay(tmp_path: Path) -> None:
    chosen = BaseOptions(
        form="nodes", undated="exclude", passages="published", mode="fast", embed_nodes_max=1
    )
    with KBase.create(tmp_path / "a.kg", chosen, embedder="ollama:nomic"):
        pass
    store = open_store(tmp_path / "a.kg")
    assert store.meta() == {
        "form": "nodes", "undated": "exclude", "passages": "published", "mode": "fast",
        "embedder_spec": "ollama:nomic", "embed_nodes_max": 1,
    }  # fmt: skip
    store.close()


def test_undated_exclude_is_kept_by_the_base(tmp_path: Path) -> None:
    row = {"subject": "Ada", "relation": "lived in", "object": "Bern"}
    shown = {}
    for undated in ("include", "exclude"):
        with KBase.create(
            tmp_path / f"{undated}.kg", BaseOptions(undated=undated), embedder=Letters()
        ) as kb:
            kb.write([row])
            shown[undated] = len(kb.at("Ada", as_of="1900").lines)
    assert shown == {"include": 1, "exclude": 0}


def test_a_closed_base_says_so(kb: KBase) -> None:
    kb.close()
    for call in (kb.stats, kb.documents, kb.nodes, lambda: kb.ask(CONSUL), lambda: kb.write(ROWS)):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == "store.closed"
    kb.close()


# -- asking --------------------------------------------------------------------------------


def test_asking_before_and_after_an_index(kb: KBase) -> None:
    before = kb.ask(CONSUL)
    assert before.answers == ("Cicero",)
    assert kb.index().embedded > 0
    assert kb.ask(CONSUL).answers == before.answers
    assert kb.ask("Who was consul of Rome?", as_of="-0059").answers == ("Julius Caesar",)
    assert kb.explain(CONSUL).trace
    assert kb.search("consul", k=1).items[0].score <= 1.0


def test_histories(kb: KBase) -> None:
    assert subjects(kb) == ["Cicero", "Julius Caesar"]
    assert [line.object for line in kb.at("Caesar", as_of="-0057").lines] == ["Gaul"]
    assert kb.when("Cicero", "consul of", "Rome").lines[0].valid == "-0063"
    assert kb.when("Cicero", "consul of", "Rome", as_of="-0070").lines == ()
    assert [line.subject for line in kb.snapshot(as_of="-0063").lines] == ["Cicero"]
    assert len(kb.snapshot(limit=1).lines) == 1
    changed = kb.diff("-0063", "-0059")
    assert [line.subject for line in changed.gone] == ["Cicero"]
    assert [line.subject for line in changed.came] == ["Julius Caesar"]
    assert [n.id for n in kb.nodes("person")] == ["caesar", "cicero"]
    assert [n.id for n in kb.nodes("person", limit=1, after="caesar")] == ["cicero"]
    alive = kb.nodes("person", AskOptions(as_of="-0110", undated="exclude"))
    assert alive == []
    (document,) = kb.documents()
    assert document.path == "api:api"
    assert kb.documents(after=document.id) == []


# -- correcting ----------------------------------------------------------------------------


def test_end(kb: KBase) -> None:
    fact = kb.timeline("Gaul").lines[0].labels[0]
    assert kb.end(fact, "-0050", dry_run=True).changed is False
    assert kb.timeline("Gaul").lines[0].valid == "-0058/.."
    assert kb.end(fact, "-0050").changed
    assert kb.timeline("Gaul").lines[0].valid == "-0058/-0050"
    kb.end("caesar", "-0044-03-15", ends="inclusive")
    (caesar,) = (n for n in kb.nodes() if n.id == "caesar")
    assert caesar.existence[0].text or caesar.existence[0].le


def test_retract_is_seen_by_known_at(kb: KBase) -> None:
    fact = kb.timeline("Gaul").lines[0].labels[0]
    before = kb.stats()["revisions"]
    assert kb.retract(fact, dry_run=True).changed is False
    assert kb.retract(fact).changed
    with pytest.raises(NotFoundError):
        subjects(kb, "Gaul")
    assert subjects(kb, "Gaul", known_at=before) == ["Julius Caesar"]


def test_erase_leaves_no_bytes(kb: KBase, tmp_path: Path) -> None:
    kb.write([{"id": "x", "label": "Unforgettable"}], source="x")
    assert kb.erase("x", dry_run=True).changed is False
    assert kb.erase("node:x").changed
    assert kb.stats()["tombstones"] >= 1
    kb.close()
    for path in tmp_path.iterdir():
        assert b"Unforgettable" not in path.read_bytes()


def test_delete_takes_exactly_what_it_supports(kb: KBase) -> None:
    store = open_store(Path(kb.ask(CONSUL).scope and _path(kb)))
    before = canonical(store)
    kb.write([ROWS[2], {**ROWS[2], "object": "Cilicia"}], source="other")
    assert kb.delete("api:other", dry_run=True).changed is False
    assert kb.delete("api:other").changed
    assert difference(before, canonical(store)) == []
    store.close()
    with pytest.raises(NotFoundError):
        kb.delete("api:other")


def _path(kb: KBase) -> str:
    return str(kb._store.path)  # type: ignore[attr-defined]


@pytest.mark.parametrize("label", ["nothing", "fact:nothing", "node:", "chunk:x", "", " "])
def test_what_is_not_there_is_not_found(label: str, kb: KBase) -> None:
    for call in (
        lambda: kb.retract(label),
        lambda: kb.retract(label, dry_run=True),
        lambda: kb.erase(label, dry_run=True),
        lambda: kb.end(label, "1900"),
        lambda: kb.delete(label),
    ):
        with pytest.raises((NotFoundError, InputError)):
            call()
    assert kb.verify() == []


def test_merge_and_undo(kb: KBase) -> None:
    kb.write([{"subject": "Tully", "relation": "wrote", "object": "Letters"}], source="t")
    receipt = kb.merge("Tully", "Cicero")
    assert subjects(kb, "Letters") == ["Cicero"]
    kb.undo(receipt.revision)
    assert subjects(kb, "Letters") != ["Cicero"]
    with pytest.raises(InputError):
        kb.undo(1)
    with pytest.raises(NotFoundError):
        kb.merge("Nobody", "Cicero")
    with pytest.raises(KGQAError):
        kb.merge("Cicero", "Cicero")


def test_declare(kb: KBase) -> None:
    count = len(kb.relations())
    kb.declare([Relation("flew with", "flew with", max_objects=1)])
    assert len(kb.relations()) == count + 1
    assert [r.key for r in kb.relations()] == sorted(r.key for r in kb.relations())


# -- keeping -------------------------------------------------------------------------------


def test_load_and_failures(kb: KBase, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("who,relation,object,end\nAda,led,Norvik,-0001\nAda,led,Norvik,x\n")
    options = LoadOptions(columns={"subject": "who"}, ends="exclusive")
    assert kb.load([rows], options, dry_run=True).dry_run
    report = kb.load(rows, options)
    assert report.counts["claims"] == 1
    assert [f.unit for f in kb.failures()] == [f"{rows}:3"]
    assert kb.load([], retry=True).counts["failed"] == 1


def test_an_export_imported_is_the_same_base(kb: KBase, tmp_path: Path) -> None:
    kb.merge("Gaul", "Rome")
    told: list[str] = []
    kb.export(tmp_path / "a.jsonl", progress=lambda stage, done, total: told.append(stage))
    with KBase.create(tmp_path / "b.kg", embedder=Letters()) as copy:
        receipt = copy.import_(tmp_path / "a.jsonl", progress=lambda s, d, t: told.append(s))
        assert receipt.changed
        assert receipt.counts["claims"] == copy.stats()["claims"]
        assert receipt.counts["documents"] == copy.stats()["documents"]
        assert "import" in told
        one, two = open_store(_path(kb)), open_store(_path(copy))
        assert difference(canonical(one), canonical(two)) == []
        one.close()
        two.close()
        copy.export(tmp_path / "b.jsonl")
        again = copy.import_(tmp_path / "a.jsonl")
        assert not again.changed
        assert copy.verify() == []
    exported = [(tmp_path / f"{n}.jsonl").read_text().splitlines() for n in "ab"]
    assert exported[0] == exported[1]


def test_a_backup_has_the_history_too(kb: KBase, tmp_path: Path) -> None:
    before = kb.stats()["revisions"]
    kb.retract(kb.timeline("Gaul").lines[0].labels[0])
    assert kb.backup(tmp_path / "b.kg") == tmp_path / "b.kg"
    with KBase.open(tmp_path / "b.kg") as copy:
        assert copy.stats() == kb.stats()
        assert subjects(copy, "Gaul", known_at=before) == ["Julius Caesar"]
    with pytest.raises(ConflictError):
        kb.backup(tmp_path / "b.kg")


# -- wrong calls (R-GN-02) -------------------------------------------------------------------

METHODS = [
    name
    for name, member in vars(KBase).items()
    if callable(member) and not name.startswith("_") and name not in ("close", "load")
]
ANYTHING: Any = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9),
    st.binary(max_size=4),
    st.just(date(1815, 6, 18)), st.just(object()), st.just(len), st.just(Node), st.just(Letters()),
    st.builds(AskOptions, as_of=st.text(max_size=8) | st.integers(), k=st.integers() | st.text()),
    st.builds(AskOptions, mode=st.text(max_size=3), nodes=st.none() | st.integers()),
    st.builds(Node, id=st.integers() | st.text(max_size=3), label=st.text(max_size=3)),
    st.lists(st.integers() | st.text(max_size=3), max_size=3), st.just({"subject": 1}),
    st.sampled_from(
        ["Cicero", "cicero", "node:caesar", "-0063", "1815", "0000", "now", "\ud800", "a\0b", "r1"]
    ),
)  # fmt: skip


def _wrong_call(kb: KBase, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(METHODS))
    method = getattr(kb, name)
    names = [p for p in inspect.signature(method).parameters if p != "self"]
    given_ = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    values = {n: data.draw(ANYTHING) for n in given_}
    writing = ("export", "export_neo4j", "backup", "import_")
    if name in writing and isinstance(values.get("path"), (str, Path)):
        values["path"] = str(Path(_path(kb)).parent / "out" / "of") + str(values["path"])
    raised = _outcome(lambda: method(**values))
    told = f"{name}({values!r}): {raised!r}"
    assert not isinstance(raised, FaultError), told
    assert not isinstance(raised, TypeError) or "argument" in str(raised), told
    if isinstance(raised, KGQAError) and raised.code == "input.type":
        assert raised.message.split(" ")[0].split(".")[0].split("[")[0] in [*names, "item"], told


def _outcome(call: Any) -> Exception | None:
    """Return what a call raises of the two kinds that it may; anything else goes through."""
    try:
        call()
    except (KGQAError, TypeError) as exc:
        return exc
    return None


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KBase]:
    with KBase.create(tmp_path_factory.mktemp("wrong") / "a.kg", embedder=Letters()) as made:
        made.write(ROWS)
        yield made


@settings(max_examples=300)
@given(st.data())
def test_wrong_calls_are_told_by_argument(tried: KBase, data: st.DataObject) -> None:
    _wrong_call(tried, data)


@pytest.mark.full
@settings(max_examples=5_000)
@given(st.data())
def test_many_wrong_calls_are_told_by_argument(tried: KBase, data: st.DataObject) -> None:
    _wrong_call(tried, data)


@settings(max_examples=60)
@given(st.data())
def test_wrong_ways_to_open(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("open")
    names = st.sampled_from(["form", "undated", "passages", "mode", "embed_nodes_max"])
    chosen = {n: data.draw(ANYTHING) for n in data.draw(st.lists(names))}
    options = data.draw(st.just(BaseOptions(**chosen)) | ANYTHING)
    embedder = data.draw(st.none() | ANYTHING)
    raised = _outcome(lambda: KBase.create(folder / "a.kg", options, embedder=embedder).close())
    assert not isinstance(raised, FaultError)
    assert (raised is None) == (folder / "a.kg").exists()


def test_the_base_is_whole_after_all_that(tried: KBase) -> None:
    assert tried.verify() == []


@pytest.mark.parametrize(
    "item",
    [
        {"subject": "a", "relation": "-", "object": "b"},
        {"subject": "a", "relation": "_ -- _", "object": "b"},
        Claim(Ref("a"), "", Ref("b")),
        Claim(Ref(" "), "r", Ref("b")),
        Claim(Ref("a"), "r", Ref("")),
        Node("", "x"),
        Node("x", " "),
    ],
)
def test_names_without_words_are_refused(kb: KBase, item: Any) -> None:
    with pytest.raises(InputError) as caught:
        kb.write([item])
    assert caught.value.code == "row.missing"


def test_a_relation_without_words_does_not_stop_questions(kb: KBase) -> None:
    kb.declare([Relation("-", "-", ("_", "")), Relation("held", "held", ("--",), inverse="_")])
    assert kb.ask(CONSUL).answers == ("Cicero",)


def test_limits_beyond_all(kb: KBase) -> None:
    for limit in (2**63 - 1, 2**63, 10**40):
        assert kb.snapshot(limit=limit).lines == kb.snapshot().lines
        assert kb.nodes(limit=limit) == kb.nodes()
        assert kb.documents(limit=limit) == kb.documents()


def test_limits_below_zero(kb: KBase) -> None:
    for call in (kb.nodes, kb.snapshot, kb.documents):
        with pytest.raises(InputError, match="a limit below zero: -3"):
            call(limit=-3)


def test_a_base_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from kgqa import KBase\n"
        "from kgqa.store import hooks\n"
        "def die(name):\n"
        "    if name == sys.argv[2]:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "hooks.reached = die\n"
        "KBase.create(sys.argv[1]).close()\n"
    )
    for point in ("begin", "opened", "commit", "done", "none"):
        path = tmp_path / f"{point}.kg"
        subprocess.run([sys.executable, "-c", script, str(path), point], check=False)
        assert path.exists() == (point == "none"), point
    with KBase.open(tmp_path / "none.kg") as kb:
        assert len(kb.relations()) > 20
        assert kb.stats()["revisions"] == 1
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(".")) == ["none.kg"]


def test_no_mode_is_the_bases_own(tmp_path: Path) -> None:
    """KB-18, RM-02: null, absent and the explicit default give identical runs."""
    with KBase.create(tmp_path / "m.kg", BaseOptions(mode="fast"), embedder=Letters()) as kb:
        kb.write(
            [
                {"subject": "Ann", "relation": "wrote", "object": "Book"},
                {"subject": "Book", "relation": "stands in", "object": "Library"},
            ]
        )
        runs = {
            mode: kb.ask("Ann library", AskOptions(mode=mode, synthesis="digest")).evidence
            for mode in (None, "fast", "deep")
        }
    assert runs[None] == runs["fast"]
    assert {e.label for e in runs["fast"]} < {e.label for e in runs["deep"]}
