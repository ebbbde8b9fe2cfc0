"""From the outside to the store: load, index, merge.

Belongs here: whole jobs that write, resumable and with progress. Must not: adapters (it sees
protocols), surfaces. May import loaders, language, exchange, model, protocols.
"""
