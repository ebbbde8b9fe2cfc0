"""Names in a text to nodes: exact, alias, normalised, partial, slip of the pen, in that order.

Belongs here: which words are names and which nodes bear them; pure over a Reader. Must not:
deciding between nodes that bear the same name (relation and time do that, in query).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kgqa.language import wording
from kgqa.model.ids import name_key
from kgqa.model.question import Candidate, Mention
from kgqa.model.things import Node
from kgqa.protocols import NameHit, Pattern, Reader

_TOKEN = re.compile(r"\w+(?:[-'’.&/]\w+)*|[^\w\s]")
_WORDS = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['’]s?$")
_TAIL = re.compile(r"\s(?:of|for|in|to|at)\s")
_LONGEST = 16
_KEPT = 12
_SCORES = {"exact": 1.0, "alias": 0.97, "normalised": 0.9, "partial": 0.7, "fuzzy": 0.6}
_NEAR = 0.93 * _SCORES["fuzzy"]
_NEVER = wording.FRAMING | wording.AUXILIARIES | frozenset(wording.CONNECTIVES) | wording.COMMANDS


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    start: int
    end: int


def link(
    text: str,
    reader: Reader,
    *,
    known_at: int | None = None,
    skip: Sequence[tuple[int, int]] = (),
) -> list[Mention]:
    """Return the names in a text, in order, not overlapping; the longest name wins.

    ``skip`` are spans that read as something else (dates): a name may contain one, not be
    one, and no guess is made there.

    Each has up to 12 candidates, best first, ties by node id. A name counts whenever its node
    bore it. Cost: one look-up of every run of up to 16 words, then one search and one look-up
    for each capitalised run that nothing bears.
    """
    pieces = [_Piece(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    found = [
        m
        for m in _known(text, pieces, reader, known_at)
        if not any(
            a < m.end
            and m.start < b
            and not ((m.start <= a and b < m.end) or (m.start < a and b <= m.end))
            for a, b in skip
        )
    ]
    chosen = _cover(found)
    taken = [(m.start, m.end) for m in chosen] + list(skip)
    for start, end in _loose(text, pieces, taken):
        chosen += _guessed(text, start, end, reader, known_at)
    return sorted(chosen, key=lambda m: m.start)


def pinned(text: str, nodes: Iterable[tuple[str, Node]]) -> list[Mention]:
    """Return the names that the caller has settled: each place where the name is written."""
    found: list[Mention] = []
    for name, node in nodes:
        words = r"\s+".join(re.escape(w) for w in name.split())
        if not words:
            continue
        candidate = Candidate(node.id, node.label, node.kind, 1.0, "given")
        for match in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE):
            found.append(Mention(match.group(), match.start(), match.end(), (candidate,)))
    return _cover(found)


def _known(
    text: str, pieces: Sequence[_Piece], reader: Reader, known_at: int | None
) -> list[Mention]:
    spans: dict[tuple[int, int], dict[str, str]] = {}
    for i, first in enumerate(pieces):
        for last in pieces[i : i + _LONGEST]:
            raw = text[first.start : last.end]
            if not _nameable(raw):
                continue
            for end, key, why in _keys(raw, first.start):
                spans.setdefault((first.start, end), {}).setdefault(key, why)
    wanted = {key for keys in spans.values() for key in keys}
    bearers: dict[str, list[NameHit]] = {}
    for hit in reader.names(sorted(wanted), known_at):
        bearers.setdefault(hit.key, []).append(hit)
    kept = {
        span: hits
        for span, keys in spans.items()
        if (hits := [(h, why) for k, why in keys.items() for h in bearers.get(k, ())])
    }
    nodes = _nodes({h.node for hits in kept.values() for h, _ in hits}, reader, known_at)
    return [
        Mention(text[start:end], start, end, _named(hits, nodes))
        for (start, end), hits in kept.items()
    ]


def _keys(raw: str, start: int) -> list[tuple[int, str, str]]:
    """Return (end, key, why) of the ways to look a run of words up, the plainest first."""
    end = start + len(raw)
    found = [(end, name_key(raw), "exact")]
    bare = _POSSESSIVE.sub("", raw)
    if bare != raw and bare:
        found.append((start + len(bare), name_key(bare), "exact"))
    words = bare.split()
    lowered = words[0].casefold().rstrip(".") if words else ""
    if len(words) > 1 and lowered in wording.HONORIFICS - {"the"}:
        found.append((start + len(bare), name_key(" ".join(words[1:])), "normalised"))
    elif lowered != "the" and bare[:1].isupper():
        found.append((start + len(bare), name_key("the " + bare), "normalised"))
    return found


def _nameable(raw: str) -> bool:
    words = _WORDS.findall(raw.casefold())
    if not words or all(w in _NEVER or w == "s" for w in words):
        return False
    return raw[0].isalnum() or raw[0] in "(\"'“«"


def _named(hits: Sequence[tuple[NameHit, str]], nodes: dict[str, Node]) -> tuple[Candidate, ...]:
    best: dict[str, Candidate] = {}
    for hit, how in hits:
        why = "alias" if how == "exact" and not hit.main else how
        node = nodes.get(hit.node)
        kind = node.kind if node else None
        label = node.label if node else hit.label
        candidate = Candidate(hit.node, label, kind, _SCORES[why], why)
        if hit.node not in best or best[hit.node].score < candidate.score:
            best[hit.node] = candidate
    return tuple(sorted(best.values(), key=lambda c: (-c.score, c.node))[:_KEPT])


def _nodes(ids: Iterable[str], reader: Reader, known_at: int | None) -> dict[str, Node]:
    items = reader.get([f"node:{i}" for i in sorted(ids)], known_at)
    return {item.id: item for item in items.values() if isinstance(item, Node)}


def _cover(found: Sequence[Mention]) -> list[Mention]:
    """Choose spans that do not overlap: longest first, then the better name, then the first."""
    chosen: list[Mention] = []
    order = sorted(found, key=lambda m: (m.start - m.end, -m.candidates[0].score, m.start))
    for mention in order:
        if all(mention.end <= c.start or mention.start >= c.end for c in chosen):
            chosen.append(mention)
    return chosen


def _loose(
    text: str, pieces: Sequence[_Piece], taken: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the runs of capitalised words that no name covers, small words inside allowed."""
    runs: list[tuple[int, int]] = []
    current: list[_Piece] = []

    def close() -> None:
        while current and not current[-1].text[0].isupper():
            current.pop()
        if current:
            runs.append((current[0].start, current[-1].end))
        current.clear()

    for piece in pieces:
        word = piece.text
        lowered = _POSSESSIVE.sub("", word.casefold())
        covered = any(a < piece.end and piece.start < b for a, b in taken)
        starts = piece.start == 0 or text[: piece.start].rstrip()[-1:] in ".?!"
        capital = word[0].isupper() and lowered not in _NEVER
        if starts and lowered in wording.ORDINALS:
            capital = False
        if (capital and not covered) or (
            not covered
            and current
            and (lowered in {"of", "the", "de", "von", "van"} or word == ".")
        ):
            current.append(piece)
        else:
            close()
    close()
    return runs


def _guessed(
    text: str, start: int, end: int, reader: Reader, known_at: int | None
) -> list[Mention]:
    raw = _POSSESSIVE.sub("", text[start:end])
    pattern = Pattern(items=("node",), known_at=known_at, limit=40)
    ids = [h.id for h in reader.find(raw, 40, pattern)]
    rated = [
        rating
        for node in _nodes(ids, reader, known_at).values()
        if (rating := _rate(raw, node)) is not None
    ]
    close = any(c.why != "fuzzy" or c.score >= _NEAR for c in rated)
    if not close and (near := _slips(raw)):
        hits = [(h, "fuzzy") for h in reader.names(near, known_at)]
        rated += list(_named(hits, _nodes({h.node for h, _ in hits}, reader, known_at)))
    if not rated:
        return []
    heads = [c for c in rated if c.why == "partial" and _heads(raw, c)]
    if heads and not any(c.why == "normalised" for c in rated):
        rated = heads
    best: dict[str, Candidate] = {}
    for candidate in sorted(rated, key=lambda c: (-c.score, c.node)):
        best.setdefault(candidate.node, candidate)
    return [Mention(raw, start, start + len(raw), tuple(best.values())[:_KEPT])]


@lru_cache(maxsize=20_000)
def folded(name: str) -> str:
    """Return a name without accents, punctuation, honorifics and gaps between initials.

    >>> folded("Dr. J. K. Łuczak-O'Neil"), folded("J.K. Luczak O’Neil")
    ('jk luczak oneil', 'jk luczak oneil')
    """
    plain = unicodedata.normalize("NFKD", name_key(name)).replace("ł", "l").replace("ø", "o")
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    words = _WORDS.findall(re.sub(r"['’]", "", plain))
    while len(words) > 1 and words[0] in wording.HONORIFICS:
        words.pop(0)
    joined: list[str] = []
    for i, word in enumerate(words):
        if len(word) == 1 and i and len(words[i - 1]) == 1:
            joined[-1] += word
        else:
            joined.append(word)
    return " ".join(joined)


def _rate(raw: str, node: Node) -> Candidate | None:
    """Return the node as a candidate for the words, by its best name, or None."""
    from rapidfuzz import fuzz

    asked = folded(raw)
    best: tuple[float, str] | None = None
    for label in (node.label, *(a.label for a in node.aliases)):
        name = folded(label)
        if not asked or not name:
            continue
        if name == asked:
            rating = (_SCORES["normalised"], "normalised")
        elif set(asked.split()) <= set(name.split()) or _initials(asked, name):
            share = len(asked.split()) / len(name.split())
            rating = (_SCORES["partial"] + 0.15 * share, "partial")
        elif (ratio := fuzz.ratio(asked, name)) >= 85:
            rating = (_SCORES["fuzzy"] * ratio / 100, "fuzzy")
        else:
            continue
        best = max(best or rating, rating)
    return Candidate(node.id, node.label, node.kind, *best) if best else None


def _heads(raw: str, candidate: Candidate) -> bool:
    """Tell whether the words are all of a name before its "of" or "for" ("First Minister")."""
    return folded(_TAIL.split(candidate.label)[0]) == folded(raw)


def _initials(asked: str, name: str) -> bool:
    """Tell whether the words fit the name in order, an initial standing for a word."""
    rest = iter(name.split())
    words = asked.split()
    if len(words) < 2:
        return False
    expanded = [c for w in words[:-1] for c in (w if len(w) <= 2 else (w,))] + words[-1:]
    return all(any(n == w or (len(w) == 1 and n[0] == w) for n in rest) for w in expanded)


def _slips(raw: str) -> list[str]:
    """Return every key one slip away (a letter lost, swapped, added, wrong) of a short name."""
    key = name_key(raw)
    if not 4 <= len(key) <= 32:
        return []
    letters = sorted(set("abcdefghijklmnopqrstuvwxyz") | {c for c in key if c.isalpha()})
    cuts = [(key[:i], key[i:]) for i in range(len(key) + 1)]
    near = {a + b[1:] for a, b in cuts if b}
    near |= {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    near |= {a + c + b[1:] for a, b in cuts if b for c in letters}
    near |= {a + c + b for a, b in cuts for c in letters}
    near.discard(key)
    return sorted(near)
