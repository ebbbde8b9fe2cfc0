"""What a load would do: everything is read, nothing is written.

Belongs here: names and ids of a load against those of the base. Must not: writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from kgqa.ingest.report import Tally
from kgqa.model.ids import name_key
from kgqa.model.things import Claim, Node, Ref
from kgqa.protocols import Reader

_AT_ONCE = 5_000


class Preview:
    """Gather the nodes and names of a load, then say what is ambiguous or at odds.

    Holds every distinct name and id of the load in memory, nothing else.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._bearers: dict[str, dict[str, str | None]] = {}
        self._described: dict[str, tuple[str, str | None]] = {}
        self._used: set[tuple[str, str | None]] = set()

    def add(self, items: Iterable[Node | Claim]) -> None:
        """Take in nodes and claims."""
        for item in items:
            if isinstance(item, Node):
                self._node(item)
            else:
                for ref in (item.subject, item.object):
                    if isinstance(ref, Ref):
                        self._ref(ref)

    def _node(self, node: Node) -> None:
        said = node.label, node.kind
        known = self._described.setdefault(node.id, said)
        if known != said:
            self._conflict(node.id, known, said)
        for label in (node.label, *(alias.label for alias in node.aliases)):
            self._bear(label, node.id, node.kind)

    def _ref(self, ref: Ref) -> None:
        if ref.id is None:
            self._used.add((name_key(ref.label), ref.kind))
        else:
            self._bear(ref.label, ref.id, ref.kind)

    def _bear(self, label: str, node: str, kind: str | None) -> None:
        bearers = self._bearers.setdefault(name_key(label), {})
        bearers[node] = kind or bearers.get(node)

    def compare(self, reader: Reader) -> None:
        """Put into the tally: names that several declared nodes bear, ids described otherwise."""
        for ids in _parts(self._described):
            found = reader.get(f"node:{id_}" for id_ in ids)
            for item in found.values():
                if isinstance(item, Node) and item.declared and item.id in self._described:
                    said = self._described[item.id]
                    if said != (item.label, item.kind):
                        self._conflict(item.id, (item.label, item.kind), said)
        for keys in _parts(key for key, _ in self._used):
            hits = [hit for hit in reader.names(set(keys)) if not hit.node.startswith("name:")]
            kinds = reader.get({f"node:{hit.node}" for hit in hits})
            for hit in hits:
                node = kinds.get(f"node:{hit.node}")
                if isinstance(node, Node) and node.declared:
                    self._bearers.setdefault(hit.key, {}).setdefault(hit.node, node.kind)
        for key, kind in self._used:
            bearers = self._bearers.get(key, {})
            if sum(kind is None or kind == other for other in bearers.values()) > 1:
                self._tally.ambiguous.add(key)

    def _conflict(self, id_: str, one: tuple[str, str | None], two: tuple[str, str | None]) -> None:
        self._tally.conflicts.append(f"{id_}: {_words(one)} and {_words(two)}")


def _words(said: tuple[str, str | None]) -> str:
    return f"{said[0]!r} ({said[1]})" if said[1] else repr(said[0])


def _parts(items: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(items)
    while part := list(islice(rest, _AT_ONCE)):
        yield part
