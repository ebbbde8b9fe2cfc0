"""The table of operations: name, what it does, input model, function over an opened base.

Belongs here: one row per operation, so that a new one appears on every surface. Must not:
rendering, argument parsing, anything that ``KBase`` or ``tasks`` should do. The models are in
``inputs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kgqa import doctor, tasks
from kgqa.errors import InputError
from kgqa.inputs import (
    AskInput,
    BatchInput,
    BrowseInput,
    CopyInput,
    DemoInput,
    DiffInput,
    DocumentsInput,
    EndInput,
    ExplainInput,
    ExportInput,
    FileInput,
    InitInput,
    Input,
    LabelInput,
    ListInput,
    LoadInput,
    MergeInput,
    NameInput,
    Nothing,
    OutInput,
    RelationsInput,
    ScopeInput,
    SearchInput,
    SnapshotInput,
    TimelineInput,
    UndoInput,
    WhenInput,
)
from kgqa.protocols import LoadOptions, Progress

if TYPE_CHECKING:
    from kgqa.kbase import KBase
    from kgqa.model.answer import AskOptions


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


def _export(kb: KBase, i: ExportInput, progress: Progress) -> Any:
    if i.output is not None and i.neo4j_admin is None and i.base is None:
        return kb.export(i.output, progress=progress)
    if i.output is None and i.neo4j_admin is not None:
        return kb.export_neo4j(i.neo4j_admin, i.base, progress=progress)
    raise InputError(
        f"export takes one place, not -o {i.output!r} with --neo4j-admin {i.neo4j_admin!r} "
        f"and --base {i.base!r}",
        code="export.place",
        hint="give -o FILE, or --neo4j-admin FOLDER and perhaps --base NAME",
    )


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
        _op("copy", "copy the base, history and all, to another store", CopyInput,
            lambda kb, i, p: kb.copy(i.dst, restart=i.restart, dry_run=i.dry_run,
                                     verify_only=i.verify_only, progress=p)),
        _op("browse", "say how Neo4j Browser shows what held at a time", BrowseInput,
            lambda kb, i, p: tasks.browse(kb, i.as_of, i.name, i.year_numbering, i.http_port)),
        _op("export", "write the base as JSONL, or for neo4j-admin", ExportInput, _export),
        _op("import", "read what export wrote", FileInput,
            lambda kb, i, p: kb.import_(i.file, progress=p)),
        _op("doctor", "check this installation", Nothing, lambda kb, i, p: doctor.doctor(), "none"),
        _op("demo", "load the examples and answer questions about them", DemoInput,
            lambda kb, i, p: tasks.demo(p, i.url), "none"),
    ]
)  # fmt: skip
