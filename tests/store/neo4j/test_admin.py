"""A base as files for neo4j-admin, imported into a new server: the same base, picture and all."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa import KBase
from kgqa.errors import (
    ConflictError,
    InputError,
    KGQAError,
    UnavailableError,
    UnsupportedError,
)
from kgqa.model.answer import AskOptions
from kgqa.model.things import Alias, Chunk, Claim, Document, Failure, Literal, Node, Ref, Span
from kgqa.protocols import Batch
from kgqa.store import moving
from kgqa.store.moving import CopyPlan, Tally, layouts
from kgqa.store.neo4j import address, schema
from kgqa.store.neo4j.admin import AdminExport, export
from kgqa.store.neo4j.cypher import LABELS
from kgqa.store.neo4j.session import Client
from kgqa.store.neo4j.sheets import Sheets, unused
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.store.sqlite import SQLiteStore
from kgqa.surfaces.cli import run
from kgqa.temporal.interval import BEGIN, END
from kgqa.testing.canonical import canonical
from kgqa.testing.provision import RELEASES, find_java, jars, release
from kgqa.testing.servers import QUICK, Neo4jServer

from ..small import term
from ..test_moving import full

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "rome"
ODD = [
    " ", "a;b", 'q"q', '"', '""', "\\", '\\"', "a\nb", "a\r\nb", "\r", "\n", "a\0b", "\0", "'",
    "é\U0001f3db", "\uffff\ufffe", "\ufeffx", ",", " lead", "trail ", "\t", "null", "NaN", "a`b",
    "{}", "\x85\u2028", "\ue000", "a\ue001b", "\x1f", "x" * 10_000, "ü" * 600, "U+E000", "$x",
]  # fmt: skip
QUESTIONS = ["Who was consul in 63 BC?", "Where was Augustus born?", "Who crossed the Rubicon?"]


def hostile() -> Batch:
    """Every odd text wherever a text may stand."""
    return Batch(
        source="odd",
        documents=(
            *(Document(one, one, one, text=one, validity=term(3)) for one in ODD),
            Document("long", "long", text='"é' * 2_500_000),
        ),
        chunks=tuple(
            Chunk(f"chunk {one}", one, i, one, Span(0, len(one)), (one,))
            for i, one in enumerate(ODD)
        ),
        nodes=tuple(
            Node(f"id {one}", f"name {one}", one, tuple(Alias(a) for a in (one, f"{one}y")),
                 (term(1, 40),), {one: one})
            for one in ODD
        ),
        claims=tuple(
            Claim(Ref(f"name {one}", id=f"id {one}"), f"rel {one}", Literal(one), term(2),
                  f"chunk {one}", properties={"p": one})
            for one in ODD
        ) + tuple(
            Claim(Ref(one), f"to {i % 60}", Ref(f"{one} other", kind=one), chunk="no such chunk")
            for i, one in enumerate(ODD) if one.strip()
        ),
        failures=tuple(Failure(one, "a.b", one, one) for one in ODD),
        meta={one: one for one in ODD},
    )  # fmt: skip


@pytest.fixture
def source(tmp_path: Path):
    with closing(full(tmp_path / "a.kgqa")) as store:
        yield store


def columns(folder: Path, name: str) -> list[str]:
    return (folder / f"{name}.header.csv").read_text().removesuffix("\n").split(",")


def content(folder: Path, name: str) -> str:
    return gzip.decompress((folder / f"{name}.csv.gz").read_bytes()).decode()


def parsed(folder: Path, name: str) -> list[dict[str, str | None]]:
    """Read a file as its rules say: quoted is text, nothing is no value."""
    field = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])')
    found: list[dict[str, str | None]] = []
    row: list[str | None] = []
    for text, plain, end in ((m[1], m[2], m[3]) for m in field.finditer(content(folder, name))):
        row.append(text.replace('""', '"') if text is not None else plain or None)
        if end == "\n":
            found.append(dict(zip(columns(folder, name), row, strict=True)))
            row = []
    assert row == []
    return found


# Imported.


def tool(server_home: Path, series: str, place: Path) -> Path:
    """Make what a server's installation calls neo4j-admin."""
    wanted = release(series)
    command = [
        str(find_java(*wanted.javas)), *QUICK, "-Xmx512m", "-cp", str(jars(wanted) / "*"),
        "--add-opens=java.base/java.nio=ALL-UNNAMED", "org.neo4j.cli.AdminTool",
    ]  # fmt: skip
    place.write_text(
        f"#!/bin/sh\nexport NEO4J_HOME={shlex.quote(str(server_home))}\n"
        f'export NEO4J_CONF="$NEO4J_HOME/conf"\nexec {shlex.join(command)} "$@"\n'
    )
    place.chmod(0o755)
    return place


def imported(report: AdminExport, series: str, home: Path) -> None:
    """Run an export's script for a server that was never started."""
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "neo4j.conf").touch()
    done = subprocess.run(
        ["sh", str(report.script)],
        env={**os.environ, "NEO4J_ADMIN": str(tool(home, series, home / "neo4j-admin"))},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def graph(client: Client, kb: str) -> tuple[Counter[str], Counter[str]]:
    """Return all nodes and relationships of a base as text."""
    nodes = client.rows(
        "MATCH (n) WHERE n.kb = $kb UNWIND labels(n) AS label WITH n, label ORDER BY label "
        "RETURN collect(label), properties(n)",
        kb=kb,
    )
    between = client.rows(
        "MATCH (a)-[r]->(b) WHERE r.kb = $kb RETURN type(r), properties(r), a.id, a.n, "
        "coalesce(b.id, b.token), b.n", kb=kb,
    )  # fmt: skip

    def plain(value):
        if isinstance(value, dict):
            return {key: one for key, one in sorted(value.items()) if key != "kb"}
        return value

    one, other = (Counter(repr(list(map(plain, row))) for row in r) for r in (nodes, between))
    return one, other


def asked(kb: KBase) -> list[object]:
    answers = [kb.ask(question, AskOptions(mode="fast")) for question in QUESTIONS]
    assert answers[0].answers
    return [(a.answers, a.text, a.citations, a.confidence, a.reason) for a in answers]


@pytest.mark.parametrize("series", RELEASES)
def test_an_import_is_the_same_base(
    series: str, make_server: Callable[..., Neo4jServer], tmp_path: Path
) -> None:
    try:
        find_java(*release(series).javas), jars(release(series))
    except KGQAError as exc:
        pytest.skip(str(exc))
    path = tmp_path / "a.kgqa"
    with closing(full(path)) as source:
        source.write(hostile())
    with KBase.open(path) as kb:
        kb.load([EXAMPLES])
        wanted = asked(kb)
    home = tmp_path / "home"
    with closing(SQLiteStore(path)) as source:
        report = export(source, tmp_path / "out", "odd base")
        imported(report, series, home)
        server = make_server(series, home=home)
        url = server.base("odd base")
        with closing(Neo4jStore(address.parse(url))) as there:
            compared = moving.move(source, url, CopyPlan(verify_only=True))
            assert (compared.differing, compared.digest) == ((), report.digest)
            assert canonical(there) == canonical(source)
            assert canonical(there, 2) == canonical(source, 2)
            assert there.stats() == source.stats()
            again = export(there, tmp_path / "again", "odd base")
            assert (again.tables, again.digest) == (report.tables, report.digest)
            for file in report.folder.glob("*.csv.gz"):
                name = file.name.partition(".")[0]
                one, other = (content(r.folder, name).split("\n") for r in (report, again))
                assert sorted(one) == sorted(other), name
        moving.move(source, server.base("copy"))
        with closing(Client(address.parse(url))) as client:
            for one, other in zip(graph(client, "odd base"), graph(client, "copy"), strict=True):
                assert (one - other, other - one) == (Counter(), Counter())
    with KBase.open(url) as kb:
        assert asked(kb) == wanted
        kb.write([{"subject": "New", "relation": "rel \n", "object": "q1"}])
        assert kb.verify() == []


# Written.

VALUES = st.one_of(st.none(), st.text(), st.sampled_from(ODD))


@given(st.lists(st.tuples(VALUES, st.lists(st.text(max_size=4)), st.integers(BEGIN, END))))
def test_what_is_written_can_be_read(rows) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with closing(Sheets(folder)) as sheets:
            sheets.mark = mark = unused(
                {letter for row in rows for part in row[1] for letter in part}
            )
            sheets.nodes("A", ["t:string", "l:string[]", "n:long"], rows)
            sheets.nodes("A", ["t:string", "l:string[]", "n:long"], rows)
        assert [list(row.values()) for row in parsed(folder, "A")] == 2 * [
            [t, mark.join(values) if values else None, str(n)] for t, values, n in rows
        ]


def test_forms_and_arguments(tmp_path: Path) -> None:
    with closing(Sheets(tmp_path)) as sheets:
        sheets.mark = ";"
        numbers = np.float32([0.1, -1e-5, 3.4028235e38, 1])
        kinds = ["a:double", "b:boolean", "c:float[]", "d:double", ":ID(X)"]
        sheets.nodes("A", kinds, [(0.1 + 0.2, True, numbers.tobytes(), None, "")])
        sheets.relationships("B", [":TYPE"], [("x" * 5_000_000,)])
    assert columns(tmp_path, "A") == kinds
    assert content(tmp_path, "A").count("\n") == 1
    row = parsed(tmp_path, "A")[0]
    assert (float(row["a:double"] or 0), row["b:boolean"]) == (0.1 + 0.2, "true")
    assert (row["d:double"], row[":ID(X)"]) == (None, "")
    read = np.array((row["c:float[]"] or "").split(";"), dtype="<f4")
    assert read.tobytes() == numbers.tobytes()
    said = sheets.arguments("/p")
    assert said[:2] == [
        "--nodes=A=/p/A.header.csv,/p/A.csv.gz", "--relationships=/p/B.header.csv,/p/B.csv.gz"
    ]  # fmt: skip
    assert "--array-delimiter=U+003B" in said
    (buffer,) = (int(one.partition("=")[2]) for one in said if "buffer" in one)
    assert buffer > 10_000_000


def test_a_mark_is_in_no_text(source: SQLiteStore, tmp_path: Path) -> None:
    aliases = tuple(Alias(f"\ue000{i}\ue001") for i in range(2))
    source.write(Batch(source="\ue002", nodes=(Node("n", "N", None, aliases),)))
    report = export(source, tmp_path / "out")
    assert "--array-delimiter=U+E002" in report.command
    source.write(Batch(source="\ue002", claims=(Claim(Ref("N"), "r", Ref("M")),)))
    report = export(source, tmp_path / "again")
    assert "--array-delimiter=U+E003" in report.command
    shown = {row["id:ID(Entity)"]: row for row in parsed(tmp_path / "again", "Entity")}
    assert shown["n"]["aliases:string[]"] == "\ue0000\ue001\ue003\ue0001\ue001"
    with pytest.raises(UnsupportedError) as caught:
        unused({chr(code) for code in range(0x10000)})
    assert caught.value.code == "export.no_delimiter"


def test_what_a_folder_holds(source: SQLiteStore, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    out = tmp_path / "out"
    out.mkdir()
    source.write(Batch(delete=("d0",)))
    report = export(source, out, "a'b c", lambda *said: told.append(said))
    assert {path.name.partition(".")[0] for path in out.iterdir()} == {
        *LABELS.values(), "Base", "Entity", "Literal", "Facts_Entity", "Facts_Literal",
        "PART_OF", "MENTIONS", "import",
    }  # fmt: skip
    assert {stage for stage, _, _ in told} == {"copy", "picture"}
    assert all(done <= (total or 0) for _, done, total in told)
    assert [done == total for _, done, total in told if done == total] == [True, True]
    with source.rows() as rows:
        wanted = {name: Tally().plus(rows.read(name)) for name in layouts()}
    assert report.tables == wanted
    assert report.rows == sum(tally.rows for tally in wanted.values())
    assert report.then[0] == "kgqa stats neo4j://localhost:7687/a%27b%20c"
    base = parsed(out, "Base")
    assert [(row["kb:string"], row["imported:boolean"]) for row in base] == [("a'b c", "true")]
    # Mentioned and stated more than once, shown once; versions that were replaced are no ends.
    pairs = [tuple(row.values()) for row in parsed(out, "MENTIONS")]
    assert len(set(pairs)) == len(pairs) > 0
    assert len(parsed(out, "Literal")) == 1
    current = [row for row in parsed(out, "Chunk") if row[":ID(Chunk)"] is not None]
    assert {row["recorded_to:long"] for row in current} == {str(END)}
    assert 0 < len(current) < len(parsed(out, "Chunk"))
    assert {row["live:boolean"] for row in parsed(out, "Vector")} == {"true", "false"}
    assert {row[":LABEL"] for row in parsed(out, "Vector")} == {schema.vector_label(16)}


def test_a_folder_is_written_whole_or_not_at_all(source: SQLiteStore, tmp_path: Path) -> None:
    out = tmp_path / "there" / "out"
    with pytest.raises(InputError) as missing:
        export(source, out)
    assert missing.value.code == "store.bad_path"
    out.parent.mkdir()
    for stage in ("copy", "picture"):
        with pytest.raises(KeyboardInterrupt):
            export(source, out, progress=stop_at(stage))
        assert list(out.parent.iterdir()) == []
    report = export(source, out)
    assert list(out.parent.iterdir()) == [out]
    assert out.stat().st_mode & 0o777 == out.parent.stat().st_mode & 0o777
    held = {path.name: path.read_bytes() for path in out.iterdir()}
    for taken in (out, report.script):
        with pytest.raises(ConflictError) as caught:
            export(source, taken)
        assert caught.value.code == "store.exists"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == held
    for name in ("a/b", "x" * 101):
        with pytest.raises(InputError) as bad:
            export(source, tmp_path / "new", name)
        assert bad.value.code == "store.bad_url"


def test_another_is_no_match_for_who_was_first(source: SQLiteStore, tmp_path: Path) -> None:
    def race(stage: str, done: int, total: int | None) -> None:
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "other").touch()

    with pytest.raises(ConflictError) as caught:
        export(source, tmp_path / "out", progress=race)
    assert caught.value.code == "store.exists"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["other"]


def stop_at(stage: str) -> Callable[[str, int, int | None], None]:
    def progress(now: str, done: int, total: int | None) -> None:
        if now == stage:
            raise KeyboardInterrupt

    return progress


class Busy(SQLiteStore):
    """A store that others write to just before a view is taken, so many times."""

    left = 0

    def view(self):
        if self.left:
            self.left -= 1
            self.write(Batch(meta={"left": self.left}))
        return super().view()


@pytest.mark.parametrize("times", [2, 3])
def test_one_state_is_written(times: int, source: SQLiteStore, tmp_path: Path) -> None:
    with closing(Busy(source.path)) as busy:
        busy.left = times
        if times == 3:
            with pytest.raises(UnavailableError) as caught:
                export(busy, tmp_path / "out")
            assert caught.value.code == "store.source_moved"
            assert not (tmp_path / "out").exists()
        else:
            assert export(busy, tmp_path / "out").revision == busy.revision


def test_lines_for_people(source: SQLiteStore, tmp_path: Path, capsys) -> None:
    out = tmp_path / "a b"
    words = ["export", str(source.path), "--neo4j-admin", str(out), "--base", "x"]
    assert run(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"exported: revision {source.revision}, ")
    assert said[2] == f"while the server is stopped: sh '{out}/import.sh'"
    command = " ".join(line.strip().removesuffix("\\") for line in said[4:-4])
    again = shlex.split(command)
    assert again[:5] == ["neo4j-admin", "database", "import", "full", "neo4j"]
    assert f"--nodes=Fact={out}/Fact.header.csv,{out}/Fact.csv.gz" in again
    assert said[-2].strip() == "kgqa stats neo4j://localhost:7687/x"
    assert run([*words[:3], str(tmp_path / "b"), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {f.name for f in fields(AdminExport)}
