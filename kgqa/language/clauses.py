"""The parse of a sentence to clauses: a verb, who, whom, when. Pure over the parser's tokens.

Belongs here: grammar of English dependency trees. Must not: what a verb means for validity,
names across sentences, spaCy itself (tokens come from outside).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kgqa.temporal import DateSpan
from kgqa.temporal.interval import BEGIN, END, Validity

if TYPE_CHECKING:
    from kgqa.language.nlp import Span as Sentence
    from kgqa.language.nlp import Token

_MODALS = frozenset("would could might may should will shall can must ought".split())
_IRREALIS = frozenset(("if", "unless", "whether", "lest"))
_ATTITUDES = frozenset(
    "say claim believe think report suggest argue hope plan propose want deny expect allege "
    "predict rumour rumor suppose imagine fear refuse fail decline try attempt intend ask "
    "order threaten resolve recommend require promise persuade forbid urge demand seek agree "
    "decide offer vow".split()
)
_AGAIN = frozenset(["season", "term", "period"])
_UNTIL = frozenset(("until", "till"))


@dataclass(frozen=True, slots=True)
class Clause:
    """Hold one predicate: its verb (or appositive noun), subject, and the terms it is dated by.

    ``passive``: the subject is the one acted on. ``times`` are what its own date phrases say,
    ``inner`` those of nouns joined to one of its own, by token; ``dates`` is where dates stand.
    """

    def joined(self, noun: Token, *, dated: bool = False) -> Iterator[Token]:
        """Yield a noun and those joined to it by ``and``; ``dated``: also one with its own date.

        ``or`` leaves open which, and after a date another clause may have begun: "governed
        Egypt until 26 BC, Gallus until 24 BC".
        """
        if any(t.dep_ == "cc" and t.lower_ != "and" for t in noun.children):
            return
        yield noun
        for child in noun.children:
            apart = any(noun.i < i < child.i for i in self.dates)
            joins = child.dep_ == "conj" and child.pos_ in ("PROPN", "NOUN")
            if joins and (not apart or (dated and child.i in self.inner)):
                yield from self.joined(child, dated=dated)

    @property
    def vouches(self) -> bool:
        """Tell whether a pronoun as its subject is likely to mean what the sentence is about."""
        head = self.head
        while head.dep_ == "conj":
            head = head.head
        return bool(head.dep_ == "ROOT" or (head.dep_ == "advcl" and head.head.dep_ == "ROOT"))

    head: Token
    subject: Token
    times: tuple[Validity, ...]
    passive: bool = False
    inner: Mapping[int, Sequence[Validity]] = field(default_factory=dict)
    dates: frozenset[int] = frozenset()

    def child(self, *deps: str) -> Token | None:
        """Return the first dependent of the head with one of the relations."""
        return next((t for t in self.head.children if t.dep_ in deps), None)

    def objects(self) -> Iterator[tuple[str, Token]]:
        """Yield (preposition, noun) of the head's prepositional objects, ``agent`` as ``by``."""
        for prep in self.head.children:
            if prep.dep_ in ("prep", "agent", "dative"):
                for noun in prep.children:
                    if noun.dep_ == "pobj":
                        yield prep.lower_, noun


def clauses(sentence: Sentence, dates: Mapping[int, DateSpan]) -> Iterator[Clause]:
    """Yield the asserted clauses of a sentence in order; ``dates`` by character offset.

    What is negated, modal, conditional, reported or asked is left out.
    """
    if sentence.text.rstrip().endswith("?"):
        return
    times: dict[int, list[Validity]] = {}
    before: dict[int, int] = {}
    places = frozenset(token.i for token in sentence if token.idx in dates)
    for token in sentence:
        span = dates.get(token.idx)
        if span is not None and (found := _dated(token, span)) is not None:
            head = found[0].i
            known = times.setdefault(head, [])
            between_ = sentence.doc[before.get(head, token.i) + 1 : token.i]
            if known and any(t.lower_ == "or" for t in between_):
                known[-1] = _either(known[-1], found[1])
            elif not known or not any(_begins_anew(t) for t in between_):
                before[head] = token.i
                known.append(found[1])
    for token in sentence:
        if token.dep_ == "appos" and token.pos_ in ("NOUN", "PROPN") and token.i in times:
            yield Clause(token, token.head, tuple(times[token.i]), False, times, places)
        elif _is_clause(token) and _asserted(token):
            subject, passive = _subject(token)
            if subject is not None:
                own = _until(token, _joined(times.get(token.i, [])), times)
                yield Clause(token, subject, tuple(own), passive, times, places)


def starting(v: Validity) -> Validity:
    """Return the term that starts at ``v`` and whose end is not known.

    >>> starting(Validity(0, 9, 1, 10)).bounds == (0, 9, 10, END)
    True
    """
    return replace(v, ee=v.ls + 1, le=END, end_precision=None)


def ending(v: Validity) -> Validity:
    """Return the term that ends at ``v`` and whose start is not known.

    >>> ending(Validity(0, 9, 1, 10)).bounds == (BEGIN, 0, 1, 10)
    True
    """
    return replace(v, es=BEGIN, ls=v.ee - 1, start_precision=None)


def between(start: Validity, end: Validity) -> Validity | None:
    """Return the term from the start of one to the end of the other, or None if it is empty."""
    if start.es >= end.le:
        return None
    text = f"{start.text} … {end.text}" if start.text and end.text else start.text or end.text
    return replace(
        start,
        ee=max(end.ee, start.es + 1) if end.ee <= start.es else end.ee,
        le=end.le,
        end_precision=end.end_precision,
        text=text,
        uncertain=start.uncertain or end.uncertain,
        approximate=start.approximate or end.approximate,
    )


def _begins_anew(token: Token) -> bool:
    """Tell whether a noun between two dates makes the second one another's: "held it from 1939 to
    1941, Germany from 1941"; not "for a year".
    """
    return token.pos_ == "PROPN" or (token.pos_ == "NOUN" and token.dep_ != "pobj")


def _either(one: Validity, two: Validity) -> Validity:
    es, ls = min(one.es, two.es), max(one.ls, two.ls)
    ee, le = min(one.ee, two.ee), max(one.le, two.le)
    return replace(one, es=es, ls=ls, ee=ee, le=le, text=f"{one.text} or {two.text}")


def _is_clause(token: Token) -> bool:
    return token.pos_ in ("VERB", "AUX") and token.dep_ not in (
        "aux",
        "auxpass",
        "amod",
        "compound",
    )


def _dated(token: Token, span: DateSpan) -> tuple[Token, Validity] | None:
    """Return which head a date belongs to, and the term that it gives there."""
    term = span.term
    at = token
    if token.dep_ in ("nummod", "compound", "amod", "nmod", "poss"):
        if token.head.lemma_ not in _AGAIN:
            return None  # "the 1968 treaty" does not say when anything happened
    elif token.head.dep_ == "prep" and token.head.lower_ == "of":
        return None
    while at.head.i != at.i:
        if at.dep_ in ("appos", "conj") and at.pos_ in ("NOUN", "PROPN"):
            return at, term
        if at.dep_ in ("nsubj", "nsubjpass", "agent", "csubj"):
            return None
        at = at.head
        if _is_clause(at):
            return at, term
        if at.pos_ in ("ADP", "SCONJ") and at.i != token.head.i:
            # "until his death in 1370", but "after his victory in 1850" is not dated by it
            if at.lower_ in _UNTIL:
                term = ending(span.validity)
            elif at.lower_ in ("before", "after", "since", "following"):
                return None
    return None


def _joined(times: list[Validity]) -> list[Validity]:
    """Join a term whose end is not known with a later one whose start is not known."""
    joined: list[Validity] = []
    for time in times:
        before = joined[-1] if joined else None
        if before and time.es == BEGIN and before.es != BEGIN:
            whole = between(before, time)
            if whole is not None:
                joined[-1] = whole
                continue
        joined.append(time)
    return joined


def _until(
    token: Token, own: list[Validity], times: Mapping[int, list[Validity]]
) -> list[Validity]:
    """End the clause's last term by a dated "until she died in 1780" within it."""
    if not own or own[-1].le != END:
        return own
    for child in token.children:
        until = any(t.dep_ == "mark" and t.lower_ in _UNTIL for t in child.children)
        if child.dep_ == "advcl" and child.i in times and until:
            whole = between(own[-1], times[child.i][0])
            return [*own[:-1], whole] if whole else own
    return own


def _asserted(verb: Token) -> bool:
    for child in verb.children:
        if child.dep_ == "neg" or child.lower_ in ("never", "nearly", "almost"):
            return False
        if child.dep_ == "aux" and child.lower_ in _MODALS:
            return False
        if child.dep_ == "mark" and child.lower_ in _IRREALIS:
            return False
        if child.dep_ in ("attr", "dobj", "nsubj", "nsubjpass") and any(
            t.dep_ == "det" and t.lower_ in ("no", "neither") for t in child.children
        ):
            return False
    if verb.dep_ in ("ccomp", "xcomp") and verb.head.lemma_ in _ATTITUDES:
        return False
    if verb.dep_ in ("conj", "xcomp", "advcl") and _is_clause(verb.head):
        own = any(t.dep_ in ("nsubj", "nsubjpass") for t in verb.children)
        return own or verb.dep_ == "advcl" or _asserted(verb.head)
    return True


def _subject(verb: Token) -> tuple[Token | None, bool]:
    """Return the noun that a verb is said of, and whether it is acted on."""
    passive = any(t.dep_ in ("auxpass", "nsubjpass") for t in verb.children)
    for child in verb.children:
        if child.dep_ in ("nsubj", "nsubjpass"):
            if child.lower_ in ("who", "which", "that") and verb.dep_ == "relcl":
                return verb.head, passive
            return child, passive
    if verb.dep_ == "acl" and verb.tag_ in ("VBN", "VBG"):
        return verb.head, verb.tag_ == "VBN"
    if verb.dep_ in ("conj", "xcomp", "advcl") and _is_clause(verb.head):
        if any(t.dep_ in ("expl", "csubj") for t in verb.children):
            return None, False
        subject, of_head = _subject(verb.head)
        return subject, passive or (of_head and verb.tag_ == "VBN")
    return None, passive
