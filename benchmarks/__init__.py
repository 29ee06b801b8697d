"""Benchmarks: one script per claim, run by `python -m benchmarks`. README.md says how to read them."""
