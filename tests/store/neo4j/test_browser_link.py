"""What ``kgqa browse`` prints: the link without a password, values that cannot leave their text."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from kgqa import tasks
from kgqa.errors import InputError, UnsupportedError
from kgqa.kbase import KBase
from kgqa.protocols import Capability
from kgqa.store.neo4j.address import Address, parse
from kgqa.store.neo4j.browser import statement, view
from kgqa.surfaces.text import lines
from kgqa.temporal import parse_as_of
from kgqa.temporal.interval import Interval

SPAN = parse_as_of("-0044-03-15").span


def place(url: str) -> Capability:
    address = parse(url)
    return Capability(str(address), "neo4j", "5.26.16", "", "", user=address.user)


def test_the_link_opens_the_statement_at_the_server() -> None:
    found = view(place("neo4j+s://ann:secret@[::1]:7688/people"), SPAN, port=80)
    link = urlsplit(found.link)
    asked = {key: value for key, (value,) in parse_qs(link.query).items()}
    assert (link.scheme, link.netloc, link.path) == ("http", "[::1]:80", "/browser/")
    assert asked == {"connectURL": "neo4j+s://ann@[::1]:7688", "cmd": "edit", "arg": found.query}
    assert "secret" not in repr(found)
    assert f"// as of -0044-03-15: [{SPAN.start}, {SPAN.end})" in found.query
    assert next(iter(lines(found))) == found.link


def test_a_database_is_named() -> None:
    text = statement(parse("bolt://h/b?database=shared"), SPAN)
    assert text.splitlines()[1] == "USE `shared`"


@pytest.mark.parametrize("odd", ['"}) DETACH DELETE n //', "\\", "'", "a\nb", "\\u0022", "ü"])
def test_values_stay_values(odd: str) -> None:
    text = statement(Address("bolt://h:1", "b", None, "u", ""), Interval(0, 1), odd)
    # The whole statement keeps its four lines, with one text more than without the node.
    assert len(text.splitlines()) == 4
    assert text.count("RETURN p LIMIT 300") == 1


def test_no_number_of_a_character_stands_in_a_value() -> None:
    text = statement(Address("bolt://h:1", "b", None, "u", ""), Interval(0, 1), "\\u0022 \\n")
    assert r'id: "\\\u00750022 \\n"}' in text


def test_a_file_has_no_browser(tmp_path: Path) -> None:
    with KBase.create(tmp_path / "a.kg") as kb:
        with pytest.raises(UnsupportedError, match=r"kgqa copy .*a\.kg neo4j://HOST:7687/BASE"):
            tasks.browse(kb, "1990")
        with pytest.raises(InputError):
            tasks.browse(kb, "no date")
