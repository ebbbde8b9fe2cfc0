"""Settings that every test shares: no deadlines, bases in memory where there is room.

Thousands of small bases are synced to their disk; on a memory disk that costs nothing, and a
killed process loses as little there as on a real one.
"""

import os
import shutil
from pathlib import Path

from hypothesis import HealthCheck, settings

pytest_plugins = ("kgqa.testing.plugin",)

MEMORY_DISK = Path("/dev/shm")
ROOM = 4 * 2**30

settings.register_profile(
    "kgqa", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kgqa")

if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free >= ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))
