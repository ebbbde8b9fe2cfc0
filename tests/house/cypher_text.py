"""Finds text that reaches the server from anywhere but constants and ``cypher`` (R-CY-02).

Belongs here: the analysis. Must not: expectations. Text may run if it is a constant, what a
function returns that is annotated to return Cypher, or put together from such. A function that
hands a parameter on to a statement passes the duty to its callers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

SINKS = ("run", "rows", "lock", "execute_query", "text", "Query", "_run")
"""Functions whose first argument is the text of a statement or a template of one."""
MAKERS = ("cypher.py", "where.py")
"""Modules that may make Cypher of text: what they are given are names and conditions in code."""


@dataclass(frozen=True)
class Place:
    """Say where an expression stands; no function is a module's own level."""

    module: str
    function: ast.FunctionDef | None = None


@dataclass
class Room:
    """Hold what is known of all modules together."""

    trees: Mapping[str, ast.Module]
    safe_functions: set[str] = field(default_factory=set)
    """Functions annotated to return Cypher."""
    safe_fields: set[str] = field(default_factory=set)
    """Attributes annotated as Cypher."""
    constants: dict[tuple[str, str], list[ast.expr]] = field(default_factory=dict)
    """What is given to the names of each module."""
    sinks: set[tuple[str, str, int, str]] = field(default_factory=set)
    """Module, function, place and name of each parameter that must be given fixed text.

    No module: in all of them. A private name means another function in another module.
    """


def violations(sources: Mapping[str, str]) -> list[str]:
    """Return ``file:line`` of each place where text of another origin may reach the server."""
    room = Room({name: ast.parse(source) for name, source in sources.items()})
    for name, tree in room.trees.items():
        _learn(room, name, tree)
    room.sinks |= {("", name, 0, "query") for name in SINKS}
    while True:
        before = len(room.sinks)
        found = [
            f"{name}:{line}"
            for name, tree in room.trees.items()
            for line in _bad_lines(room, name, tree)
        ]
        if len(room.sinks) == before:
            return sorted(set(found))


def _learn(room: Room, module: str, tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and "Cypher" in _shown(node.returns):
            room.safe_functions.add(node.name)
        if isinstance(node, ast.ClassDef):
            room.safe_fields |= {
                item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign)
                and isinstance(item.target, ast.Name)
                and _shown(item.annotation) == "Cypher"
            }
    for item in tree.body:
        for name, value in _assigned(item):
            room.constants.setdefault((module, name), []).append(value)


def _bad_lines(room: Room, name: str, tree: ast.Module) -> Iterator[int]:
    for function, call in _calls(tree, None):
        called = _called(call)
        constant = all(isinstance(value, ast.Constant) for value in call.args)
        if called == "Cypher" and not constant and name not in MAKERS:
            yield call.lineno
        for module, sink, place, keyword in list(room.sinks):
            if called == sink and module in ("", name):
                given = [k.value for k in call.keywords if k.arg == keyword]
                given += call.args[place : place + 1]
                if not all(_fixed(room, value, Place(name, function)) for value in given):
                    yield call.lineno


def _calls(
    node: ast.AST, function: ast.FunctionDef | None
) -> Iterator[tuple[ast.FunctionDef | None, ast.Call]]:
    """Yield every call with the outermost function around it that has its names."""
    for child in ast.iter_child_nodes(node):
        inner = function
        if isinstance(child, ast.FunctionDef) and function is None:
            inner = child
        if isinstance(child, ast.Call):
            yield function, child
        yield from _calls(child, inner)


def _fixed(room: Room, value: ast.expr, place: Place) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.JoinedStr():
            return all(isinstance(part, ast.Constant) for part in value.values)
        case ast.BinOp(op=ast.Add()):
            sides = (value.left, value.right)
            # Text that is put together where it is used is suspect whatever it is made of.
            return place.function is None and all(_fixed(room, side, place) for side in sides)
        case ast.IfExp():
            return all(_fixed(room, one, place) for one in (value.body, value.orelse))
        case ast.Call():
            inner = value.func
            if isinstance(inner, ast.Attribute) and inner.attr in ("values", "get"):
                return all(_fixed(room, one, place) for one in (inner.value, *value.args[1:]))
            if isinstance(inner, ast.Attribute) and inner.attr == "fromkeys":
                return all(_fixed(room, one, place) for one in value.args[1:])
            return _called(value) in room.safe_functions
        case ast.Subscript():
            return _fixed(room, value.value, place)
        case ast.Attribute():
            return value.attr in room.safe_fields or (
                value.attr.isupper() and _fixed_constant(room, value.attr, place)
            )
        case ast.Tuple() | ast.List():
            return all(_fixed(room, one, place) for one in value.elts)
        case ast.Dict():
            return all(_fixed(room, one, place) for one in value.values)
        case ast.GeneratorExp() | ast.ListComp():
            return _fixed(room, value.elt, place)
        case ast.Name():
            return _fixed_name(room, value.id, place)
    return False


def _fixed_constant(room: Room, name: str, place: Place) -> bool:
    """Tell whether a name of this module, else of any other, is always fixed."""
    homes = [home for home, known in room.constants if known == name]
    if place.module in homes:
        homes = [place.module]
    return bool(homes) and all(
        _fixed(room, value, Place(home)) for home in homes for value in room.constants[home, name]
    )


def _fixed_name(room: Room, name: str, place: Place) -> bool:
    function = place.function
    if function is None:
        return _fixed_constant(room, name, place)
    values = list(_local(name, function))
    parameter = _parameter(name, function)
    if parameter is not None:
        owner, at, annotation = parameter
        if "Cypher" not in annotation:
            home = place.module if owner.startswith("_") else ""
            room.sinks.add((home, owner, at, name))
    elif not values:
        return _fixed_constant(room, name, place)
    return all(_fixed(room, value, place) for value in values)


def _local(name: str, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what a name is given inside a function, by ``=``, ``for`` or in a comprehension."""
    for node in ast.walk(function):
        if isinstance(node, ast.stmt):
            yield from (value for target, value in _assigned(node) if target == name)
        if isinstance(node, (ast.For, ast.comprehension)):
            each = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List)) else [node.iter]
            for given in each:
                yield from (
                    value for target, value in _matched(node.target, given) if target == name
                )


def _parameter(name: str, function: ast.FunctionDef) -> tuple[str, int, str] | None:
    """Return whose parameter a name is, its place, without ``self``, and its annotation."""
    for node in ast.walk(function):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if given and given[0].arg in ("self", "cls"):
                given = given[1:]
            for place, one in enumerate(given):
                if one.arg == name:
                    owner = node.name if isinstance(node, ast.FunctionDef) else ""
                    return owner, place, _shown(one.annotation)
    return None


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _matched(target, node.value)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name, node.value
            # What is added to is text put together.
            yield name, ast.BinOp(ast.Constant(""), ast.Mod(), node.value)


def _matched(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, given in zip(target.elts, value.elts, strict=False):
            yield from _matched(one, given)
    else:
        yield from ((name, value) for name in _names(target))


def _names(target: ast.expr) -> Iterable[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _shown(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation) if annotation else ""
