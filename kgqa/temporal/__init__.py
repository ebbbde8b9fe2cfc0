"""Time as integers, and the texts that people write for it."""
