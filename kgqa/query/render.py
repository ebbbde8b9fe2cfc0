"""Results as plain JSON values: strings for times, never integers for instants.

Belongs here: the JSON form of answers, searches, histories and scopes. Must not: deciding
what may be shown; results hold that already.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kgqa.model.answer import Answer, Evidence, Scope, SearchResult, Step
from kgqa.model.things import Chunk
from kgqa.query.history import Diff, NodeHistory, Snapshot, When
from kgqa.temporal import format_instant
from kgqa.temporal.calendars import alignment
from kgqa.temporal.interval import BEGIN, END, Instant, Interval, Numbering


def to_json(
    result: Answer | SearchResult | NodeHistory | Snapshot | Diff | When, *, trace: bool = False
) -> dict[str, Any]:
    """Return a result as JSON values; ``trace`` adds the stages of a run."""
    if isinstance(result, Answer | SearchResult):
        shown = _answer(result) if isinstance(result, Answer) else _search(result)
        return shown | {"trace": [_step(s) for s in result.trace]} if trace else shown
    if isinstance(result, Diff):
        return {
            "start": scope_json(result.start),
            "end": scope_json(result.end),
            **{
                name: [_plain(line) for line in getattr(result, name)]
                for name in ("gone", "came", "gone_nodes", "came_nodes")
            },
        }
    shown = {"scope": scope_json(result.scope), "lines": [_plain(line) for line in result.lines]}
    if isinstance(result, Snapshot):
        return shown | {"nodes": [_plain(node) for node in result.nodes]}
    if isinstance(result, When):
        return shown | {
            "subject": result.subject, "relation": result.relation, "object": result.object,
        }  # fmt: skip
    names = [{"label": label, "valid": valid} for label, valid in result.names]
    return shown | {"node": _plain(result.node), "names": names}


def scope_json(scope: Scope) -> dict[str, Any]:
    """Return what bounded a result, with the as_of as it was understood (TM-09)."""
    as_of = None
    if scope.as_of:
        as_of = {
            "input": scope.as_of.input,
            "numbering": scope.as_of.numbering,
            "calendar": _CALENDARS[scope.as_of.calendar],
            "precision": scope.as_of.precision,
            **_span(scope.as_of.span, scope.numbering),
        }
        if scope.as_of.zone_assumed:
            as_of["zone"] = "assumed"
    asked = None
    if scope.time:
        asked = {"input": scope.time_text, **_span(scope.time, scope.numbering)}
    return {
        "as_of": as_of,
        "as_of_match": scope.as_of_match,
        "time": asked,
        "known_at": scope.known_at,
        "revision": scope.revision,
        "undated": scope.undated,
    }


_CALENDARS = {"gregorian": "proleptic_gregorian", "julian": "julian"}


def _span(span: Interval, numbering: Numbering) -> dict[str, str]:
    """Return both bounds; the end is exclusive, ``..`` is open."""
    return {"start": _instant(span.start, numbering), "end": _instant(span.end, numbering)}


def _instant(t: Instant, numbering: Numbering) -> str:
    if t in (BEGIN, END):
        return ".."
    coarse = alignment(t) in ("year", "month")
    return format_instant(t, "day" if coarse else None, numbering=numbering)


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "answers": list(answer.answers),
        "answer_items": [_plain(item) for item in answer.answer_items],
        "text": answer.text,
        "scope": scope_json(answer.scope),
        "citations": [_plain(c) for c in answer.citations],
        "evidence": [evidence_json(e) for e in answer.evidence],
        "confidence": answer.confidence,
        "abstained": answer.abstained,
        "reason": answer.reason,
        "choices": [_plain(c) for c in answer.choices],
        "conflicts": [list(c) for c in answer.conflicts],
        "answered_from": answer.answered_from,
        "errors": list(answer.errors),
        "kb_revision": answer.kb_revision,
    }


def _search(result: SearchResult) -> dict[str, Any]:
    return {
        "text": result.text,
        "items": [evidence_json(e) for e in result.items],
        "scope": scope_json(result.scope),
        "reason": result.reason,
        "errors": list(result.errors),
        "kb_revision": result.scope.revision,
    }


def _plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as JSON values: tuples are lists."""
    return {
        name: list(item) if isinstance(item, tuple) else item
        for name, item in asdict(value).items()
    }


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """Return one item of evidence."""
    shown = {
        "label": evidence.label,
        "text": evidence.text,
        "score": evidence.score,
        "valid": evidence.when,
        "certainty": evidence.certainty,
        "found_by": list(evidence.found_by),
        "path": list(evidence.path),
        "flags": list(evidence.flags),
    }
    if isinstance(evidence.item, Chunk):
        shown["document"] = evidence.item.document
    return shown


def _step(step: Step) -> dict[str, Any]:
    return {"name": step.name, "ms": step.ms, **step.detail}
