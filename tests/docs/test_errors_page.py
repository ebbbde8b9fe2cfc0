"""docs/errors.md: every code that the source can raise, under its class, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from page_blocks import ROOT, page, rows

from kgqa import errors

PAGE = page("docs/errors.md")
CODE = re.compile(r"[a-z]+\.[a-z_]+")
FILES = {"model.onnx", "import.sh"}
CLASSES = {name for name in vars(errors) if name.endswith("Error")}


def trees() -> Iterator[ast.AST]:
    for folder in ("kgqa", "loaders", "ontology", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            if "testing" not in path.parts:
                yield ast.parse(path.read_text(encoding="utf-8"))


NODES = [node for tree in trees() for node in ast.walk(tree)]


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts that an expression can be; both of a conditional one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


def raised() -> set[tuple[str, str]]:
    """Return (class, code) of every error that is built with its code written out."""
    return {
        (node.func.id, code)
        for node in NODES
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in CLASSES
        for keyword in node.keywords
        if keyword.arg == "code"
        for code in texts(keyword.value)
    }


def used() -> set[str]:
    """Return every code in the source: written out where raised, or handed to a helper."""
    written = {code for _, code in raised()}
    rooms = {code.split(".")[0] for code in written if "." in code}
    constants = {text for node in NODES for text in texts(node)}
    handed = {
        text
        for text in constants
        if CODE.fullmatch(text) and text.split(".")[0] in rooms and text not in FILES
    }
    return written | handed


TABLE = {
    row[0].strip("`"): (re.findall(r"`(\w+)` \((\d+)\)", row[1]), row[2], row[3])
    for row in rows(PAGE, "## Codes")
}


def test_every_code_is_on_the_page_and_no_other() -> None:
    assert used() - TABLE.keys() == set()
    assert TABLE.keys() - used() == set()


def test_codes_stand_under_their_classes() -> None:
    wrong = [(c, code) for c, code in raised() if c not in dict(TABLE[code][0])]
    assert wrong == []


def test_every_row_says_something_with_the_right_status() -> None:
    for code, (classes, means, do) in TABLE.items():
        assert classes, code
        assert means, code
        assert do, code
        for name, status in classes:
            assert getattr(errors, name).exit_status == int(status), code


def test_codes_stand_in_order() -> None:
    assert list(TABLE) == sorted(TABLE)


def test_the_classes_have_the_statuses_of_the_code() -> None:
    listed = {row[0].strip("`"): (int(row[1]), int(row[2])) for row in rows(PAGE, "## Classes")}
    known = {n: getattr(errors, n) for n in CLASSES - {"KGQAError"}}
    assert listed == {n: (c.exit_status, c.http_status) for n, c in known.items()}
