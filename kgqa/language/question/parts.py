"""Temporal clauses, order words and times, taken out of a frame's core.

Belongs here: where a clause begins and ends, which words order. Must not: question words, what
a clause means (``times``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kgqa.language import wording
from kgqa.language.question.frame import Clause, Frame, Sequel
from kgqa.language.question.items import Item, Name, Time, Word, introduces, is_word, lower

_NTH = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")


def split(asking: Frame) -> Frame:
    """Take temporal clauses, order words and times out of the core."""
    core, clauses = _clauses(asking.core)
    core, order, near = _order(core)
    times = [i for i in core if isinstance(i, Time)]
    kept = [i for i in core if not isinstance(i, Time) and not is_word(i, ",", ";", ":")]
    return _settled(
        replace(
            asking, core=tuple(kept), clauses=tuple(clauses), order=order, near=near,
            times=tuple(times),
        )
    )  # fmt: skip


def clause_start(items: Sequence[Item]) -> int:
    """Return where the first temporal clause begins, or how many items there are."""
    for k in range(1, len(items) - 1):
        if introduces(items, k) and _joins(items, k):
            return k
    return len(items)


def _clauses(items: Sequence[Item]) -> tuple[list[Item], list[Clause]]:
    """Split temporal clauses from the core; each runs to the next one, a comma, or the end."""
    core: list[Item] = []
    clauses: list[Clause] = []
    k = 0
    while k < len(items):
        found = introduces(items, k)
        if is_word(items[k], "under") and any(isinstance(i, Name) for i in items[k + 1 : k + 2]):
            found = ("during", 1)
        if not found or k + found[1] >= len(items) or not _joins(items, k):
            core.append(items[k])
            k += 1
            continue
        relation, length = found
        near = False
        if core and lower(core[-1]) in wording.NEIGHBOUR:
            core.pop()
            near = True
        stop = k + length
        while stop < len(items) and not is_word(items[stop], ",", ";"):
            inner = introduces(items, stop)
            if inner and stop > k + length and _joins(items, stop):
                break
            stop += 1
        clauses.append(Clause(relation, tuple(items[k + length : stop]), near))
        k = stop
    return core, clauses


def _joins(items: Sequence[Item], k: int) -> bool:
    """Tell whether a connective word at k joins a clause here, rather than being a plain word."""
    word = lower(items[k])
    if word == "following":
        return k > 0 and lower(items[k - 1]) not in wording.DETERMINERS | wording.BE
    return word != "since" or k > 0


def _order(items: Sequence[Item]) -> tuple[list[Item], tuple[Sequel, int] | None, bool]:
    """Take the word of order out of the core."""
    kept: list[Item] = []
    order: tuple[Sequel, int] | None = None
    near = False
    k = 0
    while k < len(items):
        item = items[k]
        found = _order_at(items, k) if isinstance(item, Word) else None
        if found and order is None:
            order, length = (found[0], found[1]), found[2]
            k += length
            continue
        if lower(item) in wording.NEIGHBOUR and isinstance(item, Word) and item.tag == "RB":
            near = True
        else:
            kept.append(item)
        k += 1
    return kept, order, near


def _order_at(items: Sequence[Item], k: int) -> tuple[Sequel, int, int] | None:
    """Return (kind, n, words taken) of the order word at k."""
    word = lower(items[k])
    after = [lower(i) for i in items[k + 1 : k + 4]]
    if word == "second" and after[:2] == ["to", "last"]:
        return "last", 2, 3
    if word == "last" and after[:2] == ["but", "one"]:
        return "last", 2, 3
    if word == "penultimate":
        return "last", 2, 1
    if word == "most" and after[:1] in (["recent"], ["recently"]):
        return "last", 1, 2
    item = items[k]
    if isinstance(item, Word) and item.verb:
        return None
    if word in wording.FIRST:
        return "first", 1, 1
    if word in wording.LAST and not word.startswith("recent"):
        return "last", 1, 1
    if word in wording.NEXT:
        return "next", 1, 1
    if word in wording.PREVIOUS:
        return "previous", 1, 1
    numbered = _NTH.fullmatch(word)
    n = int(numbered[1]) if numbered else wording.ORDINALS.get(word)
    return ("nth", n, 1) if n else None


def _settled(frame: Frame) -> Frame:
    """Say whether "when" means the start, the end or the whole, by the verb and the order."""
    told = "when" in frame.why and frame.asked == "span"
    if not told and not (frame.unit and frame.asked in {"start", "span"}):
        return frame
    words = {w.lemma for w in frame.core if isinstance(w, Word)}
    if words & wording.ENDING:
        return replace(frame, asked="end")
    if words & wording.STARTING or (frame.order and frame.order[0] == "first"):
        return replace(frame, asked="start")
    return replace(frame, asked="span")
