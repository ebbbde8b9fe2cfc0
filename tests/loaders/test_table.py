"""Tables: lines, encodings, quoting, JSON; each bad row is one Failure and the rest is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.errors import InputError
from kgqa.loaders import load_rows, reread, table
from kgqa.model.things import Claim, Failure, Literal, Node, Ref
from kgqa.protocols import LoadOptions, Row
from kgqa.temporal import parse
from kgqa.temporal.interval import UNBOUNDED, UNDATED

GOOD = {"subject": "a", "relation": "r", "object": "b"}


def rows(path: Path, data: str | bytes, *literal: str, **options: Any) -> list[Row]:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return list(load_rows(path, LoadOptions(**options), frozenset(literal)))


def row(path: Path, value: dict[str, Any], *literal: str, **options: Any) -> Any:
    return rows(path, json.dumps(value), *literal, **options)[0].value


def codes(found: list[Row]) -> list[tuple[int, str]]:
    return [
        (r.line, r.value.code if isinstance(r.value, Failure) else type(r.value).__name__)
        for r in found
    ]


def test_csv_rows_keep_their_physical_lines(tmp_path: Path) -> None:
    text = (
        "\ufeffsubject,relation,object,start,end,party\r\n"
        'A,held,"B\n\nC",1990,1995,x\r\n\r\nA,held\r\nA,held,D,1990,1980,\r\n'
        '"A"x,q,E,,,\r\nA,held,\0,,,\r\nlast,held,F,-0044-03-15,,\r\n'
    )
    found = rows(tmp_path / "a.csv", text)
    assert codes(found) == [
        (2, "Claim"), (6, "row.fields"), (7, "time.inverted"), (8, "row.csv"), (9, "row.nul"),
        (10, "Claim"),
    ]  # fmt: skip
    first = found[0].value
    assert isinstance(first, Claim)
    assert first.object == Ref("B\n\nC")
    assert first.properties == {"party": "x"}
    assert first.valid == parse("1990/1995")
    failure = found[2].value
    assert isinstance(failure, Failure)
    assert failure.unit == f"{tmp_path / 'a.csv'}:7"
    assert failure.message.startswith(failure.unit + ": ")


def test_an_unclosed_quote_is_one_failure(tmp_path: Path) -> None:
    found = rows(tmp_path / "a.csv", 'subject,relation,object\na,r,b\nc,r,"d\n')
    assert codes(found) == [(2, "Claim"), (3, "row.csv")]


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("subject,relation", "load.missing_column"),
        ("subject;relation;object", "load.missing_column"),
        ("subject,relation,object,object", "load.duplicate_column"),
        ("name", "load.missing_column"),
        ('"x', "row.csv"),
        ("subject,relation,\xe9", "load.encoding"),
    ],
)
def test_a_header_that_does_not_fit_stops_the_file(tmp_path: Path, header: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(tmp_path / "a.csv", header.encode("latin-1") + b"\na,r,b\n")
    assert caught.value.code == code
    assert str(tmp_path / "a.csv") in caught.value.message


def test_columns_are_mapped(tmp_path: Path) -> None:
    columns = {"subject": "who", "object": "what", "start": "from"}
    text = "who,relation,what,from,subject\na,r,b,1990,other\n"
    value = rows(tmp_path / "a.csv", text, columns=columns)[0].value
    assert isinstance(value, Claim)
    assert (value.subject, value.object) == (Ref("a"), Ref("b"))
    assert value.valid == parse("1990/..")
    assert row(tmp_path / "a.jsonl", {"who": "a", "relation": "r", "what": 5}, columns=columns)
    with pytest.raises(InputError) as caught:
        rows(tmp_path / "a.csv", "subject,relation,object\n", columns={"start": "from"})
    assert caught.value.code == "load.missing_column"
    with pytest.raises(InputError) as caught:
        rows(tmp_path / "a.csv", text, columns={"colour": "who"})
    assert caught.value.code == "load.unknown_key"


def test_json_lines_fail_one_by_one(tmp_path: Path) -> None:
    lines = [
        json.dumps(GOOD), "", '{"a":1,"a":2}', '{"a": NaN}', "foo", "[1]", '{"x": "\\ud800"}',
        "[" * 100_000, '{"subject":"a","relation":"r","object":"\\u0000"}', '{"a": 1e999}',
        '{"label": "x", "properties": {"k": 1, "k": 2}}', '{"big": ' + "9" * 5_000 + "}",
        json.dumps({**GOOD, "object": "é"}, ensure_ascii=False),
    ]  # fmt: skip
    found = rows(tmp_path / "a.jsonl", "\n".join(lines))
    assert codes(found) == [
        (1, "Claim"), (3, "row.duplicate_key"), (4, "row.json"), (5, "row.json"), (6, "row.json"),
        (7, "row.json"), (8, "row.json"), (9, "row.nul"), (10, "row.no_kind"),
        (11, "row.duplicate_key"), (12, "row.json"), (13, "Claim"),
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_encodings(tmp_path: Path, encoding: str, suffix: str) -> None:
    good = json.dumps({**GOOD, "object": "Lwów 𐍈"}, ensure_ascii=False)
    text = "subject,relation,object\na,r,Lwów 𐍈\n" if suffix == ".csv" else good + "\n" + good
    found = rows(tmp_path / ("a" + suffix), text.encode(encoding))
    value = found[-1].value
    assert isinstance(value, Claim)
    assert value.object == Ref("Lwów 𐍈")


def test_bytes_that_do_not_fit_are_named(tmp_path: Path) -> None:
    good = json.dumps(GOOD).encode() + b"\n"
    found = rows(tmp_path / "a.jsonl", good + b"\xe9\n" + good)
    assert codes(found) == [(1, "Claim"), (2, "load.encoding"), (3, "Claim")]
    assert f"at byte {len(good)}" in found[1].value.message  # type: ignore[union-attr]
    found = rows(tmp_path / "b.jsonl", b"\xff\xfe" + b"{\x00\x00\xd8{\x00")
    assert codes(found) == [(1, "load.encoding")]


def test_a_line_over_the_limit_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MAX_LINE", 100)
    long = json.dumps({**GOOD, "note": "x" * 3_000_000})
    found = rows(tmp_path / "a.jsonl", f"{json.dumps(GOOD)}\n{long}\n{json.dumps(GOOD)}\n{long}")
    assert codes(found) == [(1, "Claim"), (2, "row.too_long"), (3, "Claim"), (4, "row.too_long")]
    found = rows(
        tmp_path / "a.csv", "subject,relation,object\na,r,b\nc,r," + "y" * 500 + "\nd,r,e\n"
    )
    assert codes(found) == [(2, "Claim"), (3, "row.too_long"), (4, "Claim")]
    utf16 = f"{long}\n{json.dumps(GOOD)}".encode("utf-16")
    assert codes(rows(tmp_path / "b.jsonl", utf16)) == [(1, "row.too_long"), (2, "Claim")]


@pytest.mark.parametrize("data", ["", "\n \n", "\ufeff"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_file_without_rows_is_refused(tmp_path: Path, data: str, suffix: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(tmp_path / ("a" + suffix), data)
    assert caught.value.code == "load.empty"


@pytest.mark.parametrize(
    ("more", "valid"),
    [
        ({}, UNDATED),
        ({"start": None, "end": ""}, UNBOUNDED),
        ({"start": "1990"}, parse("1990/..")),
        ({"end": "1990-05"}, parse("../1990-05")),
        ({"valid": "1990/1995", "start": "", "end": None}, parse("1990/1995")),
        ({"valid": ""}, UNDATED),
        ({"start": "15 March 44 BC", "end": "-0043"}, parse("-0044-03-15/-0043")),
    ],
)
def test_the_time_of_a_fact(tmp_path: Path, more: dict[str, Any], valid: Any) -> None:
    assert row(tmp_path / "a.jsonl", {**GOOD, **more}).valid == valid


def test_options_of_time(tmp_path: Path) -> None:
    dated = {**GOOD, "start": "1885-03-04", "end": "1889-03-04"}
    file = tmp_path / "a.jsonl"
    exclusive = row(file, dated, ends="exclusive").valid
    assert exclusive == parse("1885-03-04/<1889-03-04")
    assert exclusive != row(file, dated).valid
    interval = {**GOOD, "valid": "1885/1889"}
    assert row(file, interval, ends="exclusive").valid == row(file, interval).valid
    signed = {**GOOD, "start": "-0043", "end": "0000"}
    assert row(file, signed, year_numbering="astronomical").valid == parse("-0044/-0001")
    julian = row(file, {**GOOD, "start": "1582-10-04"}, calendar="julian").valid
    assert julian == parse("1582-10-14/..")


@pytest.mark.parametrize(
    ("value", "literal", "expected"),
    [
        ("b", (), Ref("b")),
        (" b ", (), Ref("b")),
        ("b", ("r",), Literal("b")),
        (5, (), Literal(5)),
        (1.5, ("r",), Literal(1.5)),
        (True, (), Literal(True)),
    ],
)
def test_names_and_values(tmp_path: Path, value: Any, literal: Any, expected: Any) -> None:
    found = row(tmp_path / "a.jsonl", {**GOOD, "relation": "R", "object": value}, *literal)
    assert found.object == expected
    assert found.relation == "R"


def test_ids_kinds_and_properties(tmp_path: Path) -> None:
    value = {
        **GOOD, "subject_id": "q1", "subject_kind": "person", "object_id": "q2", "object_kind": "",
        "id": 7, "text": "t", "note": None, "empty": "", "deep": {"k": [1]},
    }  # fmt: skip
    found = row(tmp_path / "a.jsonl", value)
    assert found.subject == Ref("a", "q1", "person")
    assert found.object == Ref("b", "q2", None)
    assert found.properties == {"id": 7, "text": "t", "deep": {"k": [1]}}
    assert found.line == 1


def test_nodes(tmp_path: Path) -> None:
    value = {
        "id": "augustus", "kind": "person", "label": "Augustus", "existence": "-0063/0014",
        "aliases": ["Octavianus", {"label": "Octavian", "valid": "-0044/-0027"}, {"label": "G"}],
        "properties": {"a": 1}, "b": 2,
    }  # fmt: skip
    node = row(tmp_path / "a.jsonl", value)
    assert isinstance(node, Node)
    assert [a.label for a in node.aliases] == ["Octavianus", "Octavian", "G"]
    assert node.aliases[1].valid == parse("-0044/-0027")
    assert node.existence == (parse("-0063/0014"),)
    assert node.properties == {"a": 1, "b": 2}
    terms = row(tmp_path / "a.jsonl", {"label": "x", "existence": ["1900/1910", "1920/.."]})
    assert terms.existence == (parse("1900/1910"), parse("1920/.."))
    again = row(tmp_path / "b.jsonl", {"label": " X "})
    assert again.id == terms.id
    assert again.id != row(tmp_path / "b.jsonl", {"label": "x", "kind": "place"}).id


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"name": "x"}, "row.no_kind"),
        ({**GOOD, "subject": ""}, "row.missing"),
        ({**GOOD, "relation": None}, "row.missing"),
        ({**GOOD, "object": None}, "row.object"),
        ({**GOOD, "object": ["b"]}, "row.object"),
        ({**GOOD, "subject": 7}, "row.type"),
        ({**GOOD, "object": 5, "object_id": "five"}, "row.literal_with_id"),
        ({**GOOD, "start": 1939}, "row.type"),
        ({**GOOD, "start": "1939", "valid": "1939/1945"}, "row.two_times"),
        ({"label": "x", "aliases": "y"}, "row.list"),
        ({"label": "x", "aliases": [{"name": "y"}]}, "row.alias"),
        ({"label": "x", "aliases": [7]}, "row.alias"),
        ({"label": "x", "existence": [753]}, "row.time"),
        ({"label": "x", "properties": ["big"]}, "row.properties"),
    ],
)
def test_rows_that_are_refused(tmp_path: Path, value: dict[str, Any], code: str) -> None:
    failure = row(tmp_path / "a.jsonl", value)
    assert isinstance(failure, Failure)
    assert failure.code == code


def test_a_row_may_be_read_again_from_its_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    failure = rows(path, "who,relation,object,start\na,r,b,1 of May\n", columns={"subject": "who"})
    found = failure[0].value
    assert isinstance(found, Failure)
    options = LoadOptions(columns={"subject": "who", "end": "start"})
    assert isinstance(reread(found, options, frozenset()).value, Failure)
    mended = Failure(found.unit, found.code, "", (found.payload or "").replace("1 of May", "1990"))
    again = reread(mended, LoadOptions(columns={"subject": "who"}), frozenset())
    assert again.line == 2
    assert isinstance(again.value, Claim)
    without = Failure("a.csv:3", "row.csv", "m")
    assert reread(without, options, frozenset()).value is without


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
_KEYS = st.sampled_from([*sorted(table.FACT_KEYS | table.NODE_KEYS), "note"])


@settings(max_examples=80)
@given(st.lists(st.dictionaries(_KEYS, _JSON), min_size=1, max_size=5))
def test_any_json_row_is_a_thing_or_a_failure(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    found = rows(path, "\n".join(json.dumps(value) for value in values))
    assert [r.line for r in found] == list(range(1, len(values) + 1))
    assert all(isinstance(r.value, Claim | Node | Failure) for r in found)


@settings(max_examples=80)
@given(st.binary(max_size=200))
def test_any_bytes_are_rows_failures_or_one_typed_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    for name in ("any.csv", "any.jsonl"):
        path = tmp_path_factory.getbasetemp() / name
        try:
            rows(path, b"subject,relation,object\n" + data if name == "any.csv" else data)
        except InputError as error:
            assert error.code.startswith(("load.", "row."))  # noqa: PT017
