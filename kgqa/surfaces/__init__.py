"""What people and programs touch: each surface renders the table of operations.

Belongs here: argument parsing, printing, streaming. Must not: any decision that another
surface would need too; that is ``ops``. May import everything below.
"""
