"""Elements put together and taken apart: batches, padding, unbatching."""
