"""Blocks of images moved into their channels, and back."""

from __future__ import annotations

from typing import Any

from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.values.operands import as_value, shape_of

__all__ = ["depth_to_space", "space_to_depth"]


def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC") -> Any:
    """Move blocks of images into channels."""
    value = _image(input, block_size)
    batch, height, width, depth = shape_of(value)
    if height % block_size or width % block_size:
        raise InvalidArgumentError(
            f"Image width {width} and height {height} should be divisible by block_size: {block_size}"
        )
    rows, columns = height // block_size, width // block_size

    def move(array: Any) -> Any:
        parts = array.reshape(batch, rows, block_size, columns, block_size, depth).transpose(0, 1, 3, 2, 4, 5)
        return parts.reshape(batch, rows, columns, depth * block_size**2)

    return rearranged(value, move)


def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC") -> Any:
    """Move channels of images into blocks."""
    value = _image(input, block_size)
    batch, height, width, depth = shape_of(value)
    if depth % block_size**2:
        raise InvalidArgumentError(f"Input depth dimension {depth} should be divisible by: {block_size**2}")
    left = depth // block_size**2

    def move(array: Any) -> Any:
        parts = array.reshape(batch, height, width, block_size, block_size, left).transpose(0, 1, 3, 2, 4, 5)
        return parts.reshape(batch, height * block_size, width * block_size, left)

    return rearranged(value, move)


def _image(given: Any, block_size: int) -> Any:
    if block_size < 2:
        raise InvalidArgumentError(f"Value for attr 'block_size' of {block_size} must be at least minimum 2")
    value = as_value(given)
    if len(shape_of(value)) != 4:
        raise InvalidArgumentError(f"Input rank should be 4 instead of {len(shape_of(value))}")
    return value
