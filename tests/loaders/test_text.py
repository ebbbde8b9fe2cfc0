"""Plain text and Markdown: decoding, unwrapping, headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa.errors import InputError
from kgqa.loaders import SUFFIXES, format_of, load_text
from kgqa.loaders.text import decode, unwrapped
from kgqa.protocols import Section


def test_format_of_is_by_suffix_alone() -> None:
    assert format_of("A.HTM").media == "text/html"
    assert format_of("a.b.jsonl").family == "rows"
    with pytest.raises(InputError) as caught:
        format_of("a.exe")
    assert caught.value.code == "load.unknown_format"
    assert all(suffix in str(caught.value) for suffix in SUFFIXES)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\x85\u2028\u2029")))
def test_decode_reads_what_was_encoded(text: str) -> None:
    text = text.removeprefix("\ufeff")
    assert decode(text.encode(), "a.txt") == text
    assert decode(b"\xef\xbb\xbf" + text.encode(), "a.txt") == text
    assert decode(b"\xff\xfe" + text.encode("utf-16-le"), "a.txt") == text
    assert decode(b"\xfe\xff" + text.encode("utf-16-be"), "a.txt") == text


def test_decode_names_the_byte_that_does_not_fit() -> None:
    with pytest.raises(InputError, match=r"a\.txt: not utf-8 at byte 5") as caught:
        decode(b"\xef\xbb\xbfab\xe9", "a.txt")
    assert caught.value.code == "load.encoding"
    with pytest.raises(InputError, match="NUL at character 1"):
        decode(b"a\0b", "a.txt")


def test_newlines_of_every_system_are_one() -> None:
    assert decode(b"a\r\nb\rc\nd\xe2\x80\xa8e", "a.txt") == "a\nb\nc\nd\ne"


def test_a_first_line_that_stands_alone_is_the_title() -> None:
    loaded = load_text(b"The names of Lviv\n\nIt was called Lemberg.\n", "x.txt")
    assert loaded.title == "The names of Lviv"
    assert loaded.sections == (Section(("The names of Lviv",), "It was called Lemberg."),)


@pytest.mark.parametrize("text", ["One sentence.\n\nAnother.", "No blank line\nafter it", "Alone"])
def test_otherwise_the_title_is_made_of_the_name(text: str) -> None:
    loaded = load_text(text.encode(), "dir/annual_report-1987.txt")
    assert loaded.title == "annual report 1987"
    assert loaded.sections[0].path == ()


def test_empty_and_huge_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (b"", b" \n\t"):
        with pytest.raises(InputError) as caught:
            load_text(data, "a.txt")
        assert caught.value.code == "load.empty"
    monkeypatch.setattr("kgqa.loaders.MAX_TEXT_BYTES", 3)
    with pytest.raises(InputError) as caught:
        load_text(b"abcd", "a.txt")
    assert caught.value.code == "load.too_large"


def test_hard_wrapped_lines_are_joined_and_lists_are_not() -> None:
    prose = "The head office of the company moved\nto Oslo in 1994, where it has been ever\nsince."
    assert "\n" not in unwrapped(prose)
    hyphenated = "For very many years the company was gover-\nned by its owners alone, in peace."
    assert unwrapped(hyphenated) == hyphenated.replace("-\n", "")
    listed = "- the first consul of the year, by name\n- the second consul of the year"
    assert unwrapped(listed) == listed
    table = "Name of the mayor | from the year\nEdmund Mochnacki the first | 1887"
    assert unwrapped(table) == table


MARKDOWN = b"""---
title: "Notes on Lviv"
date: 2020
---
Before any *heading*.

# Lviv #

It is **old** and [known](http://example.org/a_b) as `Lemberg`.

Names
-----
> quoted \\*words\\*

| a | b |
|---|:-:|
| 1 | 2 |

```python
# not a heading
```

***

### Deep

<!-- hidden -->end

# Second
"""


def test_markdown_headings_become_section_paths() -> None:
    loaded = load_text(MARKDOWN, "lviv.md")
    assert loaded.title == "Notes on Lviv"
    assert [s.path for s in loaded.sections] == [
        (),
        ("Lviv",),
        ("Lviv", "Names"),
        ("Lviv", "Names", "Deep"),
        ("Second",),
    ]
    assert loaded.sections[1].text == "It is old and known as Lemberg."
    names = loaded.sections[2].text
    assert "quoted *words*" in names
    assert "| 1 | 2 |" in names
    assert "---" not in names
    assert "# not a heading" in names
    assert loaded.sections[3].text == "end"


def test_markdown_without_front_matter_is_titled_by_its_first_heading() -> None:
    assert load_text(b"text\n\n## Names\n\nmore", "x.md").title == "Names"
    assert load_text(b"only text", "my_notes.md").title == "my notes"
    assert load_text(b"---\nx: 1\n---\n# T\n\na", "x.md").title == "T"


@given(st.text(st.sampled_from("#=-~`*_[]()<>! |\\\nab"), max_size=80))
def test_markdown_never_fails_but_for_empty(text: str) -> None:
    try:
        loaded = load_text(text.encode(), "x.md")
    except InputError as error:
        assert error.code == "load.empty"  # noqa: PT017
    else:
        assert any(section.text.strip() for section in loaded.sections)
