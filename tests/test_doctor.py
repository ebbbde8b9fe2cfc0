"""The doctor: what it finds whole, and what it tells to type."""

from __future__ import annotations

import sys

import pytest

from kgqa import doctor


def test_doctor_finds_this_installation_whole() -> None:
    checks = {check.name: check for check in doctor.doctor()}
    assert list(checks) == ["python", "store", "embedder", "language", "sentence-transformers"]
    assert [name for name, check in checks.items() if not check.ok] == []
    assert checks["python"].found == sys.version.split()[0]


def test_doctor_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_EMBEDDER", "nothing")
    bad = next(check for check in doctor.doctor() if check.name == "embedder")
    assert not bad.ok
    assert bad.hint is not None

    def broken() -> str:
        raise ImportError("no wheel")

    monkeypatch.setitem(doctor._PROBES, "store", broken)
    store = next(check for check in doctor.doctor() if check.name == "store")
    assert (store.ok, store.found) == (False, "ImportError: no wheel")
    assert "pip install" in str(store.hint)
