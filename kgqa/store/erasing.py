"""Erasing: the bytes of a thing leave every revision, every index and the log.

Belongs here: removal from all versions. Must not: the two milder ways, ``end`` and ``retract``
(``writing``), which keep history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kgqa.errors import InputError, NotFoundError
from kgqa.store import rows, sums, versions
from kgqa.store.writing import Writing
from kgqa.temporal.interval import END

_CLAIM = (
    "document, subject_ref, object_ref, chunk, span_start, span_end, line, confidence, properties"
)
_FACT = "relation, es, ls, ee, le"
"""What makes two versions of a claim the same claim: these columns of it and of its fact."""
_BOUNDS = "id, subject, relation, object, es, ls, ee, le"
_TEXT = rows.DOCUMENT_SAID.split(", ").index("text")


class Erasing:
    """Remove things from an open transaction."""

    def __init__(self, writing: Writing) -> None:
        self._tables = writing.tables
        self._writing = writing
        self._nodes: set[str] = set()
        self._removed = 0

    def apply(self, labels: Sequence[str]) -> int:
        """Remove what labels name; return how many rows went, besides what was derived."""
        for label in labels:
            noun, _, name = label.partition(":")
            steps = {
                "node": self._node, "fact": self._fact,
                "document": self._document, "chunk": self._chunk,
            }  # fmt: skip
            if noun not in steps or not name:
                raise InputError(
                    f"not a citation label: {label!r}", code="store.bad_label",
                    hint="write node:ID, fact:ID, chunk:ID or document:ID",
                )  # fmt: skip
            before = self._removed
            steps[noun](name)
            erased = self._tables.select("tombstones", "label", label=label)
            if self._removed == before and not erased:
                raise NotFoundError(
                    f"nothing is called {label!r}", code="store.not_found",
                    hint="write the label as results print it",
                )  # fmt: skip
            if not erased:
                row = (label, self._writing.revision)
                self._tables.put("tombstones", "label, revision, sum", [(*row, sums.of(row))])
        if self._removed:
            self._derive()
        return self._removed

    def _delete(self, table: str, **where: Any) -> None:
        self._removed += self._tables.delete(table, **where)

    # Nouns.

    def _node(self, name: str) -> None:
        merges = self._writing.merges
        members = merges.members(merges.canonical(name))
        found = self._tables.select("facts", "n", subject=members)
        found += self._tables.select("facts", "n", object=["n:" + member for member in members])
        self._delete("node_claims", node=members)
        self._delete("vectors", kind="node", item=members)
        self._claims(fact=[n for (n,) in found])
        self._removed += len(self._tables.select("nodes", "n", id=members))
        for column in ("loser", "winner"):
            self._tables.delete("merges", **{column: members})
        for member in members:
            if member in merges.winner:
                merges.remove(member)
        self._nodes |= set(members)

    def _fact(self, name: str) -> None:
        self._claims(fact=[n for (n,) in self._tables.select("facts", "n", id=name)])

    def _document(self, name: str) -> None:
        paths = {path for (path,) in self._tables.select("documents", "path", id=name)}
        failed = [
            unit
            for (unit,) in (self._tables.select("failures", "unit") if paths else ())
            if unit in paths or unit.startswith(tuple(path + ":" for path in paths))
        ]
        self._delete("failures", unit=failed)
        self._delete("documents", id=name)
        self._chunks(document=name)
        self._nodes |= {n for (n,) in self._tables.select("node_claims", "node", document=name)}
        self._delete("node_claims", document=name)
        self._claims(document=name)

    def _chunk(self, name: str) -> None:
        for document, start, end in self._tables.select(
            "chunks", "document, span_start, span_end", id=name
        ):
            self._blank(document, start, end)
        self._chunks(id=name)
        self._claims(chunk=name)

    def _blank(self, document: str, start: int, end: int) -> None:
        """Overwrite a range of a document's text with spaces; other offsets stay."""
        changed = []
        for n, total, *row in self._tables.select(
            "documents", f"n, sum, {rows.DOCUMENT_SAID}", id=document
        ):
            data, before = row[_TEXT].encode(), sums.of(row)
            blank = data[:start] + b" " * len(data[start:end]) + data[end:]
            row[_TEXT] = blank.decode("utf-8", "replace")
            changed.append((row[_TEXT], total + sums.of(row) - before, n))
        self._tables.change("documents", "text, sum", changed)

    def _chunks(self, **where: Any) -> None:
        names = list({name for (name,) in self._tables.select("chunks", "id", **where)})
        self._delete("chunks", **where)
        self._delete("vectors", kind="chunk", item=names)

    # Claims: all versions, wherever they were linked.

    def _claims(self, **where: Any) -> None:
        named = self._with_facts(**where)
        same = set(named.values())
        documents = list({claim[0] for claim in same})
        found = named | {
            key: claim
            for key, claim in self._with_facts(document=documents).items()
            if claim in same
        }
        self._delete("claims", n=[n for n, _ in found])
        self._facts({fact for _, fact in found})
        self._refs({n for claim in found.values() for n in claim[1:3] if n})

    def _with_facts(self, **where: Any) -> dict[tuple[int, int], tuple[Any, ...]]:
        """Return what claims say, their fact included, by their number and its."""
        claims = self._tables.select("claims", f"n, fact, {_CLAIM}", **where)
        facts = {
            n: tuple(said)
            for n, *said in self._tables.select(
                "facts", f"n, {_FACT}", n=list({claim[1] for claim in claims})
            )
        }
        return {(n, fact): (*claim, *facts[fact]) for n, fact, *claim in claims if fact in facts}

    def _facts(self, touched: set[int]) -> None:
        """Let each fact be on record only while a remaining claim supports it."""
        facts = self._tables.select("facts", f"n, {_BOUNDS}", n=list(touched))
        self._tables.delete("facts", n=list(touched))
        remaining: dict[int, list[tuple[int, int, int]]] = {}
        for fact, *claim in self._tables.select(
            "claims", "fact, recorded_from, recorded_to, n", fact=list(touched)
        ):
            remaining.setdefault(fact, []).append((claim[0], claim[1], claim[2]))
        following = self._tables.last("facts") + 1
        made, moved = [], []
        for n, *said in sorted(facts):
            self._nodes |= {said[1], said[3].removeprefix("n:")}
            for since, until, held in _runs(remaining.get(n, ())):
                made.append((following, *said, since, until))
                moved += [(following, claim) for claim in held]
                following += 1
        self._tables.insert("facts", f"n, {_BOUNDS}, recorded_from, recorded_to", made)
        self._tables.change("claims", "fact", moved)

    def _refs(self, touched: Iterable[int]) -> None:
        """Remove the words that no claim uses any more, count the others afresh."""
        touched = sorted(touched)
        used: dict[int, int] = {}
        for column in ("subject_ref", "object_ref"):
            for n, until in self._tables.select(
                "claims", f"{column}, recorded_to", **{column: touched}
            ):
                used[n] = used.get(n, 0) + (until == END)
        self._writing.refs.load(touched)
        self._nodes |= {self._writing.refs[n].node for n in touched}
        self._tables.change("refs", "uses", [(used[n], n) for n in touched if n in used])
        self._tables.delete("refs", n=[n for n in touched if n not in used])
        self._writing.refs.forget()

    # What is derived.

    def _derive(self) -> None:
        """Derive the nodes that lost something, without a trace of how they were before."""
        nodes = sorted(self._nodes)
        ns = [n for (n,) in self._tables.select("nodes", "n", id=nodes)]
        keys = {key for (key,) in self._tables.select("names", "key", node=ns)}
        versions.drop(self._tables, ns)
        self._writing.relink(self._nodes, keys)
        there = self._tables.select("nodes", "n, id, recorded_to", id=nodes)
        for n, name, until in there:
            since = self._since(name)
            if until == END and since is not None:
                self._tables.since("nodes", since, [n])
        # Nodes that only the erased facts named are gone too.
        gone = self._nodes - {name for _, name, _ in there}
        self._tables.delete("vectors", kind="node", item=list(gone))

    def _since(self, node: str) -> int | None:
        """Return the revision at which what is left of a node was first on record."""
        found = self._tables.select("node_claims", "recorded_from", node=node)
        found += self._tables.select("facts", "recorded_from", subject=node)
        found += self._tables.select("facts", "recorded_from", object="n:" + node)
        return min((since for (since,) in found), default=None)


def _runs(claims: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, list[int]]]:
    """Return when claims (from, to, number) are on record without a gap, and which those are."""
    runs: list[tuple[int, int, list[int]]] = []
    for since, until, claim in sorted(claims):
        if runs and since <= runs[-1][1]:
            first, last, held = runs[-1]
            runs[-1] = (first, max(last, until), [*held, claim])
        else:
            runs.append((since, until, [claim]))
    return runs
