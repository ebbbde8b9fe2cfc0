"""Markdown: headings become section paths, inline markup is taken off, code stays as it is.

Belongs here: CommonMark as far as it divides and decorates prose. Must not: rendering, HTML.
"""

from __future__ import annotations

import re

from kgqa.loaders.text import decode, title_of, unwrapped
from kgqa.protocols import Loaded, Section

_FRONT_MATTER = re.compile(r"---\n(.*?\n)?(?:---|\.\.\.)(?:\n|$)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(['\"]?)(.+?)\1[ \t]*$", re.MULTILINE)
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_ATX_CLOSE = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+$")
_BLOCK = re.compile(r"^(?:[ \t]{0,3}>[ \t]?)+")
_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.{0,10000}?-->", re.DOTALL), ""),
    (re.compile(r"!?\[([^\[\]\n]{0,1000})\]\([^()\n]{0,2000}\)"), r"\1"),
    (re.compile(r"<(https?://[^<>\s]+)>"), r"\1"),
    (re.compile(r"(?<!\\)(\*\*|__)(?=\S)([^*_\n\\]+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*\\])([*_])(?=\S)([^*_\n\\]+?)(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def load(data: bytes, name: str) -> Loaded:
    """Return the document in sections by heading; the title is the front matter's, or the first
    heading of level 1, or made of the name.

    >>> load(b"# Lviv\\n\\nA *city*.\\n\\n## Names\\n\\nLemberg\\n", "lviv.md").sections[1].path
    ('Lviv', 'Names')
    """
    text = decode(data, name)
    title = ""
    if front := _FRONT_MATTER.match(text):
        if found := _FRONT_TITLE.search(front[1] or ""):
            title = found[2]
        text = text[front.end() :]
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    body: list[str] = []
    fence = ""

    def close() -> None:
        words = unwrapped("\n".join(body).strip())
        if words or path:
            sections.append(Section(tuple(heading for _, heading in path), words))
        body.clear()

    for line in text.split("\n"):
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            else:
                body.append(line)
        elif opening := _FENCE.match(line):
            fence = opening[1]
        elif atx := _ATX.match(line):
            close()
            _enter(path, len(atx[1]), _plain(_ATX_CLOSE.sub("", atx[2] or "")).strip())
        elif _SETEXT.match(line) and body and body[-1].strip():
            heading = body.pop().strip()
            close()
            _enter(path, 1 if line.strip()[0] == "=" else 2, heading)
        elif not (_RULE.match(line) or _TABLE_RULE.match(line)):
            body.append(_plain(_BLOCK.sub("", line)))
    close()
    top = next((s.path[0] for s in sections if s.path), "")
    return Loaded(title or top or title_of(name), "text/markdown", tuple(sections))


def _enter(path: list[tuple[int, str]], level: int, heading: str) -> None:
    while path and path[-1][0] >= level:
        path.pop()
    if heading:
        path.append((level, heading))


def _plain(line: str) -> str:
    for pattern, replacement in _INLINE:
        line = pattern.sub(replacement, line)
    return line
