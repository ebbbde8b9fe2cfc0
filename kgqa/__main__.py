"""The command's entry: answers ``--version`` before anything is imported."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit status."""
    if sys.argv[1:] == ["--version"]:
        from kgqa import __version__

        print(f"kgqa {__version__}")
        return 0
    from kgqa.surfaces.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
