"""Obvious answers to small questions: keys, ids, days, comparisons, time words over rows.

Belongs here: pure functions that the oracle and the tests read by eye. Must not: code of kgqa
but the input types, or anything faster than it is plain.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from kgqa.model.things import Literal
from kgqa.protocols import Pattern
from kgqa.temporal.interval import BEGIN, END, Interval

Bounds: TypeAlias = tuple[int, int, int, int]
Token: TypeAlias = tuple[str, str]
Origin: TypeAlias = tuple[str, str | None, int | None, float]
"""Document, chunk, line, confidence."""
UNDATED_BOUNDS: Bounds = (BEGIN, END - 1, BEGIN + 1, END)
DAY = 86_400_000


class Row(NamedTuple):
    """One fact as read: ``bounds`` after ends were stopped or overridden, ``stated`` before."""

    subject: str
    relation: str
    object: Token
    bounds: Bounds
    stated: Bounds
    sources: frozenset[Origin]


class Term(NamedTuple):
    """One coalesced term of a subject-relation-object."""

    subject: str
    relation: str
    object: Token
    bounds: Bounds


# Keys and ids, written a second time from DESIGN section 1.


def key(text: str) -> str:
    """Return a name's key: NFKC, casefold, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def relation_key(text: str) -> str:
    """Return a relation's key: a name's, with ``_`` and ``-`` read as spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(text.replace("_", " ").replace("-", " ").split())


def token(value: str | Literal) -> Token:
    """Return a value that tells a node from a literal, and ``1`` from ``True`` and ``"1"``."""
    if isinstance(value, str):
        return "node", value
    return type(value.value).__name__, str(value.value)


def fact_label(row: Row) -> str:
    """Return the citation label of a row's stored fact."""
    kind, value = row.object
    letter = {"node": "n", "bool": "b", "int": "i", "float": "f", "str": "s"}[kind]
    text = value.lower() if kind == "bool" else value
    raw = "\x1f".join(
        [row.subject, row.relation, f"{letter}:{text}", ",".join(str(b) for b in row.stated)]
    )
    h = hashlib.blake2b(raw.encode("utf-8", "surrogatepass"), digest_size=17).digest()
    return "fact:" + base64.b32encode(h).decode().lower()[:26]


# Calendar: a walk over years and months from 2000-01-01, which is day 10,957.

_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def day_number(year: int, month: int = 1, day: int = 1) -> int:
    """Return days since 1970-01-01 of an astronomical year, proleptic Gregorian."""
    cycles, rest = divmod(year - 2000, 400)
    days = 10_957 + cycles * 146_097
    for y in range(2000, 2000 + rest):
        days += 366 if _leap(y) else 365
    for m in range(1, month):
        days += 29 if m == 2 and _leap(year) else _MONTHS[m - 1]
    return days + day - 1


def granule(year: int, *parts: int) -> tuple[int, int]:
    """Return ``[start, end)`` in ms of a year, month, day, hour, minute or second.

    ``parts`` are month, day, hour, minute, second as far as they are known.
    """
    month, day, hour, minute, second = (*parts, *(1, 1, 0, 0, 0)[len(parts) :])
    start = ((day_number(year, month, day) * 24 + hour) * 60 + minute) * 60_000 + second * 1000
    if len(parts) == 0:
        return start, day_number(year + 1) * DAY
    if len(parts) == 1:
        return start, (day_number(year + 1) if month == 12 else day_number(year, month + 1)) * DAY
    return start, start + (DAY, 3_600_000, 60_000, 1000)[len(parts) - 2]


# Time: what a pattern lets through.


def holds(bounds: Bounds, span: Interval, match: str = "overlaps") -> bool:
    """Tell whether a term possibly holds at a span under a match policy."""
    es, _, _, le = bounds
    first, last = span.start, span.end
    if match == "all":
        return es <= first and last <= le
    if match == "start" and first != BEGIN:
        last = first + 1
    if match == "end" and last != END:
        first = last - 1
    return es < last and first < le


def certain(bounds: Bounds, span: Interval, match: str = "overlaps") -> bool:
    """Tell whether a term certainly holds at a span under a match policy."""
    _, ls, ee, _ = bounds
    first, last = span.start, span.end
    if match == "all":
        return ls <= first and last <= ee
    if match == "start" and first != BEGIN:
        last = first + 1
    if match == "end" and last != END:
        first = last - 1
    return ls < last and first < ee


def admits(p: Pattern, bounds: Bounds) -> bool:
    """Tell whether a pattern's time fields let a term through."""
    if p.undated == "exclude" and bounds == UNDATED_BOUNDS:
        return False
    if p.begun_before is not None and not bounds[0] < p.begun_before:
        return False
    return p.valid is None or holds(bounds, p.valid, p.match)


def label_rank(label: str) -> tuple[int, str]:
    """Order labels: mixed case, ALL CAPS, lower case; then by text."""
    if label == label.lower():
        return 2, label
    return (1, label) if label == label.upper() else (0, label)


def union(terms: Iterable[Bounds]) -> list[Bounds]:
    """Return sorted terms in which touching or overlapping ones have become one."""
    out: list[Bounds] = []
    for b in sorted(set(terms)):
        if out and b[0] <= out[-1][3]:
            a = out.pop()
            out.append((a[0], min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])))
        else:
            out.append(b)
    return out


# Time words, over rows as read. Starts compare by the earliest start, ends by the latest end.


def coalesce(rows: Iterable[Row]) -> list[Term]:
    """Return the terms of each subject-relation-object, touching ones joined, in time order.

    An unknown end, or start, reaches only as far as it certainly holds.
    """
    rows = list(rows)
    terms = []
    for three in sorted({row[:3] for row in rows}):
        runs: list[list[tuple[int, int, Bounds]]] = []
        for one in sorted((*_reach(r.bounds), r.bounds) for r in rows if r[:3] == three):
            if runs and one[0] <= max(end for _, end, _ in runs[-1]):
                runs[-1].append(one)
            else:
                runs.append([one])
        for run in runs:
            es, ls, ee, le = zip(*(bounds for _, _, bounds in run), strict=True)
            terms.append(Term(*three, (min(es), min(ls), max(ee), max(le))))
    return sorted(terms, key=lambda t: (t.bounds[0], t.bounds[2], t[:3]))


def _reach(bounds: Bounds) -> tuple[int, int]:
    es, ls, ee, le = bounds
    begin = ls if es == BEGIN and ls != BEGIN else es
    return begin, ee if le == END and ee != END else le


def at(rows: Iterable[Row], span: Interval) -> list[Row]:
    """Return the rows that possibly hold at a span."""
    return [row for row in rows if holds(row.bounds, span)]


def nth(terms: Iterable[Term], n: int) -> list[Term]:
    """Return the terms with the n-th distinct start (1-based; -1 is the last): all of them."""
    terms = list(terms)
    starts = sorted({term.bounds[0] for term in terms})
    index = n - 1 if n > 0 else n
    if not -len(starts) <= index < len(starts):
        return []
    return [term for term in terms if term.bounds[0] == starts[index]]


def following(terms: Iterable[Term], anchor: Term) -> list[Term]:
    """Return the neighbours that start next after a term: all with the least later start."""
    return nth([t for t in terms if t.bounds[0] > anchor.bounds[0]], 1)


def preceding(terms: Iterable[Term], anchor: Term) -> list[Term]:
    """Return the neighbours that start last before a term: all with the greatest earlier start."""
    return nth([t for t in terms if t.bounds[0] < anchor.bounds[0]], -1)


def before(terms: Iterable[Term], t: int) -> list[Term]:
    """Return all terms that possibly start earlier than an instant."""
    return [term for term in terms if term.bounds[0] < t]


def after(terms: Iterable[Term], t: int) -> list[Term]:
    """Return all terms that possibly start at an instant or later; not if the start is unknown."""
    return [term for term in terms if term.bounds[1] >= t and term.bounds[0] != BEGIN]


def diff(rows: Iterable[Row], one: Interval, two: Interval) -> tuple[set[Row], set[Row]]:
    """Return what held at the first span but not the second, and the reverse."""
    rows = list(rows)
    first, second = set(at(rows, one)), set(at(rows, two))
    return first - second, second - first


def holders(rows: Iterable[Row], relation: str, value: Token, span: Interval) -> set[str]:
    """Return the subjects for which a relation to a value possibly holds at a span."""
    return {r.subject for r in at(rows, span) if (r.relation, r.object) == (relation, value)}
