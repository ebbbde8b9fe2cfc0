"""Words: texts to chunks, claims and names; questions to readings. English only.

Belongs here: splitting, extraction, linking, question analysis, the tables of wording. Must
not: stores, models of the network kind, answers. May import ``kgqa.protocols``, ``kgqa.model``,
``kgqa.temporal`` and ``kgqa.errors``; spaCy only through ``nlp``, inside functions.
"""
