"""Pipelines: datasets, the stages they are made of, and the engine that runs them."""
