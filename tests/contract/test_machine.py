"""Random histories on each store, compared with the oracle after every step."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from kgqa.protocols import Store
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.store import Neo4jStore
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


class Neo4jMachine(StoreMachine):
    url = ""
    numbers = count()

    def make_store(self) -> Store:
        return Neo4jStore.create(parse(f"{self.url}-{next(self.numbers)}"), {})

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "pair"):
            self.pair.store.close()


def run(machine: type[StoreMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("examples", counts(15, 500))
def test_sqlite_equals_oracle(examples):
    run(SQLiteMachine, examples)


@pytest.mark.parametrize("examples", counts(2, 100))
def test_neo4j_equals_oracle(url, examples):
    class Machine(Neo4jMachine):
        pass

    Machine.url = url
    run(Machine, examples)
