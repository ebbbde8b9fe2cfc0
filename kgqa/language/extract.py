"""Prose to claims: dates put aside, sentences parsed, clauses read, pronouns resolved.

Belongs here: one document from chunks to claims, in order. Must not: the parser (nlp), grammar
(clauses), what verbs mean (frames), linking to nodes.

Claims name nodes by label alone: a recogniser is too often wrong about what sort of thing a name
is, and a kind that is wrong would keep the claim from the declared node that has that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kgqa.language.aside import Aside, put_aside
from kgqa.language.clauses import between, clauses
from kgqa.language.frames import Leaving, Statement, read
from kgqa.language.nlp import parse, parse_all
from kgqa.language.referents import Discourse, Referent
from kgqa.model.things import Chunk, Claim, Document, Literal, Ref, Span
from kgqa.temporal import DateSpan
from kgqa.temporal.interval import END, Interval

if TYPE_CHECKING:
    from kgqa.language.nlp import Doc
    from kgqa.language.nlp import Span as Sentence

__all__ = ["SpacyExtractor", "parse"]


class SpacyExtractor:
    """Read claims by rules over spaCy's parse; deterministic, English only, no model of language.

    A claim's validity is what its own clause says; ``reference`` is where "last year" counts
    from. Confidence is below 1, lower where a pronoun stood for a name or no date was given.
    """

    def __call__(
        self, document: Document, chunks: Sequence[Chunk], reference: Interval | None
    ) -> Iterator[Claim]:
        """Yield the claims of a document's chunks, in order."""
        discourse = Discourse.of(document.title, document.text)
        lines = [line for chunk in chunks for line in _lines(chunk, reference)]
        section: tuple[str, ...] | None = None
        for line, doc in zip(lines, parse_all(line.text for line in lines), strict=True):
            if line.chunk.section != section:
                discourse.section()
                section = line.chunk.section
            yield from _claims(line, doc, discourse)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a chunk, dates put aside: a heading must not be parsed into what follows it."""

    chunk: Chunk
    aside: Aside
    offset: int
    text: str

    @property
    def dates(self) -> dict[int, DateSpan]:
        within = range(self.offset, self.offset + len(self.text))
        return {at - self.offset: span for at, span in self.aside.dates.items() if at in within}

    def span(self, sentence: Sentence) -> Span:
        """Return where a sentence stands in the document's text, in bytes."""
        text = self.chunk.text
        first = self.aside.original(self.offset + sentence.start_char)
        last = self.aside.original(self.offset + sentence.end_char)
        start = self.chunk.span.start + len(text[:first].encode())
        return Span(start, start + len(text[first:last].encode()))


def _lines(chunk: Chunk, reference: Interval | None) -> Iterator[_Line]:
    aside = put_aside(chunk.text, reference)
    offset = 0
    for text in aside.text.split("\n"):
        if text.strip():
            yield _Line(chunk, aside, offset, text)
        offset += len(text) + 1


def _claims(line: _Line, doc: Doc, discourse: Discourse) -> list[Claim]:
    roles: dict[str, int] = {}  # what each subject last became, as a place in ``claims``
    claims: list[Claim] = []
    dates = line.dates
    for sentence in doc.sents:
        subject = _subject(sentence, discourse)
        discourse.about(subject)
        for clause in clauses(sentence, dates):
            for said in read(clause, discourse):
                if isinstance(said, Leaving):
                    _leave(claims, roles.pop(said.subject.name, None), said)
                    continue
                if said.of_person:
                    discourse.person(said.subject)
                claims.append(_claim(said, line.chunk, line.span(sentence)))
                if said.role:
                    roles[said.subject.name] = len(claims) - 1
    once = {(c.subject, c.relation, c.object, c.valid.bounds, c.span): c for c in claims}
    return list(once.values())


def _subject(sentence: Sentence, discourse: Discourse) -> Referent | None:
    for token in sentence.root.children:
        if token.dep_ in ("nsubj", "nsubjpass"):
            return discourse.refer(token) or discourse.pronoun(token)
    return None


def _leave(claims: list[Claim], place: int | None, said: Leaving) -> None:
    """End the role that a subject last began, where its end is not known."""
    if place is not None and claims[place].valid.le == END:
        whole = between(claims[place].valid, said.valid)
        if whole is not None:
            claims[place] = replace(claims[place], valid=whole)


def _claim(said: Statement, chunk: Chunk, span: Span) -> Claim:
    return Claim(
        subject=Ref(said.subject.name),
        relation=said.relation,
        object=said.object if isinstance(said.object, Literal) else Ref(said.object.name),
        valid=said.valid,
        chunk=chunk.id,
        span=span,
        confidence=said.confidence,
    )
