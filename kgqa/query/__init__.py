"""The way from a question to an answer: scope, retrieval, operators, history, answers.

Belongs here: everything computed over one ``Reader`` state. Must not: SQL, models, files,
surfaces. May import protocols, model, temporal, language; never an adapter.
"""
