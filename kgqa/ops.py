"""The table of operations: name, what it does, input model, function over an opened base.

Belongs here: one row per operation, so that a new one appears on every surface. Must not:
rendering, argument parsing, anything that ``KBase`` or ``tasks`` should do. pydantic checks
the inputs at this border.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kgqa import doctor, tasks
from kgqa.errors import InputError
from kgqa.protocols import LoadOptions, Progress

if TYPE_CHECKING:
    from kgqa.kbase import KBase
    from kgqa.model.answer import AskOptions

Numbering = Literal["historical", "astronomical"]
Ends = Literal["inclusive", "exclusive"]
Mode = Literal["fast", "deep"]
Undated = Literal["include", "exclude"]
Match = Literal["overlaps", "start", "end", "all"]


def _at(description: str) -> Any:
    return Field(description=description, json_schema_extra={"argument": True})


def _needed(description: str, *flags: str) -> Any:
    return Field(description=description, json_schema_extra={"flags": list(flags)})


def _maybe(description: str) -> Any:
    return Field(None, description=description, json_schema_extra={"argument": True})


def _some(description: str) -> Any:
    return Field([], description=description, json_schema_extra={"argument": True})


def _opt(default: Any, description: str, *flags: str) -> Any:
    return Field(default, description=description, json_schema_extra={"flags": list(flags)})


class Input(BaseModel):
    """Base of every input: closed, frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Nothing(Input):
    """Take no input."""


class InitInput(Input):
    """Say what kind of base to make."""

    form: Literal["documents", "nodes", "hybrid"] = _opt("hybrid", "what the base takes")
    undated: Undated = _opt("include", "what an as-of does with undated things")
    passages: Literal["validity", "published"] = _opt("validity", "which date filters passages")
    embedder: str | None = _opt(None, "minilm, sentence-transformers:NAME or ollama:NAME")
    mode: Mode = _opt("deep", "how far a question searches unless it says")
    embed_nodes_max: int | None = _opt(None, "above so many nodes, names alone are indexed")


class LoadInput(Input):
    """Say what to load and how its dates are to be read."""

    paths: list[str] = _some("files or folders; '-' alone reads standard input")
    valid: str | None = _opt(None, "when the documents' content holds")
    published: str | None = _opt(None, "when the documents were published")
    reference_date: str | None = _opt(None, "date from which 'last year' counts")
    year_numbering: Numbering = _opt("historical", "how negative years are numbered")
    calendar: Literal["gregorian", "julian"] = _opt("gregorian", "calendar of the dates")
    ends: Ends = _opt("inclusive", "whether 'end' is the last day it held or the first it did not")
    source: str | None = _opt(None, "name of the source, in place of the path")
    map: str | None = _opt(None, "columns by key: subject=COL,relation=COL,…")
    format: str | None = _opt(None, "suffix to read standard input as (jsonl, csv, txt, md, html)")
    strict: bool = _opt(False, "refuse a file with any bad row before writing")
    dry_run: bool = _opt(False, "count, and write nothing")
    retry: bool = _opt(False, "try again what failed before")
    create: bool = _opt(False, "make the base if it is not there")


class ScopeInput(Input):
    """Bound what is known."""

    as_of: str | None = _opt(None, "answer from what held then; dates may be BCE: -0044-03-15")
    known_at: str | None = _opt(None, "a revision, or a time: what the base had recorded by then")
    year_numbering: Numbering = _opt("historical", "how negative years are numbered")
    as_of_match: Match = _opt("overlaps", "how a coarse as-of matches")
    undated: Undated | None = _opt(None, "undated things; default: the base's setting")


class AskInput(ScopeInput):
    """Ask a question in English."""

    question: str = _at("the question; '-' reads standard input")
    mode: Mode | None = _opt(None, "how far to search; default: the base's setting")
    synthesis: Literal["graph", "digest"] = _opt("graph", "computed answer, or numbered evidence")
    node: list[str] = _opt([], "NAME=ID: which node a name means")


class SearchInput(ScopeInput):
    """Search without answering."""

    text: str = _at("what to look for; '-' reads standard input")
    k: int = _opt(10, "how many", "-k")


class NameInput(ScopeInput):
    """Name a node."""

    name: str = _at("label, alias or id of a node")


class TimelineInput(NameInput):
    """Name a node, and perhaps a relation."""

    relation: str | None = _opt(None, "only this relation")


class DiffInput(Input):
    """Compare two times."""

    name: str | None = _maybe("only this node")
    from_: str = Field(alias="from", description="earlier time")
    to: str = Field(description="later time")
    known_at: str | None = _opt(None, "a revision or a time")
    year_numbering: Numbering = _opt("historical", "how negative years are numbered")

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class WhenInput(ScopeInput):
    """Name a fact pattern."""

    subject: str = _at("label or id")
    relation: str = _at("relation")
    object: str = _at("label, id or value")


class SnapshotInput(ScopeInput):
    """Bound a listing."""

    limit: int | None = _opt(None, "at most so many facts")


class ListInput(ScopeInput):
    """Page through a listing."""

    kind: str | None = _opt(None, "only nodes of this kind")
    limit: int | None = _opt(None, "at most so many")
    after: str | None = _opt(None, "id of the last item of the page before")


class DocumentsInput(Input):
    """Page through documents."""

    limit: int | None = _opt(None, "at most so many")
    after: str | None = _opt(None, "id of the last item of the page before")


class ExplainInput(AskInput):
    """Ask for the whole trace of a question."""


class RelationsInput(Input):
    """List relations, or declare them from a file."""

    declare: str | None = _opt(None, "JSON or JSONL file of relations to declare")


class LabelInput(Input):
    """Name one item of the base."""

    id: str = _at("citation label (node:…, fact:…, document:…) or bare id")
    dry_run: bool = _opt(False, "say what would change, and change nothing")


class EndInput(LabelInput):
    """Say when something ended."""

    at: str = Field(description="when it ended")
    ends: Ends = _opt("inclusive", "whether --at is the last day it held, or the first it did not")
    year_numbering: Numbering = _opt("historical", "how negative years are numbered")


class MergeInput(Input):
    """Merge two nodes, or list proposals."""

    loser: str | None = _maybe("id that answers as the other from now on")
    winner: str | None = _maybe("id that stays")


class UndoInput(Input):
    """Name a revision."""

    revision: int = _at("the revision whose merge is undone")


class FileInput(Input):
    """Name a file."""

    file: str = _at("the file; '-' is standard input")


class OutInput(Input):
    """Name the file to write."""

    output: str = _needed("the file to write", "-o")


class BatchInput(ScopeInput):
    """Answer a file of questions."""

    questions: str = _at("JSONL of id, question and perhaps as_of; '-' is standard input")
    output: str = _needed("JSONL to write; resumes if it exists", "-o")
    mode: Mode | None = _opt(None, "how far to search; default: the base's setting")


def _scope(i: ScopeInput) -> dict[str, Any]:
    return {
        "as_of": i.as_of,
        "known_at": i.known_at,
        "numbering": i.year_numbering,
        "as_of_match": i.as_of_match,
        "undated": i.undated,
    }


def ask_options(i: ScopeInput) -> AskOptions:
    """Return the options of an ask, search or listing from its checked input."""
    from kgqa.model.answer import AskOptions

    extra: dict[str, Any] = {}
    if isinstance(i, AskInput):
        extra = {"mode": i.mode, "synthesis": i.synthesis, "nodes": pairs(i.node, "--node")}
    elif isinstance(i, BatchInput):
        extra = {"mode": i.mode}
    return AskOptions(**_scope(i), **extra)


def pairs(items: list[str], option: str) -> dict[str, str]:
    """Return NAME=VALUE items as a mapping.

    Raises InputError (``input.pair``).

    >>> pairs(["Rome=Q220"], "--node")
    {'Rome': 'Q220'}
    """
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise InputError(
                f"{option} takes NAME=VALUE, not {item!r}",
                code="input.pair",
                hint=f"for example: {option} 'Rome=Q220'",
            )
        found[name] = value
    return found


def _load(kb: KBase, i: LoadInput, progress: Progress) -> Any:
    if not i.paths and not i.retry:
        raise InputError(
            "nothing to load", code="load.no_paths", hint="give files or folders, or --retry"
        )
    options = LoadOptions(
        valid=i.valid,
        published=i.published,
        reference_date=i.reference_date,
        year_numbering=i.year_numbering,
        calendar=i.calendar,
        ends=i.ends,
        source=i.source,
        columns=pairs(i.map.split(","), "--map") if i.map else {},
    )
    with tasks.spooled(i.paths, i.format) as (paths, name):
        return kb.load(
            paths,
            options if i.source or name is None else replace(options, source=name),
            strict=i.strict,
            dry_run=i.dry_run,
            retry=i.retry,
            progress=progress,
        )


def _merge(kb: KBase, i: MergeInput, progress: Progress) -> Any:
    if i.loser is None:
        return kb.proposals()
    if i.winner is None:
        raise InputError(
            f"merge needs two nodes, not only {i.loser!r}",
            code="merge.one_node",
            hint="kgqa merge KB LOSER WINNER",
        )
    return kb.merge(i.loser, i.winner)


@dataclass(frozen=True, slots=True)
class Operation:
    """Hold one row of the table. ``opens`` is how the base must be there before it runs."""

    name: str
    summary: str
    input: type[Input]
    run: Callable[[Any, Any, Progress], Any]
    opens: Literal["existing", "new", "none", "maybe"] = "existing"


def _op(
    name: str,
    summary: str,
    model: type[Input],
    run: Callable[[Any, Any, Progress], Any],
    opens: Literal["existing", "new", "none", "maybe"] = "existing",
) -> tuple[str, Operation]:
    return name, Operation(name, summary, model, run, opens)


OPERATIONS: dict[str, Operation] = dict(
    [
        _op("init", "make a new base", InitInput, lambda kb, i, p: tasks.Made(kb.stats()), "new"),
        _op("load", "load documents, facts and nodes", LoadInput, _load, "maybe"),
        _op("index", "embed what is pending", Nothing, lambda kb, i, p: kb.index(progress=p)),
        _op("ask", "answer a question, with citations", AskInput,
            lambda kb, i, p: kb.ask(tasks.read_text(i.question), ask_options(i))),
        _op("search", "find evidence without answering", SearchInput,
            lambda kb, i, p: kb.search(tasks.read_text(i.text), i.k, ask_options(i))),
        _op("explain", "show how a question is read and answered", ExplainInput,
            lambda kb, i, p:
                tasks.Explained(kb.explain(tasks.read_text(i.question), ask_options(i)))),
        _op("batch", "answer a file of questions, resuming", BatchInput,
            lambda kb, i, p: tasks.batch(kb, i.questions, Path(i.output), ask_options(i), p)),
        _op("at", "what holds of a node", NameInput,
            lambda kb, i, p: kb.at(i.name, ask_options(i))),
        _op("timeline", "the facts of a node in time order", TimelineInput,
            lambda kb, i, p: kb.timeline(i.name, i.relation, ask_options(i))),
        _op("snapshot", "everything that holds", SnapshotInput,
            lambda kb, i, p: kb.snapshot(ask_options(i), limit=i.limit)),
        _op("diff", "what changed between two times", DiffInput,
            lambda kb, i, p: kb.diff(i.from_, i.to, i.name, known_at=i.known_at,
                                     year_numbering=i.year_numbering)),
        _op("when", "the times in which a statement held", WhenInput,
            lambda kb, i, p: kb.when(i.subject, i.relation, i.object, ask_options(i))),
        _op("nodes", "list nodes", ListInput,
            lambda kb, i, p: kb.nodes(i.kind, ask_options(i), limit=i.limit, after=i.after)),
        _op("documents", "list documents", DocumentsInput,
            lambda kb, i, p: kb.documents(limit=i.limit, after=i.after)),
        _op("relations", "list relations, or declare them", RelationsInput,
            lambda kb, i, p:
                kb.declare(tasks.relations(i.declare)) if i.declare else kb.relations()),
        _op("end", "say that a node or fact ended", EndInput,
            lambda kb, i, p: kb.end(i.id, i.at, ends=i.ends, year_numbering=i.year_numbering,
                                    dry_run=i.dry_run)),
        _op("retract", "say that a node or fact was never true", LabelInput,
            lambda kb, i, p: kb.retract(i.id, dry_run=i.dry_run)),
        _op("erase", "remove the bytes of an item from every revision", LabelInput,
            lambda kb, i, p: kb.erase(i.id, dry_run=i.dry_run)),
        _op("delete", "withdraw a document and what only it supports", LabelInput,
            lambda kb, i, p: kb.delete(i.id, dry_run=i.dry_run)),
        _op("merge", "say that two nodes are one, or list proposals", MergeInput, _merge),
        _op("undo", "undo the merge made in a revision", UndoInput,
            lambda kb, i, p: kb.undo(i.revision)),
        _op("failures", "list what could not be loaded", Nothing, lambda kb, i, p: kb.failures()),
        _op("stats", "count what the base holds", Nothing, lambda kb, i, p: kb.stats()),
        _op("verify", "check that all parts of the base agree", Nothing,
            lambda kb, i, p: tasks.Verified(tuple(kb.verify()))),
        _op("backup", "copy the base while it is in use", OutInput,
            lambda kb, i, p: kb.backup(i.output)),
        _op("export", "write the base as JSONL", OutInput,
            lambda kb, i, p: kb.export(i.output, progress=p)),
        _op("import", "read what export wrote", FileInput,
            lambda kb, i, p: kb.import_(i.file, progress=p)),
        _op("doctor", "check this installation", Nothing, lambda kb, i, p: doctor.doctor(), "none"),
        _op("demo", "load the examples and answer questions about them", Nothing,
            lambda kb, i, p: tasks.demo(p), "none"),
    ]
)  # fmt: skip
