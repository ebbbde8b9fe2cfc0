"""The core of a question to fact patterns: which relation joins the terms, and from which side.

Belongs here: terms and their roles in the sentence, relation linking, support by the graph.
Must not: time, order, what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgqa.language import wording
from kgqa.language.lexicon import Lexicon, Phrase, Reading, Role, kinship, stands_as_subject, weight
from kgqa.language.nlp import lemmas
from kgqa.language.question.items import Item, Name, Word, is_word
from kgqa.language.question.probe import Probe
from kgqa.model.question import Goal, RelationGuess, Side, Term, Unknown

_SEQUELS = wording.NEXT_NOUNS | wording.PREVIOUS_NOUNS | wording.NEXT_VERBS | wording.PREVIOUS_VERBS
_LEAST = 0.5
_WEAK = 0.2


@dataclass(frozen=True, slots=True)
class Placed:
    """Hold a known term, the role that it has in the sentence, and the preposition before it."""

    term: Term
    role: Role


@dataclass(frozen=True, slots=True)
class Core:
    """Hold what names a fact: known terms, content words, the kind of thing asked for.

    ``strong`` are the words that a reading must account for: nouns and full verbs.
    ``choice``: the names are alternatives ("X or Y").
    """

    terms: tuple[Placed, ...]
    words: tuple[str, ...]
    strong: tuple[str, ...] = ()
    kind: str | None = None
    type: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    unknown: Role = "complement"
    choice: bool = False


@dataclass(frozen=True, slots=True)
class Scored:
    """Hold a goal with how well wording and graph support it, and why."""

    goal: Goal
    score: float
    why: str


def core_of(items: Sequence[Item], kind: str | None, type_: Sequence[Word]) -> Core:
    """Read terms, their roles and the content words from the core of a frame."""
    verb = _main_verb(items)
    passive = verb is not None and _passive(items, verb)
    terms = []
    for k, item in enumerate(items):
        if isinstance(item, Name):
            terms.append(Placed(item.term, _role(items, k, verb, passive)))
    said = [
        i
        for i in items
        if isinstance(i, Word) and i.lower not in wording.FRAMING and i.tag[0] in "NVJF"
    ]
    words = tuple(i.lower for i in said if i.lower.strip("'’-–.,;:()"))
    types = {w.lower for w in type_}
    strong = tuple(
        i.lower for i in said if i.tag[0] in "NVF" and weight(i.lower) == 1 and i.lower not in types
    )
    first_name = next((k for k, i in enumerate(items) if isinstance(i, Name)), None)
    unknown: Role = "complement"
    if verb is not None:
        before = first_name is not None and first_name < verb
        unknown = "patient" if before else "passive" if passive else "agent"
    span = (items[0].start, items[-1].end) if items else (0, 0)
    choice = len(terms) > 1 and any(is_word(i, "or") for i in items)
    types_ = tuple(w.lower for w in type_)
    return Core(tuple(terms), words, strong, kind, types_, span, unknown, choice)


def _main_verb(items: Sequence[Item]) -> int | None:
    verbs = [k for k, i in enumerate(items) if isinstance(i, Word) and i.verb]
    helpers = [k for k, i in enumerate(items) if isinstance(i, Word)
               and i.lower in wording.AUXILIARIES]  # fmt: skip
    if helpers:
        later = [k for k in verbs if k > helpers[0]]
        return later[0] if later else None
    if not verbs:
        nouns = [k for k, i in enumerate(items) if isinstance(i, Word) and i.tag == "NNS"]
        return nouns[0] if nouns and not isinstance(items[-1], Word) else None
    return verbs[0]


def _passive(items: Sequence[Item], verb: int) -> bool:
    item = items[verb]
    be = any(isinstance(i, Word) and i.lower in wording.BE for i in items[:verb])
    return be and isinstance(item, Word) and item.tag in {"VBN", "VBD"}


def _role(items: Sequence[Item], k: int, verb: int | None, passive: bool) -> Role:
    if k + 1 < len(items):
        after = items[k + 1]
        if isinstance(after, Word) and after.lower in {"'s", "'"} and after.tag == "POS":
            return "possessor"
    j = k - 1
    while j >= 0 and isinstance(items[j], Word) and _skippable(items, j):
        j -= 1
    before = items[j] if j >= 0 else None
    if is_word(before, "by"):
        return "by"
    if isinstance(before, Word) and before.lower in wording.PREPOSITIONS:
        head = items[j - 1] if j else None
        nominal = isinstance(head, Word) and head.tag[0] in "NJ"
        return "possessor" if nominal and (verb is None or j - 1 != verb) else "patient"
    if verb is None:
        copula = any(isinstance(i, Word) and i.lower in wording.BE for i in items[:k])
        first = not any(isinstance(i, Name) for i in items[:k])
        starts = is_word(items[0], *wording.AUXILIARIES)
        return "agent" if (starts and first) or not copula else "complement"
    if k < verb:
        return "passive" if passive else "agent"
    return "patient"


def _skippable(items: Sequence[Item], j: int) -> bool:
    """Tell whether a word between a preposition and a name only introduces it ("the team X")."""
    item = items[j]
    if is_word(item, *wording.DETERMINERS):
        return True
    return (
        isinstance(item, Word)
        and item.noun
        and is_word(items[j - 1] if j else None, *wording.DETERMINERS)
    )


class Goals:
    """Find goals for cores over one lexicon and one state of a base."""

    def __init__(self, lexicon: Lexicon, probe: Probe) -> None:
        self._lexicon = lexicon
        self.probe = probe

    def open(self, core: Core) -> list[Scored]:
        """Return goals with an unknown that answers, best first."""
        found: list[Scored] = []
        if not core.terms:
            found = self._nameless(core)
        for k, placed in enumerate(core.terms):
            others = [p.term for p in core.terms if p is not placed]
            joined = all(self.probe.between(placed.term, o) for o in others)
            penalty = (0.1 if joined and not core.choice else 0.6) + 0.02 * k if others else 0.0
            for scored in self._one(core, placed):
                dropped = 0.2 if others and self._left(core, scored.goal.relations[0].key) else 0.0
                found.append(replace(scored, score=scored.score - penalty - dropped))
        return _ranked(found)

    def closed(self, core: Core) -> list[Scored]:
        """Return goals in which nothing is unknown that need not be ("Was X consul of Y")."""
        if len(core.terms) < 2:
            return self.open(core)
        found: list[Scored] = []
        for i, a in enumerate(core.terms):
            for b in core.terms[i + 1 :]:
                found += self._two(core, a, b)
        return _ranked(found)

    def _one(self, core: Core, placed: Placed) -> list[Scored]:
        """Return the goals that join one known term to the unknown."""
        found: list[Scored] = []
        around = {(r, s) for r, s, _ in self.probe.relations(placed.term)}
        keys = {r for r, _ in around} | {r.relation for r in self._lexicon.read(core.words)}
        for key in sorted(keys):
            reading = self._lexicon.best(core.words, key)
            known: tuple[Side, Side] = ("subject", "object")
            for side in known:
                supported = (key, side) in around or (
                    (key, "object" if side == "subject" else "subject") not in around
                    and self._reaches(placed.term, key, side)
                )
                scored = self._score(core, placed, key, side, reading, supported)
                if scored:
                    found.append(scored)
        if not any(s.score >= _LEAST for s in found):
            found += self._by_description(core, placed)
        return found

    def _reaches(self, term: Term, key: str, side: Side) -> bool:
        if side == "subject":
            return self.probe.holds(key, term, None)
        return self.probe.holds(key, None, term)

    def _score(
        self, core: Core, placed: Placed, key: str, side: Side, reading: Reading | None,
        supported: bool,
    ) -> Scored | None:  # fmt: skip
        text = reading.score if reading else 0.0
        grammar = self._grammar(reading.phrase if reading else None, placed, side)
        if not supported and (text < _LEAST or grammar < 0):
            return None
        kind = self._kind(core, placed, key, side)
        if not core.words:
            score = (0.75 if self._main(core, placed, key) else 0.42) if supported else 0.2
        elif text == 0.0:
            types = set(core.words) & set(core.type)
            score = _WEAK if core.strong else 0.45 if types else 0.42
            if not core.strong and not types and self._main(core, placed, key):
                score = 0.7
        else:
            score = (0.45 if supported else 0.1) + 0.45 * text - self._left(core, key)
        score += 0.08 * grammar + 0.08 * kind
        guesses = self._guesses(key, text, reading, placed.term, side)
        unknown = Unknown(core.kind)
        goal = (
            Goal(placed.term, guesses, unknown, "object")
            if side == "subject"
            else Goal(unknown, guesses, placed.term, "subject")
        )
        how = f"{reading.phrase.text!r}" if reading else "no word of it, but it is recorded there"
        where = "recorded" if supported else "never recorded"
        return Scored(goal, round(score, 4), f"{key!r} by {how}; {where} with this {side}")

    def _main(self, core: Core, placed: Placed, key: str) -> bool:
        """Tell whether a relation is most of what is known of a term, among what fits the kind."""
        around = self.probe.relations(placed.term)
        fit = [(r, n) for r, s, n in around if self._kind(core, placed, r, s) >= 0]
        return sum(n for r, n in fit if r == key) >= 0.6 * sum(n for _, n in fit)

    def _left(self, core: Core, key: str) -> float:
        """Return what the strong words that a relation does not account for take off a score."""
        known = {w for p in self._lexicon.phrases(key) for w in p.words}
        left = [w for w in core.strong if not any(kinship(w, k) for k in known)]
        if any(lemmas(w) & _SEQUELS for w in left):
            return 0.5
        return min(0.3, 0.12 * len(left))

    def _grammar(self, phrase: Phrase | None, placed: Placed, side: Side) -> int:
        if phrase is None:
            return 0
        subject = stands_as_subject(phrase, placed.role)
        return 0 if subject is None else 1 if subject == (side == "subject") else -1

    def _kind(self, core: Core, placed: Placed, key: str, side: Side) -> int:
        """Tell whether what stands across is of the kind asked for: 1, 0 unknown, -1."""
        if core.kind is None:
            return 0
        relation = self._lexicon.relation(key)
        declared = relation.range if side == "subject" else relation.domain
        kind = self.probe.kind_across(placed.term, key, side) or declared
        return fits(core.kind, kind)

    def _guesses(
        self, key: str, text: float, reading: Reading | None, term: Term, side: Side
    ) -> tuple[RelationGuess, ...]:
        why = reading.phrase.text if reading else "recorded"
        found = [RelationGuess(key, round(text, 3), why)]
        if self._lexicon.symmetric(key):
            found.append(RelationGuess(key, round(text, 3), "its own inverse", inverted=True))
        elif (other := self._lexicon.converse(key)) is not None:
            found.append(
                RelationGuess(other, round(text, 3), "the inverse relation", inverted=True)
            )
        return tuple(found)

    def _by_description(self, core: Core, placed: Placed) -> list[Scored]:
        """Read the words as the name of a neighbour ("When was Lincoln president?")."""
        words = [w for w in core.words if w not in core.type and weight(w) == 1]
        mention = self.probe.beside(placed.term, words, core.span) if words else None
        if mention is None:
            return []
        rest = replace(core, words=(), strong=(), terms=())
        return self._two(rest, placed, Placed(mention, "complement"))

    def _two(self, core: Core, a: Placed, b: Placed) -> list[Scored]:
        """Return the goals in which both terms are known."""
        found: list[Scored] = []
        joined = self.probe.between(a.term, b.term)
        keys = {r for r, _ in joined} | {r.relation for r in self._lexicon.read(core.words)}
        keys |= self._shared(a.term, b.term) if not joined else set()
        for key in sorted(keys):
            reading = self._lexicon.best(core.words, key)
            sides: tuple[Side, Side] = ("subject", "object")
            for side in sides:
                supported = (key, side) in joined
                text = reading.score if reading else 0.0
                grammar = self._grammar(reading.phrase if reading else None, a, side)
                score = (0.5 if supported else 0.15) + 0.4 * (text if core.words else 0.75)
                usual = self._usual(a.term, b.term, key, side)
                score += 0.08 * grammar + (0.1 if usual else 0.0)
                score -= self._left(core, key) if reading else 0.0
                guesses = self._guesses(key, text, reading, a.term, side)
                goal = (
                    Goal(a.term, guesses, b.term, "object")
                    if side == "subject"
                    else Goal(b.term, guesses, a.term, "subject")
                )
                state = "joins them" if supported else "never joins them"
                found.append(Scored(goal, round(score, 4), f"{key!r} {state}"))
        return found

    def _shared(self, a: Term, b: Term) -> set[str]:
        mine = {(r, s) for r, s, _ in self.probe.relations(a)}
        yours = {(r, s) for r, s, _ in self.probe.relations(b)}
        return {r for r, s in mine if (r, "object" if s == "subject" else "subject") in yours}

    def _usual(self, a: Term, b: Term, key: str, side: Side) -> bool:
        subject, object_ = (a, b) if side == "subject" else (b, a)
        return self.probe.holds(key, subject, None) and self.probe.holds(key, None, object_)

    def _nameless(self, core: Core) -> list[Scored]:
        """Return goals without any name ("Who was consul in 59 BC?")."""
        found: list[Scored] = []
        for reading in self._lexicon.read(core.words, least=_LEAST):
            side = self._unknown_side(reading.phrase, core)
            supported = self.probe.holds(reading.relation, None, None)
            score = (0.4 if supported else 0.1) + 0.45 * reading.score
            if self._left(core, reading.relation):
                score = min(score, _WEAK)  # those words name what nobody here is called
            guess = RelationGuess(reading.relation, round(reading.score, 3), reading.phrase.text)
            wanted = Unknown(core.kind)
            goal = (
                Goal(wanted, (guess,), Unknown(), "subject")
                if side == "subject"
                else Goal(Unknown(), (guess,), wanted, "object")
            )
            found.append(Scored(goal, round(score, 4), f"{reading.relation!r} without a name"))
        words = [w for w in core.words if weight(w) == 1]
        if not any(s.score >= 0.75 for s in found) and words:
            mention = self.probe.anywhere(words, core.span)
            if mention is not None:
                named = replace(core, words=(), strong=(), terms=(Placed(mention, "complement"),))
                found += [replace(s, score=s.score - 0.1) for s in self._one(named, named.terms[0])]
        return found

    def _unknown_side(self, phrase: Phrase, core: Core) -> Side:
        subject = stands_as_subject(phrase, core.unknown)
        if subject is None:
            subject = phrase.shape != "noun"
        return "subject" if subject else "object"


def fits(asked: str, kind: str | None) -> int:
    """Tell whether a kind of node is the kind asked for: 1 yes, 0 no telling, -1 no.

    >>> fits("place", "city"), fits("person", None), fits("person", "city")
    (1, 0, -1)
    """
    if kind is None:
        return 0
    if kinship(asked, kind.casefold()) or asked == kind.casefold():
        return 1
    place = kind.casefold() in wording.PLACE_WORDS
    if asked == "place":
        return 1 if place else 0
    if asked == "person":
        return (
            1 if kind.casefold() in {"human", "people"} else -1 if place or kind == "literal" else 0
        )
    return 0


def _ranked(found: list[Scored]) -> list[Scored]:
    best: dict[Goal, Scored] = {}
    for scored in found:
        if scored.goal not in best or best[scored.goal].score < scored.score:
            best[scored.goal] = scored
    return sorted(best.values(), key=lambda s: (-s.score, s.why))
