"""Folders as TensorFlow Datasets writes them, made without it."""
