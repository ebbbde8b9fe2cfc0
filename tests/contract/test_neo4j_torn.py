"""A view of a server's base while another thread commits: all of a revision, or nothing of it."""

from __future__ import annotations

import threading
from contextlib import closing

from kgqa.protocols import Pattern
from kgqa.store.neo4j.address import parse
from kgqa.store.neo4j.store import Neo4jStore
from kgqa.testing.contract_base import says, term

WRITES = 6
FACTS = 400


def test_a_large_commit_is_seen_whole_or_not_at_all(url: str) -> None:
    with closing(Neo4jStore.create(parse(url), {})) as store:
        seen, wrong, stop = set[int](), list[tuple[int, int]](), threading.Event()

        def read() -> None:
            with closing(Neo4jStore(parse(url))) as other:
                while not stop.is_set():
                    with other.view() as reader:
                        revision = reader.revision
                        found = len(reader.match(Pattern(relation="knew")))
                    seen.add(revision)
                    if found != revision * FACTS:
                        wrong.append((revision, found))

        reader = threading.Thread(target=read)
        reader.start()
        for number in range(WRITES):
            rows = [(f"S{number}", "knew", f"O{number}-{i}", term(i)) for i in range(FACTS)]
            store.write(says(f"d{number}", *rows))
        stop.set()
        reader.join(120)
        assert wrong == []
        assert not reader.is_alive()
        assert len(seen) > 1
