"""Hostile words wherever words go: they mean themselves, and nothing else (R-CY-01, R-CY-04)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from kgqa.errors import InputError
from kgqa.model.things import Alias, Chunk, Claim, Document, Literal, Node, Ref, Span
from kgqa.protocols import Batch, Pattern
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.queries import slices
from kgqa.store.sqlite import SQLiteStore
from kgqa.temporal.interval import UNDATED
from kgqa.testing.canonical import canonical, difference
from kgqa.testing.sizes import counts

PAYLOADS = (
    "'", '"', "`", "``", "```", "\\", "\\'", "\\u0060", "\\u0027", "\\\\u0060",
    "a` {x: 1}) DETACH DELETE n //", "a``) MATCH (n) DETACH DELETE n //",
    "a\\u0060) MATCH (n) DETACH DELETE n //", "x' OR 1=1 RETURN 1 //",
    '"}) MATCH (n) DETACH DELETE n RETURN ("', "/* x */", "// x", "a\nMATCH (n) DELETE n",
    "a\r\n}", "a\0b", "\u2028x\u2029", "$kb", "{kb}", "@label", "@@", "%s", "{0}", "${x}",
    "｀", "＇", "＂ ＯＲ １＝１", "；ＤＥＬＥＴＥ", "ʼ", "ꞌ", "CALL {MATCH (n) DELETE n}",
    "LOAD CSV FROM 'file:///etc/passwd' AS x", "Base", "Entity", "Vector384", "OTHER", "kb", "_",
    "n:", "id_long", "recorded_to", "-1", "null", "\u202e", "🙂", "A" * 10_240, "é`" * 5_120,
)  # fmt: skip
_AT_ONCE = 25
_EACH = 5
_OURS = {"kb", "id_long", "recorded_to"}
_EVERYTHING = (
    "MATCH (n {kb: $kb}) OPTIONAL MATCH (n)-[r]->(m) "
    "RETURN labels(n), properties(n), type(r), properties(r), labels(m), properties(m)"
)
_NODES = "MATCH (n) RETURN DISTINCT n.kb"
_EDGES = "MATCH (a)-[r]->(b) WHERE a.kb <> b.kb OR a.kb <> r.kb RETURN count(r)"
_NAMES = "CALL db.labels() YIELD label RETURN label"
_TYPES = "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type"
_KEYS = (
    "MATCH (n {kb: $kb}) OPTIONAL MATCH (n)-[r]->() "
    "UNWIND keys(n) + coalesce(keys(r), []) AS key RETURN DISTINCT key"
)


def _drawn(count: int) -> list[str]:
    """Return the payloads, then some put together of several."""
    chance = random.Random(count)
    short = [text for text in PAYLOADS if len(text) < 100]
    more = ["".join(chance.choices(short, k=3)) for _ in range(count - len(PAYLOADS))]
    return list(dict.fromkeys([*PAYLOADS, *more]))


def _batch(texts: Sequence[str]) -> Batch:
    """Return a write that has texts wherever the caller's words go."""
    nodes, documents, chunks, claims = [], [], [], []
    for text in texts:
        nodes.append(Node(f"{text}.", text, text, (Alias(text + "!"),), properties={text: text}))
        documents.append(Document(text, text, title=text, text=text))
        span = Span(0, len(text.encode()))
        chunks.append(Chunk(f"{text}/", text, 0, text, span, (text,), None, UNDATED))
        about = Ref(text, f"{text}.")
        claims.append(Claim(about, text, Ref(text + "?", None, text), chunk=f"{text}/"))
        claims.append(Claim(Ref(text + "?"), text, Literal(text), properties={text: [text]}))
    return Batch(
        source=texts[0], documents=tuple(documents), chunks=tuple(chunks), nodes=tuple(nodes),
        claims=tuple(claims), note=texts[0], meta={f"x:{text}": text for text in texts},
    )  # fmt: skip


@pytest.fixture
def neighbour(url: str) -> Iterator[tuple[Client, list[str]]]:
    """Give a client of another base in the same database, and all that is in that."""
    with closing(Neo4jStore.create(parse(url + "-neighbour"), {})) as store:
        store.write(_batch(["plain"]))
    client = Client(parse(url + "-neighbour"))
    yield client, _all(client)
    client.close()


def _all(client: Client) -> list[str]:
    return sorted(map(repr, client.rows(_EVERYTHING, kb=client.address.kb)))


@pytest.mark.parametrize("count", counts(len(PAYLOADS), 1000))
def test_words_mean_themselves(
    count: int, url: str, neighbour: tuple[Client, list[str]], tmp_path: Path
) -> None:
    client, before = neighbour
    bases = set(client.rows(_NODES))
    schema = len(client.rows("SHOW CONSTRAINTS YIELD name RETURN name"))
    with (
        closing(Neo4jStore.create(parse(url), {})) as ours,
        closing(SQLiteStore.create(tmp_path / "a.kg")) as plain,
    ):
        for texts in slices(_drawn(count), _AT_ONCE):
            batch = _batch(list(texts))
            assert ours.write(batch) == plain.write(batch)
        assert difference(canonical(ours), canonical(plain)) == []
        assert ours.meta() == plain.meta()
        assert [b for b in client.rows(_NODES) if b not in bases] == [(ours.address.kb,)]
        for text in _drawn(count)[::_EACH]:
            kinds = Pattern(kind=text, order="id")
            assert ours.nodes(kinds) == plain.nodes(kinds)
            facts = Pattern(relation=text, order="id")
            assert [f.id for f in ours.match(facts)] == [f.id for f in plain.match(facts)]
    assert _all(client) == before
    assert client.rows(_EDGES) == [(0,)]
    # What became a name in the schema is one word of letters, digits and underscores.
    names = [name for query in (_NAMES, _TYPES) for (name,) in client.rows(query)]
    assert all(len(name) <= 65 and name.replace("_", "a").isalnum() for name in names)
    keys = {key for (key,) in client.rows(_KEYS, kb=ours.address.kb)}
    assert keys > _OURS
    assert not keys & (set(PAYLOADS) - _OURS)
    assert len(client.rows("SHOW CONSTRAINTS YIELD name RETURN name")) <= schema + 50


@pytest.mark.parametrize("step", counts(4, 1))
def test_names_of_bases(step: int, url: str, neighbour: tuple[Client, list[str]]) -> None:
    client, before = neighbour
    made, refused = [], []
    root = url.rpartition("/")[0]
    # Each base is made afresh, which takes a second.
    for text in PAYLOADS[::step]:
        name = text[:40]
        try:
            address = parse(f"{root}/{quote(name, safe='')}")
        except InputError as exc:
            refused.append(exc.code)
            continue
        with closing(Neo4jStore.create(address, {})) as store:
            assert store.write(Batch(claims=(Claim(Ref("a"), "b", Ref(name)),))).changed
            assert len(store.match(Pattern())) == 1
        made.append(name)
    assert len(made) > 30 // step
    assert set(refused) == {"store.bad_url"}
    assert set(made) <= {kb for (kb,) in client.rows("MATCH (b:Base) RETURN b.kb")}
    assert _all(client) == before


_LUCENE = ("+", "-", "&&", "||", "!", "(", ")", "{", "}", "[", "]", "^", '"', "~", "*", "?", ":",
           "\\", "/", "AND", "OR", "NOT", "TO", "mill", "tokens:mill", "kb:x", "_exists_:kb", "mi*",
           "m?ll", "mill~2", "[a TO z]", "/mi.*/", "who ruled in 1815?", "İ", "\0", "｀", "🙂",
           "Constantinople/Istanbul", "x" * 5000, "'", "`", "$text", "\n")  # fmt: skip


@pytest.mark.parametrize("count", counts(120, 5000))
def test_no_text_is_syntax_of_the_search(count: int, url: str, tmp_path: Path) -> None:
    chance = random.Random(count)
    text = "The mill of Oslo burned in 1815."
    documents = [Document(f"d{k}", f"d{k}.txt", text=f"{text} {k}") for k in range(3)]
    batches = [
        Batch(
            source=d.id, documents=(d,),
            chunks=(Chunk(f"c{d.id}", d.id, 0, d.text, Span(0, len(d.text)), (), None, UNDATED),),
            nodes=(Node(f"n{d.id}", f"Mill {d.id}", "mill"),),
        )
        for d in documents
    ]  # fmt: skip
    with (
        closing(Neo4jStore.create(parse(url), {})) as ours,
        closing(SQLiteStore.create(tmp_path / "a.kg")) as plain,
    ):
        for batch in batches:
            ours.write(batch)
            plain.write(batch)
        asked = [*_LUCENE, *("".join(chance.choices(_LUCENE, k=4)) for _ in range(count))]
        with ours.view() as one, plain.view() as two:
            for words in asked:
                found, wanted = (
                    {(h.kind, h.id) for h in view.find(words, 50, Pattern())} for view in (one, two)
                )
                assert found == wanted, ascii(words)
