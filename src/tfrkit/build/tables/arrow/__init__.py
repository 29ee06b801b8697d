"""Arrow, Feather and Parquet files, and streams of Arrow batches, as tables."""
