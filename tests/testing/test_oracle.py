"""The oracle, by cases worked out by hand: what is small enough to see is what it must say."""

from __future__ import annotations

import pytest

from kgqa.model.things import Alias, Claim, Document, End, Literal, Merge, Node, Ref, Relation
from kgqa.protocols import Batch, Pattern
from kgqa.temporal.interval import BEGIN, END, UNBOUNDED, UNDATED, Interval, Validity
from kgqa.testing.naive import (
    Row,
    Term,
    after,
    at,
    before,
    certain,
    coalesce,
    day_number,
    diff,
    fact_label,
    following,
    granule,
    holders,
    holds,
    key,
    nth,
    preceding,
    relation_key,
)
from kgqa.testing.oracle import Oracle
from kgqa.testing.replay import Refused

DAY = 86_400_000
_5_9 = (5, 5, 9, 9)  # [5, 9)
_YEARISH = (10, 19, 31, 40)  # starts within [10,20), ends within [30,40) inclusively
_OPEN = (5, 5, END, END)
_UNKNOWN = (5, 5, 6, END)


@pytest.mark.parametrize(
    ("bounds", "span", "match", "expected"),
    [
        (_5_9, (4, 5), "overlaps", False),  # one unit before the start
        (_5_9, (5, 6), "overlaps", True),
        (_5_9, (8, 9), "overlaps", True),  # the last instant
        (_5_9, (9, 10), "overlaps", False),  # the end is exclusive
        (_5_9, (0, 5), "overlaps", False),  # meets
        (_5_9, (0, 6), "overlaps", True),
        (_5_9, (0, 6), "start", False),  # at 0
        (_5_9, (0, 6), "end", True),  # at 5
        (_5_9, (0, 5), "end", False),  # at 4
        (_5_9, (8, 20), "start", True),
        (_5_9, (9, 20), "start", False),
        (_5_9, (5, 9), "all", True),
        (_5_9, (5, 10), "all", False),
        (_5_9, (4, 9), "all", False),
        (_YEARISH, (9, 10), "overlaps", False),
        (_YEARISH, (10, 11), "overlaps", True),  # possibly
        (_YEARISH, (39, 40), "overlaps", True),
        (_YEARISH, (40, 41), "overlaps", False),
        (_YEARISH, (10, 40), "all", True),  # possibly throughout
        (_OPEN, (10**15, 10**15 + 1), "overlaps", True),
        (_UNKNOWN, (10**15, 10**15 + 1), "overlaps", True),
        (_UNKNOWN, (4, 5), "overlaps", False),
        (UNDATED.bounds, (-(10**15), 1 - 10**15), "overlaps", True),
        (UNBOUNDED.bounds, (BEGIN, END), "all", True),
        (_5_9, (BEGIN, END), "start", True),  # no first instant: any
        (_5_9, (BEGIN, 5), "start", False),
        (_5_9, (8, END), "end", True),
        (_OPEN, (BEGIN, 5), "overlaps", False),
    ],
)
def test_holds(bounds, span, match, expected):
    assert holds(bounds, Interval(*span), match) is expected


@pytest.mark.parametrize(
    ("bounds", "span", "match", "expected"),
    [
        (_5_9, (4, 5), "overlaps", False),
        (_5_9, (8, 9), "overlaps", True),
        (_YEARISH, (18, 19), "overlaps", False),  # its latest start is 19
        (_YEARISH, (19, 20), "overlaps", True),
        (_YEARISH, (30, 31), "overlaps", True),  # its earliest end is 31
        (_YEARISH, (31, 32), "overlaps", False),
        (_YEARISH, (19, 31), "all", True),
        (_YEARISH, (18, 31), "all", False),
        (_YEARISH, (10, 25), "start", False),
        (_YEARISH, (10, 25), "end", True),
        (UNDATED.bounds, (-(10**15), 10**15), "overlaps", False),
        (UNDATED.bounds, (BEGIN, END), "overlaps", True),  # some time or other
    ],
)
def test_certain(bounds, span, match, expected):
    assert certain(bounds, Interval(*span), match) is expected


@pytest.mark.parametrize(
    ("ymd", "days"),
    [
        ((1970, 1, 1), 0),
        ((2000, 1, 1), 10_957),  # 30 * 365 + 7 leap days
        ((2000, 3, 1), 11_017),  # + 31 + 29
        ((1969, 12, 31), -1),
        ((1900, 3, 1), -25_508),  # 1900 is no leap year: 1900-01-01 is -25567, + 59
        ((1, 1, 1), -719_162),
        ((0, 12, 31), -719_163),  # the day before
        ((-43, 3, 15), -735_160),  # 15 March 44 BCE (RELIABILITY T-06)
        ((9999, 12, 31), 2_932_896),
    ],
)
def test_day_number(ymd, days):
    assert day_number(*ymd) == days


@pytest.mark.parametrize(
    ("parts", "length"),
    [
        ((1900,), 365 * DAY),
        ((0,), 366 * DAY),  # 1 BCE is a leap year
        ((-100,), 365 * DAY),  # 101 BCE is not
        ((2000, 2), 29 * DAY),
        ((1582, 12), 31 * DAY),
        ((1582, 10, 10), DAY),  # proleptic: the day exists
        ((1815, 6, 18, 14), 3_600_000),
        ((1815, 6, 18, 14, 30), 60_000),
        ((1815, 6, 18, 14, 30, 1), 1000),
    ],
)
def test_granule(parts, length):
    start, end = granule(*parts)
    assert end - start == length
    assert start // DAY == day_number(*parts[:3])


@pytest.mark.parametrize(
    ("text", "name", "relation"),
    [
        ("  Gaius  JULIUS ", "gaius julius", "gaius julius"),
        ("held__Office", "held__office", "held office"),
        ("Straße-1", "strasse-1", "strasse 1"),
        ("ﬁve", "five", "five"),  # NFKC takes ligatures apart
    ],
)
def test_keys(text, name, relation):
    assert (key(text), relation_key(text)) == (name, relation)


def say(*facts: tuple[str, str, str, tuple[int, int, int, int]], source: str = "d") -> Batch:
    claims = tuple(Claim(Ref(s), r, Ref(o), Validity(*b)) for s, r, o, b in facts)
    return Batch(source=source, documents=(Document(source, source),), claims=claims)


ONE = (Relation("mayor", "mayor", max_objects=1),)
TWO = (Relation("mayor", "mayor", max_objects=2),)
SEAT = (Relation("mayor", "mayor", max_subjects=1),)


def span_of(start: int, end: int) -> tuple[int, int, int, int]:
    return (start, start, end, end)


@pytest.mark.parametrize(
    ("relations", "facts", "ends"),
    [
        # nothing declared: nothing stops
        ((), [("a", _OPEN), ("b", span_of(9, END))], [END, END]),
        # the next value stops an open end, its own stays open
        (ONE, [("a", _OPEN), ("b", span_of(9, END))], [9, END]),
        (ONE, [("a", _UNKNOWN), ("b", span_of(9, 12))], [9, 12]),
        # a stated end is never changed, though they overlap
        (ONE, [("a", span_of(5, 20)), ("b", span_of(9, END))], [20, END]),
        # simultaneous starts: a conflict, nobody stops
        (ONE, [("a", _OPEN), ("b", span_of(5, END))], [END, END]),
        # the same value again is not the next value
        (ONE, [("a", _OPEN), ("a", span_of(9, END))], [END, END]),
        # two at a time: the second later value stops the first
        (TWO, [("a", _OPEN), ("b", span_of(7, END)), ("c", span_of(9, END))], [9, END, END]),
        # another subject's list is its own, so max_subjects does not see these
        (SEAT, [("a", _OPEN), ("b", span_of(9, END))], [END, END]),
        # an undated fact stops nothing and is not stopped
        (ONE, [("a", _OPEN), ("b", UNDATED.bounds)], [END, END]),
        # a start known by its granule [9, 20) stops within it
        (ONE, [("a", _OPEN), ("b", (9, 19, 30, 30))], [19, 30]),
        # a known end of the same three overrides the open one that starts alike
        ((), [("a", _OPEN), ("a", span_of(5, 8))], [8, 8]),
        ((), [("a", (5, 9, END, END)), ("a", span_of(7, 12))], [12, 12]),
        # but not one that starts elsewhere, nor of another object
        ((), [("a", _OPEN), ("a", span_of(6, 8))], [END, 8]),
        ((), [("a", _OPEN), ("b", span_of(5, 8))], [END, 8]),
        # the override comes first, so the functional rule finds a known end
        (ONE, [("a", _OPEN), ("a", span_of(5, 20)), ("b", span_of(9, END))], [20, 20, END]),
    ],
)
def test_open_ends(relations, facts, ends):
    oracle = Oracle()
    oracle.write(Batch(relations=relations))
    oracle.write(say(*(("X", "mayor", value, bounds) for value, bounds in facts)))
    rows = {(row.object[1], row.stated): row.bounds[3] for row in oracle.facts()}
    assert [rows["name:" + value, bounds] for value, bounds in facts] == ends


def test_max_subjects_stops_the_holder_before():
    oracle = Oracle()
    oracle.write(Batch(relations=SEAT))
    oracle.write(say(("A", "mayor", "town", _OPEN), ("B", "mayor", "town", span_of(9, END))))
    assert {row.subject: row.bounds[3] for row in oracle.facts()} == {"name:a": 9, "name:b": END}


ROME = Node("q1", "Rome", "place", (Alias("Roma", Validity(0, 0, 9, 9)),))
ROMEO = Node("q2", "ROME", "person")


@pytest.mark.parametrize(
    ("nodes", "ref", "expected"),
    [
        ((), Ref("Rome"), "name:rome"),
        ((ROME,), Ref(" rOME "), "q1"),
        ((ROME,), Ref("roma"), "q1"),  # an alias, at any time
        ((ROME, ROMEO), Ref("Rome"), "name:rome"),  # ambiguous
        ((ROME, ROMEO), Ref("Rome", None, "person"), "q2"),  # the kind settles it
        ((ROME, ROMEO), Ref("Rome", None, "ship"), "name:rome"),
        ((ROME, ROMEO), Ref("Rome", "q1"), "q1"),
        ((ROME, ROMEO), Ref("Roma"), "q1"),
    ],
)
def test_resolution(nodes, ref, expected):
    oracle = Oracle()
    claims = (Claim(ref, "knew", Literal(1)),)
    oracle.write(Batch(source="d", claims=claims))
    oracle.write(Batch(source="e", nodes=nodes))
    (row,) = oracle.facts()
    assert row.subject == expected
    later = Oracle()  # the other order
    later.write(Batch(source="e", nodes=nodes))
    later.write(Batch(source="d", claims=claims))
    assert later.facts() == oracle.facts()


def test_explicit_id_declares_a_node():
    oracle = Oracle()
    oracle.write(Batch(source="d", claims=(Claim(Ref("Rome", "q9"), "knew", Ref("Rome")),)))
    (row,) = oracle.facts()
    assert (row.subject, row.object) == ("q9", ("node", "q9"))
    assert [(t.id, t.declared) for t in oracle.nodes(Pattern())] == [("q9", True)]


def test_literals_of_three_types_are_three_facts():
    oracle = Oracle()
    values = (Literal(1), Literal(True), Literal("1"), Literal(1.0), Literal(1))
    oracle.write(Batch(claims=tuple(Claim(Ref("x"), "is", value) for value in values)))
    assert sorted(row.object[0] for row in oracle.facts()) == ["bool", "float", "int", "str"]


def test_known_at_and_a_correction_of_a_correction():
    oracle = Oracle()
    one = oracle.write(say(("X", "began", "y", span_of(1998, END))))
    (row,) = oracle.facts()
    two = oracle.write(Batch(retract=(fact_label(row),)))
    three = oracle.write(say(("X", "began", "y", span_of(1997, END)), source="e"))
    starts = [[r.bounds[0] for r in oracle.facts(known)] for known in (0, one, two, three, None)]
    assert starts == [[], [1998], [], [1997], [1997]]


def test_the_same_batch_twice_is_once():
    oracle = Oracle()
    batch = say(("X", "knew", "y", _OPEN))
    assert (oracle.write(batch), oracle.write(batch), len(oracle.facts())) == (1, 1, 1)


def test_two_documents_one_fact_two_sources():
    oracle = Oracle()
    for source in ("d", "e"):
        oracle.write(say(("X", "knew", "y", _OPEN), source=source))
    (row,) = oracle.facts()
    assert {origin[0] for origin in row.sources} == {"d", "e"}
    oracle.write(Batch(delete=("d",)))
    assert {origin[0] for origin in oracle.facts()[0].sources} == {"e"}
    oracle.write(Batch(delete=("e",)))
    assert oracle.facts() == []
    assert len(oracle.facts(2)) == 1


def test_end_moves_the_fact_and_refuses_an_inverted_one():
    oracle = Oracle()
    oracle.write(say(("X", "knew", "y", _OPEN)))
    label = fact_label(oracle.facts()[0])
    with pytest.raises(Refused):
        oracle.write(Batch(ends=(End(label, 5, 5),)))
    assert oracle.revision == 1
    oracle.write(Batch(ends=(End(label, 8, 8),)))
    assert [row.bounds for row in oracle.facts()] == [(5, 5, 8, 8)]
    assert [row.bounds for row in oracle.facts(1)] == [_OPEN]


def test_end_of_a_node_ends_its_existence():
    oracle = Oracle()
    oracle.write(Batch(nodes=(Node("q1", "A", existence=(Validity(1, 1, END, END),)),)))
    oracle.write(Batch(ends=(End("node:q1", 9, 9),)))
    assert oracle.nodes(Pattern())[0].existence == ((1, 1, 9, 9),)
    assert oracle.nodes(Pattern(valid=Interval(9, 10))) == []
    assert len(oracle.nodes(Pattern(valid=Interval(8, 9)))) == 1


def test_retracting_a_node_takes_its_facts():
    oracle = Oracle()
    oracle.write(Batch(source="n", nodes=(Node("q1", "A"),)))
    oracle.write(say(("A", "knew", "B", _OPEN), ("B", "knew", "C", _OPEN)))
    oracle.write(Batch(retract=("node:q1",)))
    assert [row.subject for row in oracle.facts()] == ["name:b"]
    assert len(oracle.facts(2)) == 2


def test_erase_reaches_the_past_and_a_readd_is_new():
    oracle = Oracle()
    oracle.write(say(("X", "knew", "y", _OPEN)))
    oracle.write(say(("Z", "knew", "y", _OPEN), source="e"))
    oracle.erase([fact_label(oracle.facts()[0])])
    assert [len(oracle.facts(r)) for r in (1, 2, 3)] == [0, 1, 1]
    oracle.write(say(("X", "knew", "y", _OPEN)))
    assert [len(oracle.facts(r)) for r in (1, 2, 3, 4)] == [0, 1, 1, 2]
    oracle.erase(["document:e"])
    assert [len(oracle.facts(r)) for r in (1, 2, 3, 4, 5)] == [0, 0, 0, 1, 1]


def test_merge_relinks_undo_restores_a_cycle_is_refused():
    oracle = Oracle()
    oracle.write(Batch(source="n", nodes=(Node("q1", "A"), Node("q2", "B"))))
    oracle.write(say(("A", "knew", "C", _OPEN), ("B", "knew", "C", _OPEN)))
    merged = oracle.write(Batch(merges=(Merge("q1", "q2"),)))
    assert [row.subject for row in oracle.facts()] == ["q2"]
    assert oracle.match(Pattern(subject="q1")) == oracle.match(Pattern(subject="q2"))
    with pytest.raises(Refused):
        oracle.write(Batch(merges=(Merge("q2", "q1"),)))
    with pytest.raises(Refused):
        oracle.write(Batch(merges=(Merge("q2", "q404"),)))
    assert oracle.write(Batch(merges=(Merge("q1", "q2"),))) == merged
    oracle.write(Batch(undo=merged))
    assert sorted(row.subject for row in oracle.facts()) == ["q1", "q2"]


def test_a_merged_name_is_no_longer_ambiguous():
    oracle = Oracle()
    oracle.write(Batch(source="n", nodes=(Node("q1", "A"), Node("q2", "A"))))
    oracle.write(say(("A", "knew", "C", _OPEN)))
    assert oracle.facts()[0].subject == "name:a"
    oracle.write(Batch(merges=(Merge("q1", "q2"),)))
    assert oracle.facts()[0].subject == "q2"


def test_names_and_labels():
    oracle = Oracle()
    oracle.write(Batch(source="d", nodes=(ROME,)))
    oracle.write(Batch(source="e", nodes=(Node("q1", "ROME", "place"),)))
    (thing,) = oracle.nodes(Pattern())
    assert thing.label == "Rome"  # mixed case before capitals
    hits = {(n.label, n.main, n.bounds) for n in oracle.names(["rome", "roma"])}
    assert hits == {
        ("Rome", True, UNDATED.bounds),
        ("ROME", False, UNDATED.bounds),
        ("Roma", False, (0, 0, 9, 9)),
    }


HOPS = say(
    ("A", "knew", "B", span_of(0, 10)),
    ("C", "knew", "B", span_of(5, 10)),
    ("C", "knew", "D", span_of(0, 5)),
    ("D", "knew", "A", span_of(20, 30)),
    ("A", "knew", "A", span_of(0, 30)),
)


@pytest.mark.parametrize(
    ("seed", "hops", "t", "reached"),
    [
        ("a", 1, 5, "b"),  # the loop is no path
        ("a", 2, 5, "bc"),  # against the arrow
        ("a", 3, 5, "bc"),  # C-D fails at 5
        ("a", 3, 4, "b"),  # C-B fails at 4
        ("c", 1, 4, "d"),
        ("d", 4, 25, "a"),
        ("b", 4, 40, ""),
    ],
)
def test_every_hop_holds(seed, hops, t, reached):
    oracle = Oracle()
    oracle.write(HOPS)
    found = oracle.expand(["name:" + seed], hops, Pattern(valid=Interval(t, t + 1)))
    assert sorted(node[5:] for _, _, node in found) == sorted(reached)


def test_expand_gives_every_simple_path():
    oracle = Oracle()
    oracle.write(HOPS)
    found = oracle.expand(["name:a"], 4, Pattern())
    # b c d and d c b round the ring, one path a prefix: b, bc, bcd, d, dc, dcb
    assert sorted(len(path) for _, path, _ in found) == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("pattern", "subjects"),
    [
        (Pattern(relation="knew"), "xyz"),
        (Pattern(begun_before=5), "xz"),
        (Pattern(begun_before=6), "xyz"),
        (Pattern(undated="exclude"), "xy"),
        (Pattern(valid=Interval(4, 5)), "xz"),
        (Pattern(valid=Interval(4, 5), undated="exclude"), "x"),
        (Pattern(object="name:b"), "xyz"),
        (Pattern(object=Literal("name:b")), ""),
        (Pattern(subject="name:y"), "y"),
    ],
)
def test_patterns(pattern, subjects):
    oracle = Oracle()
    oracle.write(
        say(
            ("X", "knew", "B", (1, 1, 5, 5)),
            ("Y", "knew", "B", _5_9),
            ("Z", "knew", "B", UNDATED.bounds),
        )
    )
    assert sorted(row.subject[5:] for row in oracle.match(pattern)) == sorted(subjects)


def row(subject: str, start: int, end: int) -> Row:
    bounds = span_of(start, end)
    return Row(subject, "mayor", ("node", "t"), bounds, bounds, frozenset())


ROWS = [row("a", 1, 5), row("a", 5, 9), row("a", 20, 30), row("b", 9, 20), row("c", 9, 11)]


@pytest.mark.parametrize(
    ("bounds", "joined"),
    [
        ([span_of(1, 5), span_of(5, 9)], [span_of(1, 9)]),
        ([span_of(1, 5), span_of(6, 9)], [span_of(1, 5), span_of(6, 9)]),
        ([span_of(1, 9), span_of(2, 3), span_of(8, 12)], [span_of(1, 12)]),
        # the granules [10, 20) and [20, 30) of adjacent years touch
        ([(10, 19, 11, 20), (20, 29, 21, 30)], [(10, 19, 21, 30)]),
        # the end of the first is unknown: it certainly holds up to 6 only
        ([_UNKNOWN, span_of(9, 12)], [_UNKNOWN, span_of(9, 12)]),
        ([_UNKNOWN, span_of(6, 12)], [(5, 5, 12, END)]),
        ([_OPEN, span_of(9, 12)], [_OPEN]),
        ([], []),
    ],
)
def test_coalesce(bounds, joined):
    rows = [Row("a", "r", ("node", "b"), b, b, frozenset()) for b in bounds]
    assert [term.bounds for term in coalesce(reversed(rows))] == joined


def names(terms: list[Term]) -> str:
    return "".join(term.subject for term in terms)


def test_time_words():
    terms = coalesce(ROWS)
    assert [(t.subject, t.bounds[0], t.bounds[3]) for t in terms] == [
        ("a", 1, 9), ("c", 9, 11), ("b", 9, 20), ("a", 20, 30),
    ]  # fmt: skip
    assert [names(nth(terms, n)) for n in (1, 2, 3, 4, -1)] == ["a", "cb", "a", "", "a"]
    assert names(following(terms, terms[0])) == "cb"
    assert names(following(terms, terms[1])) == "a"
    assert names(preceding(terms, terms[3])) == "cb"
    assert names(preceding(terms, terms[0])) == ""
    assert (names(before(terms, 9)), names(after(terms, 9))) == ("a", "cba")
    assert holders(ROWS, "mayor", ("node", "t"), Interval(9, 10)) == {"b", "c"}
    assert [r.subject for r in at(ROWS, Interval(8, 9))] == ["a"]
    gone, come = diff(ROWS, Interval(8, 9), Interval(9, 10))
    assert ({r.subject for r in gone}, {r.subject for r in come}) == ({"a"}, {"b", "c"})
