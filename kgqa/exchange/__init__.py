"""exchange room."""
