"""Nested questions inside a core: "the man who …", "the spouse of the consul of …", "X's wife's …".

Belongs here: finding the stretch of items that stands for a term. Must not: reading it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.language import wording
from kgqa.language.lexicon import Lexicon
from kgqa.language.question.items import Item, Name, Time, Word, is_word, lower
from kgqa.language.question.parts import clause_start

_CLEAR = 0.7


@dataclass(frozen=True, slots=True)
class Nest:
    """Hold items ``[start, end)`` of a core that ask for a term, and the question they make."""

    start: int
    end: int
    inner: tuple[Item, ...]


def nest(items: Sequence[Item], lexicon: Lexicon) -> Nest | None:
    """Return the first nested question of a core, the outermost, or None."""
    main = items[: clause_start(items)]
    return (
        _relative(items)
        or _chain(items, lexicon)
        or _possessives(main)
        or _role_of_name(main, lexicon)
        or _name_of_role(main, lexicon)
    )


def _relative(items: Sequence[Item]) -> Nest | None:
    for k in range(1, len(items) - 1):
        head = items[k - 1]
        if not is_word(items[k], *wording.RELATIVES) or not isinstance(head, Word):
            continue
        if not (head.lower in wording.HEADS or (head.noun and _defined(items, k - 1))):
            continue
        start = k - 1
        kind = head.lower not in wording.HEADS
        while start > 0 and is_word(items[start - 1], *wording.DETERMINERS):
            start -= 1
        asking = _word("who", head.start, "WP")
        inner = (asking, *items[k + 1 :]) if not kind else (
            _word("which", head.start, "WDT"), head, *items[k + 1 :]
        )  # fmt: skip
        return Nest(start, len(items), inner)
    return None


def _defined(items: Sequence[Item], k: int) -> bool:
    """Tell whether a noun at k has an article of its own."""
    while k > 0 and isinstance(items[k], Word) and not is_word(items[k], *wording.DETERMINERS):
        if lower(items[k]) in wording.PREPOSITIONS | wording.AUXILIARIES:
            return False
        k -= 1
    return is_word(items[k], *wording.DETERMINERS)


def _chain(items: Sequence[Item], lexicon: Lexicon) -> Nest | None:
    """Find "ROLE of [the] ROLE …" where both roles are relations of the base or of English."""
    for k in range(1, len(items) - 1):
        if not is_word(items[k], "of", "to"):
            continue
        left = _content(_phrase_before(items, k))
        end = _phrase_end(items, k + 1)
        right = items[k + 1 : end]
        own = _content(_head(right))
        if not left or not own or _apposed(right):
            continue
        sequel = left[-1] in wording.NEXT_NOUNS | wording.PREVIOUS_NOUNS
        if not sequel and not lexicon.read(left, least=_CLEAR):
            continue
        if not lexicon.read(own, least=_CLEAR):
            continue
        whole = lexicon.read((*left, *own), least=0.95)
        if whole:
            continue
        at = items[k + 1].start
        inner = (_word("who", at, "WP"), _word("was", at, "VBD"), *right)
        return Nest(k + 1, end, inner)
    return None


def _possessives(items: Sequence[Item]) -> Nest | None:
    """Find "NAME's ROLE's …": the first part stands for a term."""
    for k in range(3, len(items)):
        if not _is_possessive(items[k]) or not isinstance(items[k - 1], Word):
            continue
        start = k - 1
        while start > 0 and not isinstance(items[start], Name):
            start -= 1
        if not isinstance(items[start], Name) or not _is_possessive(items[start + 1]):
            continue
        at = items[start].start
        role = items[start + 2 : k]
        inner = (
            _word("who", at, "WP"), _word("was", at, "VBD"), *role, _word("of", at, "IN"),
            items[start],
        )  # fmt: skip
        return Nest(start, k, inner)
    return None


def _role_of_name(items: Sequence[Item], lexicon: Lexicon) -> Nest | None:
    """Find "the ROLE of NAME" beside words for another relation ("Where was … born?")."""
    for k in range(1, len(items) - 1):
        if not is_word(items[k], "of") or not isinstance(items[k - 1], Word):
            continue
        start = k
        while start > 0 and isinstance(items[start - 1], Word):
            start -= 1
            if is_word(items[start], "the"):
                break
        end = next((j + 1 for j in range(k + 1, len(items)) if isinstance(items[j], Name)), None)
        if end is None or not is_word(items[start], "the"):
            continue
        if not all(is_word(i, *wording.DETERMINERS) for i in items[k + 1 : end - 1]):
            continue
        if _two_relations(items, start, end, _content(items[start:k]), lexicon):
            at = items[start].start
            inner = (_word("who", at, "WP"), _word("was", at, "VBD"), *items[start:end])
            return Nest(start, end, inner)
    return None


def _name_of_role(items: Sequence[Item], lexicon: Lexicon) -> Nest | None:
    """Find "NAME's ROLE" beside words for another relation."""
    for k in range(1, len(items) - 1):
        if not _is_possessive(items[k]) or not isinstance(items[k - 1], Name):
            continue
        end = k + 1
        while end < len(items) and isinstance(item := items[end], Word) and item.tag[0] in "NJ":
            end += 1
        if _two_relations(items, k - 1, end, _content(items[k + 1 : end]), lexicon):
            at = items[k - 1].start
            inner = (
                _word("who", at, "WP"), _word("was", at, "VBD"), *items[k + 1 : end],
                _word("of", at, "IN"), items[k - 1],
            )  # fmt: skip
            return Nest(k - 1, end, inner)
    return None


def _two_relations(
    items: Sequence[Item], start: int, end: int, role: tuple[str, ...], lexicon: Lexicon
) -> bool:
    """Tell whether a stretch names one relation and the words outside it another."""
    outside = _content([*items[:start], *items[end:]])
    inner = lexicon.read(role, least=_CLEAR) if role else []
    outer = lexicon.read(outside, least=_CLEAR) if outside else []
    return bool(inner and outer and inner[0].relation != outer[0].relation)


def _is_possessive(item: Item) -> bool:
    return isinstance(item, Word) and item.tag == "POS"


def _word(text: str, at: int, tag: str) -> Word:
    return Word(text, text, at, at, tag, text)


def _phrase_before(items: Sequence[Item], k: int) -> Sequence[Item]:
    start = k
    while start > 0 and isinstance(item := items[start - 1], Word):
        if item.lower in wording.AUXILIARIES or item.verb or item.lower == ",":
            break
        start -= 1
    return items[start:k]


def _phrase_end(items: Sequence[Item], k: int) -> int:
    end = k
    while end < len(items):
        word = lower(items[end])
        if word in wording.CONNECTIVES or word in {",", "as"} or word in wording.AUXILIARIES:
            break
        end += 1
    return end


def _head(items: Sequence[Item]) -> Sequence[Item]:
    """Return the words of a phrase up to its first name, time or preposition."""
    for k, item in enumerate(items):
        if isinstance(item, Name | Time) or lower(item) in wording.PREPOSITIONS:
            return items[:k]
    return items


def _apposed(items: Sequence[Item]) -> bool:
    """Tell whether a noun only introduces the name after it ("the team Rovers")."""
    head = _head(items)
    return len(head) < len(items) and isinstance(items[len(head)], Name)


def _content(items: Sequence[Item]) -> tuple[str, ...]:
    return tuple(
        i.lower
        for i in items
        if isinstance(i, Word) and i.lower not in wording.FRAMING and i.tag[0] in "NVJ"
        and i.lower not in wording.ORDINALS
    )  # fmt: skip
