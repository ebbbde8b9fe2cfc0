"""Whole jobs: batch resumes and refuses, doctor finds, the demo answers as its script says."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from letters import Letters

from kgqa import AskOptions, KBase, examples, tasks
from kgqa.errors import InputError, UnavailableError

PLAIN = AskOptions()
QUESTIONS = [
    {"id": 1, "question": "Who was consul in 63 BC?"},
    {"id": "b", "question": "Who was consul?", "as_of": "-0059"},
    {"id": 3, "question": "Who was consul in 30 BC?"},
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KBase]:
    with KBase.create(tmp_path_factory.mktemp("tasks") / "a.kg", embedder=Letters()) as made:
        rows = [("Cicero", "-0063"), ("Caesar", "-0059")]
        made.write(
            [
                {"subject": name, "relation": "consul of", "object": "Rome", "valid": year}
                for name, year in rows
            ]
        )
        yield made


def asked(folder: Path, *entries: Any) -> str:
    path = folder / "q.jsonl"
    path.write_text("".join(f"{json.dumps(e)}\n" for e in entries), encoding="utf-8")
    return str(path)


def ran(kb: KBase, questions: str, output: Path, options: AskOptions = PLAIN) -> tasks.BatchReport:
    return tasks.batch(kb, questions, output, options, lambda stage, done, total: None)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_batch_answers_each_with_its_own_as_of(kb: KBase, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    out = tmp_path / "out.jsonl"
    report = tasks.batch(
        kb, asked(tmp_path, *QUESTIONS), out, PLAIN, lambda *step: told.append(step)
    )
    assert (report.answered, report.abstained, report.resumed, report.failed) == (2, 1, 0, 0)
    assert report.output == str(out)
    found = lines(out)
    assert [(line["id"], line["answers"]) for line in found] == [
        (1, ["Cicero"]), ("b", ["Caesar"]), (3, []),
    ]  # fmt: skip
    assert list(found[0]) == [
        "id", "answers", "text", "scope", "citations", "abstained", "reason",
    ]  # fmt: skip
    assert found[1]["scope"]["as_of"]["input"] == "-0059"
    assert report.abstained == sum(line["abstained"] for line in found)
    assert told == [("batch", 1, 3), ("batch", 2, 3), ("batch", 3, 3)]


def test_the_options_hold_where_a_line_says_nothing(kb: KBase, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    questions = asked(tmp_path, {"id": 1, "question": "Who was consul?"})
    ran(kb, questions, out, AskOptions(as_of="-0063"))
    assert lines(out)[0]["answers"] == ["Cicero"]


def test_a_batch_resumes_and_drops_a_torn_line(kb: KBase, tmp_path: Path) -> None:
    out, questions = tmp_path / "out.jsonl", asked(tmp_path, *QUESTIONS)
    ran(kb, questions, out)
    whole = out.read_bytes()
    assert ran(kb, questions, out).resumed == 3
    assert out.read_bytes() == whole
    for cut in range(1, 60, 7):
        out.write_bytes(whole[:-cut])
        report = ran(kb, questions, out)
        assert (report.resumed, report.answered + report.abstained) == (2, 1)
        assert out.read_bytes() == whole


def test_a_question_that_cannot_be_asked_is_a_line_with_errors(kb: KBase, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    bad = {"id": 1, "question": "Who was consul?", "as_of": "0000"}
    report = ran(kb, asked(tmp_path, bad, QUESTIONS[1]), out)
    assert (report.answered, report.failed) == (1, 1)
    assert lines(out)[0]["errors"][0]["error"] == "time.invalid"
    assert lines(out)[0]["reason"] == "time.invalid"


@pytest.mark.parametrize(
    "line",
    [
        "not json", "[]", "5", '{"id": 1}', '{"question": "Who?"}', '{"id": [1], "question": "?"}',
        '{"id": 1, "question": 5}', '{"id": 1, "question": "?", "as_of": 5}',
        '{"id": 0, "question": "the id stands above"}', '{"id": null, "question": "?"}',
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_nothing_is_asked(line: str, kb: KBase, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": 0, "question": "?"}\n\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"q\.jsonl:3: ") as caught:
        ran(kb, str(path), tmp_path / "out.jsonl")
    assert caught.value.code == "batch.invalid"
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("held", [b"a,b\n1,2\n", b"[]\n{}\n", b"\xff\xfe\n\n", b'{"x": 1}\n{}\n'])
def test_a_file_of_something_else_is_not_touched(held: bytes, kb: KBase, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(held)
    with pytest.raises(InputError) as caught:
        ran(kb, asked(tmp_path, *QUESTIONS), out)
    assert caught.value.code == "batch.output"
    assert out.read_bytes() == held


def test_an_output_that_cannot_be_opened(kb: KBase, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        ran(kb, asked(tmp_path, *QUESTIONS), tmp_path / "no" / "out.jsonl")
    assert caught.value.code == "batch.output"
    with pytest.raises(InputError):
        ran(kb, asked(tmp_path, *QUESTIONS), tmp_path)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tasks.Demo:
    return tasks.demo(lambda stage, done, total: None, tmp_path_factory.mktemp("demo") / "demo.kg")


SCRIPT = json.loads(examples.path("demo.json").read_text(encoding="utf-8"))["questions"]


@pytest.mark.parametrize("number", range(len(SCRIPT)), ids=lambda n: SCRIPT[n]["question"])
def test_the_demo_answers_as_its_script_says(number: int, demo: tasks.Demo) -> None:
    expected, shown = SCRIPT[number], demo.shown[number]
    assert shown.question == expected["question"]
    assert list(shown.answer.answers) == expected["answers"]
    if "reason" in expected:
        assert shown.answer.reason == expected["reason"]


def test_the_demo_answers_the_same_on_a_server(url: str, demo: tasks.Demo) -> None:
    there = tasks.demo(lambda stage, done, total: None, url)
    assert "@" not in there.path
    assert there.stats == demo.stats
    for mine, theirs in zip(demo.shown, there.shown, strict=True):
        assert theirs.answer.answers == mine.answer.answers
        assert theirs.answer.text == mine.answer.text


def test_the_demos_base_stays(demo: tasks.Demo) -> None:
    with KBase.open(demo.path) as kb:
        assert kb.stats() == demo.stats
        assert kb.stats()["pending"] == 0
        assert kb.verify() == []


def test_texts_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def stdin(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    assert tasks.read_text("as it is ") == "as it is "
    stdin("\ufeffWho?\n".encode())
    assert tasks.read_text("-") == "Who?"
    stdin(b"a" * (tasks.MAX_INPUT + 1))
    with pytest.raises(InputError, match="more than 1,000,000"):
        tasks.read_text("-")
    stdin(b"\xff")
    with pytest.raises(InputError):
        tasks.read_text("-")
    monkeypatch.setattr(sys, "stdin", None)
    assert tasks.read_text("-") == ""


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("\ufeffä".encode())
    assert tasks.read_file(str(tmp_path / "a")) == "ä"
    for missing in (str(tmp_path / "b"), str(tmp_path), "a\0b"):
        with pytest.raises(InputError) as caught:
            tasks.read_file(missing)
        assert caught.value.code == "input.file"


def test_what_standard_input_holds_is_named_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for data in (b"a", b"b", b"a"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        with tasks.spooled(["-"], "txt") as (paths, name):
            assert paths[0].read_bytes() == data
            assert paths[0].suffix == ".txt"
            names.append(name)
        assert not paths[0].exists()
    assert names[0] == names[2] != names[1]
    with tasks.spooled(["a", "b"], None) as (paths, name):
        assert (paths, name) == (["a", "b"], None)
    with pytest.raises(InputError), tasks.spooled(["-"], "exe"):
        pass


def test_relations_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('[{"label": "Led By", "max_objects": 1}]')
    (relation,) = tasks.relations(str(tmp_path / "r.json"))
    assert (relation.key, relation.max_objects) == ("led by", 1)


def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(UnavailableError) as caught, tasks.spooled(["-"], "csv"):
        pass
    assert caught.value.code == "output.unwritable"
    with pytest.raises(UnavailableError, match="no room for the demo"):
        tasks.demo(lambda stage, done, total: None)
