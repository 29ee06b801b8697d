"""Elements in a pipeline: their structures, columns, chunks and specs, and who owns their arrays."""
