"""Wordings of succession: who succeeded X as Y, whom X replaced, X's predecessor, came after X.

Belongs here: the anchor, the direction and the role that the words name. Must not: goals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from kgqa.language import wording
from kgqa.language.question.frame import Frame
from kgqa.language.question.goals import core_of
from kgqa.language.question.items import Item, Name, Word, is_word
from kgqa.model.question import Mention, Question

_COMING = frozenset("come go serve rule reign be hold".split())
_HEADS = frozenset(("after", "before"))


@dataclass(frozen=True, slots=True)
class Succession:
    """Hold whom the neighbour is counted from, which neighbour, and the role's items."""

    kind: OneOf["next", "previous"]
    anchor: Mention | Question
    role: tuple[Item, ...] = ()


def succession(frame: Frame) -> Succession | None:
    """Return the succession that a frame's words name, if any."""
    if frame.asked not in {"nodes", "timeline"}:
        return None
    core, role = _role(frame.core)
    role, giver = _from(role)
    core += giver
    clause = next((c for c in frame.clauses if c.relation in _HEADS), None)
    if clause is not None and not any(isinstance(i, Name) for i in core):
        return _coming(frame, core, role)
    placed = core_of(core, None, ()).terms
    lemmas = [(w, w.lemma) for w in core if isinstance(w, Word)]
    for word, lemma in lemmas:
        noun = lemma in wording.NEXT_NOUNS | wording.PREVIOUS_NOUNS
        verb = lemma in wording.NEXT_VERBS | wording.PREVIOUS_VERBS
        taking = lemma == "take" and any(is_word(i, "over") for i in core)
        if not placed or not (noun or verb or taking):
            continue
        forward = lemma in wording.NEXT_NOUNS | wording.NEXT_VERBS or taking
        first = placed[0]
        done = first.role == "agent" and not _follows_wh(core, word)
        if not noun and (done or first.role == "by"):
            forward = not forward
        return Succession("next" if forward else "previous", _anchor(first.term), tuple(role))
    return None


def _coming(frame: Frame, core: Sequence[Item], role: Sequence[Item]) -> Succession | None:
    """Read "who came after X [as Y]": nothing in the core but a verb of coming."""
    words = [w for w in core if isinstance(w, Word) and w.lower not in wording.FRAMING]
    if any(w.lemma not in _COMING for w in words):
        return None
    clause = next(c for c in frame.clauses if c.relation in _HEADS)
    items, tail = _role(clause.items)
    names = [i for i in items if isinstance(i, Name)]
    if len(names) != 1 or any(isinstance(i, Word) and i.verb for i in items):
        return None
    kind: OneOf["next", "previous"] = "next" if clause.relation == "after" else "previous"
    return Succession(kind, _anchor(names[0].term), tuple(tail or role))


def _role(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Split "… as Y" from items."""
    for k, item in enumerate(items):
        if k and is_word(item, "as"):
            return list(items[:k]), list(items[k + 1 :])
    return list(items), []


def _from(role: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Split "… from X" from a role ("took over as mayor from X")."""
    for k, item in enumerate(role):
        if k and is_word(item, "from") and k + 1 < len(role):
            return list(role[:k]), list(role[k:])
    return list(role), []


def _follows_wh(core: Sequence[Item], verb: Word) -> bool:
    """Tell whether the verb stands before every name, so that the unknown is its subject."""
    return all(i.start > verb.start for i in core if isinstance(i, Name))


def _anchor(term: object) -> Mention | Question:
    assert isinstance(term, Mention | Question)
    return term
