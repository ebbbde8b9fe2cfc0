"""Questions alone against a base loaded with a set's facts: accuracy by class, and latency.

    python benchmarks/accuracy.py asof_us            # or: tempreason
    python benchmarks/accuracy.py --facts F.jsonl --questions Q.jsonl --ends exclusive

Prints what the shared scorer says of the predictions, then the time a question takes (the
median and the 95th percentile, one process, warm). ``--wrong N`` prints N misses a class.
"""

from __future__ import annotations

import argparse
import collections
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kgqa.errors import KGQAError
from kgqa.kbase import KBase
from kgqa.protocols import LoadOptions
from kgqa.testing.data import shared

SETS = {
    "asof_us": ("asof_us/us_facts.jsonl", "asof_us/us_questions.jsonl", "exclusive"),
    "tempreason": ("tempreason/facts.jsonl", "tempreason/questions_1876.jsonl", "inclusive"),
}


def main() -> None:
    """Run one set and print its figures."""
    args = _arguments()
    facts, questions, ends = _inputs(args)
    rows = _read(questions)[:: args.every]
    with tempfile.TemporaryDirectory() as folder, KBase.create(f"{folder}/base.kg") as kb:
        start = time.perf_counter()
        report = kb.load(facts, LoadOptions(ends=ends))
        print(f"loaded {dict(report.counts)} in {time.perf_counter() - start:.1f} s")
        if args.index:
            print(f"indexed {kb.index()}")
        kb.ask(rows[0]["question"])
        predictions, times = Path(folder, "predictions.jsonl"), []
        answers: dict[str, list[str]] = {}
        for row in rows:
            start = time.perf_counter()
            answers[str(row["id"])] = _ask(kb, row["question"])
            times.append((time.perf_counter() - start) * 1000)
        lines = (json.dumps({"id": i, "answers": found}) for i, found in answers.items())
        predictions.write_text("\n".join(lines) + "\n", encoding="utf-8")
        gold = Path(folder, "gold.jsonl")
        gold.write_text("\n".join(json.dumps(r) for r in rows) + "\n", encoding="utf-8")
        _score(gold, predictions)
    times.sort()
    late = times[len(times) * 95 // 100]
    print(f"ms a question: p50 {statistics.median(times):.1f}, p95 {late:.1f}")
    _misses(rows, answers, args.wrong)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("set", nargs="?", choices=sorted(SETS))
    parser.add_argument("--facts", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--ends", default="inclusive", choices=("inclusive", "exclusive"))
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question only")
    parser.add_argument("--index", action="store_true", help="embed before asking")
    parser.add_argument("--wrong", type=int, default=0)
    return parser.parse_args()


def _inputs(args: argparse.Namespace) -> tuple[Path, Path, Any]:
    if args.facts and args.questions:
        return args.facts, args.questions, args.ends
    facts, questions, ends = SETS[args.set or "asof_us"]
    found = shared(*facts.split("/")), shared(*questions.split("/"))
    if None in found:
        sys.exit("the shared data is not here; give --facts and --questions")
    return Path(str(found[0])), Path(str(found[1])), ends


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _ask(kb: KBase, question: str) -> list[str]:
    try:
        return list(kb.ask(question).answers)
    except KGQAError as error:
        print(f"refused: {question!r}: {error}")
        return []


def _score(gold: Path, predictions: Path) -> None:
    scorer = shared("score.py")
    if scorer is None:
        print("no scorer here")
        return
    command = [sys.executable, str(scorer), str(gold), str(predictions)]
    print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _misses(rows: list[dict[str, Any]], answers: dict[str, list[str]], most: int) -> None:
    seen: collections.Counter[str] = collections.Counter()
    for row in rows:
        found, kind = answers[str(row["id"])], str(row.get("op") or row.get("level"))
        if set(found) != set(row["answers"]):
            seen[kind] += 1
            if seen[kind] <= most:
                print(f"{kind}: {row['question']} wanted {row['answers']} got {found}")


if __name__ == "__main__":
    main()
