"""A look at the picture in Neo4j Browser: the statement that shows one time, and its address.

Belongs here: text for people, who run it themselves. Must not: running it; a password. Values
stand in the text, since an address carries no parameters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from kgqa.errors import UnsupportedError
from kgqa.protocols import Capability
from kgqa.store.neo4j import cypher
from kgqa.store.neo4j.address import USER, Address, parse
from kgqa.temporal import printing
from kgqa.temporal.interval import Interval

PORT = 7474
"""Where a server answers HTTP unless it is set up otherwise."""
FIRST = ":config autoComplete: false"
"""Keeps Browser from drawing, between the nodes shown, also what held at other times."""


@dataclass(frozen=True, slots=True)
class View:
    """Hold what to open and what to run there; ``first`` is needed once in each browser."""

    link: str
    first: str
    query: str


def view(place: Capability, span: Interval, node: str | None = None, port: int = PORT) -> View:
    """Return how Browser shows what held in a span: all of it, or what is said of one node.

    Raises UnsupportedError (``store.no_browser``) for a base that is not on a server.
    """
    if place.technology != "neo4j":
        raise UnsupportedError(
            f"the base '{place.location}' is not on a Neo4j server", code="store.no_browser",
            hint=f"copy it to one: kgqa copy {place.location} neo4j://HOST:7687/BASE",
        )  # fmt: skip
    address = parse(place.location, place.user or USER)
    query = statement(address, span, node)
    scheme, _, server = address.uri.partition("://")
    asked = {
        "connectURL": f"{scheme}://{quote(address.user, safe='')}@{server}",
        "cmd": "edit",
        "arg": query,
    }
    host = server.rpartition(":")[0]
    return View(f"http://{host}:{port}/browser/?{urlencode(asked, quote_via=quote)}", FIRST, query)


def statement(address: Address, span: Interval, node: str | None = None) -> str:
    """Return the statement that draws what held in a span.

    >>> print(statement(parse("bolt://localhost/people"), Interval(0, 86_400_000), "cicero"))
    // as of 1970-01-01: [0, 86400000)
    MATCH p = (e:Entity {kb: "people", id: "cicero"})-[f]-()
    WHERE e.id IS NOT NULL AND f.es < 86400000 AND f.le > 0
    RETURN p LIMIT 300
    """
    use = f"USE {cypher.name(address.database)}\n" if address.database else ""
    which = "" if node is None else f", id: {_text(cypher.short(node))}"
    arrow = "->" if node is None else "-"
    return (
        f"// as of {printing.format_span(span)}: [{span.start}, {span.end})\n{use}"
        f"MATCH p = (e:Entity {{kb: {_text(address.kb)}{which}}})-[f]{arrow}()\n"
        f"WHERE e.id IS NOT NULL AND f.es < {span.end} AND f.le > {span.start}\n"
        "RETURN p LIMIT 300"
    )


def _text(value: str) -> str:
    # Before it reads anything else, Cypher 5 may take a backslash and a u, even after another
    # backslash, as the start of a character's number. Written as a number, no u follows one.
    parts = (json.dumps(part, ensure_ascii=False)[1:-1] for part in value.split("\\u"))
    return '"' + "\\\\\\u0075".join(parts) + '"'
