"""Other libraries on top of scans and pipelines, a file for each: Arrow datasets, DuckDB, polars, Hugging Face.

Each translates what its library asks for (columns, conditions, limits, shards) into a scan. Nothing here opens files or
decodes records. The libraries are optional, and are imported when they are used.
"""
