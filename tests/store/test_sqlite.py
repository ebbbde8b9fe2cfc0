"""SQLiteStore as a whole: threads, processes, deaths in the middle, what it rebuilds and erases."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgqa.errors import ConflictError, InputError, KGQAError, NotFoundError
from kgqa.model.things import Chunk, Claim, Document, End, Literal, Merge, Node, Ref, Span
from kgqa.protocols import Batch, Pattern, Reader, VectorRow
from kgqa.store.sqlite import SQLiteStore
from kgqa.store.view import View
from kgqa.temporal.interval import END, Interval
from kgqa.testing.canonical import canonical

from .small import small, term


def dump(store: SQLiteStore):
    with store.view() as reader:
        return canonical(reader)


def count(store: SQLiteStore, noun: str) -> int:
    return store.stats()[noun]


# Sharing.


@pytest.mark.parametrize("calls", [400, pytest.param(10_000, marks=pytest.mark.full)])
def test_32_threads_share_a_store(store, calls):
    store.write(small())
    wanted = store.match(Pattern())
    errors = []

    def work(i: int) -> None:
        try:
            if i % 40 == 0:
                store.write(small(f"d{i}", 0))
            elif i % 3 == 0:
                with store.view() as reader:
                    assert len(reader.match(Pattern())) == len(reader.match(Pattern()))
            else:
                assert [f.id for f in store.match(Pattern())] == [f.id for f in wanted]
                assert store.find("governed rome", 3, Pattern())
        except Exception as exc:
            errors.append(exc)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(calls)))
    assert errors == []
    assert store.verify() == []
    assert len(store._idle) <= 8


def test_closed_store_refuses_politely(store):
    store.write(small())
    with store.view() as reader:
        store.close()
        assert reader.match(Pattern())
    for call in (
        lambda: store.match(Pattern()),
        lambda: store.write(Batch()),
        lambda: store.erase(["node:q1"]),
        lambda: store.backup(Path("x")),
        store.verify,
        lambda: store.revision,
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == "store.closed"
    store.close()


def test_another_process_sees_commits_at_its_next_call(store):
    other = SQLiteStore(store.path)
    vectors = tuple(
        VectorRow("chunk", f"doc-{i}", "d", np.eye(2, dtype=np.float32)[i]) for i in (0, 1)
    )
    pattern = Pattern(items=("chunk",))
    query = np.array([1, 0], np.float32)
    assert other.nearest(query, 2, pattern) == []
    store.write(small())
    store.write(Batch(vectors=vectors, generation=1, meta={"generation": 1}))
    assert [h.id for h in other.nearest(query, 2, pattern)] == ["doc-0", "doc-1"]
    assert other.relations()["governed"].max_subjects == 1
    with other.view() as reader:
        store.write(Batch(delete=("doc",)))
        assert [h.id for h in reader.nearest(query, 2, pattern)] == ["doc-0", "doc-1"]
    assert other.nearest(query, 2, pattern) == []
    other.close()


def test_backup_while_others_write(store, tmp_path):
    store.write(small())
    stop = threading.Event()

    def keep_writing() -> None:
        i = 0
        while not stop.is_set():
            i += 1
            store.write(Batch(source="doc", claims=(Claim(Ref(f"N{i}"), "is", Literal(i)),)))

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        for i in range(5):
            store.backup(tmp_path / f"copy{i}")
    finally:
        stop.set()
        writer.join()
    for i in range(5):
        copy = SQLiteStore(tmp_path / f"copy{i}")
        assert copy.verify() == []
        assert copy.revision == copy.changes()[-1].revision
        assert count(copy, "claims") == 3 + copy.revision - 1
        copy.close()
    with pytest.raises(ConflictError):
        store.backup(tmp_path / "copy0")


def test_clock_that_steps_back(store, monkeypatch):
    store.write(small())
    monkeypatch.setattr("time.time_ns", lambda: 5)
    store.write(small("two"))
    walls = [c.wall for c in store.changes()]
    assert walls == sorted(walls)
    assert walls[0] > 5


# Dying.

_CHILD = """
import os, signal, sys, pathlib
sys.path.insert(0, sys.argv[3])
from store.small import small
from kgqa.protocols import Batch, VectorRow
from kgqa.store import hooks
from kgqa.store.sqlite import SQLiteStore
from kgqa.store.view import View
import numpy as np

store = SQLiteStore(pathlib.Path(sys.argv[1]))
def die(name):
    if name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
store.write(small("first"))
print("acknowledged", flush=True)
hooks.reached = die
second = small("second", 3)
from contextlib import closing
from dataclasses import replace
vector = VectorRow("chunk", "second-0", "d", np.ones(2, np.float32))
store.write(replace(second, vectors=(vector,), generation=1))
print("finished", flush=True)
"""
POINTS = ("begin", "opened", "text", "nodes", "facts", "vectors", "commit", "done")


@pytest.mark.parametrize("point", POINTS)
def test_death_at_each_point_leaves_all_or_nothing(path, point):
    SQLiteStore.create(path).close()
    tests = str(Path(__file__).resolve().parents[1])
    child = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path), point, tests],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (child.returncode, child.stdout) == (-signal.SIGKILL, "acknowledged\n"), child.stderr
    store = SQLiteStore(path)
    assert store.verify() == []
    documents = [d.id for d in store.documents()]
    assert documents == (["first", "second"] if point == "done" else ["first"])
    again = replace(
        small("second", 3),
        vectors=(VectorRow("chunk", "second-0", "d", np.ones(2, np.float32)),),
        generation=1,
    )
    assert store.write(again).changed == (point != "done")
    whole = SQLiteStore.create(path.with_name("whole"))
    for batch in (small("first"), again):
        whole.write(batch)
    assert dump(store) == dump(whole)
    assert store.revision == whole.revision
    whole.close()
    store.close()


_ENDLESS = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from store.small import small
from kgqa.store.sqlite import SQLiteStore
from kgqa.store.view import View
store = SQLiteStore(pathlib.Path(sys.argv[1]))
for i in range(10_000):
    if store.write(small(f"d{i:05}", i)).changed:
        print(i, flush=True)
"""


@pytest.mark.parametrize("deaths", [4, pytest.param(100, marks=pytest.mark.full)])
def test_death_at_random_moments(path, deaths):
    SQLiteStore.create(path).close()
    tests = str(Path(__file__).resolve().parents[1])
    rnd = random.Random(deaths)
    acknowledged: set[int] = set()
    for _ in range(deaths):
        child = subprocess.Popen(
            [sys.executable, "-c", _ENDLESS, str(path), tests], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        acknowledged.add(int(child.stdout.readline()))
        timer = threading.Timer(rnd.random() * 0.3, lambda pid=child.pid: os.kill(pid, 9))
        timer.start()
        acknowledged |= {int(line) for line in child.stdout if line.endswith("\n")}
        child.wait()
        timer.join()
        store = SQLiteStore(path)
        assert store.verify() == []
        held = {int(d.id[1:]) for d in store.documents()}
        assert acknowledged <= held
        assert len(held) == store.revision
        store.close()


# Reading.


def test_ids_that_are_no_text(store):
    with pytest.raises(InputError) as caught:
        store.write(Batch(nodes=(Node("\ud800", "x"),)))
    assert caught.value.code == "store.bad_text"
    with pytest.raises(InputError):
        store.get(["node:\ud800"])
    assert store.revision == 0


def test_text_that_is_no_text_is_replaced(store):
    batch = small()
    odd = replace(batch.chunks[0], text="odd \ud800 text")
    store.write(
        replace(batch, chunks=(odd,), claims=(Claim(Ref("A\udc00"), "r", Literal("\ud800")),))
    )
    assert store.chunks("doc")[0].text == "odd \ufffd text"
    assert store.verify() == []


def test_numbers_beyond_64_bits(store):
    store.write(Batch(source="d", claims=(Claim(Ref("a"), "r", Literal(10**30)),)))
    assert store.match(Pattern())[0].object == Literal(10**30)
    with pytest.raises(InputError):
        store.write(Batch(source="d", claims=(Claim(Ref("a"), "r", Literal(1), line=10**30),)))


def test_bad_labels_and_cursors(store):
    store.write(small())
    for call in (
        lambda: store.get(["q1"]),
        lambda: store.write(Batch(retract=("chunk:doc-0",))),
        lambda: store.write(Batch(ends=(End("chunk:doc-0", 1, 1),))),
        lambda: store.match(Pattern(after="nowhere", limit=1)),
        lambda: store.nodes(Pattern(after="nowhere")),
    ):
        with pytest.raises(InputError):
            call()
    for call in (
        lambda: store.write(Batch(retract=("node:q9",))),
        lambda: store.write(Batch(ends=(End("node:q9", 1, 1),))),
        lambda: store.write(Batch(merges=(Merge("q9", "q1"),))),
    ):
        with pytest.raises(NotFoundError):
            call()


def test_end_of_a_fact_that_is_gone(store):
    store.write(small())
    (fact,) = store.match(Pattern(subject="name:ben", relation="governed"))
    label = f"fact:{fact.id}"
    store.write(Batch(ends=(End(label, 20, 20),)))
    assert not store.write(Batch(ends=(End(label, 20, 20),))).changed
    with pytest.raises(NotFoundError):
        store.write(Batch(ends=(End(label, 21, 21),)))


def test_end_of_a_node_without_existence(store):
    store.write(Batch(source="d", claims=(Claim(Ref("Ada", "q1"), "r", Literal(1)),)))
    store.write(Batch(ends=(End("node:q1", 30, 31),)))
    (node,) = store.nodes(Pattern())
    assert node.existence[0].bounds[2:] == (30, 31)
    assert node.existence[0].start_unknown
    assert store.nodes(Pattern(valid=Interval(40, 41))) == []
    assert not store.write(Batch(ends=(End("node:q1", 30, 31),))).changed


def test_end_of_the_last_term_only(store):
    store.write(Batch(nodes=(Node("q1", "Poland", existence=(term(10, 20), term(50))),)))
    store.write(Batch(ends=(End("node:q1", 90, 90),)))
    (node,) = store.nodes(Pattern())
    assert [v.bounds for v in node.existence] == [(10, 10, 20, 20), (50, 50, 90, 90)]


def test_document_of_the_same_id_with_another_text(store):
    store.write(small())
    with pytest.raises(ConflictError) as caught:
        store.write(Batch(documents=(Document("doc", "doc.txt", text="other"),)))
    assert caught.value.code == "store.conflict"
    changed = replace(small().documents[0], title="Chronicle")
    assert store.write(Batch(documents=(changed,))).changed
    assert [d.title for d in store.documents()] == ["Chronicle"]


def test_merged_names_find_the_winner(store):
    store.write(small())
    receipt = store.write(Batch(merges=(Merge("name:ben", "q1"),)))
    assert {h.node for h in store.names(["ben"])} == {"q1"}
    assert store.get(["node:name:ben"])["node:name:ben"].label == "Ada"
    assert {f.subject for f in store.match(Pattern(subject="name:ben"))} == {"q1"}
    assert [h.id for h in store.find("ben", 3, Pattern(items=("node",)))] == ["q1"]
    assert {f.subject for f in store.match(Pattern(subject="name:ben", known_at=1))} == {"name:ben"}
    with pytest.raises(ConflictError):
        store.write(Batch(merges=(Merge("q1", "name:ben"),)))
    with pytest.raises(InputError, match="made no merge") as caught:
        store.write(Batch(undo=1))
    assert str(receipt.revision) in (caught.value.hint or "")
    assert store.write(Batch(undo=receipt.revision)).changed
    assert not store.write(Batch(undo=receipt.revision)).changed
    assert store.verify() == []


def test_hub_is_read_only_as_far_as_needed(store):
    claims = tuple(Claim(Ref("Hub"), "knows", Ref(f"N{i:04}"), term(i)) for i in range(3000))
    store.write(Batch(source="d", claims=claims))
    found = store.expand(["name:hub"], 2, Pattern(), 10)
    assert [r.node for r in found] == [f"name:n{i:04}" for i in range(10)]
    assert len(store.match(Pattern(subject="name:hub"))) == 3000
    assert len(store.match(Pattern(subject="name:hub", limit=700))) == 700


def test_same_fact_stated_by_several_batches_of_one_document(store):
    for _ in range(2):
        store.write(Batch(source="d", claims=(Claim(Ref("a"), "r", Ref("b"), line=1),)))
        store.write(Batch(source="d", claims=(Claim(Ref("a"), "r", Ref("b"), line=2),)))
    assert (count(store, "facts"), count(store, "claims"), store.revision) == (1, 2, 2)


def test_delete_and_state_again_in_one_batch_is_no_change(store):
    store.write(small())
    assert not store.write(replace(small(), delete=("doc",))).changed
    assert store.revision == 1
    assert store.verify() == []


def test_vectors_of_another_length(store):
    store.write(small())
    store.write(Batch(vectors=(VectorRow("chunk", "doc-0", "d", np.ones(3, np.float32)),)))
    with pytest.raises(InputError) as caught:
        store.write(Batch(vectors=(VectorRow("chunk", "doc-1", "d", np.ones(4, np.float32)),)))
    assert caught.value.code == "store.vector_length"


def test_flip_drops_what_newer_vectors_replace(store):
    store.write(small())
    for generation, value in ((1, 1.0), (2, 2.0)):
        row = VectorRow("chunk", "doc-0", f"d{generation}", np.full(2, value, np.float32))
        store.write(Batch(vectors=(row,), generation=generation))
        assert count(store, "vectors_hidden") == 1
        store.write(Batch(meta={"generation": generation}))
        assert (count(store, "vectors"), count(store, "vectors_hidden")) == (1, 0)


def test_many_nodes_are_not_embedded(store):
    store.write(small())
    kinds = {p.kind for p in store.pending(100)}
    assert kinds == {"chunk", "node", "relation"}
    store.write(Batch(meta={"embed_nodes_max": 2}))
    assert {p.kind for p in store.pending(100)} == {"chunk", "relation"}
    assert count(store, "pending") == len(store.pending(100))


def test_pending_pages(store):
    store.write(small())
    whole = store.pending(100)
    pages, after = [], None
    while page := store.pending(2, after):
        pages += page
        after = (page[-1].kind, page[-1].id)
    assert pages == whole
    assert count(store, "pending") == len(whole)


# Rebuilding and erasing.


def rich(store: SQLiteStore) -> None:
    store.write(small())
    store.write(small("two", 4))
    store.write(Batch(nodes=(Node("q5", "Ben", "person"),), note="by hand"))
    store.write(Batch(source="two", claims=(Claim(Ref("B", "q5", "person"), "knew", Ref("ADA")),)))
    store.write(Batch(merges=(Merge("q5", "q1"),)))
    store.write(Batch(merges=(Merge("name:rome", "q1"),)))


def test_batches_rebuild_the_state(store, path):
    rich(store)
    copy = SQLiteStore.create(path.with_name("copy"))
    for batch in store.batches():
        copy.write(batch)
    assert dump(copy) == dump(store)
    assert copy.meta() == store.meta()
    assert copy.verify() == []
    assert list(copy.batches()) == list(store.batches())
    copy.close()


def raw_bytes(store: SQLiteStore) -> bytes:
    return b"".join(
        p.read_bytes() for p in sorted(store.path.parent.glob(store.path.name + "*"))
    ).lower()


def test_erase_of_a_chunk_blanks_its_text(store):
    store.write(small())
    label = next(iter(store.get(["chunk:doc-0"])))
    receipt = store.erase([label])
    assert receipt.changed
    assert store.documents()[0].text == " " * 18 + small().documents[0].text[18:]
    assert [c.id for c in store.chunks("doc")] == ["doc-1"]
    assert store.match(Pattern(subject="q1", relation="governed", known_at=1)) == []
    assert b"ada governed rome" not in raw_bytes(store)
    assert count(store, "tombstones") == 1
    assert not store.erase([label]).changed
    assert store.verify() == []


def test_erase_of_a_document_spares_what_another_says(store):
    rich(store)
    before = store.match(Pattern())
    store.erase(["document:two"])
    assert store.verify() == []
    assert "two" not in {s.document for f in store.match(Pattern()) for s in f.sources}
    assert len(store.match(Pattern())) < len(before)
    assert store.get(["document:two", "document:doc"], known_at=2).keys() == {"document:doc"}
    assert store.match(Pattern(known_at=1))


def test_erase_of_a_merged_node(store):
    rich(store)
    store.erase(["node:q5"])
    assert store.verify() == []
    assert {f.relation for f in store.match(Pattern(known_at=4))} <= {"age", "governed"}
    assert not {"q1", "q5"} & {n.id for n in store.nodes(Pattern())}
    assert b"the lady" not in raw_bytes(store)


def test_erase_splits_what_was_on_record(store):
    one = Batch(source="one", claims=(Claim(Ref("a"), "r", Ref("b")),))
    two = Batch(source="two", claims=(Claim(Ref("a"), "r", Ref("b")),))
    gap = Batch(source="three", claims=(Claim(Ref("a"), "r", Ref("b")),))
    store.write(one)
    store.write(gap)
    store.write(Batch(delete=("one",)))
    store.write(two)
    store.write(Batch(delete=("three",)))
    store.erase(["document:three"])
    held = [len(store.match(Pattern(known_at=r))) for r in range(7)]
    assert held == [0, 1, 1, 0, 1, 1, 1]
    assert store.verify() == []
    (fact,) = store.match(Pattern())
    assert (fact.recorded.start, fact.recorded.end) == (4, END)


def test_erase_waits_for_readers_of_the_log(store):
    store.write(small())
    store = SQLiteStore(store.path, lock_timeout=0.2)
    with store.view() as reader:
        assert reader.match(Pattern())
        with pytest.raises(KGQAError) as caught:
            store.erase(["node:q1"])
    assert caught.value.code == "store.locked"
    assert store.match(Pattern(subject="q1")) == []
    store.erase(["node:q1"])
    assert b"the lady" not in raw_bytes(store)


def test_erased_failures_of_a_document(store):
    from kgqa.model.things import Failure

    store.write(small())
    store.write(
        Batch(failures=(Failure("doc.txt:3", "c", "m", "x"), Failure("doc.txt2", "c", "m")))
    )
    store.erase(["document:doc"])
    assert [f.unit for f in store.failures()] == ["doc.txt2"]


def test_chunk_of_an_unknown_document_has_no_title(store):
    store.write(Batch(chunks=(Chunk("c", "d", 0, "words", Span(0, 5)),)))
    assert [p.text for p in store.pending(5)] == ["words"]


@pytest.mark.parametrize("raised", [OSError(5, "a socket"), sqlite3.OperationalError("theirs")])
def test_what_the_holder_of_a_view_raises_is_its_own(store, raised):
    def hold():
        with store.view() as reader:
            assert reader.match(Pattern()) == []
            raise raised

    with pytest.raises(type(raised)) as caught:
        hold()
    assert caught.value is raised


def test_what_a_view_raises_is_typed(store):
    store.write(small())
    with store.view() as reader, closing(sqlite3.connect(store.path)) as raw:
        assert reader.match(Pattern(subject="q1"))
        reads = (
            lambda: reader.match(Pattern(subject="\ud800")),
            lambda: reader.get(["node:\ud800"]),
            lambda: reader.names(["\ud800"]),
            lambda: reader.changes(1 << 70),
            lambda: reader.documents(after="\ud800"),
        )
        assert raw.execute("SELECT count(*) FROM facts").fetchone()[0]
        for read in reads:
            with pytest.raises(InputError) as caught:
                read()
            assert caught.value.code in ("store.bad_text", "store.number_range")
        assert len(list(reader.batches())) > 1


def test_every_read_of_a_view_is_typed():
    reads = {name for name in vars(Reader) if not name.startswith("_")}
    assert reads - {"revision"} <= set(vars(View))


def test_erasing_takes_the_vectors_of_names_that_go_with_it(store):
    store.write(Batch(source="d", claims=(Claim(Ref("Ada"), "born in", Ref("Nowhere")),)))
    rows = [VectorRow(p.kind, p.id, p.digest, np.float32([1, 0])) for p in store.pending(9)]
    assert {row.id for row in rows} >= {"name:ada", "name:nowhere"}
    store.write(Batch(vectors=tuple(rows), generation=1))
    store.erase(["node:name:ada"])
    assert store.verify() == []
    assert b"nowhere" not in raw_bytes(store).lower()
