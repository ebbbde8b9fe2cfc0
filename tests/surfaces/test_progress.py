"""The bar: nothing without a terminal, nothing within two seconds, stages after that."""

from __future__ import annotations

import io
import sys

import pytest

from kgqa.surfaces import progress
from kgqa.surfaces.progress import Bar


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_quiet_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with Bar() as bar:
        bar.update("load", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_quiet_without_a_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with Bar() as bar:
        bar.update("load", 1, 2)
    assert sys.stderr is None


def test_quiet_for_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Bar() as bar:
        bar.update("load", 1, 2)
    assert terminal.getvalue() == ""
    assert progress.DELAY == 2.0


def test_stages_are_shown_after_that(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with Bar() as bar:
        bar.update("load", 1, 2)
        bar.update("load", 2, 2)
        bar.update("rows\x1b[31m.csv", 5_000, None)
    shown = terminal.getvalue()
    assert "load" in shown
    assert "rows" in shown
    assert "\x1b[31m.csv" not in shown
