"""The nodes and relationships of a whole base, one after the other: what the import tool is given.

Belongs here: which node is made of which row, and what a server keeps beside rows. Must not: how a
field is written (``sheets``), what the picture shows of a thing (``picture``), folders (``admin``).

Memory holds a page at a time. What may occur twice, or has to wait until all rows are read, is
kept aside on the disk.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from kgqa.model.ids import object_token
from kgqa.model.things import Literal
from kgqa.protocols import Progress, Rows
from kgqa.store import queries, rows
from kgqa.store.facts import Facts
from kgqa.store.moving import Tally, layouts, pages
from kgqa.store.neo4j import aside, cypher, schema
from kgqa.store.neo4j.aside import Aside
from kgqa.store.neo4j.cypher import LABELS, LONG, OTHER, short
from kgqa.store.neo4j.picture import entity, literal, relationship
from kgqa.store.neo4j.sheets import Sheets, unused
from kgqa.store.neo4j.statements import CUT, VERSIONED
from kgqa.store.neo4j.tables import stored
from kgqa.store.rows import Record
from kgqa.store.state import State
from kgqa.temporal.interval import BEGIN, END

_AT_ONCE = 2_000
_TYPES = {"INTEGER": "long", "REAL": "double"}
"""By SQL's types; string for all others."""
_SHOWN: Mapping[str, str] = {
    **dict.fromkeys(
        ("n", "revision", "generation", "sum", "since", "es", "ls", "ee", "le"), "long"
    ),
    **dict.fromkeys(("aliases", "exists", "documents", "chunks", "types"), "string[]"),
    **dict.fromkeys(("live", "imported"), "boolean"),
    "embedding": "float[]",
}
"""By property of what is kept beside rows; string for all others."""
_VECTOR = "kb, kind, item, generation, digest, embedding, sum, item_long, since, live, es, le"
_LISTED: Mapping[str, tuple[str, ...]] = {
    "nodes": ("aliases", "existence"),
    "claims": ("document", "chunk"),
}
"""By table: columns with the texts that lists of the picture hold."""
_KEPT: Mapping[str, tuple[str, ...]] = {
    "nodes": (),
    "facts": ("relation",),
    "documents": ("id",),
    "chunks": ("id", "document"),
}
"""By table: columns of rows on record that are needed when all are read."""
_ENDS = ("documents", "chunks")
"""Tables whose rows relationships begin or end at."""


class Bulk:
    """Write one state of a base: ``tables``, then ``vectors`` and ``picture``."""

    def __init__(
        self, sheets: Sheets, kb: str, state: State, kept: Aside, progress: Progress | None
    ) -> None:
        self._sheets = sheets
        self._kb = kb
        self._state = state
        self._kept = kept
        self._progress = progress
        self._seen: set[str] = set()
        self._relations: Counter[str] = Counter()
        self._shown = 0

    # Rows.

    def tables(self, source: Rows) -> dict[str, Tally]:
        """Write the rows of all tables but vectors; return what was read of every table."""
        found: dict[str, Tally] = {}
        done, total = 0, sum(map(source.count, layouts())) if self._progress else 0
        for table, layout in layouts().items():
            found[table] = Tally()
            for page in pages(source.read(table), layout):
                found[table] = found[table].plus(page)
                self._note(table, page)
                if table != "vectors":
                    self._rows(table, page, source.revision)
                done += len(page)
                if self._progress:
                    self._progress("copy", done, total)
        self._sheets.mark = unused(self._seen)
        return found

    def _note(self, table: str, page: list[Record]) -> None:
        """Keep of rows what is needed when all are read."""
        columns = layouts()[table].columns
        if table == "vectors":
            # How a list is written depends on the texts of all lists.
            self._kept.keep(table, page)
        for column in _LISTED.get(table, ()):
            i = columns.index(column)
            self._seen.update("".join([row[i] or "" for row in page]))
        if table in _KEPT:
            until = columns.index("recorded_to")
            places = [columns.index(column) for column in _KEPT[table]]
            current = [[row[i] for i in places] for row in page if row[until] == END]
            if table in _ENDS:
                self._kept.keep(table, [tuple(map(short, row)) for row in current])
            else:
                self._relations.update(relation for row in current for relation in row)
                self._shown += len(current)

    def _rows(self, table: str, page: list[Record], revision: int) -> None:
        layout, label = layouts()[table], LABELS[table]
        kinds = dict(zip(layout.columns, layout.types, strict=True))
        cut = [column + LONG for column in layout.columns if column in CUT[table]]
        for names, part in stored(table, layout.columns, page):
            shown = [name for name in names if name not in cut]
            columns = [f"{name}:{_TYPES.get(kinds.get(name, ''), 'string')}" for name in shown]
            columns = ["kb:string", *columns, *(f"{name}:string" for name in cut)]
            rest: Record = (None,) * (len(shown) + len(cut) - len(names))
            if table in VERSIONED:
                columns += ["recorded_from:long", "recorded_to:long"]
                rest += (revision, END)
            made = [(self._kb, *row, *rest) for row in part]
            if table in _ENDS:
                # Of all versions, relationships are with the one on record.
                columns.append(f":ID({label})")
                name, until = names.index("id") + 1, names.index("recorded_to") + 1
                made = [(*row, row[name] if row[until] == END else None) for row in made]
            self._sheets.nodes(label, columns, made)

    # Vectors.

    def vectors(self) -> None:
        """Write vectors, with what searches filter them by (``statements.LIVE``)."""
        columns = [*_typed(_VECTOR.split(", ")), ":LABEL"]
        for page in self._kept.read(aside.VECTORS):
            items = defaultdict(set)
            for kind, item, *_ in page:
                items[kind].add(item)
            hulls = {kind: self._hulls(kind, sorted(names)) for kind, names in items.items()}
            made = []
            for kind, item, generation, digest, data, total in page:
                cut, hull = short(item), hulls[kind].get(item)
                made.append(
                    (
                        self._kb, kind, cut, generation, digest, data, total,
                        None if cut == item else item, self._state.revision,
                        hull is not None, *(hull or (BEGIN, END)),
                        schema.vector_label(len(data) // 4),
                    )
                )  # fmt: skip
            self._sheets.nodes(LABELS["vectors"], columns, made)

    def _hulls(self, kind: str, items: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the hull of the terms of each item that is on record."""
        if kind == "relation":
            return dict.fromkeys(items, (BEGIN, END))
        where = self._recorded(self._state.where().among("n.id", items))
        if kind == "chunk":
            found = self._state.select("chunks", "id, es, le", where)
            return {item: (es, le) for item, es, le in found}
        nodes = map(rows.node, self._state.select("nodes", rows.NODE, where))
        shown = {node.id: entity(self._kb, node) for node in nodes}
        return {name: (one["es"], one["le"]) for name, one in shown.items()}

    # The picture.

    def picture(self) -> None:
        """Write the graph that people look at, as ``Picture`` draws it, and the base itself."""
        named = [cypher.relationship(key) for key, _ in sorted(
            self._relations.items(), key=lambda pair: (-pair[1], pair[0])
        )]  # fmt: skip
        types = list(dict.fromkeys(named))[: schema.TYPES_MAX]
        base = {"kb": self._kb, "revision": self._state.revision, "types": types, "imported": True}
        self._sheets.nodes("Base", _typed(base), [tuple(base.values())])
        done = 0
        for table, draw in (("nodes", self._entities), ("facts", partial(self._facts, types))):
            for page in self._current(table):
                draw(page)
                done += len(page)
                if self._progress:
                    self._progress("picture", done, self._shown)
        for part in self._kept.read(aside.LITERALS):
            columns = _typed(("kb", "token", "name"), "token:ID(Literal)")
            self._sheets.nodes("Literal", columns, [(self._kb, *row) for row in part])
        for kind, end, query in (
            ("PART_OF", "Document", aside.PARTS), ("MENTIONS", "Entity", aside.MENTIONS),
        ):  # fmt: skip
            columns = ["kb:string", ":TYPE", ":START_ID(Chunk)", f":END_ID({end})"]
            for part in self._kept.read(query):
                self._sheets.relationships(kind, columns, [(self._kb, kind, *row) for row in part])

    def _recorded(self, where: queries.Where) -> queries.Where:
        return queries.recorded(where, "n", self._state.known(None))

    def _current(self, table: str) -> Iterator[dict[str, int]]:
        """Yield numbers by id of the rows that are on record."""
        after = 0
        while True:
            where = self._recorded(self._state.where().add("n.n > ?", after))
            found = list(self._state.select(table, "id, n", where, "n.n", _AT_ONCE))
            if not found:
                return
            yield dict(found)
            after = found[-1][1]

    def _entities(self, ns: Mapping[str, int]) -> None:
        where = self._recorded(self._state.where().among("n.id", list(ns)))
        nodes = [rows.node(row) for row in self._state.select("nodes", rows.NODE, where)]
        shown = [entity(self._kb, node) for node in nodes]
        columns = [*_typed(shown[0], "id:ID(Entity)"), ":LABEL"]
        labels = [cypher.label(node.kind or "") for node in nodes]
        made = [(*one.values(), label) for one, label in zip(shown, labels, strict=True)]
        self._sheets.nodes("Entity", columns, made)

    def _facts(self, types: Sequence[str], ns: Mapping[str, int]) -> None:
        drawn: dict[str, list[Record]] = defaultdict(list)
        literals: list[Record] = []
        mentions: set[Record] = set()
        shown: dict[str, Any] = {}
        for fact in Facts(self._state).by_id(list(ns), None):
            shown = relationship(self._kb, ns[fact.id], fact)
            kind, sides = cypher.relationship(fact.relation), [short(fact.subject)]
            if isinstance(fact.object, Literal):
                end, token = "Literal", short(object_token(fact.object))
                literals.append((token, literal(self._kb, token, fact.object)["name"]))
            else:
                end, token = "Entity", short(fact.object)
                sides.append(token)
            kind = kind if kind in types else OTHER
            drawn[end].append((*shown.values(), kind, sides[0], token))
            chunks = {short(source.chunk) for source in fact.sources if source.chunk}
            mentions |= {(chunk, side) for chunk in chunks for side in sides}
        for end, made in drawn.items():
            columns = [*_typed(shown), ":TYPE", ":START_ID(Entity)", f":END_ID({end})"]
            self._sheets.relationships(f"Facts_{end}", columns, made)
        self._kept.keep("literals", literals)
        self._kept.keep("mentions", mentions)


def _typed(names: Iterable[str], known: str = "") -> list[str]:
    """Return properties as columns; ``known`` is the column of one of them.

    >>> _typed(["es", "name", "id"], "id:ID(Entity)")
    ['es:long', 'name:string', 'id:ID(Entity)']
    """
    columns = {name: f"{name}:{_SHOWN.get(name, 'string')}" for name in names}
    if known:
        columns[known.partition(":")[0]] = known
    return list(columns.values())
