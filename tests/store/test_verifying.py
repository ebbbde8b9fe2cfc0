"""``verify`` is silent on a sound base and finds every kind of planted mismatch."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from kgqa.model.things import Claim, Document, Failure, Merge, Node, Ref
from kgqa.protocols import Batch, VectorRow
from kgqa.store.sqlite import SQLiteStore

from .small import small, term

PLANTED = [
    ("facts", "UPDATE facts SET subject = 'name:nobody' WHERE n = 1"),
    ("facts", "UPDATE facts SET ee = ee - 1, le = le - 1 WHERE n = 1"),
    ("facts", "UPDATE facts SET relation = 'ruled' WHERE n = 2"),
    ("facts", "DELETE FROM claims WHERE fact = 1"),
    ("facts", "UPDATE facts SET es = le + 1 WHERE n = 1"),
    ("facts", "UPDATE facts SET recorded_from = 99 WHERE n = 1"),
    ("claims", "DELETE FROM facts WHERE n = 1"),
    ("claims", "UPDATE claims SET fact = 2 WHERE n = 1"),
    ("claims", "UPDATE claims SET fact = 77 WHERE n = 1"),
    ("claims", "UPDATE claims SET recorded_to = recorded_from WHERE n = 1"),
    ("claims", "UPDATE claims SET recorded_to = 50 WHERE n = 1"),
    ("claims", "UPDATE claims SET object_ref = 0 WHERE n = 1"),
    ("refs", "UPDATE refs SET node = 'q9' WHERE key = 'ada'"),
    ("refs", "UPDATE refs SET key = 'ida' WHERE key = 'ada'"),
    ("refs", "UPDATE refs SET uses = uses + 1 WHERE key = 'rome'"),
    ("refs", "UPDATE refs SET uses = 0 WHERE key = 'rome'"),
    ("nodes", "UPDATE nodes SET label = 'Ida' WHERE id = 'q1'"),
    ("nodes", "UPDATE nodes SET existence = '' WHERE id = 'q1'"),
    ("nodes", "DELETE FROM nodes WHERE id = 'name:rome'"),
    ("nodes", "DELETE FROM names WHERE key = 'the lady'"),
    ("nodes", "UPDATE names SET es = es + 1, ls = ls + 1 WHERE key = 'the lady'"),
    ("nodes", "DELETE FROM existence"),
    ("nodes", "UPDATE node_claims SET kind = 'ship' WHERE node = 'q1'"),
    ("nodes", "DELETE FROM node_claims WHERE node = 'q1'"),
    ("nodes", "INSERT INTO nodes SELECT n + 100, 'name:ghost', 'Ghost', '', '', 'Ghost', '', '', "
              "'', 0, digest, es, ee, recorded_from, recorded_to, sum FROM nodes "
              "WHERE id = 'name:rome'"),
    ("nodes", "INSERT INTO nodes SELECT n + 100, 'q8', label, kind, kinds, words, aliases, "
              "existence, properties, 1, digest, es, ee, recorded_from, recorded_to, sum "
              "FROM nodes WHERE id = 'q1' AND recorded_to > 99"),
    ("names", "UPDATE names SET es = le WHERE key = 'the lady'"),
    ("existence", "UPDATE existence SET ls = es - 1"),
    ("chunk_text", "INSERT INTO chunk_text(chunk_text, rowid, title, section, text) "
                   "SELECT 'delete', n, title, section, text FROM chunks WHERE n = 1"),
    ("chunk_text", "DELETE FROM chunks WHERE n = 1"),
    ("node_text", "INSERT INTO node_text(node_text, rowid, words) "
                  "SELECT 'delete', n, words FROM nodes WHERE id = 'q1'"),
    ("node_text", "INSERT INTO node_text(rowid, words) VALUES (500, 'ghost')"),
    ("chunks", "UPDATE chunks SET text = text || '!' WHERE n = 1"),
    ("chunks", "UPDATE chunks SET es = 20, le = 10, ls = 30 WHERE n = 1"),
    ("documents", "UPDATE documents SET es = le WHERE n = 1"),
    ("documents", "UPDATE documents SET recorded_from = 0 WHERE n = 1"),
    ("merges", "UPDATE merges SET recorded_to = 1 WHERE n = 1"),
    ("nodes", "DELETE FROM merges"),
    ("vectors", "UPDATE vectors SET vector = x'00000000' WHERE item = 'doc-0'"),
    ("vectors", "UPDATE vectors SET vector = x'0000' WHERE item = 'doc-0'"),
    ("vectors", "UPDATE vectors SET item = 'ghost' WHERE item = 'doc-0'"),
    ("vectors", "UPDATE vectors SET item = 'ghost' WHERE item = 'q1'"),
    ("revisions", "UPDATE revisions SET wall = 0 WHERE n = 2"),
    ("revisions", "DELETE FROM revisions WHERE n = 2"),
    ("revisions", "UPDATE revisions SET n = 40 WHERE n = (SELECT max(n) FROM revisions)"),
    ("nodes", "UPDATE nodes SET aliases = '{' WHERE id = 'q1'"),
    ("facts", "UPDATE facts SET ls = 'x' WHERE n = 1"),
    ("claims", "UPDATE facts SET recorded_to = 3 WHERE n = 2"),
    ("node_claims", "UPDATE node_claims SET recorded_to = 1"),
    ("meta", "UPDATE meta SET value = '\"nodes\"' WHERE key = 'form'"),
    ("meta", "UPDATE meta SET key = 'farm' WHERE key = 'form'"),
    ("revisions", "UPDATE revisions SET note = 'x' WHERE n = 1"),
    ("relations", "UPDATE relations SET body = replace(body, 'ruled', 'rules')"),
    ("failures", "UPDATE failures SET payload = 'x'"),
    ("tombstones", "UPDATE tombstones SET revision = 1"),
    ("documents", "UPDATE documents SET text = replace(text, 'Rome', 'Roma')"),
    ("documents", "UPDATE documents SET properties = '{}' WHERE n = 1"),
    ("documents", "UPDATE documents SET recorded_to = 3 WHERE n = 1"),
    ("chunks", "UPDATE chunks SET span_end = span_end - 1 WHERE n = 1"),
    ("claims", "UPDATE claims SET properties = '{\"page\":4}' WHERE n = 1"),
    ("claims", "UPDATE claims SET confidence = 0.25 WHERE n = 1"),
    ("claims", "UPDATE claims SET how = 'yygh--' WHERE n = 2"),
    ("claims", "UPDATE claims SET recorded_to = 3 WHERE recorded_to = 4"),
    ("facts", "UPDATE facts SET recorded_to = 5 WHERE recorded_to = 4"),
    ("facts", "UPDATE facts SET recorded_from = 2 WHERE n = 1"),
    ("refs", "UPDATE refs SET label = 'ROME' WHERE key = 'rome'"),
    ("node_claims", "UPDATE node_claims SET recorded_from = 2 WHERE n = 1"),
    ("merges", "UPDATE merges SET winner = 'q9' WHERE n = 1"),
    ("nodes", "UPDATE nodes SET label = 'Ida' WHERE recorded_to = 3"),
    ("nodes", "UPDATE nodes SET es = es + 1 WHERE id = 'q1'"),
    ("nodes", "UPDATE nodes SET digest = 'x' WHERE id = 'q1'"),
    ("nodes", "UPDATE names SET label = 'adelheid' WHERE key = 'adelheid'"),
    ("nodes", "UPDATE names SET own = 0 WHERE key = 'the lady'"),
    ("nodes", "UPDATE names SET how = '?' WHERE node IN (SELECT n FROM nodes "
              "WHERE recorded_to < 9)"),
    ("nodes", "UPDATE existence SET ee = ee + 1, le = le + 1"),
    ("vectors", "UPDATE vectors SET vector = x'0000803f0000803f0000803f0000003f' "
                "WHERE item = 'doc-0'"),
    ("chunk_text", "INSERT INTO chunk_text(chunk_text, rowid, title, section, text) "
                   "SELECT 'delete', n, title, section, text FROM chunks WHERE n = 1; "
                   "INSERT INTO chunk_text(rowid, title, section, text) "
                   "SELECT n, title, section, replace(text, 'Rome', 'Roma') FROM chunks "
                   "WHERE n = 1"),
    ("chunk_text", "UPDATE chunk_text_docsize SET sz = x'010203' WHERE id = 1"),
    ("chunk_text", "UPDATE chunk_text_data SET block = CAST(replace(CAST(block AS TEXT), "
                   "'governed', 'governee') AS BLOB) WHERE id > 10"),
    ("file", "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = "
             "replace(sql, 'diacritics 2', 'diacritics 0') WHERE name = 'node_text'"),
    ("file", "PRAGMA writable_schema = 1; UPDATE sqlite_schema "
             "SET sql = 'CREATE INDEX facts_start ON facts(le, es)' WHERE name = 'facts_start'"),
]  # fmt: skip


@pytest.fixture
def sound(store: SQLiteStore) -> SQLiteStore:
    store.write(small())
    store.write(Batch(source="two", nodes=(Node("q7", "Adelheid", "person"),)))
    knew = Claim(Ref("Adelheid"), "knew", Ref("x", "q1"), term(1))
    store.write(Batch(source="two", claims=(knew,)))
    store.write(Batch(merges=(Merge("q7", "q1"),)))
    rows = [VectorRow("chunk", f"doc-{i}", "d", np.ones(4, np.float32)) for i in (0, 1)]
    rows.append(VectorRow("node", "q1", "d", np.ones(4, np.float32)))
    rows.append(VectorRow("relation", "knew", "d", np.ones(4, np.float32)))
    store.write(Batch(vectors=tuple(rows), generation=1, meta={"generation": 1}))
    store.write(Batch(failures=(Failure("a.csv:3", "a.b", "no such day", "x,y"),)))
    store.write(Batch(source="gone", documents=(Document("gone", "gone.txt"),)))
    store.erase(["document:gone"])
    assert store.verify() == []
    return store


@pytest.mark.parametrize(("part", "sql"), PLANTED, ids=range(len(PLANTED)))
def test_planted_mismatch_is_found(sound: SQLiteStore, part: str, sql: str) -> None:
    raw = sqlite3.connect(sound.path, isolation_level=None)
    raw.executescript(sql)
    assert raw.total_changes > 0
    raw.close()
    again = SQLiteStore(sound.path)
    problems = again.verify()
    assert part in {p.part for p in problems}, problems
    assert all(p.message for p in problems)
    again.close()


def test_there_are_fifty() -> None:
    assert len(PLANTED) >= 50
