"""Folders that TensorFlow Datasets describes, and what it reads from them."""
