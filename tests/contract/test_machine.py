"""Random histories on SQLite, compared with the oracle after every step."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from kgqa.protocols import Store
from kgqa.store.sqlite import SQLiteStore
from kgqa.testing.machine import StoreMachine
from kgqa.testing.sizes import counts


class SQLiteMachine(StoreMachine):
    def make_store(self) -> Store:
        self.folder = Path(tempfile.mkdtemp(prefix="kgqa-machine-"))
        return SQLiteStore.create(self.folder / "a.kb", {})

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


@pytest.mark.parametrize("examples", counts(15, 500))
def test_store_equals_oracle(examples):
    run_state_machine_as_test(
        SQLiteMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
