"""One version of a node as rows: ``nodes``, its ``names`` and terms of ``existence``.

Belongs here: those rows, and replacing one version by the next. Must not: the rules of
derivation (``linking``), or when to derive (``nodes``).
"""

from __future__ import annotations

from kgqa.model.ids import digest, name_key
from kgqa.model.things import Alias
from kgqa.store import rows, sums
from kgqa.store.linking import Derived
from kgqa.store.rows import Record
from kgqa.store.tables import Tables
from kgqa.temporal.interval import END, UNDATED

NAME = "key, node, label, main, own, es, ls, ee, le, how"
TERM = "node, es, ls, ee, le"
CURRENT = (
    "n, id, recorded_from, label, kind, kinds, words, aliases, existence, properties, declared"
)
"""Columns by which a version is compared: from the fourth on they are its ``content``."""
_KINDS = CURRENT.split(", ").index("kinds")


def content(derived: Derived) -> Record:
    """Return what a version says, in the columns of CURRENT from the fourth on."""
    node = derived.node
    words = "\n".join(dict.fromkeys([node.label, *(a.label for a in node.aliases)]))
    return (
        node.label, node.kind or "", rows.dump(sorted(derived.kinds)), words,
        rows.aliases_dump(node.aliases), rows.terms_dump(node.existence),
        rows.properties_dump(node.properties), int(node.declared),
    )  # fmt: skip


def names(n: int, derived: Derived) -> list[Record]:
    """Return the rows of ``names`` for one version of a node."""
    node = derived.node
    written = []
    for i, alias in enumerate([Alias(node.label), *node.aliases]):
        key = name_key(alias.label)
        own = int(key in derived.own)
        valid = alias.valid
        written.append((key, n, alias.label, int(i == 0), own, *valid.bounds, rows.how(valid)))
    return written


def terms(n: int, derived: Derived) -> list[Record]:
    """Return the rows of ``existence`` for one version of a node."""
    return [(n, *term.bounds) for term in derived.node.existence]


class Change:
    """Collect how current versions of nodes change at a revision; then write all of it."""

    def __init__(self, revision: int, last: int) -> None:
        self._revision = revision
        self._last = last
        self._retired: list[int] = []
        self._dropped: list[int] = []
        self._renamed: list[int] = []
        self._nodes: list[Record] = []
        self._names: list[Record] = []
        self._terms: list[Record] = []
        self.derived = 0

    def of(self, derived: Derived | None, before: Record | None, own_before: set[str]) -> set[str]:
        """Take one node, ``before`` in columns CURRENT; return the keys of whose bearers it may
        be one now, or no longer."""
        says = content(derived) if derived else None
        own = set(derived.own) if derived else set()
        if says != (before[3:] if before else None):
            self.derived += 1
            if before:
                made_now = before[2] == self._revision
                (self._dropped if made_now else self._retired).append(before[0])
            if derived and says:
                self._add(derived, says)
        elif own == own_before:
            return set()
        elif before and derived:
            # The same names, but others of them declare the node now.
            self._renamed.append(before[0])
            self._names += names(before[0], derived)
        same_kinds = bool(before and says and before[_KINDS] == says[_KINDS - 3])
        return own ^ own_before if same_kinds else own | own_before

    def _add(self, derived: Derived, says: Record) -> None:
        node = derived.node
        first = node.existence[0] if node.existence else UNDATED
        row = (node.id, *says, digest(rows.embedding_text(node)), first.es, first.ee)
        self._last += 1
        total = sums.current(row, self._revision)
        self._nodes.append((self._last, *row, total, self._revision, END))
        self._names += names(self._last, derived)
        self._terms += terms(self._last, derived)

    def write(self, tables: Tables) -> None:
        """Write what was collected."""
        drop(tables, self._dropped)
        tables.until("nodes", self._revision, self._retired)
        tables.delete("names", node=self._renamed)
        tables.insert("nodes", f"n, {sums.NODE}, sum, recorded_from, recorded_to", self._nodes)
        tables.insert("names", NAME, self._names)
        tables.insert("existence", TERM, self._terms)


def drop(tables: Tables, ns: list[int]) -> None:
    """Remove versions of nodes with everything that hangs on them."""
    for table, column in (("names", "node"), ("existence", "node"), ("nodes", "n")):
        tables.delete(table, **{column: ns})
