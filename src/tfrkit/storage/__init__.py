"""Where bytes live: local files, pipes, file objects and compressed streams. Knows nothing of records."""
