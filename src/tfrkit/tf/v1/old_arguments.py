"""Operations with the arguments that TensorFlow 1 had, where they differ: other names or order, `name` in between."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tfrkit.tf.ops.arguments import with_arguments
from tfrkit.tf.ops.arrays import gather as choosing
from tfrkit.tf.ops.arrays import make, shapes
from tfrkit.tf.ops.arrays import pad as padding
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.tf.ops.math import reduce
from tfrkit.tf.ops.sparse import sparse
from tfrkit.values.cast import cast
from tfrkit.values.operands import convert, dtype_of, is_tensor, shape_of, takes_alike

__all__ = [
    "argmax",
    "argmin",
    "boolean_mask",
    "expand_dims",
    "gather",
    "ones_like",
    "pad",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "shape",
    "size",
    "sparse_split",
    "squeeze",
    "to_bfloat16",
    "to_complex64",
    "to_complex128",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "transpose",
    "where",
    "zeros_like",
]  # fmt: skip

_reduction = partial(
    with_arguments,
    order="input_tensor axis keepdims name reduction_indices keep_dims",
    reduction_indices="axis",
    keep_dims="keepdims",
)
reduce_sum = _reduction(reduce.reduce_sum)
reduce_mean = _reduction(reduce.reduce_mean)
reduce_max = _reduction(reduce.reduce_max)
reduce_min = _reduction(reduce.reduce_min)
reduce_prod = _reduction(reduce.reduce_prod)
reduce_any = _reduction(reduce.reduce_any)
reduce_all = _reduction(reduce.reduce_all)
reduce_logsumexp = _reduction(reduce.reduce_logsumexp)
argmax = with_arguments(reduce.argmax, "input axis name dimension output_type", dimension="axis")
argmin = with_arguments(reduce.argmin, "input axis name dimension output_type", dimension="axis")
squeeze = with_arguments(shapes.squeeze, "input axis name squeeze_dims", squeeze_dims="axis")
shape = with_arguments(shapes.shape, "input name out_type")
size = with_arguments(shapes.size, "input name out_type")
zeros_like = with_arguments(make.zeros_like, "tensor dtype name optimize", tensor="input")
ones_like = with_arguments(make.ones_like, "tensor dtype name optimize", tensor="input")
transpose = with_arguments(shapes.transpose, "a perm name conjugate")
pad = with_arguments(padding.pad, "tensor paddings mode name constant_values")
gather = with_arguments(choosing.gather, "params indices validate_indices name axis batch_dims")
boolean_mask = with_arguments(choosing.boolean_mask, "tensor mask name axis")
expand_dims = with_arguments(shapes.expand_dims, "input axis name dim", dim="axis")
sparse_split = with_arguments(sparse.split, "sp_input num_split axis name split_dim", split_dim="axis")


def _casting(dtype: str) -> Callable[[Any], Any]:
    def to_type(x: Any) -> Any:
        return cast(x, dtype)

    to_type.__doc__ = f"Cast to {dtype}."
    return to_type


to_float = _casting("float32")
to_double = _casting("float64")
to_int32 = _casting("int32")
to_int64 = _casting("int64")
to_bfloat16 = _casting("bfloat16")
to_complex64 = _casting("complex64")
to_complex128 = _casting("complex128")


@takes_alike("x", "y")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose without broadcasting: a condition of one dimension chooses rows."""
    if x is None or y is None:
        return choosing.where(condition, x, y)
    chosen = condition if is_tensor(condition) else convert(condition, dtype_of(convert(True)))
    extra = len(shape_of(convert(x))) - len(shape_of(chosen))
    if len(shape_of(chosen)) == 1 and extra > 0:
        chosen = rearranged(chosen, lambda array: array.reshape(-1, *[1] * extra))
    return choosing.where(chosen, x, y)
