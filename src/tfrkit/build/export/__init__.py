"""Shards into other formats: Parquet, Arrow, JSON lines, CSV, image files, samples of WebDataset, ArrayRecord."""
