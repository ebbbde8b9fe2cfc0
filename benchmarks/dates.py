"""Compare the English date grammar with public cases: ``python benchmarks/dates.py``.

The cases (Recognizers-Text, MIT, read from the shared data folder) give a phrase, a reference
date and what it resolves to. Of two readings the past one is compared. Two known differences
are corrected before comparing: their two-point ranges name the last granule as their end,
ours include it whole; their centuries begin a year early. Cases without a resolved date
(seasons) or with an impossible one name none and are left out. Prints figures and every
case that differs.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import InputError
from kgqa.temporal import Interval, parse_any, parse_instant_span
from kgqa.temporal.calendars import granule, shift_months
from kgqa.temporal.interval import BEGIN, END
from kgqa.testing.data import shared

FILES = ("DateParser.json", "DatePeriodParser.json")
NOBODY_KNOWS = "0001-01-01"


@dataclass(frozen=True)
class Case:
    """Hold one phrase, its reference day and the bounds it should have."""

    phrase: str
    reference: str | None
    start: int
    end: int
    timex: str


def cases(folder: Path) -> Iterator[Case]:
    """Yield every case that names a date or a range."""
    for name in FILES:
        for row in json.loads((folder / name).read_text(encoding="utf-8-sig")):
            reference = (row.get("Context") or {}).get("ReferenceDateTime")
            for result in row["Results"]:
                past = (result.get("Value") or {}).get("PastResolution") or {}
                bounds = _bounds(past)
                if bounds:
                    timex = result["Value"]["Timex"]
                    yield Case(result["Text"], reference and reference[:10], *bounds, timex)


def _bounds(past: dict[str, str]) -> tuple[int, int] | None:
    if past.get("date") and past["date"] != NOBODY_KNOWS:
        span = parse_instant_span(past["date"])
        return span.start, span.end
    start, end = past.get("startDate"), past.get("endDate")
    if not start and not end:
        return None
    return (
        parse_instant_span(start).start if start else BEGIN,
        parse_instant_span(end).start if end else END,
    )


def agrees(case: Case, hull: Interval) -> bool:
    """Tell whether a hull is the case's, after the two corrections."""
    if (hull.start, hull.end) == (case.start, case.end):
        return True
    if case.timex.endswith("P100Y)"):
        return (hull.start, hull.end) == (shift_months(case.start, 12), shift_months(case.end, 12))
    if not case.timex.startswith("(") or hull.start != case.start or case.end == END:
        return False
    return any(granule(case.end, p).end == hull.end and granule(case.end, p).start == case.end
               for p in ("day", "week", "month", "year"))  # fmt: skip


def run(folder: Path) -> tuple[Counter[str], list[str]]:
    """Return the counts of right, refused and wrong, and a line for each that is not right."""
    counts: Counter[str] = Counter()
    lines = []
    for case in cases(folder):
        reference = parse_instant_span(case.reference) if case.reference else None
        try:
            value = parse_any(case.phrase, reference=reference)
        except InputError as error:
            counts["refused"] += 1
            lines.append(f"refused  {case.phrase!r} ({error.code})")
            continue
        if agrees(case, value.hull):
            counts["right"] += 1
        else:
            counts["wrong"] += 1
            got = Case(case.phrase, case.reference, value.es, value.le, "")
            lines.append(
                f"wrong    {case.phrase!r} at {case.reference}: {_shown(got)}, not {_shown(case)}"
            )
    return counts, lines


def _shown(case: Case) -> str:
    from kgqa.temporal import format_instant

    return f"[{format_instant(case.start, 'day')}, {format_instant(case.end, 'day')})" if (
        case.start != BEGIN and case.end != END) else f"[{case.start}, {case.end})"  # fmt: skip


def main() -> int:
    """Print the figures."""
    folder = shared("dates", "recognizers_english")
    if folder is None:
        print("shared data not found: set KGQA_SHARED_DATA")
        return 1
    counts, lines = run(folder)
    total = sum(counts.values())
    print(*lines, sep="\n")
    for name in ("right", "refused", "wrong"):
        print(f"{name}: {counts[name]} of {total} = {counts[name] / total:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
