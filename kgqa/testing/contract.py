"""The behaviour that every Store has, as tests: a back-end's test file is three fixtures.

Belongs here: putting the parts of the contract together. Must not: anything of one back-end.

    class TestSQLite(StoreContract):
        @pytest.fixture
        def store_factory(self, tmp_path): ...   # () -> a new, empty Store
        @pytest.fixture
        def reopen(self): ...                    # (store) -> a second Store on the same base
        @pytest.fixture
        def peek(self): ...                      # (store) -> every byte that it has on disk
"""

from __future__ import annotations

from kgqa.testing.contract_names import NamesContract
from kgqa.testing.contract_reads import ReadsContract
from kgqa.testing.contract_search import SearchContract
from kgqa.testing.contract_sharing import SharingContract
from kgqa.testing.contract_writes import WritesContract


class StoreContract(WritesContract, NamesContract, ReadsContract, SearchContract, SharingContract):
    """All of it."""
