"""Assertions about values, shapes and types."""
