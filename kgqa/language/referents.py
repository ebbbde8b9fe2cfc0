"""Which name a noun or pronoun of a document stands for.

Belongs here: the extent of names, and who "he", "Caesar" or "the company" is within one document.
Must not: nodes, stores; the same name in two documents is linked elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgqa.language.nlp import Token

_PERSONAL = frozenset(("he", "she"))
_LINKING = frozenset("of the and de la le du van von der den di da del al bin ibn y zu".split())
_INSIDE = frozenset("compound nmod amod flat nummod punct".split())
_ORGANIZATIONS = frozenset(
    "company firm corporation group bank party club union agency institute university "
    "organization organisation association society council newspaper".split()
)
_HONORIFICS = frozenset(("Mr", "Mrs", "Ms", "Miss", "Dr"))
_FIRM = frozenset("sons co company brothers partners daughters".split())
_PLACES = frozenset("city town village province region country state kingdom empire".split())


@dataclass(frozen=True, slots=True)
class Referent:
    """Hold what a noun stands for: the name, its sort, and whether it was said or only meant.

    ``sort`` is person, organization, place, or empty where nothing tells.
    """

    name: str
    sort: str = ""
    said: bool = True


@dataclass(slots=True)
class Discourse:
    """Remember the names of one document, in order, and what its clauses were about.

    ``topic`` is the document's title where that is a name which the text uses.
    """

    topic: str | None
    _names: list[str] = field(default_factory=list)
    _subject: Referent | None = None
    _person: Referent | None = None
    _organization: Referent | None = None
    _place: Referent | None = None
    _topic_sort: str = ""

    @classmethod
    def of(cls, title: str, text: str) -> Discourse:
        """Return the discourse of a document that has just begun."""
        words = title.split()
        capital = all(w[:1].isupper() or w in _LINKING for w in words)
        heading = text.startswith(title + "\n")
        if capital and words and text.count(title) > heading:
            return cls(title, [title])
        return cls(None)

    def about(self, subject: Referent | None) -> None:
        """Note the subject of a sentence (None: no name). "It" is the last sentence's subject,
        "he" the last that may be a person, "the company" the last organization.
        """
        self._subject = subject
        if subject is not None and subject.said:
            if subject.name == self.topic and subject.sort:
                self._topic_sort = subject.sort
            if subject.sort == "place":
                self._place = subject
            if subject.sort == "organization":
                self._organization = subject
            if subject.sort == "person" or (subject.sort != "place" and " " in subject.name):
                self._person = subject

    def person(self, referent: Referent) -> None:
        """Note that a name is a person's, whatever the recogniser took it for."""
        if referent.said:
            self._person = replace(referent, sort="person")
            if self._subject is not None and self._subject.name == referent.name:
                self._subject = self._person

    def section(self) -> None:
        """Forget whom pronouns meant; names stay."""
        self._subject = self._person = self._organization = self._place = None

    def pronoun(self, token: Token) -> Referent | None:
        """Return what a subject that is no name stands for ("he", "the city"), or None."""
        word = token.lower_
        if word in _PERSONAL:
            return _again(self._person) or self._topic("person")
        if word == "it":
            thing = self._subject
            if thing is not None and thing.sort != "person":
                return Referent(thing.name, thing.sort, said=False)
            return None if thing is not None else self._topic("organization", "place")
        if word in _PLACES and any(t.lower_ in ("the", "this") for t in token.children):
            return _again(self._place) or self._topic("place")
        return None

    def refer(self, token: Token) -> Referent | None:
        """Return what a noun stands for, or None if that is not certain."""
        word = token.lower_
        if token.pos_ == "NOUN" and not _capital(token):
            for child in token.children:
                if child.dep_ == "appos" and child.pos_ == "PROPN" and child.i > token.i:
                    return self.refer(child)
            if word in _PLACES:  # "the town of Sant Orrin"
                for of in token.children:
                    if of.dep_ == "prep" and of.lower_ == "of":
                        return next((r for t in of.children if (r := self.refer(t))), None)
            definite = any(t.lower_ in ("the", "this") for t in token.children)
            return self.organization() if definite and word in _ORGANIZATIONS else None
        name = name_of(token)
        return Referent(self._full(name), _sort(token, name)) if name else None

    def _full(self, name: str) -> str:
        """Return the longer name that a single word is short for, if there is just one."""
        known = self._names
        first, _, rest = name.partition(" ")
        if rest and first.rstrip(".") in _HONORIFICS:
            name = rest
        if " " in name:
            if name not in known:
                known.append(name)
            return name
        longer = [n for n in known if n.endswith(" " + name) and " of " not in n]
        return longer[0] if len(longer) == 1 else name

    def organization(self) -> Referent | None:
        """Return the organization that is being spoken of."""
        return _again(self._organization) or self._topic("organization")

    def _topic(self, *sorts: str) -> Referent | None:
        if self.topic is None or self._topic_sort not in ("", *sorts):
            return None
        return Referent(self.topic, sorts[0], said=False)


def name_of(token: Token) -> str | None:
    """Return the proper name that a token heads, or None where its phrase is not a name."""
    first, last = _extent(token)
    common = token.pos_ != "PROPN" and not token.ent_type_
    if first == last or (common and last - first == 1):
        return None
    return str(token.doc[first:last].text)


def _extent(token: Token) -> tuple[int, int]:
    """Return the half-open range of the tokens of the name that a token heads."""
    if token.pos_ not in ("PROPN", "NOUN", "ADJ", "X") or not _capital(token):
        return token.i, token.i
    doc, sentence = token.doc, token.sent
    first, last = token.i, token.i + 1
    while first > sentence.start and _inside(doc[first - 1], token):
        first -= 1
    while first < token.i and not _capital(doc[first]):
        first += 1
    while last < sentence.end and _inside(doc[last], token) and _capital(doc[last]):
        last += 1
    if last < sentence.end and doc[last].lower_ == "of" and doc[last].head == token:
        for noun in doc[last].children:
            start, end = _extent(noun) if noun.dep_ == "pobj" else (0, 0)
            between = start - last - 1
            the = between == 1 and doc[start - 1].lower_ == "the"
            if end > start and (between == 0 or the):
                last = end
    joined = last + 1 < sentence.end and doc[last].lower_ in ("and", "&")
    if joined and doc[last + 1].lower_ in _FIRM and _capital(doc[last + 1]):
        last += 2
    return first, last


def _inside(other: Token, head: Token) -> bool:
    named = _capital(other) or other.text in "-–." or other.lower_ in _LINKING
    return named and other.dep_ in _INSIDE and head.is_ancestor(other)


def _sort(token: Token, name: str) -> str:
    if _ORGANIZATIONS & _lower(name):
        return "organization"
    kinds = {"PERSON": "person", "ORG": "organization", "GPE": "place", "LOC": "place"}
    return kinds.get(token.ent_type_, "")


def _capital(token: Token) -> bool:
    return bool(token.text[:1].isupper())


def _lower(name: str) -> set[str]:
    return set(name.lower().split())


def _again(referent: Referent | None) -> Referent | None:
    return replace(referent, said=False) if referent is not None else None
