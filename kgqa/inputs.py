"""What each operation takes: one closed pydantic model, with what its fields are for.

Belongs here: names, types, defaults and descriptions, from which surfaces make their own. Must
not: what an operation does (``ops``).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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


class DemoInput(Input):
    """Say where the demo's base goes."""

    url: str | None = _maybe("path or URL of a new base; a file in a temporary folder if left out")


class BrowseInput(Input):
    """Say what Neo4j Browser is to show."""

    as_of: str = _needed("the time to show; dates may be BCE: -0044-03-15")
    name: str | None = _opt(None, "only what is said of this node: its label, alias or id")
    year_numbering: Numbering = _opt("historical", "how negative years are numbered")
    http_port: int = _opt(7474, "where the server answers HTTP")


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


class ExportInput(Input):
    """Say where an export goes, and of which kind it is."""

    output: str | None = _opt(None, "the file to write as JSONL; '-' is standard output", "-o")
    neo4j_admin: str | None = _opt(
        None, "a new or empty folder for CSV instead, history and all, and a script that imports it"
    )
    base: str | None = _opt(None, "what the base is called there, with --neo4j-admin")


class CopyInput(Input):
    """Say where a copy goes."""

    dst: str = _at("path or URL of a new base, or of an unfinished copy of the same state")
    restart: bool = _opt(False, "throw an unfinished copy away and start again")
    dry_run: bool = _opt(False, "count the rows, and write nothing")
    verify_only: bool = _opt(False, "compare both bases, and write nothing")


class BatchInput(ScopeInput):
    """Answer a file of questions."""

    questions: str = _at("JSONL of id, question and perhaps as_of; '-' is standard input")
    output: str = _needed("JSONL to write; resumes if it exists", "-o")
    mode: Mode | None = _opt(None, "how far to search; default: the base's setting")
