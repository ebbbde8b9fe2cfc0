"""The Neo4j room: a base kept on a Neo4j server, and the graph that people browse there.

Belongs here: implementations of ``protocols.Store`` and ``store.tables`` in Cypher. Must not:
what is true (that is decided by the room above, over ``Tables``). Only ``session`` imports the
driver; only ``cypher`` writes names into the text of a statement. May import ``store``,
``protocols``, ``model``, ``temporal``, ``errors``.

Rows are nodes: a label for each table (``schema``), properties named as the columns, ``kb``
beside them; NULL is an absent property.
"""
