"""kgqa: questions about how things were at a given time, answered from what holds then.

Belongs here: public names, imported when first used. Must not: anything heavy at import.
"""

from __future__ import annotations

__version__ = "0.1.0"
