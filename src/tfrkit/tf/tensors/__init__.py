"""Tensors, ragged and sparse tensors, their types, shapes and specs, and tf.nest. Operations are in `tf/ops`."""
