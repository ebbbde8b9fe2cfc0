"""docs/time.md: its tables and examples are what the code does."""

from __future__ import annotations

import doctest

import pytest
from page_blocks import blocks, page, rows

from kgqa import temporal
from kgqa.errors import InputError
from kgqa.temporal import describe, parse_any

PAGE = page("docs/time.md")
READ = [[c.strip("`") for c in row] for row in rows(PAGE, "## Writing a time")]
REFUSED = [[c.strip("`") for c in row] for row in rows(PAGE, "### Refused")]
EXAMPLES = blocks(PAGE, "python")


@pytest.mark.parametrize(("written", "edtf", "words"), READ)
def test_accepted_forms(written: str, edtf: str, words: str) -> None:
    assert temporal.format(parse_any(written)) == edtf
    assert describe(parse_any(written)) == words


@pytest.mark.parametrize(("written", "code", "hint"), REFUSED)
def test_refused_forms(written: str, code: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_any(written)
    assert (caught.value.code, caught.value.hint) == (code, hint)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples(number: int) -> None:
    example = doctest.DocTestParser().get_doctest(EXAMPLES[number], {}, "time.md", None, None)
    told: list[str] = []
    result = doctest.DocTestRunner().run(example, out=told.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(told)


def test_the_page_was_read() -> None:
    assert len(READ) > 20
    assert len(REFUSED) > 8
    assert len(EXAMPLES) == 3
