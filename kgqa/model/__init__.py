"""Frozen nouns of the product and pure functions over their identity.

Belongs here: what a node, fact, question, evidence and answer are. Must not: parsing,
storage, search. May import ``kgqa.temporal`` and ``kgqa.errors`` only.
"""
