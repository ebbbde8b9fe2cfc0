"""Neo4j Browser itself shows the example base as docs/cypher.md says.

``KGQA_BROWSER_SHOTS`` names a folder for pictures of what it shows; docs/browser.png is one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from chromium import chromium
from page_blocks import ROOT
from people import example_base

from kgqa import tasks
from kgqa.kbase import KBase
from kgqa.store.neo4j.browser import FIRST
from kgqa.testing.servers import PASSWORD, Neo4jServer

COLOURS = {"Verrold": "#4C8EDA", "Lindhaven": "#57C7E3", "Measure twice": "#FFE081"}
HEADS = {"1990": "Ilka Dun", "2005": "Yara Fen"}
"""How the caption of who was chief executive begins, however it is cut."""


def test_it_shows_what_held_at_each_time(
    make_server: Callable[..., Neo4jServer], tmp_path: Path
) -> None:
    with chromium(tmp_path / "profile") as browser:
        server = make_server("5.26", settings={"server.http.enabled": "true"})
        with example_base(tmp_path) as kb:
            kb.copy(server.base("people"))
        port = int(server.http_url.rpartition(":")[2])
        with KBase.open(server.base("people")) as kb:
            views = {year: tasks.browse(kb, year, "Verrold", port=port) for year in HEADS}
            expected = {year: len(kb.at("Verrold", as_of=year).lines) for year in HEADS}
            lines = kb.timeline("Verrold").lines
            told = {f"{line.relation} {line.valid}" for line in lines}
        browser.open(views["1990"].link, PASSWORD)
        assert browser.editor() == views["1990"].query
        browser.run(FIRST)
        browser.drop(ROOT / "docs" / "kgqa.grass")
        browser.until(lambda: browser.command() == ":style")
        for year, head in HEADS.items():
            browser.run(views[year].query)
            nodes = browser.nodes()
            assert COLOURS.items() <= nodes.items()
            (shown,) = [name for name in nodes if name.startswith(tuple(HEADS.values()))]
            assert shown.startswith(head)
            assert nodes[shown] == "#F79767"
            # Captions longer than their arrow are cut.
            captions = browser.relationships(expected[year])
            assert len(captions) == expected[year]
            assert [c for c in captions if not any(w.startswith(c.rstrip("…")) for w in told)] == []
            assert f"revenue {year}" in told
            assert "CHIEF_EXECUTIVE (1)" in browser.overview()
            if folder := os.environ.get("KGQA_BROWSER_SHOTS"):
                browser.shoot(Path(folder) / f"{year}.png")
        browser.drop(ROOT / "docs" / "cypher.zip")
        assert "What holds at $t" in browser.favourites("kgqa")
