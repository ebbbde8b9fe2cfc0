"""Make docs/cypher.zip, which Neo4j Browser imports, of the statements in docs/cypher.md.

``python tests/docs/favourites.py`` writes it; a test compares it.
"""

from __future__ import annotations

import io
import re
import zipfile

from page_blocks import ROOT, blocks, page

FOLDER = "kgqa"
FILE = ROOT / "docs" / "cypher.zip"


def title(statement: str) -> str:
    """Return the first line's title, without its parameters."""
    found = re.match(r"// (.+?) \(", statement)
    assert found is not None, statement
    return found[1]


def files() -> dict[str, str]:
    """Return each statement by the name of its file."""
    found = {}
    for number, statement in enumerate(blocks(page("docs/cypher.md"), "cypher"), 1):
        words = re.sub(r"[^a-z0-9]+", "-", title(statement).lower()).strip("-")
        found[f"{FOLDER}/{number:02}-{words}.cypher"] = statement
    return found


def packed() -> bytes:
    """Return the archive, always the same for the same page."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, statement in files().items():
            archive.writestr(zipfile.ZipInfo(name), statement)
    return out.getvalue()


if __name__ == "__main__":
    FILE.write_bytes(packed())
