"""ingest room."""
