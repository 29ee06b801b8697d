"""Lines of JSON as a table."""
