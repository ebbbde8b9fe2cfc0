"""Which index a statement names, and what it asks; no server."""

from __future__ import annotations

import re

import pytest

from kgqa.model.things import Literal
from kgqa.protocols import Pattern
from kgqa.store import queries
from kgqa.store.neo4j.cypher import Cypher
from kgqa.store.neo4j.statements import INDEXES
from kgqa.store.neo4j.where import CypherWhere, counted, found
from kgqa.temporal.interval import Interval

AT = Interval(1, 2)
START = "f.es, f.ee, f.id"


def statement(pattern: Pattern, order: str = START, place: tuple = ()) -> str:
    where = queries.recorded(queries.about(CypherWhere(), pattern), "f", 3)
    if place:
        where.beyond("f", place)
    part, values = found("facts", "f", where, order, limited=True)
    assert part.count("?") == len(values)
    return part.replace("`", "")


def named(part: str) -> list[str]:
    return re.findall(r"USING INDEX SEEK f:Fact\(kb, ([\w, ]+)\)", part)


@pytest.mark.parametrize(
    ("pattern", "order", "index"),
    [
        (Pattern(), START, "es, ee, id"),
        (Pattern(valid=AT), START, "es, ee, id"),
        (Pattern(valid=AT, undated="exclude"), START, "es, ee, id"),
        (Pattern(begun_before=4), "f.id", "id, recorded_to"),
        (Pattern(subject="a"), START, "subject, relation, es"),
        (Pattern(subject="a", valid=AT), "f.id", "subject, relation, es"),
        (Pattern(subject="a", object="b"), START, "subject, relation, es"),
        (Pattern(object=Literal(1), valid=AT), START, "object, relation, es"),
        (Pattern(relation="r", object="b", valid=AT), START, "object, relation, es"),
        (Pattern(relation="r", valid=AT), START, "relation, es, ee"),
    ],
)
def test_the_index_fits_and_is_asked_by_each_column(pattern, order, index):
    part = statement(pattern, order)
    assert named(part) == [index]
    asked = part.replace(" = ", " IS NOT NULL ").replace(" < ", " IS NOT NULL ")
    asked = asked.replace(" > ", " IS NOT NULL ")
    # An undated term is excluded by a condition that no index can be asked.
    asked = re.sub(r"NOT \([^)]*\)", "", asked)
    assert all(f"f.{column} IS NOT NULL" in asked for column in index.split(", "))


def test_a_place_is_asked_of_an_index_part_by_part():
    part = statement(Pattern(), place=(5, 6, "x"))
    assert named(part) == ["es, ee, id"] * 3
    assert part.count("UNION ALL") == 2
    assert (
        named(statement(Pattern(subject="a"), place=(5, 6, "x"))) == ["subject, relation, es"] * 3
    )


def test_values_are_counted_in_the_order_of_the_text():
    where = queries.about(CypherWhere(), Pattern(subject="a", valid=AT)).beyond("f", (5, 6, "x"))
    part, values = found("facts", "f", where, START)
    query, given = counted(Cypher(part), values)
    assert [given[name] for name in re.findall(r"\$(p\d+)", query)] == values
    assert values == ["a", 2, 1, 5, 6, "x", "a", 2, 1, 5, 6, "a", 2, 1, 5]


def test_long_texts_are_compared_as_indexes_hold_them():
    where = CypherWhere().add("n.id = ?", "x" * 5000).among("n.key", ["y" * 5000, "z"])
    where.add("n.kind = ?", "x" * 5000)
    (name, keys, kind) = where.parameters
    assert len(name) < 1000
    assert len(keys[0]) < 1000
    assert keys[1] == "z"
    assert kind == "x" * 5000


def test_what_must_exist_is_found_by_an_index():
    text = CypherWhere.exists("existence", "e", "e.node = n.n")
    assert text == (
        "EXISTS { MATCH (e:Term) WHERE e.kb = $kb AND e.node = n.n AND e.es IS NOT NULL }"
    )
    for table, last in (("existence", "es"), ("vectors", "generation")):
        assert INDEXES[table][0][-1] == last
