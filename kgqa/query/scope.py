"""The rules of time of DESIGN section 2 as values: options read once into a Scope.

Belongs here: as_of, known_at, the question's own time, and which of them bounds a read.
Must not: reading facts.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from typing import Any

from kgqa.errors import InputError
from kgqa.model.answer import AskOptions, Scope
from kgqa.model.things import Fact
from kgqa.protocols import Pattern, Reader
from kgqa.temporal import parse_as_of
from kgqa.temporal.interval import Instant, Interval

_REVISION = re.compile(r"r?(\d{1,3}|(?<=r)\d+)", re.ASCII)


def scope_of(reader: Reader, options: AskOptions, now: Instant | None = None) -> Scope:
    """Return the scope that options ask for over a reader; the clock is read here, once.

    Raises InputError for a time or revision that cannot be read.
    """
    now = time.time_ns() // 1_000_000 if now is None else now
    as_of = None
    if options.as_of is not None:
        as_of = parse_as_of(
            options.as_of, numbering=options.numbering, calendar=options.calendar, now=now
        )
    known_at = revision_at(reader, options, now)
    undated = options.undated or reader.meta().get("undated", "include")
    return Scope(
        revision=reader.revision if known_at is None else known_at,
        as_of=as_of,
        as_of_match=options.as_of_match,
        known_at=known_at,
        numbering=options.numbering,
        undated=undated,
        now=now,
    )


def revision_at(reader: Reader, options: AskOptions, now: Instant) -> int | None:
    """Return the revision that ``known_at`` means: the last one not later than the instant."""
    known = options.known_at
    if known is None:
        return None
    if isinstance(known, bool) or not isinstance(known, int | str):
        raise InputError(
            f"not a revision or a time: {known!r}",
            code="time.invalid",
            hint="give a revision number, r12, or a date",
        )
    found = _REVISION.fullmatch(known.strip()) if isinstance(known, str) else None
    if found:
        known = int(found.group(1))
    if isinstance(known, int):
        if known < 0:
            raise InputError(
                f"no such revision: {known}",
                code="query.no_such_revision",
                hint=f"give 0 to {reader.revision}",
            )
        return min(known, reader.revision)
    until = parse_as_of(
        known, numbering=options.numbering, calendar=options.calendar, now=now
    ).span.end
    return max((c.revision for c in reader.changes() if c.wall < until), default=0)


def asking(scope: Scope, window: Interval, text: str) -> Scope | None:
    """Return the scope with the question's own time, cut to before the horizon (rule b).

    None if the time lies wholly at or after the horizon.
    """
    end = window.end if scope.horizon is None else min(window.end, scope.horizon)
    if window.start >= end:
        return None
    return replace(scope, time=Interval(window.start, end), time_text=text)


def pattern(scope: Scope, span: Interval | None = None, **fields: Any) -> Pattern:
    """Return a pattern within the scope's world; ``span`` asks for what holds then (rule a)."""
    policy = scope.as_of_match if span is not None and scope.time is None else "overlaps"
    fields["limit"] = at_most(fields.get("limit"))
    return Pattern(
        valid=span,
        # Touching terms may cover a span together: "all" is judged after they are joined.
        match="overlaps" if policy == "all" else policy,
        begun_before=scope.horizon,
        known_at=scope.known_at,
        undated=scope.undated,
        **fields,
    )


def at_most(limit: int | None) -> int | None:
    """Return a limit of how many things are read; None, for all, beyond what any base holds.

    Raises InputError (``input.invalid``).

    >>> at_most(7), at_most(10**30), at_most(None)
    (7, None, None)
    """
    if limit is not None and limit < 0:
        raise InputError(
            f"a limit below zero: {limit}", code="input.invalid", hint="give 0 or more"
        )
    return None if limit is None or limit > sys.maxsize else limit


def incident(reader: Reader, node: str, within: Pattern) -> list[Fact]:
    """Return the facts at either side of a node, once each."""
    facts = [
        *reader.match(replace(within, subject=node)),
        *reader.match(replace(within, object=node)),
    ]
    return list({fact.id: fact for fact in facts}.values())
