"""Shards into other formats: Parquet, Arrow, JSON lines, CSV and image files."""
