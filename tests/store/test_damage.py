"""Damage to the file of a base is told: by opening, reading or verifying it."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgqa.errors import FaultError, KGQAError
from kgqa.model.things import Failure, Merge
from kgqa.protocols import Batch, Pattern, VectorRow
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.canonical import canonical

from .small import small


@pytest.mark.parametrize("count", [25, pytest.param(500, marks=pytest.mark.full)])
def test_damaged_files_are_told_or_sound(tmp_path, count):
    whole = tmp_path / "whole.kgqa"
    wanted = _wordy(whole)
    data = whole.read_bytes()
    rnd = random.Random(count)
    for i in range(count):
        path = tmp_path / f"{i}.kgqa"
        broken = bytearray(data)
        if i % 5 == 0:
            del broken[rnd.randrange(len(data)) :]
        else:
            broken[rnd.randrange(len(data))] ^= 1 << rnd.randrange(8)
        path.write_bytes(broken)
        assert _outcome(path, wanted) in _OUTCOMES, f"case {i}"
        path.unlink()


def _wordy(path: Path):
    """Make a base whose pages are full of content, with history; return what it says."""
    rnd = random.Random(1)

    lexicon = ["".join(rnd.choices("abcdeghilmnorst", k=6)) for _ in range(200)]

    def words(count: int) -> str:
        return " ".join(rnd.choices(lexicon, k=count))

    with closing(SQLiteStore.create(path)) as store:
        for i in range(4):
            batch = small(f"d{i}", i)
            said = {"note": words(150)}
            paper = replace(batch.documents[0], text=words(600), properties=said)
            store.write(
                replace(
                    batch,
                    documents=(paper,),
                    chunks=tuple(replace(c, text=words(300)) for c in batch.chunks),
                    nodes=tuple(replace(n, properties=said) for n in batch.nodes),
                    claims=tuple(replace(c, properties={"said": words(150)}) for c in batch.claims),
                    meta={"form": words(150)},
                    failures=(Failure(f"{i}.csv:1", "a.b", words(50), words(100)),),
                )
            )
        store.write(Batch(delete=("d1",)))
        found = [
            VectorRow("chunk", f"d{i}-{j}", "d", np.float32([i, j, *rnd.choices(range(9), k=30)]))
            for i in (0, 2, 3)
            for j in (0, 1)
        ]
        store.write(Batch(vectors=tuple(found), generation=1, meta={"generation": 1}))
        store.write(Batch(merges=(Merge("name:ben", "q1"),)))
        store.erase(["document:d3"])
        return _all(store)


def _all(store: SQLiteStore):
    """Return all that a base says, now and at each revision, and what searches find in it."""
    with store.view() as reader:
        return (
            [canonical(reader, n) for n in range(1, reader.revision + 1)], reader.meta(),
            reader.failures(), reader.changes(), reader.find("Ada Rome Lady", 9, Pattern()),
            reader.nearest(np.ones(32, np.float32), 9, Pattern()), reader.names(["ben", "ada"]),
        )  # fmt: skip


_OUTCOMES = {"sound", "told", "store.corrupt", "store.not_a_base", "store.too_new", "store.io"}


def _outcome(path: Path, wanted) -> str:
    try:
        damaged = SQLiteStore(path)
    except KGQAError as exc:
        return exc.code
    try:
        if damaged.verify():
            return "told"
        return "sound" if _all(damaged) == wanted else "wrong"
    except KGQAError as exc:
        return exc.code
    finally:
        damaged.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE nodes SET aliases = '[[', properties = '{'",
        "UPDATE meta SET value = 'x' WHERE key = 'form'",
        "UPDATE nodes SET aliases = 7",
        "UPDATE facts SET object = ''",
    ],
)
def test_what_cannot_be_read_is_damage(path, damage):
    store = SQLiteStore.create(path)
    store.write(small())
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(damage)

    def read_in_a_view():
        with store.view() as reader:
            canonical(reader), reader.nodes(Pattern()), reader.match(Pattern()), reader.meta()

    def read_one_by_one():
        store.nodes(Pattern()), store.match(Pattern()), store.meta(), list(store.batches())

    for read in (read_in_a_view, read_one_by_one):
        with pytest.raises(FaultError) as caught:
            read()
        assert caught.value.code == "store.corrupt"
    store.close()


def test_damage_that_no_message_can_show_is_told(path):
    SQLiteStore.create(path).close()
    data = path.read_bytes().replace(b"tablechunk_text_docsize", b"tablechunk\xdftext_docsize")
    path.write_bytes(data)
    with pytest.raises(FaultError) as caught:
        SQLiteStore(path)
    assert caught.value.code == "store.corrupt"
