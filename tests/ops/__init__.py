"""Tests of functions on arrays."""
