"""The inference room: adapters to models, each behind a protocol of kgqa.protocols.

Belongs here: embedders, rerankers, Ollama, and the data that a model needs. Must not: prompts,
the knowledge base, choosing a model. May import errors, settings and protocols.
"""
