"""A user's function applied to the values of ragged and sparse tensors: ragged.map_flat_values, sparse.map_values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.ops.checks.debugging import assert_equal
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor

__all__ = ["map_flat_values", "map_values"]


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function with the flat values of ragged arguments, and put the result into their rows.

    Raises:
        InvalidArgumentError: the rows of arguments differ.
        ValueError: the function returns another number of values.
    """
    found = [value for value in (*args, *kwargs.values()) if isinstance(value, RaggedTensor)]
    if not found:
        return op(*args, **kwargs)
    frame = found[0].ragged
    for other in found[1:]:
        for one, two in zip(frame.nested_row_splits, other.ragged.nested_row_splits, strict=True):
            if not np.array_equal(one, two):
                assert_equal(one, two, "Inputs must have identical ragged splits")

    def flat(value: Any) -> Any:
        return value.flat_values if isinstance(value, RaggedTensor) else value

    made = op(*map(flat, args), **{key: flat(value) for key, value in kwargs.items()})
    if made.shape.rank == 0 or made.shape[0] != len(frame.flat_values):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            "flat_values of any ragged inputs."
        )
    return found[0].with_flat_values(made)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Call a function with the values of sparse arguments, and put the result at their places.

    Raises:
        ValueError: no argument is sparse.
        InvalidArgumentError: they have values at different places.
    """
    found = [value for value in (*args, *kwargs.values()) if isinstance(value, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    for other in found[1:]:
        if not np.array_equal(found[0].sparse.indices, other.sparse.indices):
            raise InvalidArgumentError(
                "indices of the sparse tensors differ: map_values needs the same places in all"
            )

    def flat(value: Any) -> Any:
        return value.values if isinstance(value, SparseTensor) else value

    made = op(*map(flat, args), **{key: flat(value) for key, value in kwargs.items()})
    return found[0].with_values(made)
