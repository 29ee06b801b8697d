"""What runs a pipeline: nodes, iterators, saved states, background threads, and rewrites of stages.

The stages themselves are in `sources/`, `stages/`, `batch/`, `shuffle/` and `features/`.
"""
