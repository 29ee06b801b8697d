"""Other libraries on top of scans and pipelines: Arrow, DuckDB, polars, Hugging Face; torch, JAX, grain, Keras; Ray.

Each translates what its library asks for (columns, conditions, limits and shards, or elements by number, batches and
states) into a scan or a pipeline. Nothing here opens files or decodes records. The libraries are optional, and are
imported when they are used.
"""
