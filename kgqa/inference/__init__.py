"""inference room."""
