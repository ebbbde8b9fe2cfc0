"""The tables of a base, and how an older file becomes a newer one.

Belongs here: SQL that defines tables, one script per version, applied in order. Must not:
anything that reads or writes rows.

Times are integers (four bounds: es, ls, ee, le), ``how`` says how a validity was written (see
``rows``). ``recorded_from`` and ``recorded_to`` are revisions; the current version of a thing
has ``recorded_to`` = END. Claims are the truth: each supports one version of one fact. A claim
names nodes through ``refs``: the words of a source with the node that they now mean. Nodes,
their names and existence are derived from node claims and refs. ``sum`` is explained in ``sums``.
"""

from __future__ import annotations

APPLICATION_ID = 0x6B677161
"""``kgqa`` in ASCII, in the file's header."""

_VERSION_1 = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE revisions(
  n INTEGER PRIMARY KEY, wall INTEGER NOT NULL, note TEXT NOT NULL, sum INTEGER NOT NULL
);
CREATE TABLE tombstones(
  label TEXT PRIMARY KEY, revision INTEGER NOT NULL, sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE relations(
  key TEXT PRIMARY KEY, body TEXT NOT NULL, sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE failures(
  unit TEXT PRIMARY KEY, code TEXT NOT NULL, message TEXT NOT NULL, payload TEXT,
  sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE merges(
  n INTEGER PRIMARY KEY, loser TEXT NOT NULL, winner TEXT NOT NULL,
  recorded_from INTEGER NOT NULL, recorded_to INTEGER NOT NULL,
  sum INTEGER NOT NULL
);

CREATE TABLE documents(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL,
  media TEXT NOT NULL, text TEXT NOT NULL, published TEXT NOT NULL,
  es INTEGER NOT NULL, ls INTEGER NOT NULL, ee INTEGER NOT NULL, le INTEGER NOT NULL,
  how TEXT NOT NULL, properties TEXT NOT NULL,
  recorded_from INTEGER NOT NULL, recorded_to INTEGER NOT NULL,
  sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX documents_id ON documents(id, recorded_to);
CREATE TABLE chunks(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL, document TEXT NOT NULL, ordinal INTEGER NOT NULL,
  title TEXT NOT NULL, section TEXT NOT NULL, text TEXT NOT NULL, digest TEXT NOT NULL,
  span_start INTEGER NOT NULL, span_end INTEGER NOT NULL, page_first INTEGER, page_last INTEGER,
  es INTEGER NOT NULL, ls INTEGER NOT NULL, ee INTEGER NOT NULL, le INTEGER NOT NULL,
  how TEXT NOT NULL, recorded_from INTEGER NOT NULL, recorded_to INTEGER NOT NULL,
  sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX chunks_id ON chunks(id, recorded_to);
CREATE INDEX chunks_document ON chunks(document, ordinal);
CREATE VIRTUAL TABLE chunk_text USING fts5(
  title, section, text, content='chunks', content_rowid='n',
  tokenize="unicode61 remove_diacritics 2"
);

CREATE TABLE refs(
  n INTEGER PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL, explicit TEXT NOT NULL,
  key TEXT NOT NULL, node TEXT NOT NULL, uses INTEGER NOT NULL, sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX refs_words ON refs(label, kind, explicit);
CREATE INDEX refs_key ON refs(key);
CREATE INDEX refs_explicit ON refs(explicit) WHERE explicit <> '';
CREATE TABLE node_claims(
  n INTEGER PRIMARY KEY, node TEXT NOT NULL, document TEXT NOT NULL, label TEXT NOT NULL,
  kind TEXT NOT NULL, aliases TEXT NOT NULL, existence TEXT NOT NULL, properties TEXT NOT NULL,
  recorded_from INTEGER NOT NULL, recorded_to INTEGER NOT NULL,
  sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX node_claims_node ON node_claims(node, document, recorded_to);
CREATE INDEX node_claims_document ON node_claims(document);
CREATE TABLE nodes(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL, label TEXT NOT NULL, kind TEXT NOT NULL,
  kinds TEXT NOT NULL, words TEXT NOT NULL, aliases TEXT NOT NULL, existence TEXT NOT NULL,
  properties TEXT NOT NULL,
  declared INTEGER NOT NULL, digest TEXT NOT NULL, es INTEGER NOT NULL, ee INTEGER NOT NULL,
  recorded_from INTEGER NOT NULL, recorded_to INTEGER NOT NULL,
  sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX nodes_id ON nodes(id, recorded_to);
CREATE INDEX nodes_start ON nodes(es, ee, id);
CREATE TABLE names(
  key TEXT NOT NULL, node INTEGER NOT NULL, label TEXT NOT NULL, main INTEGER NOT NULL,
  own INTEGER NOT NULL,
  es INTEGER NOT NULL, ls INTEGER NOT NULL, ee INTEGER NOT NULL, le INTEGER NOT NULL,
  how TEXT NOT NULL
);
CREATE INDEX names_key ON names(key);
CREATE INDEX names_node ON names(node);
CREATE TABLE existence(
  node INTEGER NOT NULL, es INTEGER NOT NULL, ls INTEGER NOT NULL, ee INTEGER NOT NULL,
  le INTEGER NOT NULL
);
CREATE INDEX existence_node ON existence(node, es);
CREATE VIRTUAL TABLE node_text USING fts5(
  words, content='nodes', content_rowid='n', tokenize="unicode61 remove_diacritics 2"
);

CREATE TABLE facts(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL, subject TEXT NOT NULL, relation TEXT NOT NULL,
  object TEXT NOT NULL,
  es INTEGER NOT NULL, ls INTEGER NOT NULL, ee INTEGER NOT NULL, le INTEGER NOT NULL,
  recorded_from INTEGER NOT NULL, recorded_to INTEGER NOT NULL
);
CREATE UNIQUE INDEX facts_id ON facts(id, recorded_to);
CREATE INDEX facts_subject ON facts(subject, relation, es, ee);
CREATE INDEX facts_object ON facts(object, relation, es, ee);
CREATE INDEX facts_relation ON facts(relation, es, ee);
CREATE INDEX facts_start ON facts(es, ee);
CREATE TABLE claims(
  n INTEGER PRIMARY KEY, fact INTEGER NOT NULL, document TEXT NOT NULL,
  subject_ref INTEGER NOT NULL, object_ref INTEGER NOT NULL, how TEXT NOT NULL,
  chunk TEXT, span_start INTEGER, span_end INTEGER, line INTEGER,
  confidence REAL NOT NULL, properties TEXT NOT NULL,
  recorded_from INTEGER NOT NULL, recorded_to INTEGER NOT NULL,
  sum INTEGER NOT NULL
);
CREATE INDEX claims_fact ON claims(fact);
CREATE INDEX claims_document ON claims(document);

CREATE TABLE vectors(
  kind TEXT NOT NULL, item TEXT NOT NULL, generation INTEGER NOT NULL, digest TEXT NOT NULL,
  vector BLOB NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY(kind, item, generation)
);
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1,)
"""Script i makes a file of version i into one of version i + 1; version 0 is an empty file."""
