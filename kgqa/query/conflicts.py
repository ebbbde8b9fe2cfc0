"""Facts that cannot all be true: more values at one time than a relation declares (EV-20).

Belongs here: finding such facts among facts that were read. Must not: resolving them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kgqa.model.ids import object_token
from kgqa.model.things import Fact, Relation


def conflicts(
    facts: Iterable[Fact], relations: Mapping[str, Relation]
) -> tuple[tuple[str, ...], ...]:
    """Return groups of fact labels that certainly hold together though too many, sorted.

    Only spans in which facts certainly hold count, so an end that a later value stopped
    never conflicts with it.
    """
    groups: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        relation = relations.get(fact.relation)
        if relation and relation.max_objects is not None:
            groups["objects", fact.relation, fact.subject].append(fact)
        if relation and relation.max_subjects is not None:
            groups["subjects", fact.relation, object_token(fact.object)].append(fact)
    found: set[tuple[str, ...]] = set()
    for (side, key, _), group in groups.items():
        relation = relations[key]
        most = relation.max_objects if side == "objects" else relation.max_subjects
        found.update(_overfull(group, side, most or 0))
    return tuple(sorted(found))


def _overfull(group: list[Fact], side: str, most: int) -> Iterable[tuple[str, ...]]:
    """Yield the facts that certainly hold at each start at which there are too many values."""
    cores = [(fact.valid.core, fact) for fact in group]
    for core, _ in cores:
        if core is None:
            continue
        held = [fact for other, fact in cores if other and core.start in other]
        values = {object_token(f.object) if side == "objects" else f.subject for f in held}
        if len(values) > most:
            yield tuple(sorted(f"fact:{f.id}" for f in held))
