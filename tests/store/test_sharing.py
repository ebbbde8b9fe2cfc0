"""Several writers and processes on one file: nothing twice, nothing lost, no help needed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kgqa.model.things import Document, Node
from kgqa.protocols import Batch, Pattern
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.canonical import canonical
from kgqa.testing.contract_base import everything_pending, index, says, term, texts
from kgqa.testing.sizes import counts

from .small import small


@pytest.mark.parametrize("upserts", counts(20, 1000))
def test_concurrent_upserts_of_the_same_ids(store, upserts):
    """R-CC-01: 8 writers; each id is one node, as its last writer by revision said."""
    ids = max(upserts // 2, 10)
    last: dict[str, tuple[int, str]] = {}
    guard = threading.Lock()

    def work(writer: int) -> None:
        rnd = random.Random(writer)
        for i in range(upserts):
            name, said = f"n{rnd.randrange(ids)}", f"{writer}-{i}"
            node = Node(name, f"Label {name}", "person", properties={"said": said})
            batch = Batch(
                source=name, documents=(Document(name, name),), delete=(name,), nodes=(node,)
            )
            receipt = store.write(batch)
            with guard:
                last[name] = max(last.get(name, (0, "")), (receipt.revision, said))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    found = {n.id: n.properties["said"] for n in store.nodes(Pattern(kind="person"))}
    assert found == {name: said for name, (_, said) in last.items()}
    assert store.verify() == []


_WRITER = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from store.small import small
from kgqa.store.sqlite import SQLiteStore
store = SQLiteStore(pathlib.Path(sys.argv[1]))
for i in range(5):
    store.write(small(f"{sys.argv[3]}{i}", i))
store.close()
"""
_TESTS = str(Path(__file__).resolve().parents[1])


@pytest.mark.parametrize("trials", counts(2, 100))
def test_two_processes_write_while_a_third_reads(tmp_path, trials):
    """R-CC-03: both writers' documents are there, and no reader ever saw half of one."""
    for trial in range(trials):
        path = tmp_path / f"{trial}.kgqa"
        store = SQLiteStore.create(path)
        children = [
            subprocess.Popen([sys.executable, "-c", _WRITER, str(path), _TESTS, name])
            for name in "ab"
        ]
        while any(child.poll() is None for child in children):
            with store.view() as reader:
                documents = {d.id for d in reader.documents()}
                sources = {s.document for f in reader.match(Pattern()) for s in f.sources}
            assert documents == sources, f"trial {trial}"
            time.sleep(0.01)
        assert [child.wait() for child in children] == [0, 0]
        assert {d.id for d in store.documents()} == {f"{n}{i}" for n in "ab" for i in range(5)}
        assert store.verify() == []
        store.close()


@pytest.mark.parametrize("sequences", counts(30, 1000))
def test_what_one_wrote_the_other_reads(store, sequences):
    """R-TM-09: another opener finds fact and text at its next call; pending is exact."""
    other = SQLiteStore(store.path)
    rnd = random.Random(sequences)
    writer, reader = store, other
    for i in range(sequences):
        writer.write(says(f"d{i}", (f"S{i}", "knew", "T", term(i)), passages=texts(f"word{i} is")))
        assert [f.valid.es for f in reader.match(Pattern(subject=f"name:s{i}"))] == [i]
        assert [h.id for h in reader.find(f"word{i}", 2, Pattern(items=("chunk",)))] == [f"d{i}-0"]
        assert (
            reader.stats()["pending"]
            == writer.stats()["pending"]
            == len(everything_pending(reader))
        )
        if rnd.random() < 0.1:
            index(writer, i + 1)
            assert reader.stats()["pending"] == 0
        if rnd.random() < 0.5:
            writer, reader = reader, writer
    other.close()


_ENDLESS = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from store.small import small
from kgqa.store.sqlite import SQLiteStore
store = SQLiteStore(pathlib.Path(sys.argv[1]))
for i in range(40):
    store.write(small(f"d{i:02}", i))
print("finished", flush=True)
"""


@pytest.mark.parametrize("chains", counts(1, 100))
def test_death_again_and_again_while_recovering(tmp_path, chains):
    """R-CR-04: killed 0 to 500 ms after each of up to five restarts; then it converges."""
    rnd = random.Random(chains)
    expected = None
    for chain in range(chains):
        path = tmp_path / f"{chain}.kgqa"
        SQLiteStore.create(path).close()
        for _ in range(rnd.randrange(2, 6)):
            child = subprocess.Popen(
                [sys.executable, "-c", _ENDLESS, str(path), _TESTS], stdout=subprocess.DEVNULL
            )
            time.sleep(rnd.random() * 0.5)
            os.kill(child.pid, 9)
            child.wait()
        store = SQLiteStore(path)
        assert store.verify() == []
        for i in range(40):
            store.write(small(f"d{i:02}", i))
        found = canonical(store)
        expected = expected or found
        assert found == expected, f"chain {chain}"
        assert store.revision == 40
        store.close()
