"""Records as Arrow batches: chosen columns and rows, for tables, exports, frames and SQL."""
