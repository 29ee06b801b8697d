"""Arithmetic, comparisons, reductions and other functions of numbers."""
