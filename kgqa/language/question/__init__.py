"""From a question in English to its readings, step by step.

Belongs here, in the order of the work: ``analysis`` (the entry), ``items`` (words, names,
times), ``frame`` (what is asked), ``parts`` (clauses, order), ``nested`` (terms that are
questions), ``succession`` (neighbours), ``goals`` and ``probe`` (relations, support by the
graph), ``times``, ``readings`` (all put together), ``explain`` (printing). Must not:
evaluating a question. May import what ``kgqa.language`` may.
"""

from kgqa.language.question.analysis import analyse
from kgqa.language.question.explain import explain_question

__all__ = ["analyse", "explain_question"]
