"""The example base in a file, to be copied to servers."""

from __future__ import annotations

import json
from pathlib import Path

from kgqa import examples
from kgqa.exchange import declare
from kgqa.kbase import KBase


def example_base(folder: Path) -> KBase:
    """Make the base of ``kgqa demo``, without embeddings."""
    script = json.loads(examples.path("demo.json").read_text(encoding="utf-8"))
    kb = KBase.create(folder / "people.kg")
    for name in script["relations"]:
        kb.declare(declare.read(examples.path(name).read_text(encoding="utf-8"), name))
    kb.load([examples.path(name) for name in [*script["load"], *script["read"]]])
    return kb
