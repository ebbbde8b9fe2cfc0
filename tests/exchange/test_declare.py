"""Relations as people declare them."""

import json
from typing import Any

import pytest

from kgqa.errors import InputError
from kgqa.exchange import declare
from kgqa.ontology import text


def test_the_shipped_relations_read_and_have_distinct_keys() -> None:
    shipped = declare.read(text("relations.json"), "relations.json")
    keys = [r.key for r in shipped]
    assert len(keys) == len(set(keys)) > 20
    assert all(r.max_objects is None and r.max_subjects is None for r in shipped)


def test_json_lines_and_lists_are_the_same() -> None:
    entries = [{"label": "held_Office", "synonyms": ["was"], "max_subjects": 2}, {"label": "x"}]
    as_lines = "\n".join(map(json.dumps, entries)) + "\n\n"
    assert declare.read(json.dumps(entries), "a") == declare.read(as_lines, "a")
    assert declare.read(as_lines, "a")[0].key == "held office"


BAD: list[tuple[Any, str]] = [
    ("x", "object with a label"),
    ({"label": 3}, "object with a label"),
    ({"label": "a", "colour": 1}, "colour"),
    ({"label": "a", "synonyms": "b"}, "list of texts"),
    ({"label": "a", "synonyms": [1]}, "list of texts"),
    ({"label": "a", "inverse": 4}, "inverse"),
    ({"label": "a", "max_objects": 0}, "at least 1"),
    ({"label": "a", "max_subjects": True}, "at least 1"),
    ({"label": "a", "requires_existence": "all"}, "subject, object or both"),
]


@pytest.mark.parametrize(("entry", "said"), BAD)
def test_a_bad_entry_is_named_by_its_place(entry: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        declare.read(json.dumps([{"label": "good"}, entry]), "rel.json")
    assert "rel.json:2" in str(caught.value)
    assert caught.value.code == "relation.invalid"


@pytest.mark.parametrize("text", ["[", '{"label": ', "[" * 100_000])
def test_text_that_is_no_json_names_the_file(text: str) -> None:
    with pytest.raises(InputError, match=r"rel\.json"):
        declare.read(text, "rel.json")
