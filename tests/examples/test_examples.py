"""The sample data: found anywhere, well-formed, contradictory only on purpose."""

from __future__ import annotations

import csv
import json
import re
import runpy
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgqa import examples
from kgqa.errors import NotFoundError
from kgqa.loaders import table
from kgqa.model.things import Failure, Relation
from kgqa.protocols import LoadOptions
from kgqa.temporal.dates import parse_end_points
from kgqa.temporal.interval import Validity
from kgqa.temporal.terms import parse

make_examples = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "data" / "make_examples.py"))
)
FACT_KEYS = {
    "subject", "relation", "object", "start", "end", "valid",
    "subject_id", "object_id", "subject_kind", "object_kind",
}  # fmt: skip
PROPERTIES = {"note", "share", "source", "language", "unit"}
NODE_KEYS = {"id", "kind", "label", "aliases", "existence", "properties"}
DELIBERATE = {
    ("Verrold", "head office", "Calder Reach", "Marrowgate"),
    ("Lviv", "population", "312231", "316000"),
}


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as the formats say: empty cells of optional keys fall away."""
    text = examples.path(name).read_text(encoding="utf-8")
    if name.endswith(".jsonl"):
        yield from map(json.loads, text.splitlines())
        return
    for row in csv.DictReader(text.splitlines(), strict=True):
        assert None not in {*row, *row.values()}, f"{name}: ragged row {row}"
        yield {key: cell for key, cell in row.items() if cell or key in {"start", "end"}}


def tables(kind: str) -> list[str]:
    return [name for name in examples.names() if name.endswith((".csv", ".jsonl"))
            and name.endswith("nodes.jsonl") == (kind == "nodes")]  # fmt: skip


def all_facts() -> Iterator[tuple[str, dict[str, Any], Validity | None]]:
    for name in tables("facts"):
        for row in rows(name):
            yield name, row, term(row)


def term(row: dict[str, Any]) -> Validity | None:
    if "valid" in row:
        return parse(row["valid"])
    if "start" in row or "end" in row:
        return parse_end_points(row.get("start"), row.get("end"))
    return None


def declared() -> dict[str, dict[str, Any]]:
    return {
        relation["key"]: relation
        for name in examples.names() if name.endswith("relations.json")
        for relation in json.loads(examples.path(name).read_text(encoding="utf-8"))
    }  # fmt: skip


def test_names_and_paths() -> None:
    names = examples.names()
    assert names == sorted(set(names))
    assert not [name for name in names if not examples.path(name).is_file()]
    assert not [name for name in names if ".py" in name]
    with pytest.raises(NotFoundError, match=r"no such example: '\.\./pyproject\.toml'") as caught:
        examples.path("../pyproject.toml")
    assert caught.value.code == "examples.unknown"


def test_there_are_enough_of_them() -> None:
    assert len(list(all_facts())) >= 300
    documents = [
        n for n in examples.names() if n.endswith((".txt", ".md", ".html", ".pdf", ".docx"))
    ]
    kinds = Counter(name.rsplit(".", 1)[1] for name in documents if "/" in name)
    assert kinds.total() >= 19
    assert set(kinds) == {"txt", "md", "html", "pdf", "docx"}


@pytest.mark.parametrize("name", tables("facts"))
def test_facts_are_well_formed(name: str) -> None:
    seen = set()
    for row in rows(name):
        assert set(row) <= FACT_KEYS | PROPERTIES, row
        assert all(row[key] != "" for key in ("subject", "relation", "object")), row
        assert not ("valid" in row and (row.get("start") or row.get("end"))), row
        validity = term(row)
        fact = (
            row["subject"],
            row.get("subject_id"),
            row["relation"],
            str(row["object"]),
            validity,
        )
        assert fact not in seen, f"twice: {row}"
        seen.add(fact)


@pytest.mark.parametrize("name", tables("nodes"))
def test_nodes_are_well_formed(name: str) -> None:
    ids = [row["id"] for row in rows(name)]
    assert len(ids) == len(set(ids))
    for row in rows(name):
        assert {"id", "label", "kind"} <= set(row) <= NODE_KEYS, row
        existence = row.get("existence", [])
        for text in [existence] if isinstance(existence, str) else existence:
            parse(text)
        for alias in row.get("aliases", []):
            assert isinstance(alias, str) or parse(alias["valid"]), row


def test_namesakes_carry_an_id() -> None:
    nodes = [row for name in tables("nodes") for row in rows(name)]
    known = {row["id"]: row["label"] for row in nodes}
    holders: dict[str, set[str]] = defaultdict(set)
    for row in nodes:
        for alias in [row["label"], *row.get("aliases", [])]:
            holders[alias if isinstance(alias, str) else alias["label"]].add(row["id"])
    shared = {label for label, ids in holders.items() if len(ids) > 1}
    assert "Appius Claudius Pulcher" in shared
    for _, row, _ in all_facts():
        for side in ("subject", "object"):
            if row[side] in shared:
                assert known[row[f"{side}_id"]] == row[side], row


def test_relations_are_declared_alike_everywhere() -> None:
    allowed = {field.name for field in fields(Relation)}
    seen: dict[str, dict[str, Any]] = {}
    for name in examples.names():
        if name.endswith("relations.json"):
            for relation in json.loads(examples.path(name).read_text(encoding="utf-8")):
                assert set(relation) <= allowed, relation
                assert seen.setdefault(relation["key"], relation) == relation
    assert seen["consul of"]["max_subjects"] == 2


def test_only_the_deliberate_contradictions() -> None:
    sides = {"max_objects": ("subject", "object"), "max_subjects": ("object", "subject")}
    relations = declared()
    groups: dict[tuple[str, str, int], list[tuple[str, Validity]]] = defaultdict(list)
    for _, row, validity in all_facts():
        for limit, names in sides.items():
            most = relations.get(row["relation"], {}).get(limit)
            if most is not None and validity is not None:
                key, value = (row.get(f"{side}_id") or str(row[side]) for side in names)
                groups[key, row["relation"], most].append((value, validity))
    found = set()
    for (key, relation, most), terms in groups.items():
        for _, term_ in terms:
            at = {name for name, other in terms if other.es <= term_.es < other.le}
            if len(at) > most:
                found.add((key, relation, *sorted(at)))
    assert found == DELIBERATE


@pytest.mark.parametrize("target", sorted(make_examples.TARGETS))
def test_binaries_hold_their_texts(target: str) -> None:
    text = (make_examples.TEXTS / make_examples.TARGETS[target]).read_text(encoding="utf-8")
    said = [line for kind, line in make_examples.blocks(text) if kind != "page"]
    if target.endswith(".docx"):
        from docx import Document

        assert [p.text for p in Document(str(examples.path(target))).paragraphs] == said
        return
    from pypdf import PdfReader

    pages = PdfReader(examples.path(target)).pages
    assert len(pages) == text.count("\n---\n") + 1
    assert " ".join(" ".join(page.extract_text() for page in pages).split()) == " ".join(said)


@pytest.mark.parametrize("target", ["rome/cleopatra.docx", "company/annual-report-2009.pdf"])
def test_binaries_are_the_same_each_time(target: str) -> None:
    assert make_examples.build(target) == make_examples.build(target)


def test_the_demo_names_what_there_is() -> None:
    demo = json.loads(examples.path("demo.json").read_text(encoding="utf-8"))
    named = [*demo["relations"], *demo["load"], *demo["documents"]]
    assert sorted([*named, "README.md", "demo.json"]) == examples.names()
    assert set(demo["read"]) <= set(demo["documents"])
    assert len(demo["questions"]) >= 10
    for question in demo["questions"]:
        assert set(question) <= {"question", "as_of", "answers", "reason", "shows"}
        assert question["answers"] == list(dict.fromkeys(question["answers"]))


@pytest.mark.parametrize("name", tables("facts") + tables("nodes"))
def test_every_row_loads(name: str) -> None:
    literal = frozenset(k for k, r in declared().items() if r.get("range") == "literal")
    values = [row.value for row in table.load(examples.path(name), LoadOptions(), literal)]
    assert values
    assert not [value for value in values if isinstance(value, Failure)]


def test_the_readme_counts_right() -> None:
    readme = examples.path("README.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)/` \|[^|]*\| (\d+) \| (.*) \|$", readme, re.MULTILINE)
    counted = Counter(name.split("/")[0] for name, _, _ in all_facts())
    assert {folder: int(count) for folder, count, _ in told} == counted
    documents = {f"{folder}/{name}" for folder, _, cell in told for name in cell.split("`")[1::2]}
    demo = json.loads(examples.path("demo.json").read_text(encoding="utf-8"))
    assert documents == set(demo["documents"])
