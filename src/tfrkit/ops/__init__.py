"""Functions on arrays. Knows no files and no pipelines."""
