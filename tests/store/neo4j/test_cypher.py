"""Names in Cypher: never syntax, whatever they are made of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.store.neo4j import cypher
from kgqa.store.neo4j.session import Client

HOSTILE = (
    "`", "``", "a`b", "\\u0060", "\\u0060) DETACH DELETE n //", "｀", "'", '"', "a\nb", "a\0b",
    "/* */", "// x", "a:b", "{a}", "$kb", "@label", "", " ", "é", "ℵ", "x" * 10_000, "0day", "NULL",
    "a) MATCH (n", "\u202e", "e\u0301",
)  # fmt: skip


@given(st.text() | st.sampled_from(HOSTILE))
def test_a_name_is_one_quoted_word(text: str) -> None:
    assert re.fullmatch(r"`\w{1,64}`", cypher.name(text))


@given(st.text() | st.sampled_from(HOSTILE) | st.sampled_from(sorted(cypher.RESERVED)))
def test_a_kind_never_becomes_a_label_of_ours(kind: str) -> None:
    found = cypher.label(kind)
    assert re.fullmatch(r"\w+", found)
    assert found not in cypher.RESERVED
    assert not re.fullmatch(r"Vector\d+", found)


def test_kinds_and_relations_read_well() -> None:
    kinds = ("person", "head of state", "US-state", "vector 384")
    assert [cypher.label(kind) for kind in kinds] == [
        "Person", "HeadOfState", "USState", "Vector384_"
    ]  # fmt: skip
    shown = [cypher.relationship(key) for key in ("held office", "born (in)", "élu", "other", "!")]
    assert shown == ["HELD_OFFICE", "BORN_IN", "ÉLU", "OTHER_", "_"]


def test_parts_of_a_template() -> None:
    made = cypher.text("MATCH (n:@a {x: '@'}) WHERE @b RETURN @c", a="A`", b=cypher.every([]), c=[])
    assert made == "MATCH (n:`A_` {x: '@'}) WHERE true RETURN "
    both = cypher.every([cypher.text("a"), cypher.text("b")])
    assert isinstance(both, cypher.Cypher)
    assert both == "a AND b"
    assert cypher.number(5) == "5"
    with pytest.raises(ValueError, match="invalid literal"):
        cypher.number("1]")  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        cypher.text("@missing")


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_short_texts_fit_and_stay_apart(one: str, other: str) -> None:
    one, other = (t.encode("utf-8", "replace").decode() for t in (one * 3, other * 3))
    assert len(cypher.short(one).encode()) <= cypher.LONGEST
    assert (cypher.short(one) == cypher.short(other)) == (one == other)
    if len(one.encode()) <= cypher.LONGEST:
        assert cypher.short(one) == one


def test_a_lone_surrogate_is_told(client: Client) -> None:
    with pytest.raises(UnicodeEncodeError):
        cypher.short("\ud800" * 600)


def test_a_real_server_takes_every_name_for_a_name(client: Client) -> None:
    mark = client.address.kb
    made = [
        cypher.text(
            "CREATE (:@label {@key: 1, kb: $kb})-[:@type]->(:Other {kb: $kb})",
            label=text, key=text, type=text,
        )
        for text in HOSTILE
    ]  # fmt: skip

    def work(tx: object) -> None:
        for statement in made:
            tx.rows(statement, kb=mark)  # type: ignore[attr-defined]

    client.write(work)
    count = "MATCH (n {kb: $kb}) RETURN count(n), count(*)"
    assert client.rows(count, kb=mark) == [(2 * len(HOSTILE),) * 2]
    assert client.rows("MATCH ({kb: $kb})-[r]->() RETURN count(r)", kb=mark) == [(len(HOSTILE),)]
