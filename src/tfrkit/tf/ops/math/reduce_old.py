"""The reductions with the arguments that TensorFlow 1 had: `reduction_indices`, `keep_dims`, `dimension`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfrkit.tf.ops.math import reduce

__all__ = [
    "argmax",
    "argmin",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
]


def _old(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def reduced(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,  # noqa: ARG001
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        return function(
            input_tensor,
            reduction_indices if axis is None else axis,
            bool(keep_dims if keepdims is None else keepdims),
        )

    del reduced.__dict__["__wrapped__"]
    return reduced


reduce_sum = _old(reduce.reduce_sum)
reduce_mean = _old(reduce.reduce_mean)
reduce_max = _old(reduce.reduce_max)
reduce_min = _old(reduce.reduce_min)
reduce_prod = _old(reduce.reduce_prod)
reduce_any = _old(reduce.reduce_any)
reduce_all = _old(reduce.reduce_all)
reduce_logsumexp = _old(reduce.reduce_logsumexp)


def argmax(
    input: Any,  # noqa: A002
    axis: Any = None,
    name: str | None = None,  # noqa: ARG001
    dimension: Any = None,
    output_type: Any = "int64",
) -> Any:
    """The place of the largest."""
    return reduce.argmax(input, dimension if axis is None else axis, output_type)


def argmin(
    input: Any,  # noqa: A002
    axis: Any = None,
    name: str | None = None,  # noqa: ARG001
    dimension: Any = None,
    output_type: Any = "int64",
) -> Any:
    """The place of the smallest."""
    return reduce.argmin(input, dimension if axis is None else axis, output_type)
