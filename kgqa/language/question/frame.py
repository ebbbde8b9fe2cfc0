"""What is asked: question words and commands to a frame; the rest of the question is its core.

Belongs here: question words, commands, fronted phrases. Must not: relations, names, the graph;
clauses and order (``parts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import cast

from kgqa.language import wording
from kgqa.language.question.items import Item, Name, Time, Word, introduces, is_word, lower
from kgqa.model.question import Asked, Unit

Sequel = OneOf["first", "last", "nth", "next", "previous"]


@dataclass(frozen=True, slots=True)
class Clause:
    """Hold a temporal clause or phrase: how it relates, its items, whether it means a neighbour."""

    relation: str
    items: tuple[Item, ...]
    near: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Hold a question taken apart; ``core`` is what names the relation and its terms.

    ``type`` are the words of "which federal office"; ``subject`` says that the unknown
    comes before the verb.
    """

    asked: Asked
    core: tuple[Item, ...]
    kind: str | None = None
    type: tuple[Word, ...] = ()
    plural: bool = False
    unit: Unit | None = None
    order: tuple[Sequel, int] | None = None
    near: bool = False
    times: tuple[Time, ...] = ()
    clauses: tuple[Clause, ...] = ()
    why: tuple[str, ...] = ()


def asked_of(items: Sequence[Item]) -> Frame:
    """Read the question word or command; the core is everything else, times included."""
    dropped = ("?", "!", ".", '"', "“", "”", "'", "‘")
    kept = [i for i in items if not (is_word(i, *dropped) and not _possessive(i))]
    return _ask(_fronted(kept))


def _possessive(item: Item) -> bool:
    return isinstance(item, Word) and item.tag == "POS"


def _fronted(items: list[Item]) -> list[Item]:
    """Move what comes before the question itself behind it ("While X reigned, who …")."""
    while items and (
        is_word(items[0], ",", "and", "so", "but", "then", "please")
        or (isinstance(items[0], Time) and len(items) > 1)
    ):
        head = items.pop(0)
        if isinstance(head, Time):
            items.append(head)
    for k, item in enumerate(items):
        if k == 0 or not isinstance(item, Word) or not _opens(items, k):
            continue
        before = items[k - 1]
        front = items[: k - (1 if is_word(before, ",") else 0)]
        if is_word(before, ","):
            pass
        elif k == 1 or not (lower(front[0]) in wording.CONNECTIVES and lower(front[0]) != "when"):
            return items
        if front and (introduces(front, 0) or any(isinstance(i, Name | Time) for i in front)):
            return items[k:] + front
        return items[k:]
    return items


def _opens(items: Sequence[Item], k: int) -> bool:
    """Tell whether a question or command begins at item k."""
    word = lower(items[k])
    if word in wording.WH:
        return True
    follows = k + 1 < len(items) and lower(items[k + 1]) in wording.WH
    if word in wording.PREPOSITIONS and follows:
        return True
    comma = is_word(items[k - 1], ",")
    return comma and (word in wording.AUXILIARIES or word in wording.COMMANDS)


def _ask(items: list[Item]) -> Frame:
    """Read the question word or command; the core is what remains."""
    if not items:
        return Frame("nodes", ())
    first = lower(items[0])
    if first in {"count", "number"} and len(items) > 2:
        return _how([], [items[0], *(items[2:] if is_word(items[1], "of") else items[1:])])
    if first in wording.COMMANDS or (first in wording.TIMELINES | {"all"}):
        return _command(items)
    if first in wording.AUXILIARIES and first != "'s":
        inner = _embedded(items)
        return _ask(inner) if inner else Frame("boolean", tuple(items), why=("yes or no",))
    for k, item in enumerate(items):
        word = lower(item)
        if word in wording.WH and not (k and _relative(items, k)):
            return _wh(items, k)
    return Frame("nodes", tuple(items), why=("no question word",))


def _embedded(items: list[Item]) -> list[Item]:
    """Return the question inside "can you tell me who …", or nothing."""
    words = [lower(i) for i in items[:4]]
    if words[:1] and words[0] in {"can", "could", "would", "will", "do"} and "you" in words:
        for k, item in enumerate(items):
            if lower(item) in wording.WH or (k > 1 and lower(item) in wording.COMMANDS):
                return items[k:]
    return []


def _relative(items: Sequence[Item], k: int) -> bool:
    """Tell whether a question word at k only joins a clause ("the man who …", "… when …")."""
    if is_word(items[k], "when"):
        return k + 1 < len(items) and lower(items[k + 1]) not in wording.AUXILIARIES
    before = items[k - 1]
    return (
        (isinstance(before, Word) and before.noun)
        or isinstance(before, Name)
        or (lower(before) in wording.HEADS | {"that", "those"})
    )


def _command(items: list[Item]) -> Frame:
    rest = items[1:] if lower(items[0]) in wording.COMMANDS else items
    while rest and lower(rest[0]) in {"me", "us", "all", "the", "every", "a", "of", "out", "full",
                                      "complete", "each"}:  # fmt: skip
        rest = rest[1:]
    if rest and lower(rest[0]) in wording.WH:
        inner = _ask(rest)
        return replace(inner, why=("command", *inner.why))
    if rest and lower(rest[0]) in {"number", "count"}:
        return _ask(rest)
    if rest and lower(rest[0]) in wording.TIMELINES | {"list"}:
        rest = rest[1:]
        while rest and lower(rest[0]) in {"of", "all", "the"}:
            rest = rest[1:]
        return Frame("timeline", tuple(rest), plural=True, why=("timeline",))
    head = next((w for w in rest if isinstance(w, Word) and w.noun), None)
    kind = head.lemma if head else None
    plural = head is None or head.tag in {"NNS", "NNPS"}
    plural = plural or any(is_word(i, "everyone", "everybody") for i in rest[:1])
    kind = "person" if head and head.lower in wording.HEADS else kind
    return Frame("nodes", _unrelative(rest), kind=kind, plural=plural, why=("command",))


def _wh(items: list[Item], k: int) -> Frame:
    word = lower(items[k])
    before, after = items[:k], items[k + 1 :]
    lead = lower(before[-1]) if before else ""
    if before and (lead in wording.PREPOSITIONS or lead in wording.CONNECTIVES):
        before = before[:-1]
    else:
        lead = ""
    if word == "when":
        asked: Asked = {"since": "start", "from": "start", "until": "end", "till": "end"}.get(
            lead, "span"
        )  # type: ignore[assignment]
        return Frame(asked, (*before, *after), why=("when",))
    if word == "how":
        return _how(before, after)
    if word in {"what", "which"}:
        return _which(before, after, lead)
    plural = any(is_word(i, "were", "are", "all") for i in after[:1])
    core = (*before, *_given_back(lead, after))
    return Frame("nodes", core, kind=wording.WH[word], plural=plural, why=(word,))


def _given_back(lead: str, after: Sequence[Item]) -> tuple[Item, ...]:
    """Return the words after a question word, the preposition before it put at their end."""
    if not lead or not after:
        return tuple(after)
    at = after[-1].end
    return (*after, Word(lead, lead, at, at, "IN", lead))


def _unrelative(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return "people who were …" without the words that only join it to the command."""
    for k in (1, 2, 3):
        if k < len(items) and lower(items[k]) in wording.RELATIVES:
            before = [i for i in items[:k] if lower(i) not in wording.HEADS | wording.DETERMINERS]
            return (*before, *items[k + 1 :])
    return tuple(items)


def _how(before: Sequence[Item], after: Sequence[Item]) -> Frame:
    head = lower(after[0]) if after else ""
    if head == "long":
        return Frame("duration", (*before, *after[1:]), why=("how long",))
    if head in {"often", "frequently"}:
        return Frame("times", (*before, *after[1:]), why=("how often",))
    if head in {"many", "much", "count", "number"}:
        noun = next((w for w in after[1:] if isinstance(w, Word) and w.noun), None)
        after = [after[0], *(i for i in after[1:] if not is_word(i, *wording.DETERMINERS))]
        rest = [*before, *(i for i in after[1:] if i is not noun)]
        if noun is None:
            return Frame("count", tuple(rest), why=("how many",))
        if noun.lower in wording.TURNS:
            return Frame("times", tuple(rest), why=(f"how many {noun.lower}",))
        if noun.lower in wording.UNITS:
            unit = cast(Unit, wording.UNITS[noun.lower])
            return Frame("duration", tuple(rest), unit=unit, why=(f"how many {noun.lower}",))
        kind = "person" if noun.lower in wording.HEADS else noun.lemma
        return Frame(
            "count", (*before, *_unrelative(after[1:])), kind=kind, type=(noun,), plural=True,
            why=(f"how many {noun.lower}",),
        )  # fmt: skip
    # "how old", "how tall": the measure is a word that a relation must account for.
    measured = [replace(i, tag="NN") if k == 0 and isinstance(i, Word) else i
                for k, i in enumerate(after)]  # fmt: skip
    return Frame("nodes", (*before, *measured), why=("how",))


def _which(before: Sequence[Item], after: Sequence[Item], lead: str) -> Frame:
    numbered = [k for k, i in enumerate(after[:3]) if is_word(i, "number", "count")]
    if numbered and is_word(after[0], *wording.BE) and is_word(after[numbered[0] + 1], "of"):
        return _ask(list(after[numbered[0] :]))
    kind_words: list[Word] = []
    for item in after:
        if not isinstance(item, Word) or item.lower in wording.AUXILIARIES or _acts(after, item):
            break
        if item.lower in wording.PREPOSITIONS and not (kind_words and item.lower == "of"):
            break
        kind_words.append(item)
    while kind_words and not kind_words[-1].noun:
        kind_words.pop()
    rest = after[len(kind_words) :]
    head = kind_words[-1] if kind_words else None
    core = (*before, *_given_back(lead, (*kind_words, *rest)))
    if head and head.lower in wording.UNITS and len(kind_words) <= 2:
        plural = head.tag == "NNS"
        asked: Asked = "span" if plural else "start"
        if lead in {"since", "from"} or lead in {"until", "till"}:
            asked = "end" if lead in {"until", "till"} else "start"
        unit = cast(Unit, wording.UNITS[head.lower])
        return Frame(asked, (*before, *rest), unit=unit, why=(f"which {head.lower}",))
    if head and head.lower in wording.PERIODS and len(kind_words) <= 2:
        return Frame("span", (*before, *rest), why=(f"which {head.lower}",))
    plural = head is not None and head.tag in {"NNS", "NNPS"}
    if head is None:
        plural = any(is_word(i, "were", "are") for i in rest[:1])
    kind = "person" if head and head.lower in wording.HEADS else head.lemma if head else None
    why = f"which {head.lower}" if head else "what"
    return Frame("nodes", core, kind=kind, type=tuple(kind_words), plural=plural, why=(why,))


def _acts(items: Sequence[Item], word: Word) -> bool:
    """Tell whether a verb is one, and no participle before a noun ("which elected office")."""
    after = next((i for i in items if i.start >= word.end), None)
    adjective = word.tag in {"VBN", "VBG", "VBD"} and isinstance(after, Word) and after.noun
    return word.verb and not adjective
