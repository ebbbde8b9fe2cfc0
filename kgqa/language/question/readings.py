"""The readings of a row of items: frame, nested questions, goals, times and order put together.

Belongs here: combining and scoring. Must not: text handling, the choice between readings by
what holds at a time (query does that).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from kgqa.language import wording
from kgqa.language.lexicon import Lexicon
from kgqa.language.question import parts
from kgqa.language.question.frame import Frame, asked_of
from kgqa.language.question.goals import Core, Goals, Placed, Scored, core_of, fits
from kgqa.language.question.items import Item, Name, Time, Word, is_word, lower
from kgqa.language.question.nested import nest
from kgqa.language.question.succession import Succession, succession
from kgqa.language.question.times import Clauses, Timing, written
from kgqa.model.question import Asked, Goal, Mention, Order, Question, Term, Unknown, When

_UNREAD = 0.25
"""What a reading that leaves a temporal clause unread may score at most."""
_DEPTH = 3
_BREADTH = 4
_NAMING = frozenset("call name know title style rename term refer".split())


@dataclass(frozen=True, slots=True)
class Readings:
    """Read items over one lexicon and one state of a base."""

    text: str
    lexicon: Lexicon
    goals: Goals

    def read(self, items: Sequence[Item], depth: int = 0) -> list[Question]:
        """Return the readings of a question, best first; ties by wording, deterministic."""
        items, unread = self._operators(items)
        asking = asked_of(items)
        found: list[Question] = []
        for core, penalty, why in self._cores(asking.core, depth):
            frame = parts.split(replace(asking, core=tuple(core), why=(*asking.why, *why)))
            found += [replace(q, score=q.score - penalty) for q in self._framed(frame)]
        found = [_negated(q, unread) for q in found] if unread else found
        unique = {(q.asked, q.goal, q.when, q.order): q for q in reversed(found)}
        return sorted(unique.values(), key=lambda q: (-q.score, q.why))[: 2 * _BREADTH]

    def _operators(self, items: Sequence[Item]) -> tuple[list[Item], tuple[str, ...]]:
        """Return the items without negations, and the words that choose by more than time.

        Those are negations, numbers, superlatives and comparisons ("never", "longest", "more
        than"): passed over, they would turn an answer into its opposite, or into another.
        """
        rest: list[Item] = []
        unread: list[str] = []
        for k, item in enumerate(items):
            word = lower(item)
            negation = word in wording.NEGATIONS and not (word == "n't" and k == 1)
            if isinstance(item, Word) and not self._relational(word):
                if negation or word.isdecimal() or _superlative(items, k) or _comparison(items, k):
                    unread.append(word)
                if negation:
                    continue
            rest.append(item)
        return rest, tuple(unread)

    def _relational(self, word: str) -> bool:
        """Tell whether a word is one that a relation of the base is called by."""
        labels = (p.words for key in self.lexicon.relations for p in self.lexicon.phrases(key))
        return any(word in words for words in labels)

    def _cores(
        self, core: Sequence[Item], depth: int
    ) -> Iterator[tuple[list[Item], float, tuple[str, ...]]]:
        """Yield the core with nested questions made into terms, once for each reading of them."""
        place = nest(core, self.lexicon) if depth < _DEPTH else None
        inner = self.read(place.inner, depth + 1)[:2] if place else []
        if place is None or not inner:
            yield list(core), 0.0, ()
            return
        for question in inner:
            start, end = core[place.start].start, core[place.end - 1].end
            said = self.text[start:end]
            named = Name(replace(question, text=said), start, end)
            rest = [*core[: place.start], named, *core[place.end :]]
            for deeper, penalty, why in self._cores(rest, depth + 1):
                lost = penalty + 0.3 * (1 - question.score)
                yield deeper, max(0.0, lost), (f"{said!r} is asked first", *why)

    def _framed(self, frame: Frame) -> list[Question]:
        whens = self._written(frame)
        found = [*self._named(frame, whens), *self._described(frame, whens)]
        sequel = succession(frame)
        if sequel is not None:
            found += self._succeeding(frame, sequel, whens)
        core = core_of(frame.core, frame.kind, frame.type)
        closed = frame.asked in {"boolean", "start", "end", "span", "duration", "times"}
        goals = self.goals.closed(core) if closed else self.goals.open(core)
        for scored in goals[:_BREADTH]:
            found.append(self._timed(frame, core, scored, whens))
        return found

    def _written(self, frame: Frame) -> tuple[When, ...]:
        """Return the filters of the dates, those inside temporal clauses included."""
        dates = list(frame.times)
        for clause in frame.clauses:
            if clause.relation in {"during", "throughout"}:
                dates += [i for i in clause.items if isinstance(i, Time)]
        whole = any(c.relation == "throughout" for c in frame.clauses) or any(
            self.text[d.span.lead : d.span.start].casefold().startswith("throughout") for d in dates
        )
        return tuple(written(d.span, self.text, whole) for d in dates)

    def _named(self, frame: Frame, whens: tuple[When, ...]) -> Iterator[Question]:
        """Yield the reading that asks for a name ("What was X called in 1915?")."""
        names = [i for i in frame.core if isinstance(i, Name)]
        words = [i for i in frame.core if isinstance(i, Word) and i.lower not in wording.FRAMING]
        naming = [w for w in words if w.lemma in _NAMING or w.lower in {"known", "called", "named"}]
        if frame.asked != "nodes" or frame.kind == "person" or len(names) != 1 or not naming:
            return
        if len(naming) < len([w for w in words if w not in frame.type]):
            return
        goal = Goal(names[0].term, (), Unknown("name"), "object")
        yield self._question(frame, Scored(goal, 0.85, "the words ask for a name"), "name", whens)

    def _described(self, frame: Frame, whens: tuple[When, ...]) -> Iterator[Question]:
        """Yield the reading that asks what is known of a person ("Who was Ada?")."""
        names = [i.term for i in frame.core if isinstance(i, Name)]
        said = [i for i in frame.core if isinstance(i, Word) and i.lower not in wording.BE]
        if frame.kind != "person" or said or len(names) != 1 or frame.clauses or frame.order:
            return
        term = names[0]
        if not isinstance(term, Mention) or fits("person", term.candidates[0].kind) != 1:
            return
        scored = Scored(Goal(term, (), Unknown(), "object"), 0.9, "all that is known of a person")
        asked: Asked = "nodes" if whens else "timeline"
        yield self._question(frame, scored, asked, whens)

    def _timed(self, frame: Frame, core: Core, scored: Scored, whens: tuple[When, ...]) -> Question:
        """Return the reading of a goal under the frame's times and order."""
        clauses = Clauses(self.goals, self.text)
        timings: list[Timing] = []
        missing = 0
        for clause in frame.clauses:
            if _only_times(clause.items):
                continue
            timing = clauses.read(clause, frame, core, scored.goal)
            if timing is None:
                missing += 1
            else:
                timings.append(timing)
        whens = (*whens, *(t.when for t in timings if t.when))
        order = next((t.order for t in timings if t.order), None)
        if order is None:
            order, whens = _plain_order(frame, whens)
        if order is None and frame.asked == "nodes" and not frame.plural:
            order = _nearest(timings)
        score = scored.score + sum(0.2 * (t.score - 1) for t in timings)
        if missing:
            score = min(score, _UNREAD)
        why = (scored.why, *(t.why for t in timings))
        goal = _inherited(scored.goal, whens)
        asked = "nodes" if frame.asked == "count" and self._literal(goal) else frame.asked
        question = self._question(frame, replace(scored, goal=goal, score=score), asked, whens)
        return replace(question, order=order, why=(*frame.why, *why, *_said(order)))

    def _literal(self, goal: Goal) -> bool:
        """Tell whether the values asked for are numbers or texts, which are not counted."""
        if not goal.relations or goal.wanted != "object":
            return False
        key = goal.relations[0].key
        if self.lexicon.relation(key).range == "literal":
            return True
        return self.goals.probe.kind_across(goal.subject, key, "subject") == "literal"

    def _question(
        self, frame: Frame, scored: Scored, asked: Asked, whens: tuple[When, ...]
    ) -> Question:
        if frame.plural and asked == "nodes" and not whens and not frame.order:
            asked = "timeline"
        return Question(
            self.text,
            asked,
            scored.goal,
            when=whens,
            unit=frame.unit,
            plural=frame.plural,
            mentions=tuple(_mentions(scored.goal)),
            score=round(min(1.0, max(0.0, scored.score)), 4),
            why=(*frame.why, scored.why),
        )

    def _succeeding(
        self, frame: Frame, sequel: Succession, whens: tuple[When, ...]
    ) -> list[Question]:
        """Return the readings of "who succeeded X as Y", "the predecessor of X"."""
        found: list[Question] = []
        for scored in self._roles(sequel)[:_BREADTH]:
            n = frame.order[1] if frame.order else 1
            order = Order(sequel.kind, n, sequel.anchor)
            question = self._question(frame, scored, "nodes", whens)
            why = (*frame.why, scored.why, *_said(order))
            found.append(replace(question, order=order, why=why))
        return found

    def _roles(self, sequel: Succession) -> list[Scored]:
        """Return the patterns in which the anchor may have had a successor."""
        anchor = sequel.anchor
        role = core_of(sequel.role, "person", ())
        if role.terms:
            named = replace(role, words=tuple(w for w in role.words if w != "office"))
            return [s for s in self.goals.open(named) if _holds(self.goals, s.goal, anchor)]
        if isinstance(anchor, Question):
            goal = anchor.goal
            return (
                [Scored(goal, anchor.score, "the pattern of the nested question")] if goal else []
            )
        held = self.goals.open(Core((Placed(anchor, "agent"),), role.words))
        found = []
        for scored in held:
            if scored.goal.wanted != "object":
                continue
            inner = Question(
                anchor.text, "nodes", scored.goal, mentions=(anchor,), score=scored.score,
                why=("what the anchor held",),
            )  # fmt: skip
            goal = Goal(Unknown("person"), scored.goal.relations, inner, "subject")
            rivalry = self._rivalry(scored.goal.relations[0].key)
            found.append(Scored(goal, scored.score + rivalry, f"successions of {scored.why}"))
        return sorted(found, key=lambda s: -s.score)

    def _rivalry(self, key: str) -> float:
        """Return how far a relation is one that holders follow each other in."""
        relation = self.lexicon.relation(key)
        if relation.max_subjects == 1:
            return 0.1
        shapes = {p.shape for p in self.lexicon.phrases(key) if not p.inverse}
        ideas = {"office", "position", "role", "post"}
        words = {w for p in self.lexicon.phrases(key) for w in p.words}
        return 0.05 if "of" in shapes or words & ideas else -0.15


def _superlative(items: Sequence[Item], k: int) -> bool:
    """Tell whether a word at k chooses by size, not by order: "longest", "most often"."""
    item = items[k]
    ordering = wording.FIRST | wording.LAST | wording.ORDINALS.keys()
    if not isinstance(item, Word) or item.tag not in {"JJS", "RBS"} or item.lower in ordering:
        return False
    after = items[k + 1] if k + 1 < len(items) else None
    return not is_word(after, "recent", "recently", "known")


def _comparison(items: Sequence[Item], k: int) -> bool:
    """Tell whether a word at k compares with what follows: "more than", "other than"."""
    if k + 1 == len(items) or not is_word(items[k + 1], "than"):
        return False
    return not is_word(items[k], "later", "earlier", "sooner")


def _negated(question: Question, unread: tuple[str, ...]) -> Question:
    """Return a reading under such words: of absence where it can be, else not to answer by."""
    why = f"{', '.join(unread)!r}: "
    timeless = question.order is None and (question.asked == "boolean" or not question.when)
    if (
        timeless
        and question.asked in {"span", "duration", "boolean"}
        and set(unread) <= (wording.NOBODY if question.asked == "boolean" else wording.NEGATIONS)
    ):
        return replace(question, absent=True, why=(*question.why, why + "when nothing holds"))
    score = min(question.score, _UNREAD)
    return replace(question, score=score, why=(*question.why, why + "not read"))


def _only_times(items: Sequence[Item]) -> bool:
    """Tell whether a clause is a date with nothing to it ("throughout the whole of 1905")."""
    rest = [i for i in items if not isinstance(i, Time)]
    return len(rest) < len(items) and all(
        isinstance(i, Word) and i.lower in wording.FRAMING for i in rest
    )


def _holds(goals: Goals, goal: Goal, anchor: Mention | Question) -> bool:
    relation = goal.relations[0].key
    if goal.wanted == "subject":
        return goals.probe.holds(relation, anchor, goal.object)
    return goals.probe.holds(relation, goal.subject, anchor)


def _plain_order(frame: Frame, whens: tuple[When, ...]) -> tuple[Order | None, tuple[When, ...]]:
    """Return the order of a question without an anchor; next and previous count from its time."""
    if frame.order is None:
        nearest = frame.near and len(whens) == 1
        if nearest and whens[0].relation == "before":
            return Order("last"), whens
        if nearest and whens[0].relation == "after":
            return Order("first"), whens
        return None, whens
    kind, n = frame.order
    if kind == "next":
        return Order("first" if n == 1 else "nth", n), _turned(whens, "after")
    if kind == "previous":
        return (Order("last", n), _turned(whens, "before")) if whens else (Order("last", 2), whens)
    return Order(kind, n), whens


def _nearest(timings: Sequence[Timing]) -> Order | None:
    """Return the neighbour that one answer before or after a fact means (DESIGN 1)."""
    relations = {t.when.relation for t in timings if t.when and not t.when.moment.span}
    if relations == {"before"}:
        return Order("last")
    return Order("first") if relations == {"after"} else None


def _turned(whens: tuple[When, ...], relation: OneOf["after", "before"]) -> tuple[When, ...]:
    return tuple(replace(w, relation=relation) if w.relation == "at" else w for w in whens)


def _said(order: Order | None) -> tuple[str, ...]:
    if order is None:
        return ()
    anchor = f" from {order.anchor.text!r}" if order.anchor else ""
    return (f"order: {order.kind} {order.n}{anchor}",)


def _inherited(goal: Goal, whens: tuple[When, ...]) -> Goal:
    """Ask a nested question that names no time at the time of the question around it."""
    dated = tuple(w for w in whens if w.moment.span)

    def dating(term: Term) -> Term:
        if not isinstance(term, Question) or term.when or term.order:
            return term
        return replace(term, when=dated)

    return replace(goal, subject=dating(goal.subject), object=dating(goal.object))


def _mentions(goal: Goal) -> Iterator[Mention]:
    for side in (goal.subject, goal.object):
        if isinstance(side, Mention):
            yield side
        elif isinstance(side, Question):
            yield from side.mentions
