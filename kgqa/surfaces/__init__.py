"""surfaces room."""
