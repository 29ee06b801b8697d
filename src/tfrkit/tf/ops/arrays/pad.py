"""Padding values along their dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.values.operands import alike, as_array, as_value, integers, of_array, shape_of, takes_alike

__all__ = ["pad"]


@takes_alike("tensor", "constant_values")
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Any:
    """Pad each dimension before and after: with a constant, or with the value's own elements mirrored.

    Args:
        tensor: any value.
        paddings: a pair of counts for each dimension.
        mode: "CONSTANT", "REFLECT" (the edge is not repeated) or "SYMMETRIC" (it is).
        constant_values: what is put there; 0, False or the empty string by default.

    Raises:
        InvalidArgumentError: the paddings do not fit; the text is TensorFlow's.
        ValueError: there is no such mode.

    >>> pad([1, 2, 3], [[1, 2]]).tolist(), pad([1, 2, 3], [[2, 0]], "REFLECT").tolist()
    ([0, 1, 2, 3, 0, 0], [3, 2, 1, 2, 3])
    """
    value = as_value(tensor)
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {kind}"
        )
    plain = isinstance(constant_values, int) and constant_values == 0
    if kind == "CONSTANT" and not plain:
        value, constant_values = alike("PadV2", value, constant_values)
    counts = _counts(integers(paddings, "Tpaddings"), shape_of(value))
    if kind == "CONSTANT":
        return _constant(value, counts, None if plain else constant_values)
    _check_mirror(counts, shape_of(value), kind)
    style: Any = kind.lower()
    return rearranged(value, lambda array: np.pad(array, counts, style))


def _counts(given: Any, sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    if given.ndim != 2 or given.shape[1] != 2:
        raise InvalidArgumentError(f"paddings must be a matrix with 2 columns: {show_dims(given.shape)}")
    if len(given) != len(sizes):
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs{show_dims(given.shape)} {show_dims(sizes)}"
        )
    for before, after in given.tolist():
        if before < 0 or after < 0:
            raise InvalidArgumentError(f"Paddings must be non-negative: {before} {after}")
    return [(before, after) for before, after in given.tolist()]


def _constant(value: Any, counts: list[tuple[int, int]], filler: Any) -> Any:
    array = as_array(value)
    if filler is None:
        filler = b"" if array.dtype == object else array.dtype.type(0)
    sizes = [before + size + after for (before, after), size in zip(counts, array.shape, strict=True)]
    made = np.empty(sizes, array.dtype)
    made[...] = filler
    made[
        tuple(slice(before, before + size) for (before, _), size in zip(counts, array.shape, strict=True))
    ] = array
    return of_array(made)


def _check_mirror(counts: list[tuple[int, int]], sizes: tuple[int, ...], mode: str) -> None:
    for (before, after), size in zip(counts, sizes, strict=True):
        if mode == "REFLECT" and max(before, after) >= size:
            raise InvalidArgumentError(
                f"paddings must be less than the dimension size: {before}, {after} not less than {size}"
            )
        if mode == "SYMMETRIC" and max(before, after) > size:
            raise InvalidArgumentError(
                f"paddings must be no greater than the dimension size: {before}, {after} greater than {size}"
            )
