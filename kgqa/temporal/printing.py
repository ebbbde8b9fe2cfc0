"""Write bounds as text: EDTF that parses back to the same bounds, and short English.

Belongs here: ``format`` and its kin. Must not: parsing. Dates are printed at the coarsest
granule that says exactly what the bounds say; the precision fields only choose between
notations of equal bounds.
"""

from __future__ import annotations

from functools import lru_cache

from kgqa.temporal.calendars import (
    CLOCK_MS,
    REACH,
    YEARS,
    alignment,
    civil,
    finer,
    from_astronomical,
    granule,
    shift_months,
    week_start,
)
from kgqa.temporal.interval import (
    BEGIN,
    DAY_MS,
    END,
    UNDATED,
    Instant,
    Interval,
    Numbering,
    Precision,
    Validity,
)
from kgqa.temporal.moments import Moment

_CODED: tuple[Precision, ...] = ("season", "quarter", "week")
_PLAIN: tuple[Precision, ...] = ("year", "month", "day", *CLOCK_MS)
_SPANS: tuple[Precision, ...] = ("decade", "century", "millennium")
_CIRCA: dict[Precision, int] = {"day": 1, "month": 12, "year": 60, "decade": 120, "century": 600}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}


def format(validity: Validity, *, numbering: Numbering = "historical") -> str:  # noqa: A001
    """Return EDTF that ``parse`` reads back to the same four bounds in that numbering.

    >>> from kgqa.temporal.terms import parse
    >>> [format(parse(text)) for text in ("1914/1918", "-0044-03-15/..", "/1848", "1984~")]
    ['1914/1918', '-0044-03-15/..', '/1848', '1984~']
    """
    es, ls, ee, le = validity.bounds
    if validity == UNDATED:
        return "/"
    if ee == es + 1 and le == ls + 1:
        return _moment(es, le, validity, validity.start_precision, numbering)
    start_unknown = es == BEGIN and ls == max(ee - 1, BEGIN + 1)
    end_unknown = le == END and ee == min(ls + 1, END - 1)
    if validity.start_open:
        start = ".."
    elif start_unknown and not end_unknown:
        start = ""
    else:
        start = _moment(es, ls + 1, validity, validity.start_precision, numbering)
    if validity.end_open:
        end = ".."
    elif end_unknown:
        end = ""
    else:
        end = _end(validity, numbering)
    return f"{start}/{end}"


def format_instant(
    t: Instant, precision: Precision | None = None, *, numbering: Numbering = "historical"
) -> str:
    """Return the granule in which an instant lies; by default the coarsest that begins there.

    >>> format_instant(-735160 * DAY_MS, "month"), format_instant(0)
    ('-0044-03', '1970')
    """
    if t in (BEGIN, END):
        return ".."
    precision = precision or alignment(t)
    span = granule(t, precision)
    text = _granule(span.start, span.end, precision, numbering)
    return text or _set(span.start, span.end, numbering)


def format_span(span: Interval, *, numbering: Numbering = "historical") -> str:
    """Return a certain half-open span; one granule as itself, else first to last granule.

    >>> format_span(Interval(0, 365 * DAY_MS)), format_span(Interval(0, END))
    ('1970', '1970/..')
    """
    if span.start != BEGIN and span.end != END:
        whole = _granule(span.start, span.end, None, numbering)
        if whole:
            return whole
        precision = finer(alignment(span.start), alignment(span.end))
        first = granule(span.start, precision)
        last = granule(span.end - 1, precision)
        return f"{_plain(first, precision, numbering)}/{_plain(last, precision, numbering)}"
    start = ".." if span.start == BEGIN else format_instant(span.start, numbering=numbering)
    if span.end == END:
        return f"{start}/.."
    precision = alignment(span.end)
    return f"{start}/{_plain(granule(span.end - 1, precision), precision, numbering)}"


def _end(validity: Validity, numbering: Numbering) -> str:
    ee, le = validity.ee, validity.le
    precision = validity.end_precision
    if ee == le:
        return "<" + _starting(le, precision, numbering)
    inclusive = _moment(ee - 1, le, validity, precision, numbering)
    if inclusive.startswith("[") and ee > BEGIN + 1 and le < END:
        shared = finer(alignment(ee), alignment(le))
        # An uncertain exclusive end: both bounds are first instants no longer held.
        if shared not in CLOCK_MS:
            first, last = (_plain(granule(t, shared), shared, numbering) for t in (ee, le))
            return f"<[{first}..{last}]"
    return inclusive


def _starting(t: Instant, precision: Precision | None, numbering: Numbering) -> str:
    """Return a granule that begins at ``t``: of the given precision if that is a plain one."""
    if precision in _PLAIN and granule(t, precision).start == t:
        return _plain(granule(t, precision), precision, numbering)
    return format_instant(t, numbering=numbering)


def _moment(
    low: Instant, high: Instant, validity: Validity, hint: Precision | None, numbering: Numbering
) -> str:
    """Return ``[low, high)`` as one date, qualified if the validity is, else as a set."""
    if low == BEGIN or high == END:
        return _set(low, high, numbering)
    uncertain, approximate = validity.uncertain, validity.approximate
    text = _granule(low, high, hint, numbering)
    if text:
        timed = "T" in text or "W" in text
        return text + "?" if uncertain and not approximate and not timed else text
    if approximate:
        text = _circa(low, high, numbering)
        if text:
            return text + ("%" if uncertain else "~")
    return _set(low, high, numbering)


def _circa(low: Instant, high: Instant, numbering: Numbering) -> str | None:
    """Return the date that circa widens to ``[low, high)``, if there is one."""
    for precision, months in _CIRCA.items():
        first = shift_months(low, months)
        for days in range(4):
            span = granule(first + days * DAY_MS, precision)
            wide = Moment.of(span, precision).circa().wide
            if wide and (wide[0], wide[2]) == (low, high):
                return _granule(span.start, span.end, precision, numbering)
    return None


def _set(low: Instant, high: Instant, numbering: Numbering) -> str:
    """Return ``[low, high)`` as a one-of set of granules."""
    if low == BEGIN or high == END:
        first = "" if low == BEGIN else format_instant(low, numbering=numbering)
        last = ""
        if high != END:
            precision = alignment(high)
            last = _plain(granule(high - 1, precision), precision, numbering)
        return f"[{first}..{last}]"
    precision = finer(alignment(low), alignment(high))
    first = _plain(granule(low, precision), precision, numbering)
    return f"[{first}..{_plain(granule(high - 1, precision), precision, numbering)}]"


# The same dates are printed again and again.
@lru_cache(maxsize=50_000)
def _granule(
    low: Instant, high: Instant, hint: Precision | None, numbering: Numbering
) -> str | None:
    """Return ``[low, high)`` if it is one granule that has a notation."""
    if hint in _CODED and granule(low, hint) == Interval(low, high):
        coded = _coded(low, hint, numbering)
        if coded:
            return coded
    for precision in _PLAIN:
        span = granule(low, precision)
        if span.start == low and span.end == high:
            return _plain(span, precision, numbering)
        if span.end < high and precision == "year":
            return _unspecified(low, high, numbering)
    return None


def _unspecified(low: Instant, high: Instant, numbering: Numbering) -> str | None:
    """Return whole years as ``199X`` if the digits allow it."""
    if alignment(low) != "year" or alignment(high) != "year":
        return None
    first, last = (from_astronomical(civil(t // DAY_MS)[0], numbering) for t in (low, high - 1))
    if first < 0 < last:
        return None
    near, far = sorted((abs(first), abs(last)))
    for count, precision in enumerate(_SPANS, 1):
        size = YEARS[precision]
        if near % size == 0 and far == near + size - 1 and near > 0 and far <= 9999:
            sign = "-" if last < 0 else ""
            return f"{sign}{near // size:0{4 - count}d}" + "X" * count
    return None


def _coded(low: Instant, precision: Precision | None, numbering: Numbering) -> str | None:
    year, month, _ = civil(low // DAY_MS)
    if precision == "week":
        thursday = low // DAY_MS + 3
        year = civil(thursday)[0]
        week = (low // DAY_MS - week_start(year, 1)) // 7 + 1
        text = _year(year, numbering)
        return f"{text}-W{week:02d}" if len(text.lstrip("-")) == 4 else None
    if month == 12:
        return None
    code = 33 + (month - 1) // 3 if precision == "quarter" else 20 + month // 3
    return f"{_year(year, numbering)}-{code}"


def _plain(span: Interval, precision: Precision, numbering: Numbering) -> str:
    number, clock = divmod(span.start, DAY_MS)
    year, month, day = civil(number)
    text = _year(year, numbering)
    if precision == "year":
        return f"Y{text.lstrip('Y')}" if len(text.lstrip("-Y")) > 4 else text
    text += f"-{month:02d}"
    if precision == "month":
        return text
    text += f"-{day:02d}"
    if precision == "day":
        return text
    seconds, millis = divmod(clock, 1000)
    text += f"T{seconds // 3600:02d}"
    if precision != "hour":
        text += f":{seconds // 60 % 60:02d}"
    if precision in ("second", "millisecond"):
        text += f":{seconds % 60:02d}"
    if precision == "millisecond":
        text += f".{millis:03d}"
    return text + "Z"


def _year(year: int, numbering: Numbering) -> str:
    written = from_astronomical(year, numbering)
    text = f"{'-' if written < 0 else ''}{abs(written):04d}"
    return f"Y{text}" if abs(year) > REACH else text


def describe(validity: Validity) -> str:
    """Return a term in short English, as citations show it.

    >>> from kgqa.temporal.terms import parse
    >>> describe(parse("1789-04-30/<1797-03-04")), describe(parse("1990/.."))
    ('from 30 April 1789 to 4 March 1797 (exclusive)', 'since 1990')
    >>> describe(parse("-0044-03-15")), describe(parse("1790~"))
    ('15 March 44 BCE', 'circa 1790')
    """
    if validity == UNDATED:
        return "undated"
    text = format(validity)
    if "/" not in text:
        return _spoken(text, validity)
    start, end = text.split("/")
    if (start, end) == ("..", ".."):
        return "always"
    first, last = _spoken(start, validity), _spoken(end.lstrip("<"), validity)
    until = f"{last} (exclusive)" if end.startswith("<") else last
    if start in ("..", ""):
        known = "until" if start == ".." else "from an unknown date to"
        return f"{known} {until or 'an unknown date'}"
    if end == "..":
        return f"since {first}"
    return f"from {first} to {until or 'an unknown date'}"


def _spoken(text: str, validity: Validity) -> str:
    """Return one printed date as English."""
    if text in ("..", ""):
        return ""
    if text[0] == "[":
        first, last = text[1:-1].split("..")
        if not first:
            return f"{_spoken(last, validity)} or earlier"
        if not last:
            return f"{_spoken(first, validity)} or later"
        return f"between {_spoken(first, validity)} and {_spoken(last, validity)}"
    circa = "circa " if text[-1] in "~%" else ""
    maybe = " (uncertain)" if text[-1] in "?%" else ""
    return f"{circa}{_date_words(text.rstrip('?~%'))}{maybe}"


def _date_words(text: str) -> str:
    date, _, clock = text.partition("T")
    bce = date.startswith(("-", "Y-"))
    year, *rest = date.lstrip("Y").lstrip("-").split("-")
    words = _year_words(year)
    if rest and rest[0].startswith("W"):
        words = f"week {int(rest[0][1:])} of {words}"
    elif rest and int(rest[0]) > 12:
        code = int(rest[0])
        words = f"Q{code - 32} {words}" if code > 32 else f"{_SEASONS[(code - 20) * 3]} {words}"
    elif rest:
        words = f"{_MONTHS[int(rest[0]) - 1]} {words}"
        if len(rest) > 1:
            words = f"{int(rest[1])} {words}"
    if bce:
        words += " BCE"
    elif year.isdigit() and int(year) < 1000:
        words += " CE"
    return f"{words}, {clock[:-1]} UTC" if clock else words


def _year_words(year: str) -> str:
    if "X" not in year:
        return str(int(year))
    first = int(year.replace("X", "0"))
    return f"{first}s" if year.count("X") == 1 else f"{first}-{int(year.replace('X', '9'))}"
