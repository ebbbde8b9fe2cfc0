"""Addresses of bases: what they say, what is refused, and that no password shows."""

from __future__ import annotations

import pickle

import pytest

from kgqa.errors import InputError
from kgqa.store.neo4j.address import SCHEMES, Address, parse


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_of_an_address(scheme: str) -> None:
    found = parse(f"{scheme}://me:p%40ss%2F@db.example:7777/people?database=other")
    assert found == Address(f"{scheme}://db.example:7777", "people", "other", "me", "p@ss/")
    assert str(found) == f"{scheme}://db.example:7777/people?database=other"


@pytest.mark.parametrize(
    ("url", "kb", "uri"),
    [
        ("neo4j://localhost", "kgqa", "neo4j://localhost:7687"),
        ("neo4j://localhost/", "kgqa", "neo4j://localhost:7687"),
        ("bolt://10.0.0.1:1/Caf%C3%A9%20x", "Café x", "bolt://10.0.0.1:1"),
        ("bolt://[::1]:7/a", "a", "bolt://[::1]:7"),
    ],
)
def test_what_is_left_out(url: str, kb: str, uri: str) -> None:
    found = parse(url, "env", "from-env")
    assert (found.kb, found.uri, found.database) == (kb, uri, None)
    assert (found.user, found.password) == ("env", "from-env")
    assert parse("bolt://me@h/a", "env", "from-env").user == "me"
    assert parse("bolt://me:@h/a", "env", "from-env").password == ""


@pytest.mark.parametrize(
    "url",
    [
        "bolt://u:s3cret@/a", "bolt://u:s3cret@h:no/a", "bolt://u:s3cret@h:99999/a",
        "bolt://u:s3cret/x@h:1/a", "bolt://u:s3cret#x@h/a", "bolt://u:s3cret@h/a/b",
        "bolt://u:s3cret@h/a#x", "bolt://u:s3cret@h/a?databse=x", "bolt://u:s3cret@h/a?x",
        "bolt://u:s3cret@h/a?database=x&database=y", "bolt://u:s3cret@[h/a", "bolt://u:s3cret@h/\x01",
        "bolt://u:s3cret@h/" + "a" * 101, "http://u:s3cret@h/a", "u:s3cret@h", "s3cret://h/a",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(url)
    assert caught.value.code == "store.bad_url"
    assert "u:s3cret" not in f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
    assert caught.value.hint is not None


def test_a_password_shows_nowhere() -> None:
    found = parse("bolt://me:s3cret@h/a")
    assert "s3cret" not in f"{found} {found!r}"
    assert pickle.loads(pickle.dumps(found)) == found
