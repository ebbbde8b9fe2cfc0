"""Open formats out of and into a base, and the plain JSON form of every result.

Belongs here: formats. Must not: storage, surfaces. May import model, protocols, temporal.
"""
