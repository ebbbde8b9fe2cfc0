"""The base's relations as words: which relation a wording may mean, and read from which side.

Belongs here: labels, synonyms and inverse readings against content words. Must not: the
graph, sentence structure, time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal as OneOf
from typing import TypeAlias

from kgqa.language import wording
from kgqa.language.nlp import inflected_verb, lemmas
from kgqa.model.ids import relation_key
from kgqa.model.things import Relation

Shape: TypeAlias = OneOf["verb", "prep", "by", "of", "noun"]
"""How a label is built: governed; born in; owned by; chair of; spouse."""

Role: TypeAlias = OneOf["agent", "patient", "passive", "by", "possessor", "complement"]
"""Where a term stands: before an active verb, after it, before a passive one, after "by",
after "of" or before "'s", beside "be"."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Hold one wording of a relation: its content words, its shape, whether it reads backwards."""

    relation: str
    text: str
    words: tuple[str, ...]
    shape: Shape
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold one relation that words may mean: how well they agree (0 to 1) with which phrase."""

    relation: str
    score: float
    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Hold the relations of a base, by key, for question analysis; make it with ``of``."""

    relations: Mapping[str, Relation] = field(default_factory=dict)

    @classmethod
    def of(cls, relations: Iterable[Relation]) -> Lexicon:
        """Return the lexicon of some relations.

        >>> Lexicon.of([Relation("ruled", "ruled")]).relation("ruled").label
        'ruled'
        """
        return cls({r.key: r for r in relations})

    def relation(self, key: str) -> Relation:
        """Return a relation; one that the base never declared speaks through its key."""
        return self.relations.get(key) or Relation(key, key)

    def phrases(self, key: str) -> tuple[Phrase, ...]:
        """Return every wording of a relation: label, synonyms, inverse label."""
        relation = self.relation(key)
        return _phrases(key, relation.label, relation.synonyms, relation.inverse)

    def read(
        self, words: Sequence[str], keys: Iterable[str] | None = None, least: float = 0.35
    ) -> list[Reading]:
        """Return what the words may mean, best first: one reading a relation, ties by key."""
        found = [
            best
            for key in (self.relations if keys is None else keys)
            if (best := self.best(words, key)) and best.score >= least
        ]
        return sorted(found, key=lambda r: (-r.score, r.relation))

    def best(self, words: Sequence[str], key: str) -> Reading | None:
        """Return how one relation is best worded by the words, if at all."""
        scored = [(agreement(tuple(words), p.words), p) for p in self.phrases(key)]
        score, phrase = max(scored, key=lambda s: s[0], default=(0.0, None))
        return Reading(key, score, phrase) if phrase and score > 0 else None

    def symmetric(self, key: str) -> bool:
        """Tell whether a relation is its own inverse."""
        inverse = self.relation(key).inverse
        return inverse is not None and relation_key(inverse) == key

    def converse(self, key: str) -> str | None:
        """Return another relation of the base that states the same from the other side."""
        inverse = self.relation(key).inverse
        other = relation_key(inverse) if inverse else None
        if other and other != key and other in self.relations:
            return other
        for candidate in self.relations.values():
            if (
                candidate.key != key
                and candidate.inverse
                and relation_key(candidate.inverse) == key
            ):
                return candidate.key
        return None


@lru_cache(maxsize=4096)
def _phrases(
    key: str, label: str, synonyms: tuple[str, ...], inverse: str | None
) -> tuple[Phrase, ...]:
    main = shape_of(label)
    found = []
    for text in dict.fromkeys((label, *synonyms)):
        shape = shape_of(text)
        if shape == "noun" and main == "of":
            shape = "of"
        found.append(Phrase(key, text, content(text), shape))
    if inverse and relation_key(inverse) != key:
        found.append(Phrase(key, inverse, content(inverse), shape_of(inverse), inverse=True))
    return tuple(p for p in found if p.words)


def tokens(text: str) -> list[str]:
    """Return the lower-case words of a label."""
    return relation_key(text).replace("/", " ").split()


def content(text: str) -> tuple[str, ...]:
    """Return the words of a label that say what it means.

    >>> content("is the chair of")
    ('chair',)
    """
    words = tokens(text)
    kept = tuple(w for w in words if w not in wording.FRAMING)
    return kept or tuple(w for w in words if w not in wording.DETERMINERS)


def shape_of(text: str) -> Shape:
    """Return how a label is built.

    >>> [shape_of(t) for t in ("governed", "born in", "is owned by", "chair of", "spouse")]
    ['verb', 'prep', 'by', 'of', 'noun']
    """
    words = tokens(text) or [""]
    while len(words) > 1 and words[0] in wording.AUXILIARIES | wording.DETERMINERS:
        words.pop(0)
    while len(words) > 1 and words[-1] in wording.DETERMINERS:
        words.pop()
    if words[-1] == "by":
        return "by"
    verb = inflected_verb(words[0])
    if len(words) > 1 and words[-1] in wording.PREPOSITIONS:
        return "prep" if verb else "of"
    return "verb" if verb else "noun"


@lru_cache(maxsize=50_000)
def agreement(question: tuple[str, ...], phrase: tuple[str, ...]) -> float:
    """Return how far two sets of content words say the same, 0 to 1."""
    if not question or not phrase:
        return 0.0
    table = [[kinship(q, p) for p in phrase] for q in question]
    covered = [max(row[j] for row in table) for j in range(len(phrase))]
    used = [max(row) for row in table]
    p_weights = [weight(p) for p in phrase]
    q_weights = [weight(q) for q in question]
    of_phrase = sum(c * w for c, w in zip(covered, p_weights, strict=True)) / sum(p_weights)
    of_question = sum(u * w for u, w in zip(used, q_weights, strict=True)) / sum(q_weights)
    return 0.6 * of_phrase + 0.4 * of_question if of_phrase and of_question else 0.0


def weight(word: str) -> float:
    """Return how much a word says of a relation."""
    return 0.34 if lemmas(word) & wording.LIGHT else 1.0


@lru_cache(maxsize=100_000)
def kinship(a: str, b: str) -> float:
    """Return how close two words are: same word 1, derived .9, same idea .75, a slip .8.

    >>> kinship("governs", "governed"), kinship("governor", "governed"), kinship("born", "ship")
    (1.0, 0.9, 0.0)
    """
    mine, yours = lemmas(a), lemmas(b)
    if a == b or mine & yours:
        return 1.0
    if {root(w) for w in mine} & {root(w) for w in yours}:
        return 0.9
    if any(mine & idea and yours & idea for idea in wording.IDEAS):
        return 0.75
    if min(len(a), len(b)) >= 6:
        from rapidfuzz.distance import DamerauLevenshtein

        if DamerauLevenshtein.distance(a, b, score_cutoff=1) <= 1:
            return 0.8
    return 0.0


_SUFFIXES = (
    "ership", "ation", "ition", "ment", "ship", "ance", "ence", "ency", "tion", "sion", "ing",
    "ion", "dom", "age", "ery", "ant", "ent", "er", "or", "ee", "al", "y", "e",
)  # fmt: skip


@lru_cache(maxsize=50_000)
def root(word: str) -> str:
    """Return a word without its derivational endings (two at most), if enough of it remains.

    >>> root("governor"), root("govern"), root("ruler"), root("rule")
    ('govern', 'govern', 'rul', 'rul')
    >>> root("dictatorship") == root("dictator")
    True
    """
    for least in (3, 5):
        endings = (s for s in _SUFFIXES if word.endswith(s) and len(word) - len(s) >= least)
        word = word.removesuffix(next(endings, ""))
    return word


def stands_as_subject(phrase: Phrase, role: Role) -> bool | None:
    """Tell whether a term in this role of the wording is the facts' subject; None: no telling."""
    side = _SUBJECT.get((phrase.shape, role))
    return side if side is None or not phrase.inverse else not side


_SUBJECT: dict[tuple[Shape, Role], bool] = {
    ("verb", "agent"): True, ("verb", "passive"): False, ("verb", "patient"): False,
    ("verb", "by"): True, ("verb", "possessor"): False, ("verb", "complement"): False,
    ("prep", "agent"): True, ("prep", "passive"): True, ("prep", "patient"): False,
    ("prep", "by"): False, ("prep", "complement"): False,
    ("by", "agent"): False, ("by", "passive"): True, ("by", "patient"): True,
    ("by", "by"): False, ("by", "possessor"): True,
    ("of", "agent"): True, ("of", "complement"): True, ("of", "patient"): False,
    ("of", "passive"): False, ("of", "by"): True, ("of", "possessor"): False,
    ("noun", "possessor"): True, ("noun", "patient"): True, ("noun", "by"): False,
}  # fmt: skip
