"""Plant known bugs in a copy of the package; a named quick test must catch each (R-GN-07)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("kgqa", "loaders", "ontology", "examples", "tests", "pyproject.toml")

STORE = "tests/contract/test_sqlite.py::TestSQLite::"
QUERIES = "tests/contract/test_oracle_queries.py::"
DATES = "tests/testing/test_other_calendar.py"
WORDS = "tests/contract/test_time_words.py"
FILTERS = STORE + "test_time_filters"
FUNCTIONAL = QUERIES + "test_functional_histories"


class Bug(NamedTuple):
    """One replacement in one file, which must apply exactly once, and the test that fails."""

    name: str
    file: str
    old: str
    new: str
    test: str


BUGS = (
    # borders of the filters, in SQL, in memory and in Python
    Bug("start border", "kgqa/store/queries.py",
        'f"{table}.es < ? AND {table}.le > ?"', 'f"{table}.es <= ? AND {table}.le > ?"', FILTERS),
    Bug("end border", "kgqa/store/queries.py",
        'f"{table}.es < ? AND {table}.le > ?"', 'f"{table}.es < ? AND {table}.le >= ?"', FILTERS),
    Bug("whole, start border", "kgqa/store/queries.py",
        "{table}.es <= ? AND {table}.le >= ?", "{table}.es < ? AND {table}.le >= ?", FILTERS),
    Bug("whole, end border", "kgqa/store/queries.py",
        "{table}.es <= ? AND {table}.le >= ?", "{table}.es <= ? AND {table}.le > ?", FILTERS),
    Bug("open end is past", "kgqa/store/queries.py",
        'f"{table}.es < ? AND {table}.le > ?"',
        'f"{table}.es < ? AND {table}.le > ? AND {table}.ee < {END}"', FILTERS),
    Bug("open start is future", "kgqa/store/queries.py",
        'f"{table}.es < ? AND {table}.le > ?"',
        'f"{table}.es < ? AND {table}.le > ? AND {table}.ls > {BEGIN}"', FILTERS),
    Bug("world border", "kgqa/store/queries.py",
        'f"{table}.es < ?", pattern.begun_before', 'f"{table}.es <= ?", pattern.begun_before',
        STORE + "test_begun_before"),
    Bug("possible, end border", "kgqa/temporal/interval.py",
        "return self.es < span.end and self.le > span.start",
        "return self.es < span.end and self.le >= span.start",
        STORE + "test_stopped_end_filters"),
    Bug("definite, start border", "kgqa/temporal/interval.py",
        "return self.ls < span.end and self.ee > span.start",
        "return self.ls <= span.end and self.ee > span.start", FILTERS),
    Bug("definite, end border", "kgqa/temporal/interval.py",
        "return self.ls < span.end and self.ee > span.start",
        "return self.ls < span.end and self.ee >= span.start", FILTERS),
    Bug("coarse as-of is its first instant", "kgqa/temporal/interval.py",
        "    return span\n\n\ndef merge",
        "    return Interval(span.start, span.start + 1)\n\n\ndef merge", FILTERS),
    # dates
    Bug("year zero", "kgqa/temporal/calendars.py",
        "return year + 1 if year < 0 else year", "return year", DATES),
    Bug("numberings swapped", "kgqa/temporal/calendars.py",
        'if numbering == "astronomical":', 'if numbering != "astronomical":', DATES),
    Bug("julian twice", "kgqa/temporal/calendars.py", "- 719470\n", "- 719472\n", DATES),
    Bug("zone dropped", "kgqa/temporal/clock.py", "total - _offset(zone)", "total", DATES),
    Bug("zone turned round", "kgqa/temporal/clock.py",
        "total - _offset(zone)", "total + _offset(zone)", DATES),
    Bug("abs of the year", "kgqa/temporal/calendars.py",
        "    if month <= 2:\n        year -= 1",
        "    year = abs(year)\n    if month <= 2:\n        year -= 1", DATES),
    Bug("a century is no leap year, ever", "kgqa/temporal/calendars.py",
        "- year // 100 + year // 400", "- year // 100", DATES),
    # keys that lose their sign, order as text
    Bug("negative keys lost", "kgqa/store/queries.py",
        "span.end, span.start)", "max(span.end, 0), span.start)",
        STORE + "test_order_across_zero"),
    Bug("years sorted as text", "kgqa/store/facts.py",
        'order = "f.id" if pattern.order == "id" else "f.es, f.ee, f.id"',
        'order = "f.id" if pattern.order == "id" else "CAST(f.es AS TEXT), f.ee, f.id"',
        STORE + "test_order_across_zero"),
    Bug("page repeats", "kgqa/store/queries.py",
        '"({alias}.es, {alias}.ee, {alias}.id) > (?, ?, ?)"',
        '"({alias}.es, {alias}.ee, {alias}.id) >= (?, ?, ?)"',
        STORE + "test_limit_counts_what_is_left_after_stopping "
        + STORE + "test_pages_put_together_are_the_whole"),
    Bug("page skips ties", "kgqa/store/queries.py",
        'self.add(f"({alias}.es, {alias}.ee, {alias}.id) > (?, ?, ?)", *place)',
        'self.add(f"{alias}.es > ?", place[0])',
        STORE + "test_pages_put_together_are_the_whole"),
    # searches
    Bug("text: filter after top-k", "kgqa/store/search.py",
        "            queries.timed(where, \"n\", pattern)\n        hits",
        "            pass\n        hits", STORE + "test_find_filters_before_it_chooses"),
    Bug("vectors: no filter", "kgqa/store/search.py",
        "vectors.index.search(vector, k, mask)", "vectors.index.search(vector, k)",
        STORE + "test_nearest_filters_before_it_chooses"),
    Bug("vectors: next generation shows", "kgqa/store/search.py",
        'active = int(snapshot.meta().get("generation") or 0)', "active = 10**6",
        STORE + "test_new_generation_is_invisible_until_it_is_active"),
    Bug("raw text in the search", "kgqa/store/queries.py",
        "words = tokens(text)\n", "words = [text]\n", STORE + "test_find_never_raises"),
    # hops
    Bug("one hop unfiltered", "kgqa/store/facts.py",
        "into = self.stream(replace(pattern, subject=None, object=node))",
        "into = self.stream(replace(pattern, subject=None, object=node, valid=None))",
        QUERIES + "test_multi_hop_queries"),
    Bug("only along the arrow", "kgqa/store/facts.py",
        'return in_order(out, into, key=lambda fact: fact.valid.es)', "return out",
        STORE + "test_every_hop_holds"),
    Bug("nodes revisited", "kgqa/store/facts.py",
        "if not isinstance(there, str) or there in visited:", "if not isinstance(there, str):",
        STORE + "test_every_hop_holds"),
    # known_at
    Bug("known one revision late", "kgqa/store/queries.py",
        "{table}.recorded_from <= ? AND {table}.recorded_to > ?",
        "{table}.recorded_from < ? AND {table}.recorded_to > ?",
        STORE + "test_corrections_of_corrections"),
    Bug("known one revision long", "kgqa/store/queries.py",
        "{table}.recorded_from <= ? AND {table}.recorded_to > ?",
        "{table}.recorded_from <= ? AND {table}.recorded_to >= ?",
        STORE + "test_corrections_of_corrections"),
    Bug("neighbours of now, not of then", "kgqa/store/facts.py",
        "self._ended(endless, self._state.known(known_at))", "self._ended(endless, None)",
        STORE + "test_stopped_end_filters"),
    # functional relations
    Bug("equal starts stop each other", "kgqa/store/reading.py",
        "bisect_right(self._starts, fact.valid.es)", "bisect_left(self._starts, fact.valid.es)",
        FUNCTIONAL),
    Bug("one value too few", "kgqa/store/reading.py",
        "if len(seen) > at_most:", "if len(seen) >= at_most:", FUNCTIONAL),
    Bug("functional closes other relations", "kgqa/store/snapshot.py",
        'Where().add(f"f.{side} = ? AND f.relation = ?", *pair)',
        'Where().add(f"f.{side} = ?", pair[0])', FUNCTIONAL),
    Bug("stated ends are stopped too", "kgqa/store/facts.py",
        "if fact.valid.le == END and fact.valid.dated]", "if fact.valid.dated]", FUNCTIONAL),
    Bug("undated facts are stopped", "kgqa/store/facts.py",
        "if fact.valid.le == END and fact.valid.dated]", "if fact.valid.le == END]", FUNCTIONAL),
    Bug("stopped facts still match", "kgqa/store/facts.py",
        "is fact or self._fits(now, pattern)", "is fact or True",
        STORE + "test_stopped_end_filters"),
    # names, merges, order of loading
    Bug("alias without validity", "kgqa/store/versions.py",
        "        valid = alias.valid\n", "        valid = UNDATED\n",
        QUERIES + "test_real_renamings"),
    Bug("kind ignored", "kgqa/store/linking.py",
        "if not kind or kind in b.kinds", "if True", STORE + "test_kind_and_id_settle_it"),
    Bug("label by order of loading", "kgqa/store/linking.py",
        "key=lambda s: (s.rank, s.id != node, label_rank(s.label), not s.kind, s.kind, s.source),",
        "key=lambda s: s.rank,", STORE + "test_two_labels_of_one_id"),
    Bug("two bearers, one is taken", "kgqa/store/linking.py",
        "if len(found) == 1:", "if found:", STORE + "test_second_bearer_makes_a_name_ambiguous"),
    Bug("undo forgets to relink", "kgqa/store/writing.py",
        "                self._redirected(loser, winner)\n\n    def _redirected",
        "                self._other[\"merges\"] += 1\n\n    def _redirected",
        STORE + "test_merge_and_undo"),
    Bug("case by lower()", "kgqa/model/ids.py",
        'return " ".join(unicodedata.normalize("NFKC", label).casefold().split())',
        'return " ".join(unicodedata.normalize("NFKC", label).lower().split())',
        QUERIES + "test_as_of_queries"),
    Bug("true is one", "kgqa/model/ids.py",
        'return "b:true" if raw else "b:false"', 'return f"i:{int(raw)}"',
        STORE + "test_literals_keep_their_type"),
    # end, retract, erase, delete
    Bug("retract keeps the fact's claims", "kgqa/store/writing.py",
        "self.graph.close(self.graph.held(id=name))", "self.graph.held(id=name)",
        STORE + "test_retracted_fact_was_never_true_but_was_known"),
    Bug("retract of a node leaves its facts", "kgqa/store/writing.py",
        "            self.graph.close(self.graph.about([node]))\n", "",
        STORE + "test_retracted_node_takes_its_facts"),
    Bug("delete leaves node rows", "kgqa/store/writing.py",
        'self.nodes.retract(document=document)', "pass",
        STORE + "test_deleted_document_was_never_loaded"),
    Bug("inverted ends are taken", "kgqa/temporal/interval.py",
        "if self.es >= self.le or self.es > self.ls", "if self.es > self.ls",
        STORE + "test_inverted_end_is_refused"),
    Bug("erase leaves past chunks", "kgqa/store/erasing.py",
        'self._chunks(document=name)', "pass", STORE + "test_erased_bytes_are_gone"),
    Bug("the same rows again are new", "kgqa/store/revisions.py",
        "if not counts:", "if False:", STORE + "test_same_batch_twice_is_once"),
    Bug("fact ids without their end", "kgqa/model/ids.py",
        "{valid.es},{valid.ls},{valid.ee},{valid.le}", "{valid.es},{valid.ls}",
        QUERIES + "test_bitemporal_pairs"),
    # views and caches
    Bug("cache without revision", "kgqa/store/state.py",
        "held is not None and held[0] == revision:", "held is not None:",
        STORE + "test_view_sees_one_state " + STORE + "test_merge_and_undo"),
    # time words
    Bug("touching terms stay apart", "kgqa/query/operators.py",
        "if run and start > reach:", "if run and start >= reach:", WORDS),
    Bug("n-th off by one", "kgqa/query/operators.py",
        "return _chosen(_groups(terms), n - 1)", "return _chosen(_groups(terms), n)", WORDS),
    Bug("next includes the anchor", "kgqa/query/operators.py",
        "nth((t for t in terms if t.start > anchor), n)",
        "nth((t for t in terms if t.start >= anchor), n)", WORDS),
    Bug("before is at or before", "kgqa/query/operators.py",
        "        if t.valid.es < start\n", "        if t.valid.es <= start\n", WORDS),
    Bug("terms counted for people", "kgqa/query/operators.py",
        "return len({object_token(t.value(of)) for t in terms})",
        "return len([object_token(t.value(of)) for t in terms])", WORDS),
)  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """Return a copy of the checkout to plant in."""
    folder = tmp_path_factory.mktemp("planted")
    ignore = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, symlinks=True, ignore=ignore)
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, folder / part)
    return folder


def run(folder: Path, tests: set[str]) -> subprocess.CompletedProcess[str]:
    """Run named tests in a copy, and make sure that it is the copy that runs."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    where = {"PYTHONPATH": str(folder), "PATH": "", "HYPOTHESIS_STORAGE_DIRECTORY": str(folder)}
    return subprocess.run(
        [*command, *sorted(tests)],
        cwd=folder, env=where, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.full
def test_the_copy_without_bugs_passes(copy):
    done = run(copy, {name for bug in BUGS for name in bug.test.split()})
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.full
@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_planted_bug_is_caught(copy, bug):
    path = copy / bug.file
    sound = path.read_text(encoding="utf-8")
    assert sound.count(bug.old) == 1, f"{bug.name}: not once in {bug.file}"
    path.write_text(sound.replace(bug.old, bug.new), encoding="utf-8")
    try:
        done = run(copy, set(bug.test.split()))
    finally:
        path.write_text(sound, encoding="utf-8")
    assert done.returncode == 1, f"{bug.name} was not caught\n{done.stdout[-2000:]}"


def test_there_are_enough_bugs():
    assert len(BUGS) >= 30
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    assert all(bug.old != bug.new for bug in BUGS)


@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_planted_bugs_still_fit_the_source(bug):
    assert (ROOT / bug.file).read_text(encoding="utf-8").count(bug.old) == 1
