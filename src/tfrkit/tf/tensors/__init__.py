"""Tensors, ragged and sparse tensors, their types, shapes and specs, and structures of them."""
