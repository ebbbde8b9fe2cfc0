"""Web pages: main text, headings, tables; nothing else, and nothing fetched."""

from __future__ import annotations

import socket

import pytest

from kgqa.errors import InputError
from kgqa.loaders import load_text

PAGE = """<!doctype html><html lang="en"><head><meta charset="{charset}">
<title>Mayors of Lwów</title><link rel="stylesheet" href="http://example.org/a.css"></head>
<body><nav><a href="/">Home</a> <a href="/b">Products and services</a></nav>
<main><h1>Mayors of Lwów</h1>
<p>Edmund Mochnacki was mayor from 1887 to 1896. The town had walls and gates.</p>
<h2>List</h2><table><tr><th>Name</th><th>From</th></tr><tr><td>Józef Neumann</td><td>1911</td></tr>
</table><h3>Places</h3><ul><li>Brno until 1970</li><li>Oslo since 1970</li></ul>
<h2>End</h2><p>The last mayor of the old town left it in 1939, and never came back again.</p>
<img src="http://example.org/x.png"></main>
<footer>Copyright 2020 Contact us Imprint</footer></body></html>"""


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a loader opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-2"])
def test_a_page_is_divided_by_its_headings(charset: str) -> None:
    loaded = load_text(PAGE.format(charset=charset).encode(charset), "mayors.html")
    assert loaded.title == "Mayors of Lwów"
    assert [s.path for s in loaded.sections] == [
        ("Mayors of Lwów",),
        ("Mayors of Lwów", "List"),
        ("Mayors of Lwów", "List", "Places"),
        ("Mayors of Lwów", "End"),
    ]
    text = "\n".join(section.text for section in loaded.sections)
    assert "Józef Neumann | 1911" in text
    assert "Brno until 1970\nOslo since 1970" in text
    assert "Home" not in text
    assert "Imprint" not in text


@pytest.mark.parametrize("charset", ["undefined", "punycode", "idna", "base64", "unicode_escape"])
def test_a_codec_that_is_no_charset_is_told(charset: str) -> None:
    data = PAGE.format(charset=charset).replace("Mochnacki", "\\ud800").encode()
    with pytest.raises(InputError) as caught:
        load_text(data, "a.htm")
    assert caught.value.code in ("load.encoding", "load.empty")


def test_a_charset_that_is_a_lie_is_refused() -> None:
    data = PAGE.format(charset="us-ascii").encode()
    with pytest.raises(InputError, match="'us-ascii'") as caught:
        load_text(data, "a.htm")
    assert caught.value.code == "load.encoding"
    with pytest.raises(InputError, match="'no-such'"):
        load_text(PAGE.format(charset="no-such").encode(), "a.htm")


@pytest.mark.parametrize("page", ["<html></html>", "<", "<html><body><script>x()</script></body>"])
def test_a_page_without_text_is_refused(page: str) -> None:
    with pytest.raises(InputError) as caught:
        load_text(page.encode(), "a.html")
    assert caught.value.code == "load.empty"


def test_very_many_tags_end_in_time() -> None:
    page = "<html><body>" + "<div>" * 50_000 + "<p>Some words to be read here.</p></body></html>"
    try:
        loaded = load_text(page.encode(), "a.html")
    except InputError as error:
        assert error.code == "load.empty"  # noqa: PT017
    else:
        assert "Some words" in loaded.sections[0].text
