"""Paths as callers name them."""

from pathlib import Path

import pytest

from kgqa.errors import InputError
from kgqa.ingest.sources import named


def test_an_empty_path_is_not_the_current_folder() -> None:
    with pytest.raises(InputError, match="empty path") as caught:
        named("")
    assert caught.value.code == "load.no_paths"
    assert named(".") == Path()
