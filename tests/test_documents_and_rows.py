"""The same facts as prose and as rows (R-TM-02 h, TM-33): one graph, the same answers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kgqa import KBase
from kgqa.testing.sizes import counts

FIRST = ("Peter", "Anna", "Carl", "Ingrid", "Martin", "Helen", "Victor", "Laura")
LAST = ("Hill", "Berg", "Moore", "Lindqvist", "Novak", "Sanders", "Whitfield", "Larsen")
TOWNS = ("Oslo", "Utrecht", "Bergen", "Leeds", "Turin", "Graz")


@pytest.mark.parametrize("count", counts(20, 200))
def test_prose_and_rows_say_the_same(tmp_path: Path, count: int) -> None:
    chance = random.Random(count)
    rows, sentences = [], []
    for town in TOWNS:
        year = 1800
        for _ in range(count // len(TOWNS) + 1):
            name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
            end = year + chance.randrange(1, 4)
            rows.append({"subject": name, "relation": "mayor of", "object": town,
                         "start": str(year), "end": str(end)})  # fmt: skip
            sentences.append(f"{name} was mayor of {town} from {year} to {end}.")
            year = end + chance.randrange(3)
    (tmp_path / "prose.txt").write_text("\n\n".join(sentences))
    with KBase.create(tmp_path / "a.kg") as prose, KBase.create(tmp_path / "b.kg") as table:
        prose.load(tmp_path / "prose.txt")
        table.write(rows)
        facts = {line.text for line in table.snapshot().lines}
        assert {line.text for line in prose.snapshot().lines} == facts
        for _ in range(count):
            year = str(chance.randrange(1795, 1990))
            question = f"Who was mayor of {chance.choice(TOWNS)}?"
            for asked, as_of in ((question, year), (question.replace("?", f" in {year}?"), None)):
                one, two = prose.ask(asked, as_of=as_of), table.ask(asked, as_of=as_of)
                assert (one.answers, one.answer_items) == (two.answers, two.answer_items), asked
