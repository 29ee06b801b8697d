"""Operations with the arguments that TensorFlow 1 had, where they differ: other names or order, `name` in between.

Each is made from today's operation, the old order of arguments, and the old names of some.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tfrkit.tf.ops.arrays import gather as choosing
from tfrkit.tf.ops.arrays import make, shapes
from tfrkit.tf.ops.arrays import pad as padding
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.tf.ops.math import reduce
from tfrkit.values.operands import convert, dtype_of, is_tensor, shape_of, takes_alike

__all__ = [
    "argmax", "argmin", "boolean_mask", "expand_dims", "gather", "ones_like", "pad", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "shape", "size",
    "squeeze", "transpose", "where", "with_old_arguments", "zeros_like",
]  # fmt: skip


def with_old_arguments(function: Callable[..., Any], order: str, **renamed: str) -> Callable[..., Any]:
    """Make an operation take the arguments that it had in TensorFlow 1.

    Args:
        function: the operation as it is today.
        order: the names of the arguments, in TensorFlow 1's order; "name" and those that are unknown today are dropped.
        renamed: the names of today of arguments that also have an old one.

    >>> with_old_arguments(lambda x, axis=None: axis, "x axis name dim", dim="axis")([1], None, "sum", 0)
    0
    """
    today = inspect.signature(function).parameters
    names = order.split()
    dropped = [name for name in names if name not in today and name not in renamed]

    @functools.wraps(function)
    def old(*args: Any, **options: Any) -> Any:
        given = dict(zip(names, args, strict=False), **options)
        for name in dropped:
            given.pop(name, None)
        for name, new in renamed.items():
            value = given.pop(name, None)
            if given.get(new) is None and value is not None:
                given[new] = value
        return function(**given)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    defaults = {name: today[name].default if name in today else None for name in names}
    old.__dict__["__signature__"] = inspect.Signature(
        [inspect.Parameter(name, kind, default=default) for name, default in defaults.items()]
    )
    old.__dict__["remake"] = lambda other: with_old_arguments(other, order, **renamed)
    return old


_REDUCED = "input_tensor axis keepdims name reduction_indices keep_dims"
_old_reduction = functools.partial(
    with_old_arguments, order=_REDUCED, reduction_indices="axis", keep_dims="keepdims"
)
reduce_sum = _old_reduction(reduce.reduce_sum)
reduce_mean = _old_reduction(reduce.reduce_mean)
reduce_max = _old_reduction(reduce.reduce_max)
reduce_min = _old_reduction(reduce.reduce_min)
reduce_prod = _old_reduction(reduce.reduce_prod)
reduce_any = _old_reduction(reduce.reduce_any)
reduce_all = _old_reduction(reduce.reduce_all)
reduce_logsumexp = _old_reduction(reduce.reduce_logsumexp)
argmax = with_old_arguments(reduce.argmax, "input axis name dimension output_type", dimension="axis")
argmin = with_old_arguments(reduce.argmin, "input axis name dimension output_type", dimension="axis")
squeeze = with_old_arguments(shapes.squeeze, "input axis name squeeze_dims", squeeze_dims="axis")
shape = with_old_arguments(shapes.shape, "input name out_type")
size = with_old_arguments(shapes.size, "input name out_type")
zeros_like = with_old_arguments(make.zeros_like, "tensor dtype name optimize", tensor="input")
ones_like = with_old_arguments(make.ones_like, "tensor dtype name optimize", tensor="input")
transpose = with_old_arguments(shapes.transpose, "a perm name conjugate")
pad = with_old_arguments(padding.pad, "tensor paddings mode name constant_values")
gather = with_old_arguments(choosing.gather, "params indices validate_indices name axis batch_dims")
boolean_mask = with_old_arguments(choosing.boolean_mask, "tensor mask name axis")


def _expand_dims(input: Any, axis: Any = None) -> Any:  # noqa: A002
    """One dimension of size 1 more."""
    return shapes.expand_dims(input, axis)


expand_dims = with_old_arguments(_expand_dims, "input axis name dim", dim="axis")


@takes_alike("x", "y")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose, without broadcasting: a condition of one dimension chooses rows."""
    if x is None or y is None:
        return choosing.where(condition, x, y)
    chosen = condition if is_tensor(condition) else convert(condition, dtype_of(convert(True)))
    extra = len(shape_of(convert(x))) - len(shape_of(chosen))
    if len(shape_of(chosen)) == 1 and extra > 0:
        chosen = rearranged(chosen, lambda array: array.reshape(-1, *[1] * extra))
    return choosing.where(chosen, x, y)
