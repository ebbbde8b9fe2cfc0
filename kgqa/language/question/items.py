"""A question as a row of items: words, names, times. The words are parsed with the rest put aside.

Belongs here: cutting a text into items. Must not: what the items mean together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kgqa.language import wording
from kgqa.language.nlp import tagged
from kgqa.model.question import Mention, Question
from kgqa.temporal import DateSpan

# A name of one word that the parser takes for a name: long names would derail it.
_STAND_IN = "Xavier"


@dataclass(frozen=True, slots=True)
class Word:
    """Hold one word: as written, lower-case, fine tag of the Penn set, dictionary form."""

    text: str
    lower: str
    start: int
    end: int
    tag: str
    lemma: str

    @property
    def noun(self) -> bool:
        """Tell whether it is a noun, common or proper."""
        return self.tag.startswith("NN")

    @property
    def verb(self) -> bool:
        """Tell whether it is a full verb."""
        return self.tag.startswith("VB") and self.lower not in wording.AUXILIARIES


@dataclass(frozen=True, slots=True)
class Name:
    """Hold a mention, or the nested question that stands for one, and where it is written."""

    term: Mention | Question
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Time:
    """Hold a date phrase with the word that introduces it."""

    span: DateSpan
    start: int
    end: int


Item: TypeAlias = Word | Name | Time


def itemise(text: str, mentions: Sequence[Mention], dates: Sequence[DateSpan]) -> list[Item]:
    """Return the items of a text in order; mentions and dates must not overlap."""
    marks: list[Item] = [Name(m, m.start, m.end) for m in mentions]
    marks += [Time(d, min(d.lead, d.start), d.end) for d in dates]
    marks.sort(key=lambda i: i.start)
    plain, at = "", 0
    origin: list[int] = []
    for mark in marks:
        plain += text[at : mark.start]
        origin += range(at, mark.start)
        stand_in = _STAND_IN if isinstance(mark, Name) else ""
        plain += stand_in
        origin += [mark.start] * len(stand_in)
        at = mark.end
    plain += text[at:]
    origin += range(at, len(text))
    names = {m.start for m in marks if isinstance(m, Name)}
    items: list[Item] = list(marks)
    for token in tagged(plain):
        start = origin[token.idx]
        if token.is_space or (start in names and token.text == _STAND_IN):
            continue
        items.append(
            Word(
                token.text, token.lower_.replace("’", "'"), start, start + len(token.text),
                token.tag_, token.lemma_.casefold(),
            )
        )  # fmt: skip
    return sorted(items, key=lambda i: (i.start, i.end))


def lower(item: Item | None) -> str:
    """Return the lower-case word, or an empty text for anything else."""
    return item.lower if isinstance(item, Word) else ""


def is_word(item: Item | None, *choices: str) -> bool:
    """Tell whether an item is one of these lower-case words."""
    return isinstance(item, Word) and item.lower in choices


def wording_of(items: Sequence[Item], text: str) -> str:
    """Return the stretch of the text that the items cover."""
    return text[items[0].start : items[-1].end] if items else ""


def introduces(items: Sequence[Item], k: int) -> tuple[str, int] | None:
    """Return the temporal relation that the words at k introduce, and how many they are."""
    for words, relation in wording.LONG_CONNECTIVES:
        if tuple(lower(i) for i in items[k : k + len(words)]) == words:
            return relation, len(words)
    relation_ = wording.CONNECTIVES.get(lower(items[k]))
    return (relation_, 1) if relation_ else None
