"""What of a text shows before a horizon, sentence by sentence."""

from __future__ import annotations

from kgqa.query.passages import HIDDEN, shown
from kgqa.temporal import parse_instant_span

TEXT = "He was born in 1732. He led the army. He crossed the river in 1776. He died in 1799."


def test_later_sentences_are_hidden() -> None:
    horizon = parse_instant_span("1776").end
    assert shown(TEXT, horizon) == (TEXT.replace("He died in 1799.", HIDDEN), True)
    assert shown(TEXT, parse_instant_span("1732").end) == (
        f"He was born in 1732. He led the army. {HIDDEN}", True
    )  # fmt: skip


def test_neighbouring_hidden_sentences_become_one() -> None:
    text = "A died in 1900. B died in 1901. C lived."
    assert shown(text, parse_instant_span("1800").end) == (f"{HIDDEN} C lived.", False)


def test_nothing_is_left() -> None:
    assert shown("A died in 1900.", parse_instant_span("1800").end) == ("", False)
    assert shown("", None) == ("", False)


def test_the_earliest_date_of_a_sentence_decides() -> None:
    both = "He ruled from 1770 to 1790."
    assert shown(both, parse_instant_span("1776").end) == (both, True)
    assert shown("He ruled until 1900.", parse_instant_span("1776").end) == ("", False)


def test_strict_setting_hides_undated_sentences() -> None:
    text = "He was born in 1732. He led the army."
    assert shown(text, None, "exclude") == (f"He was born in 1732. {HIDDEN}", True)
    assert shown("He led the army.", None) == ("He led the army.", False)


def test_bce_dates_are_read() -> None:
    text = "Pompey died in 48 BC. Caesar died in 44 BC. Augustus died in AD 14."
    expected = f"Pompey died in 48 BC. {HIDDEN}"
    assert shown(text, parse_instant_span("-0045").end) == (expected, True)
