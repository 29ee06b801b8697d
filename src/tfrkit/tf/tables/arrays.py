"""Making arrays and changing their types and shapes."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "constant": Raw("tf.conversion:constant"),
    "compat.v1.constant": Raw("tf.conversion:constant_v1"),
    "compat.v1.convert_to_tensor": Raw("tf.conversion:convert_to_tensor_v1"),
    "compat.v1.convert_to_tensor_or_sparse_tensor": Raw("tf.conversion:convert_to_tensor_or_sparse_tensor"),
    "get_static_value": Raw("tf.conversion:get_static_value"),
    "convert_to_tensor": Raw("tf.conversion:convert_to_tensor"),
    "is_tensor": Raw("tf.conversion:is_tensor"),
    "fill": "ops.make:fill",
    "zeros": "ops.make:zeros",
    "ones": "ops.make:ones",
    "zeros_like": "ops.make:zeros_like",
    "ones_like": "ops.make:ones_like",
    "cast dtypes.cast": "ops.cast:cast",
    "saturate_cast dtypes.saturate_cast": "ops.cast:saturate_cast",
    "bitcast": "ops.cast:bitcast",
    "complex dtypes.complex": "ops.cast:make_complex",
    "compat.v1.to_float": "ops.cast:to_float",
    "compat.v1.to_int32": "ops.cast:to_int32",
    "identity": "ops.shapes:identity",
    "shape": "ops.shapes:shape",
    "shape_n": "ops.shapes:shape_n",
    "size": "ops.shapes:size",
    "rank": "ops.shapes:rank",
    "reshape": "ops.shapes:reshape",
    "expand_dims": "ops.shapes:expand_dims",
    "squeeze": "ops.shapes:squeeze",
    "transpose": "ops.shapes:transpose",
    "linalg.matrix_transpose": "ops.shapes:matrix_transpose",
    "reverse": "ops.shapes:reverse",
    "roll": "ops.shapes:roll",
    "broadcast_to": "ops.shapes:broadcast_to",
    "ensure_shape": "ops.shapes:ensure_shape",
    "stack": "ops.join:stack",
    "parallel_stack": "ops.join:parallel_stack",
    "unstack": "ops.join:unstack",
    "concat": "ops.join:concat",
    "split": "ops.join:split",
    "tile": "ops.join:tile",
    "repeat": "ops.join:repeat",
    "boolean_mask": "ops.gather:boolean_mask",
}
