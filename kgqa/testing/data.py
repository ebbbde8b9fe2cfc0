"""Where the shared test data lies, on machines that have it.

Belongs here: finding files. Must not: parsing them.
"""

from __future__ import annotations

import os
from pathlib import Path


def shared(*parts: str) -> Path | None:
    """Return the path of a file in the shared data folder, or None where there is none.

    The folder is ``KGQA_SHARED_DATA`` or ``../shared/data`` beside the checkout.
    """
    root = os.environ.get("KGQA_SHARED_DATA")
    base = Path(root) if root else Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = base.joinpath(*parts)
    return path if path.exists() else None
