"""language room."""
