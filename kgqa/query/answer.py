"""From a question to an Answer, and from a text to evidence: the query path, stage by stage.

Belongs here: analyse, choose the best supported reading, compose, check citations, abstain.
Must not: SQL, models, surfaces. Pure over one ``Reader`` state and an ``Embedder``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from kgqa.errors import FaultError
from kgqa.language.lexicon import Lexicon
from kgqa.language.question import analyse
from kgqa.model.answer import (
    Answer,
    AnswerItem,
    AskOptions,
    Confidence,
    Evidence,
    Reason,
    Scope,
    SearchResult,
    Step,
)  # fmt: skip
from kgqa.model.ids import name_key
from kgqa.model.question import Question
from kgqa.model.things import Fact
from kgqa.protocols import Embedder, Pattern, Reader
from kgqa.query.compose import Composed, answer_text, compose, evidence
from kgqa.query.conflicts import conflicts
from kgqa.query.display import Display
from kgqa.query.evaluate import Evaluator, Found
from kgqa.query.patterns import Facts
from kgqa.query.retrieve import Request, Search, digest
from kgqa.query.scope import scope_of
from kgqa.query.world import World
from kgqa.temporal.calendars import granule
from kgqa.temporal.interval import Certainty

_READINGS = 8
"""How many readings of a question are evaluated, best first."""
_LEAST = 0.5
"""A reading scored below this explains too few of the question's words to answer by."""
_CITED = re.compile(r"\[(\d+)\]")
_WORDS: dict[str, str] = {
    "empty_kb": "The knowledge base is empty.",
    "no_match": "I could not find evidence for this.",
    "below_threshold": "I could not find evidence for this: nothing was close enough.",
    "outside_as_of": "The time asked about is not before the as_of time; nothing later is shown.",
    "ambiguous_name": "A name in the question means several things; say which.",
    "unknown_name": "No name in the question is known here.",
    "nothing_recorded_then": "Nothing is recorded for that time.",
    "not_understood": "The question was not understood, and no evidence was found.",
}


def ask(reader: Reader, embedder: Embedder | None, text: str, options: AskOptions) -> Answer:
    """Answer a question from what holds under the scope; abstaining is an Answer too.

    Raises InputError for a question or a time that cannot be read.
    """
    return _Run(reader, embedder, text, options).answer()


def explain(reader: Reader, embedder: Embedder | None, text: str, options: AskOptions) -> Answer:
    """Answer as ``ask`` does, with the whole trace and whole intervals.

    Shows what ``as_of`` hides; only for those who may read the whole base.
    """
    return _Run(reader, embedder, text, options, whole=True).answer()


def search(
    reader: Reader, embedder: Embedder | None, text: str, k: int, options: AskOptions
) -> SearchResult:
    """Return the best ``k`` items of evidence that hold under the scope, without an answer."""
    run = _Run(reader, embedder, text, replace(options, k=k))
    return run.search()


class _Run:
    """Carry one question through its stages; keeps the trace."""

    def __init__(
        self,
        reader: Reader,
        embedder: Embedder | None,
        text: str,
        options: AskOptions,
        *,
        whole: bool = False,
    ) -> None:
        self.reader, self.embedder, self.text, self.options = reader, embedder, text, options
        self.whole = whole
        self.scope = scope_of(reader, options)
        self.trace: list[Step] = []
        self.errors: list[dict[str, Any]] = []

    def answer(self) -> Answer:
        """Return the answer, computed from the graph or else the digest of evidence."""
        found = self._read()
        if found is not None and found.outside:
            return self._abstain("outside_as_of")
        if found is not None and found.rivals:
            return self._ambiguous(found)
        if found is not None and self.options.synthesis == "graph":
            computed = self._computed(found)
            if computed is not None:
                return computed
        return self._digest(found)

    def search(self) -> SearchResult:
        """Return evidence for the text, read as a question where it can be."""
        found = self._read()
        if found is not None and found.outside:
            return SearchResult(self.text, self.scope, (), "outside_as_of", (), tuple(self.trace))
        items = self._retrieve(found)
        reason = None if items else self._nothing(found)
        scope = found.scope if found else self.scope
        errors, trace = tuple(self.errors), tuple(self.trace)
        return SearchResult(self.text, scope, tuple(items), reason, errors, trace)

    # -- stages ----------------------------------------------------------------------------

    def _read(self) -> Found | None:
        """Analyse the question and return what its best supported reading found."""
        start = time.perf_counter()
        readings = self._analyse()
        self._step("analyse", start, readings=[_named(q) for q in readings[: self._kept]])
        start = time.perf_counter()
        evaluator = Evaluator(self.reader, self.scope)
        likely = [q for q in readings[:_READINGS] if q.goal and q.score >= _LEAST]
        tried = [evaluator.evaluate(q) for q in likely]
        best = max(tried, key=_worth, default=Found(readings[0], self.scope) if readings else None)
        detail: dict[str, Any] = {"tried": len(tried)}
        if best is not None:
            detail |= {"chosen": _named(best.question), "terms": len(best.terms)}
            detail["support"] = best.support
            if self.whole:
                detail["losers"] = [_named(f.question) for f in tried if f is not best]
                detail["left_out_by_time"] = self._left_out(best)
        self._step("operators", start, **detail)
        return best

    @property
    def _kept(self) -> int:
        return _READINGS if self.whole else 3

    def _analyse(self) -> list[Question]:
        as_of = self.scope.as_of
        today = granule(self.scope.now, "day")
        return analyse(
            self.text,
            Lexicon.of(self.reader.relations().values()),
            cast(Reader, World(self.reader, self.scope)),
            reference=as_of.span if as_of else today,
            nodes=self.options.nodes,
        )

    def _left_out(self, found: Found) -> int:
        """Count the facts of the pattern that time kept out."""
        if found.reading is None:
            return 0
        facts = Facts(self.reader, found.scope, self.reader.relations())
        shown = {f.id for t in found.terms for f in t.facts}
        return max(facts.count(found.reading) - len(shown), 0)

    def _display(self, scope: Scope) -> Display:
        return Display(self.reader, scope, whole=self.whole)

    def _computed(self, found: Found) -> Answer | None:
        """Return the answer computed from the graph, or None if it has none."""
        question = found.question
        counted = question.asked in ("count", "times", "boolean") and found.support == 1
        if found.support < 2 and not counted:
            return None
        start = time.perf_counter()
        display = self._display(found.scope)
        display.fetch_facts(f for t in (*found.terms, *found.joined) for f in t.facts)
        composed = compose(found, display)
        cited = evidence(found.terms, display)
        cited += [e for e in evidence(found.joined, display) if e not in cited]
        numbers = {e.label: i for i, e in reversed(list(enumerate(cited, 1)))}
        facts = [e.item for e in cited if isinstance(e.item, Fact)]
        items = _distinct(composed.items)
        answer = Answer(
            question=self.text,
            scope=found.scope,
            answers=tuple(item.label for item in items),
            answer_items=items,
            text="\n".join([answer_text(composed, numbers), *_notes(found, display)]),
            citations=display.citations(cited),
            evidence=tuple(cited),
            confidence=_confidence(found, composed),
            reason=composed.reason,
            conflicts=conflicts(facts, self.reader.relations()),
            answered_from="graph",
        )
        self._step("compose", start, answers=len(answer.answers), cited=len(cited))
        self._step("route", start, form=self._form, answered_from="graph")
        self._check(answer)
        return replace(answer, trace=tuple(self.trace))

    def _ambiguous(self, found: Found) -> Answer:
        display = self._display(found.scope)
        choices = tuple(display.choice(c.node) for c in found.rivals)
        answer = self._abstain("ambiguous_name", found.scope)
        lines = [
            f"{c.label} ({c.kind or 'no kind'}, {c.valid or 'undated'}): {c.id}" for c in choices
        ]
        return replace(answer, choices=choices, text="\n".join([answer.text, *lines]))

    def _digest(self, found: Found | None) -> Answer:
        """Return the digest of what was retrieved, or abstain."""
        scope = found.scope if found else self.scope
        items = self._retrieve(found)
        if self.options.synthesis == "graph":
            items = [e for e in items if e.label.startswith("chunk:") and "context" not in e.flags]
        if not items:
            return self._abstain(self._nothing(found), scope)
        display = self._display(scope)
        known = found is not None and found.support == 1
        passages = all(e.label.startswith("chunk:") for e in items)
        answer = Answer(
            question=self.text,
            scope=scope,
            text=digest(items, display),
            citations=display.citations(items),
            evidence=tuple(items),
            confidence="low",
            reason="nothing_recorded_then" if known else None,
            answered_from="passages" if passages else "both",
        )
        self._step("route", time.perf_counter(), form=self._form, answered_from="passages")
        self._check(answer)
        return replace(answer, errors=tuple(self.errors), trace=tuple(self.trace))

    @property
    def _form(self) -> str:
        return str(self.reader.meta().get("form", "hybrid"))

    def _retrieve(self, found: Found | None) -> list[Evidence]:
        scope = found.scope if found else self.scope
        display = self._display(scope)
        run = Search(self.reader, self.embedder, scope, display)
        facts: dict[str, tuple[Fact, Certainty]] = {}
        for term in found.terms if found else ():
            facts.update((f.id, (f, term.certainty)) for f in term.facts)
        request = Request(
            text=self.text,
            k=self.options.k,
            mode=self.options.mode or self.reader.meta().get("mode", "deep"),
            nodes=_nodes(found),
            facts=tuple(facts.values()),
            missing=found is not None and found.support == 1,
        )
        items = run.run(request)
        self.trace += run.steps
        self.errors += run.errors
        return items

    # -- endings ---------------------------------------------------------------------------

    def _nothing(self, found: Found | None) -> Reason:
        """Return why there is no answer. Nothing in it depends on what came after the as_of."""
        if found is not None and found.support == 1:
            return "nothing_recorded_then"
        known_at = self.scope.known_at
        one = Pattern(known_at=known_at, limit=1)
        if not (
            self.reader.match(one)
            or self.reader.nodes(one)
            or self.reader.documents(1, None, known_at)
        ):
            return "empty_kb"
        if any(s.detail.get("below") for s in self.trace):
            return "below_threshold"
        if found is None or found.question.goal is None:
            return "not_understood"
        return "no_match" if found.question.mentions else "unknown_name"

    def _abstain(self, reason: Reason, scope: Scope | None = None) -> Answer:
        return Answer(
            question=self.text,
            scope=scope or self.scope,
            text=_WORDS.get(reason, _WORDS["no_match"]),
            abstained=True,
            reason=reason,
            errors=tuple(self.errors),
            trace=tuple(self.trace),
        )

    def _check(self, answer: Answer) -> None:
        """Check every citation against the evidence and the store; a wrong one is our fault."""
        start = time.perf_counter()
        numbers = {c.number for c in answer.citations}
        cited = {int(n) for n in _CITED.findall(answer.text)} if answer.answers else set()
        horizon = self.scope.horizon
        stored = self.reader.get([e.label for e in answer.evidence], self.scope.known_at)
        wrong = [f"[{n}]" for n in cited - numbers]
        wrong += [e.label for e in answer.evidence if e.label not in stored]
        if horizon is not None:
            wrong += [e.label for e in answer.evidence if e.valid.es >= horizon]
        if wrong:
            raise FaultError(
                f"citations without evidence: {wrong!r}",
                code="query.bad_citation",
                hint="please report this, with the output of kgqa explain",
            )
        self._step("check", start, citations=len(numbers))

    def _step(self, name: str, start: float, **detail: Any) -> None:
        self.trace.append(Step(name, round((time.perf_counter() - start) * 1000, 3), detail))


def _worth(found: Found) -> tuple[bool, float, int]:
    """Rank what readings found: the base knows the pattern, then the wording, then what holds.

    A better wording of which nothing holds then beats a worse one of which something does:
    a vacancy is not filled with the holder of another office.
    """
    supported = bool(found.support or found.rivals or found.outside)
    return supported, found.question.score, found.support


def _named(question: Question) -> dict[str, Any]:
    """Return a reading as the trace prints it."""
    goal = question.goal
    return {
        "asked": question.asked,
        "relations": [g.key for g in goal.relations] if goal else [],
        "mentions": [m.text for m in question.mentions],
        "when": [f"{w.relation} {w.moment.text}" for w in question.when],
        "order": question.order.kind if question.order else None,
        "score": round(question.score, 3),
        "why": list(question.why),
    }


def _nodes(found: Found | None) -> tuple[str, ...]:
    """Return the nodes that the chosen reading links, or each name's best if none was chosen."""
    if found is None:
        return ()
    if found.reading is not None:
        return tuple(dict.fromkeys(c.node for c in found.reading.candidates))
    best = [m.candidates[0].node for m in found.question.mentions if m.candidates]
    return tuple(dict.fromkeys(best))


def _notes(found: Found, display: Display) -> list[str]:
    """Return what was assumed or is odd, in brackets.

    A name as asked, a subject that did not exist then, other meanings that do not fit.
    """
    notes = []
    meant = {c.node for c in found.reading.candidates} if found.reading else set()
    for mention in found.question.mentions:
        for candidate in mention.candidates:
            shown = display.label(candidate.node)
            if candidate.node in meant and name_key(shown) not in name_key(mention.text):
                notes.append(f"({shown}: asked as {mention.text})")
            if candidate.node in meant and (existed := display.outside(candidate.node)):
                notes.append(f"({shown} {existed})")
    if found.passed_over:
        others = [f"{display.label(c.node)} {c.node}" for c in found.passed_over]
        notes.append(f"(other meanings that do not fit: {', '.join(others)})")
    return notes


def _distinct(items: Iterable[AnswerItem]) -> tuple[AnswerItem, ...]:
    """Return one item for each label, in order; namesakes are noted on the first of them."""
    first: dict[str, AnswerItem] = {}
    for item in items:
        known = first.setdefault(item.label, item)
        if known is not item and item.id != known.id:
            parts = (known.note, f"also {item.id}, {item.valid or 'undated'}")
            first[item.label] = replace(known, note="; ".join(p for p in parts if p))
    return tuple(first.values())


def _confidence(found: Found, composed: Composed) -> Confidence:
    """Return high if names and dates are exact, low if a name is a guess or nothing is computed."""
    candidates: Sequence[Any] = found.reading.candidates if found.reading else ()
    if not composed.items:
        return "low"
    if any(c.why in ("fuzzy", "partial") for c in candidates):
        return "low" if any(c.why == "fuzzy" for c in candidates) else "medium"
    sure = all(i.certainty == "definite" for i in composed.items)
    return "high" if sure and composed.reason is None else "medium"
