"""Results as lines for people at a terminal, and the exit status that they mean.

Belongs here: words and order. Must not: computing anything; control characters of a document
never reach the terminal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import singledispatch
from pathlib import Path
from typing import Any

from kgqa.doctor import Check
from kgqa.ingest.index import IndexReport
from kgqa.ingest.merge import Proposal
from kgqa.ingest.report import LoadReport
from kgqa.model.answer import Answer, AnswerItem, Citation, SearchResult
from kgqa.model.things import Document, Fact, Failure, Node, Relation
from kgqa.protocols import Problem, Receipt
from kgqa.query.history import Diff, Line, NodeHistory, NodeLine, Snapshot, When
from kgqa.store.moving import CopyReport
from kgqa.store.neo4j.admin import AdminExport
from kgqa.store.neo4j.browser import View
from kgqa.surfaces import moved
from kgqa.tasks import BatchReport, Demo, Explained, Made, Verified
from kgqa.temporal import format as format_validity

NOTHING = "nothing"


def lines(result: Any) -> Iterator[str]:
    """Yield a result's lines, each safe to print."""
    for line in render(result):
        for part in line.split("\n"):
            yield clean(part)


def clean(text: str) -> str:
    """Return text without characters that steer a terminal or turn the order of a line.

    >>> clean("a\\x1b[31mb\\tc")
    'a[31mb\\tc'
    """
    return "".join(c for c in text if c == "\t" or not _steers(c))


def _steers(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or character in _TURNING


_TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@singledispatch
def status(result: Any) -> int:
    """Return the exit status that a result means: 2 where something in it failed."""
    return 0


@status.register
def _(result: LoadReport) -> int:
    return 2 if result.counts.get("failed") else 0


@status.register
def _(result: IndexReport) -> int:
    return 2 if result.failed else 0


@status.register
def _(result: BatchReport) -> int:
    return 2 if result.failed else 0


@status.register
def _(result: Verified) -> int:
    return 70 if result.problems else 0


@status.register
def _(result: CopyReport) -> int:
    return 4 if result.differing else 0


@status.register
def _(result: list) -> int:  # type: ignore[type-arg]
    return 70 if any(isinstance(i, Check) and not i.ok for i in result) else 0


@singledispatch
def render(result: Any) -> Iterable[str]:
    """Yield a result's lines."""
    return [str(result)]


@render.register
def _(result: None) -> Iterable[str]:
    return []


@render.register
def _(result: list) -> Iterable[str]:  # type: ignore[type-arg]
    if not result:
        yield NOTHING
    for item in result:
        yield from render(item)


@render.register
def _(result: dict) -> Iterable[str]:  # type: ignore[type-arg]
    width = max((len(str(k)) for k in result), default=0)
    for key, value in result.items():
        yield f"{key:<{width}}  {value}"


@render.register
def _(result: Path) -> Iterable[str]:
    return [] if str(result) == "-" else [f"wrote {result}"]


@render.register
def _(result: Answer) -> Iterable[str]:
    if result.answered_from == "passages":
        yield "No recorded fact answers this; the passages nearest to it:"
    yield result.text or "no answer"
    if result.choices:
        yield f"settle it with --node, such as: --node NAME={result.choices[0].id}"
    if result.citations:
        yield ""
    for citation in result.citations:
        yield f"[{citation.number}] {_cited(citation)}  {citation.label}"
        for source in citation.sources:
            yield f"    from {_place(source)}"
    yield ""
    yield _footer(result)


def _noted(item: AnswerItem) -> str:
    return f"{item.label} ({item.note})" if item.note else item.label


def _cited(citation: Citation) -> str:
    when = [] if citation.valid in citation.text else [citation.valid]
    marks = [*when, *(["possible"] if citation.certainty == "possible" else [])]
    return citation.text + (f" ({', '.join(marks)})" if marks else "")


def _place(source: dict[str, Any]) -> str:
    where = [str(source.get("path") or source["document"])]
    return ", ".join(where + [f"{k} {source[k]}" for k in ("pages", "line") if source.get(k)])


@render.register
def _(result: Explained) -> Iterable[str]:
    yield from render(result.answer)
    for step in result.answer.trace:
        yield f"{step.name}  {step.ms:.1f} ms"
        for key, value in step.detail.items():
            many = value if isinstance(value, list) else [value]
            yield from (f"    {key}: {_parts(one)}" for one in many)


def _parts(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{k} {_parts(v)}" for k, v in value.items() if v not in (None, []))


def _footer(result: Answer) -> str:
    scope = result.scope
    parts = [f"confidence {result.confidence}"]
    if result.reason:
        parts.append(f"reason {result.reason}")
    parts.append(f"as of {scope.as_of.input}" if scope.as_of else "whole base")
    if scope.time_text:
        parts.append(f"time asked {scope.time_text}")
    if scope.known_at is not None:
        parts.append(f"known at revision {scope.known_at}")
    parts.append(f"from {result.answered_from}")
    return "; ".join(parts)


@render.register
def _(result: SearchResult) -> Iterable[str]:
    if not result.items:
        yield f"nothing found ({result.reason})" if result.reason else "nothing found"
    for number, item in enumerate(result.items, 1):
        when = "" if item.when in item.text else f" ({item.when})"
        flags = f" [{', '.join(item.flags)}]" if item.flags else ""
        said = " ".join(item.text.split())
        yield f"{number:>3}. {item.score:.2f}  {said}{when}{flags}  {item.label}"


@render.register
def _(result: Line) -> Iterable[str]:
    mark = "" if result.certainty == "definite" else "  (possible)"
    return [f"{result.valid:<24}  {result.subject} | {result.relation} | {result.object}{mark}"]


@render.register
def _(result: NodeLine) -> Iterable[str]:
    extra = ", ".join(e for e in (result.kind, result.existence) if e)
    return [f"{result.id}  {result.label}" + (f"  ({extra})" if extra else "")]


@render.register
def _(result: NodeHistory) -> Iterable[str]:
    yield from render(result.node)
    yield from (f"  also {label}, {valid}" for label, valid in result.names)
    yield from render(list(result.lines))


@render.register
def _(result: Snapshot) -> Iterable[str]:
    yield from render(list(result.lines))
    yield f"{len(result.lines)} facts, {len(result.nodes)} nodes"


@render.register
def _(result: Diff) -> Iterable[str]:
    changed = False
    for sign, lines_ in (("-", result.gone), ("+", result.came)):
        for line in lines_:
            changed = True
            yield from (f"{sign} {shown}" for shown in render(line))
    for sign, nodes in (("-", result.gone_nodes), ("+", result.came_nodes)):
        for node in nodes:
            changed = True
            yield from (f"{sign} node {shown}" for shown in render(node))
    if not changed:
        yield NOTHING


@render.register
def _(result: When) -> Iterable[str]:
    yield f"{result.subject} | {result.relation} | {result.object}"
    yield from render(list(result.lines))


@render.register
def _(result: LoadReport) -> Iterable[str]:
    verb = "would load" if result.dry_run else "loaded"
    shown = {k: n for k, n in result.counts.items() if n}
    yield f"{verb}: " + (", ".join(f"{n} {k}" for k, n in shown.items()) or NOTHING)
    yield from (f"unchanged: {s}" for s in result.skipped)
    yield from (f"ignored (unknown format): {s}" for s in result.ignored)
    yield from (f"ambiguous name, not linked: {s}" for s in result.ambiguous)
    yield from (f"conflict: {s}" for s in result.conflicts)
    for failure in result.failures:
        yield from render(failure)
    if result.failures and not result.dry_run:
        yield "mend them and load again, or see: kgqa failures KB; kgqa load KB --retry PATH"


@render.register
def _(result: Failure) -> Iterable[str]:
    where = "" if result.unit in result.message else f"{result.unit}: "
    return [f"failed: {where}{result.message}"]


@render.register
def _(result: IndexReport) -> Iterable[str]:
    yield (
        f"indexed: {result.embedded} embedded, {result.skipped} unchanged, "
        f"{len(result.failed)} failed, in {result.seconds:.1f} s, at revision {result.revision}"
    )
    yield from (f"failed: {item}: {why}" for item, why in result.failed)


@render.register
def _(result: Receipt) -> Iterable[str]:
    counts = ", ".join(f"{n} {k}" for k, n in result.counts.items() if n)
    if not result.changed:
        yield f"would change: {counts}" if counts else "nothing to change"
    else:
        yield f"revision {result.revision}" + (f": {counts}" if counts else "")
    yield from (f"ambiguous name, not linked: {s}" for s in result.ambiguous)


@render.register
def _(result: Node) -> Iterable[str]:
    existed = "; ".join(format_validity(v) for v in result.existence)
    names = ", ".join(a.label for a in result.aliases)
    extra = [f"({result.kind})" if result.kind else "", f"also {names}" if names else "", existed]
    return [f"{result.id}  {result.label} " + "  ".join(e for e in extra if e)]


@render.register
def _(result: Document) -> Iterable[str]:
    return [f"{result.id}  {result.path}  {result.title}"]


@render.register
def _(result: Relation) -> Iterable[str]:
    bounds = [
        f"{name} {value}"
        for name, value in (
            ("max_objects", result.max_objects),
            ("max_subjects", result.max_subjects),
            ("range", result.range),
            ("inverse", result.inverse),
        )
        if value
    ]
    return [f"{result.key}  " + ", ".join([*result.synonyms, *bounds])]


@render.register
def _(result: Fact) -> Iterable[str]:
    return [
        f"{result.subject} | {result.relation} | {result.object} | {format_validity(result.valid)}"
    ]


@render.register
def _(result: Problem) -> Iterable[str]:
    return [f"{result.part}: {result.id}: {result.message}"]


@render.register
def _(result: Verified) -> Iterable[str]:
    return render(list(result.problems)) if result.problems else ["all parts agree"]


@render.register
def _(result: Made) -> Iterable[str]:
    return ["made an empty base; next: kgqa load KB PATH, kgqa index KB"]


@render.register
def _(result: Proposal) -> Iterable[str]:
    return [
        f"{result.score:.2f}  {result.loser} ({result.loser_label}) -> "
        f"{result.winner} ({result.winner_label}): {result.why}"
    ]


@render.register
def _(result: BatchReport) -> Iterable[str]:
    yield (
        f"answered {result.answered}, kept {result.resumed} from before, abstained "
        f"{result.abstained}, failed {result.failed}, in {result.seconds:.1f} s: {result.output}"
    )


render.register(CopyReport)(moved.copied)
render.register(AdminExport)(moved.exported)


@render.register
def _(result: View) -> Iterable[str]:
    return [result.link, "", f"once in each browser: {result.first}", "", result.query]


@render.register
def _(result: Check) -> Iterable[str]:
    hint = f" -> {result.hint}" if result.hint else ""
    return [f"{'ok ' if result.ok else 'BAD'}  {result.name}: {result.found}{hint}"]


@render.register
def _(result: Demo) -> Iterable[str]:
    counts = result.stats
    yield (
        f"loaded {counts['documents']} documents and tables: {counts['facts']} facts, "
        f"{counts['nodes']} nodes, {counts['chunks']} passages"
    )
    for shown in result.shown:
        yield ""
        yield f"Q: {shown.question}" + (f"  (as of {shown.as_of})" if shown.as_of else "")
        answers = ", ".join(_noted(i) for i in shown.answer.answer_items)
        yield f"A: {answers or shown.answer.text or 'nothing recorded then'}"
        for c in shown.answer.citations[:3]:
            places = "; ".join(Path(_place(s)).name for s in c.sources)
            place = f"  ({places})" if places else ""
            yield f"   [{c.number}] {_cited(c)}{place}"
        more = len(shown.answer.citations) - 3
        if more > 0:
            yield f"   and {more} more"
    yield ""
    yield f"The base stays here: {result.path}"
    yield f'Next: kgqa ask {result.path} "Who was consul in 59 BC?"'
