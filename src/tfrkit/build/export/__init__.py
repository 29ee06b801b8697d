"""Shards into other formats: Parquet, Arrow, JSON lines, CSV, image files and samples of WebDataset."""
