"""What a clause says: subject, relation, object and validity, for the verbs of biography and rule.

Belongs here: which grammatical shape is which statement, and whether its date is when it began,
ended or held. Must not: names across sentences (referents), the parser, spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgqa.language.clauses import Clause, ending, starting
from kgqa.language.referents import Discourse, Referent, name_of
from kgqa.model.things import Literal
from kgqa.temporal import format as written
from kgqa.temporal.interval import UNDATED, Validity

if TYPE_CHECKING:
    from kgqa.language.nlp import Token

_BEGIN_ROLE = frozenset("become elect appoint crown proclaim name make install inaugurate".split())
_HOLD_ROLE = frozenset("be serve act remain work reign".split())
_LEAVE = frozenset(["leave", "resign", "retire", "abdicate"])
_NAMING = frozenset("call name rename know entitle".split())
_SUCCEED = frozenset(["succeed", "replace"])
_TIMELESS = frozenset(["bear", "die", "found"])
_VAGUE = frozenset("be have do make go come get give take say see become use include begin".split())
_OF = ("of", "for", "at")
_PASSING = frozenset(("new", "current", "present", "then", "last", "next", "sole"))
OFFICE = "held office"


@dataclass(frozen=True, slots=True)
class Statement:
    """Hold what a clause says, before it is a claim. ``role`` says that it can be left again."""

    subject: Referent
    relation: str
    object: Referent | Literal
    valid: Validity
    confidence: float
    role: bool = False

    @property
    def of_person(self) -> bool:
        """Tell whether only persons are the subject of such statements."""
        return self.relation.startswith(("born", "died", "married", OFFICE))


@dataclass(frozen=True, slots=True)
class Leaving:
    """Say that a subject left what it last was."""

    subject: Referent
    valid: Validity


def read(clause: Clause, names: Discourse) -> Iterator[Statement | Leaving]:
    """Yield what a clause says; nothing where its shape is not known or a name is not certain."""
    for token in clause.joined(clause.subject):
        subject = names.refer(token)
        if subject is None and clause.vouches:
            subject = names.pronoun(token)
        if subject is not None:
            yield from _of_subject(clause, subject, names)
        else:
            yield from _of_attribute(clause, token, names)


def _of_subject(
    clause: Clause, subject: Referent, names: Discourse
) -> Iterator[Statement | Leaving]:
    lemma = clause.head.lemma_.lower()
    if clause.head.dep_ == "appos":
        yield from _role(clause, subject, clause.head, clause.times, names)
    elif clause.passive and lemma in _NAMING and (word := _naming(clause)) is not None:
        for time in clause.times:
            valid = _begun(time) if lemma == "rename" else time
            yield Statement(subject, "named", Literal(word), valid, _sure(subject))
    elif (noun := _role_noun(clause, lemma)) is not None:
        begins = lemma in _BEGIN_ROLE
        times = tuple(_begun(t) if begins else t for t in clause.times)
        yield from _role(clause, subject, noun, times, names)
    elif lemma in _LEAVE and clause.times and not clause.passive:
        yield Leaving(subject, clause.times[0])
    elif lemma in _SUCCEED:
        yield from _succession(clause, subject, names)
    elif lemma == "marry" or (lemma == "divorce" and not clause.passive):
        yield from _marriage(clause, subject, names, lemma)
    elif lemma in ("bear", "die"):
        yield from _life(clause, subject, names, lemma)
    elif lemma == "move" and not clause.passive and (seat := clause.child("dobj")) is not None:
        yield from _moved(clause, subject, _words(seat), names)
    else:
        yield from _plain(clause, subject, names, lemma)


# --- offices and roles


def _role_noun(clause: Clause, lemma: str) -> Token | None:
    if lemma in _HOLD_ROLE or lemma in _BEGIN_ROLE:
        noun = clause.child("attr", "oprd")
        if noun is None or noun.pos_ not in ("NOUN", "PROPN"):
            noun = next((n for prep, n in clause.objects() if prep == "as"), None)
        if lemma in _BEGIN_ROLE - {"become"} and not clause.passive:
            return None
        return noun
    return None


def _role(
    clause: Clause, subject: Referent, noun: Token, times: tuple[Validity, ...], names: Discourse
) -> Iterator[Statement]:
    indefinite = any(t.lower_ in ("a", "an", "one", "another") for t in noun.children)
    for token in clause.joined(noun, dated=True):
        role = _words(token)
        cut = token.i + 1 < len(token.doc) and token.nbor().text == "-"  # "co-chair"
        if cut or not role[-1:].isalpha() or role in ("name", "one", "time", "year"):
            continue
        whole = _of(token, names)
        if whole is not None and whole[1].name == subject.name:
            continue
        for time in clause.inner.get(token.i, times) if token.dep_ == "conj" else times:
            if whole is not None:
                yield Statement(
                    subject, f"{role} {whole[0]}", whole[1], time, _sure(subject, whole[1]), True
                )
            elif not indefinite and _is_office(token, subject):
                yield Statement(subject, OFFICE, Referent(role), time, _sure(subject), True)
        is_now = clause.head.lemma_ == "be" and clause.head.tag_ in ("VBZ", "VBP")
        if is_now and not times and whole is not None and not indefinite:
            yield Statement(subject, f"{role} {whole[0]}", whole[1], UNDATED, 0.5)


def _is_office(noun: Token, subject: Referent) -> bool:
    """Tell whether a bare noun may be an office: not "the country's third largest city"."""
    ranked = any(t.tag_ == "JJS" or t.dep_ == "poss" for t in noun.children)
    return not ranked and subject.sort != "place" and noun.ent_type_ == ""


def _of(noun: Token, names: Discourse) -> tuple[str, Referent] | None:
    for prep in noun.children:
        if prep.dep_ == "prep" and prep.lower_ in _OF:
            for thing in prep.children:
                if thing.dep_ == "pobj" and (referent := names.refer(thing)) is not None:
                    return prep.lower_, referent
    for owner in noun.children:
        if (
            owner.dep_ == "poss"
            and owner.pos_ == "PROPN"
            and (of := names.refer(owner)) is not None
        ):
            return "of", of
    return None


def _succession(clause: Clause, subject: Referent, names: Discourse) -> Iterator[Statement]:
    """Read "X succeeded Y as Z in D": the neighbour, the role that began, the one that ended."""
    other = _object(clause, names)
    if other is None:
        return
    new, old = (other, subject) if clause.passive else (subject, other)
    times = clause.times
    relation = "succeeded" if clause.head.lemma_ == "succeed" else "replaced"
    for time in times:
        yield Statement(new, relation, old, time, _sure(new, old))
    noun = next((n for prep, n in clause.objects() if prep == "as"), None)
    if noun is not None:
        yield from _role(clause, new, noun, tuple(_begun(t) for t in times), names)
        yield from _role(clause, old, noun, tuple(ending(t) for t in times), names)


# --- lives


def _marriage(
    clause: Clause, subject: Referent, names: Discourse, lemma: str
) -> Iterator[Statement]:
    other = _object(clause, names) or next(
        (r for prep, n in clause.objects() if prep == "to" and (r := names.refer(n))), None
    )
    if other is None or other.name == subject.name:
        return
    for time in clause.times:
        valid = ending(time) if lemma == "divorce" else _begun(time)
        yield Statement(subject, "married", other, valid, _sure(subject, other))
    if not clause.times and lemma == "marry":
        yield Statement(subject, "married", other, UNDATED, 0.5)


def _life(clause: Clause, subject: Referent, names: Discourse, lemma: str) -> Iterator[Statement]:
    verb = "born" if lemma == "bear" else "died"
    if lemma == "bear" and not clause.passive:
        return
    place = next(
        (
            r
            for prep, n in clause.objects()
            if prep in ("in", "at", "near") and (r := names.refer(n))
        ),
        None,
    )
    for time in clause.times or ((UNDATED,) if place else ()):
        if place is not None:
            yield Statement(subject, f"{verb} in", place, time, _sure(subject, place))
        elif time is not UNDATED:
            yield Statement(subject, verb, Literal(written(time)), time, _sure(subject))


# --- places and names


def _moved(clause: Clause, subject: Referent, seat: str, names: Discourse) -> Iterator[Statement]:
    """Read "it moved its head office from A to B": where the thing is, until and since."""
    for prep, noun in clause.objects():
        place = names.refer(noun) if prep in ("to", "from") else None
        if place is not None:
            for time in clause.times:
                valid = _begun(time) if prep == "to" else ending(time)
                yield Statement(subject, seat, place, valid, _sure(subject, place))


def _of_attribute(clause: Clause, noun: Token, names: Discourse) -> Iterator[Statement]:
    """Read "its head office was in B", "the head office moved to B": of the thing last named."""
    lemma = clause.head.lemma_
    if noun.pos_ != "NOUN" or lemma not in ("be", "move") or clause.passive:
        return
    owner = next((t for t in noun.children if t.dep_ == "poss"), None)
    definite = any(t.lower_ == "the" for t in noun.children)
    whole = names.refer(owner) if owner is not None and owner.pos_ == "PROPN" else None
    whole = whole or (names.organization() if owner is not None or definite else None)
    if whole is None:
        return
    for prep, place_noun in clause.objects():
        wanted = ("in", "at") if lemma == "be" else ("to", "from")
        place = names.refer(place_noun) if prep in wanted else None
        if place is None or place.name == whole.name:
            continue
        for time in clause.times:
            moved = _begun(time) if prep == "to" else ending(time)
            valid = time if lemma == "be" else moved
            yield Statement(whole, _words(noun), place, valid, 0.5)


def _naming(clause: Clause) -> str | None:
    noun = clause.child("oprd", "attr")
    if noun is None:
        noun = next((n for prep, n in clause.objects() if prep == "as"), None)
    if noun is None or noun.pos_ != "PROPN":
        return None
    return name_of(noun)


# --- every other verb


def _plain(clause: Clause, subject: Referent, names: Discourse, lemma: str) -> Iterator[Statement]:
    if lemma in _VAGUE or clause.head.pos_ != "VERB":
        return
    verb = clause.head.lower_ if clause.head.tag_ in ("VBD", "VBN") else lemma
    times = clause.times or ((UNDATED,) if lemma in _TIMELESS else ())
    for noun in clause.head.children:
        dated_before = any(clause.head.i < at < noun.i for at in clause.dates)
        if noun.dep_ == "dobj" and not dated_before:
            for token in clause.joined(noun):
                if (other := names.refer(token)) is not None and other.name != subject.name:
                    for time in times:
                        yield Statement(subject, verb, other, time, _sure(subject, other))
    for prep, noun in clause.objects():
        for token in clause.joined(noun):
            other = names.refer(token)
            if other is None or other.name == subject.name:
                continue
            for time in times:
                if prep == "by" and clause.passive:
                    yield Statement(other, verb, subject, time, _sure(subject, other))
                elif clause.child("dobj") is None and prep != "by":
                    yield Statement(subject, f"{verb} {prep}", other, time, _sure(subject, other))


def _object(clause: Clause, names: Discourse) -> Referent | None:
    if clause.passive:
        return next(
            (r for prep, n in clause.objects() if prep == "by" and (r := names.refer(n))), None
        )
    noun = clause.child("dobj")
    return names.refer(noun) if noun is not None else None


def _words(noun: Token) -> str:
    """Return a noun with what stands close before it, in lower case: "interim chief executive"."""
    inside = [t for t in noun.children if t.dep_ in ("compound", "amod", "nmod") and t.i < noun.i]
    kept = [
        t
        for t in inside
        if t.pos_ in ("NOUN", "ADJ", "PROPN", "VERB")
        and t.ent_type_ != "ORDINAL"
        and t.lower_ not in _PASSING
    ]
    return " ".join(t.lower_ for t in [*kept, noun])


def _begun(time: Validity) -> Validity:
    """Return the term that began at a date; a stated range is kept as it is."""
    single = time.ee == time.es + 1 and time.le == time.ls + 1
    return starting(time) if single else time


def _sure(*referents: Referent) -> float:
    return 0.8 if all(r.said for r in referents) else 0.65
