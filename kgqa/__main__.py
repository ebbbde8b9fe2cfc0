"""The command's entry: answers ``--version`` before anything is imported."""

from __future__ import annotations

import contextlib
import os
import sys


def main() -> int:
    """Run the command line and return its exit status."""
    if sys.argv[1:] == ["--version"]:
        from kgqa import __version__

        try:
            # Unbuffered, so that after a failure nothing waits to be written again.
            os.write(1, f"kgqa {__version__}\n".encode())
            return 0
        except OSError:
            pass  # the command line says what is wrong
    try:
        from kgqa.surfaces.cli import run
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            os.write(2, b"kgqa: stopped\n")
        return 130
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
