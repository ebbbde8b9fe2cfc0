"""Bases that several tests of the query room ask.

Belongs here: small worlds written by hand. Must not: assertions.
"""

from __future__ import annotations

from typing import Any

from small_base import Base, chunk, fact, node

from kgqa.model.things import Literal, Relation


def offices(**settings: Any) -> Base:
    """Return a small republic: five chairs of one council, one deputy, a vacancy in 1812."""
    return Base(
        [
            fact("ada", "held office", "chair", "1790-04-30/<1797-03-04"),
            fact("ben", "held office", "deputy", "1790-04-21/<1797-03-04"),
            fact("ben", "held office", "chair", "1797-03-04/<1801-03-04"),
            fact("cyr", "held office", "deputy", "1797-03-04/<1801-03-04"),
            fact("cyr", "held office", "chair", "1801-03-04/<1809-03-04"),
            fact("ada", "held office", "chair", "1809-03-04/<1812-05-01"),
            fact("dot", "held office", "chair", "1813-01-01/.."),
            fact("ada", "spouse", "eve", "1785/1820"),
            fact("dot", "spouse", "fay", None),
        ],
        [
            node("ada", "Ada Moor", "person", "1750/1821"),
            node("ben", "Ben Nash", "person"),
            node("cyr", "Cyril Oak", "person"),
            node("dot", "Dorothy Pell", "person"),
            node("eve", "Eve Quill", "person"),
            node("fay", "Fay Reed", "person"),
            node("chair", "Chair of the Council", "office"),
            node("deputy", "Deputy Chair of the Council", "office"),
        ],
        [
            chunk(
                "c1",
                "Ada Moor learned masonry in 1770. The lighthouse was rebuilt in 1795. "
                "The lighthouse burned in 1815.",
                section=("Works", "Lighthouse"),
            ),
            chunk("c2", "The harbour keeps a bell.", section=()),
        ],
        [
            Relation("held office", "held office", ("was",), max_subjects=1),
            Relation("spouse", "spouse", ("married to",), "spouse"),
        ],
        settings,
    )


def town() -> Base:
    """Return a town that changed its name and its country."""
    return Base(
        [
            fact("town", "country", "north", "1250/<1772-09-01"),
            fact("town", "country", "south", "1772-09-01/<1918-11-01"),
            fact("town", "country", "east", "1918-11-01/.."),
            fact("town", "population", Literal(1200), "1300"),
            fact("mira", "mayor of", "town", "1990/1994"),
            fact("town", "walled", Literal(True), "-0044/1400"),
        ],
        [
            node("town", "Newgate", "city", "1250/..",
                 Newgate="1920/..", Altor="1250/<1772-09-01", Neuburg="1772-09-01/<1920-01-01"),
            node("north", "Northland", "country"),
            node("south", "Southland", "country"),
            node("east", "Eastland", "country"),
            node("mira", "Mira Voss", "person"),
        ],
    )  # fmt: skip
