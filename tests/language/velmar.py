"""An invented base for golden questions: the island state of Velmar and its people.

Belongs here: rows only. Nothing in it is of this world or of any shared data set.
"""

from __future__ import annotations

from typing import cast

from memory_base import MemoryBase

from kgqa.language.lexicon import Lexicon
from kgqa.model.things import Alias, Literal, Node, Relation
from kgqa.protocols import Reader
from kgqa.temporal import Validity, parse

RELATIONS = (
    Relation("mayor of", "mayor of", ("mayor",), "had as mayor", "person", "city", max_subjects=1),
    Relation("held office", "held office", ("office held",), "held by", "person", "office"),
    Relation("married to", "married to", ("spouse", "wife of", "husband of"), "married to",
             "person", "person"),
    Relation("head office in", "head office in", ("headquartered in",), None, "company", "city"),
    Relation("part of", "part of", ("belonged to", "located in"), "contains", "city", "country"),
    Relation("played for", "played for", (), None, "person", "club"),
    Relation("coached", "coached", ("coach of",), "coached by", "person", "club"),
    Relation("owned by", "owned by", (), "owner of", "company"),
    Relation("founded", "founded", ("founder of",), "founded by", "person"),
    Relation("born in", "born in", ("birthplace",), None, "person", "city"),
    Relation("died in", "died in", (), None, "person", "city"),
    Relation("member of", "member of", (), "has member", "person", "party"),
    Relation("capital", "capital", (), "capital of", "country", "city", max_objects=1),
    Relation("ruled", "ruled", ("ruler of", "king of", "queen of"), "ruled by", "person",
             "country"),
    Relation("population", "population", ("inhabitants",), None, "city", "literal"),
    Relation("child of", "child of", ("son of", "daughter of"), "parent of", "person", "person"),
    Relation("parent of", "parent of", ("father of", "mother of"), "child of", "person", "person"),
    Relation("merged with", "merged with", (), "merged with", "company", "company"),
)  # fmt: skip


def _node(id_: str, kind: str, label: str, *aliases: str | tuple[str, str]) -> Node:
    made = [Alias(a) if isinstance(a, str) else Alias(a[0], parse(a[1])) for a in aliases]
    return Node(id_, label, kind, tuple(made))


NODES = (
    _node("ada", "person", "Ada Corvin"),
    _node("bram", "person", "Bram Tolliver", "B. Tolliver"),
    _node("celia", "person", "Celia Marsh-Ode"),
    _node("dorn", "person", "Dorn Vasski Jr."),
    _node("edda", "person", "Edda Corvin", "Edda Pell"),
    _node("falk", "person", "King Falk II", "Falk the Lame"),
    _node("ilse", "person", "Queen Ilse"),
    _node("harbour", "city", "Saltharbour", ("Fort Ilse", "1780/1862")),
    _node("oxley", "city", "Oxley-on-Sea"),
    _node("velmar", "country", "Velmar", "Kingdom of Velmar"),
    _node("norrin", "country", "Norrin"),
    _node("first-minister", "office", "First Minister of Velmar"),
    _node("deputy", "office", "Deputy First Minister of Velmar"),
    _node("delegate-7", "office", "Velmar delegate for North Coast (district 7)"),
    _node("tin", "company", "Saltharbour Tin & Rope Works", "Tin & Rope"),
    _node("lantern", "company", "The Lantern Company"),
    _node("rovers", "club", "Oxley Rovers F.C."),
    _node("gulls", "club", "Harbour Gulls"),
    _node("reform", "party", "Reform League"),
    _node("war", "event", "Herring War"),
    _node("rook-1", "person", "Jonas Rook"),
    _node("rook-2", "person", "Jonas Rook"),
)


def _rows() -> list[tuple[str, str, str | Literal, Validity]]:
    table = """
    ada|mayor of|harbour|1901/1907
    bram|mayor of|harbour|1907/1915
    ada|mayor of|harbour|1915/1919
    celia|mayor of|harbour|1919/1930
    dorn|mayor of|oxley|1905/1925
    ada|held office|first-minister|1920/1924
    bram|held office|first-minister|1924/1931
    celia|held office|deputy|1920/1926
    bram|held office|delegate-7|1910/1920
    ada|married to|edda|1899/1921
    bram|married to|celia|1911/..
    tin|head office in|harbour|1880/1922
    tin|head office in|oxley|1922/..
    harbour|part of|norrin|1780/1862
    harbour|part of|velmar|1862/..
    dorn|played for|rovers|1895/1899
    dorn|played for|gulls|1899/1903
    dorn|coached|rovers|1906/1909
    lantern|owned by|tin|1912/1940
    bram|founded|lantern|1904
    ada|born in|oxley|1868-04-02
    ada|died in|harbour|1941-11
    ada|member of|reform|1890/1912
    velmar|capital|harbour|1862/1900
    velmar|capital|oxley|1900/..
    falk|ruled|velmar|1870/1892
    ilse|ruled|velmar|1892/1913
    edda|child of|falk|1870/..
    tin|merged with|lantern|1940
    rook-1|played for|gulls|1901/1905
    rook-2|member of|reform|1950/1955
    """
    rows: list[tuple[str, str, str | Literal, Validity]] = []
    for line in table.split("\n"):
        if line.strip():
            subject, relation, object_, valid = line.strip().split("|")
            rows.append((subject, relation, object_, parse(valid)))
    rows.append(("harbour", "population", Literal(41_000), parse("1910")))
    return rows


BASE = cast(Reader, MemoryBase(_rows(), NODES, RELATIONS))
LEXICON = Lexicon.of(RELATIONS)
