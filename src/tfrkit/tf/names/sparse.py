"""Sparse tensors."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "compat.v1.SparseTensorValue": Raw("tf.tensors.sparse_tensor:SparseTensorValue"),
    "sparse.add": "tf.ops.sparse.sparse_math:add",
    "compat.v1.sparse.add compat.v1.sparse_add": "tf.ops.sparse.sparse_math:add_v1",
    "sparse.concat": "tf.ops.sparse.sparse:concat",
    "compat.v1.sparse.concat compat.v1.sparse_concat": "tf.ops.sparse.sparse:concat_v1",
    "sparse.expand_dims": "tf.ops.sparse.sparse:expand_dims",
    "sparse.eye": "tf.ops.sparse.sparse:eye",
    "sparse.fill_empty_rows": "tf.ops.sparse.sparse:fill_empty_rows",
    "compat.v1.sparse_fill_empty_rows": "tf.ops.sparse.sparse:fill_empty_rows",
    "sparse.from_dense": "tf.ops.sparse.sparse:from_dense",
    "sparse.map_values": Raw("tf.tensors.map_values:map_values"),
    "sparse.maximum": "tf.ops.sparse.sparse_math:maximum",
    "compat.v1.sparse_maximum": "tf.ops.sparse.sparse_math:maximum",
    "sparse.minimum": "tf.ops.sparse.sparse_math:minimum",
    "compat.v1.sparse_minimum": "tf.ops.sparse.sparse_math:minimum",
    "sparse.reduce_max": "tf.ops.sparse.sparse_math:reduce_max",
    "compat.v1.sparse.reduce_max compat.v1.sparse_reduce_max": "tf.ops.sparse.sparse_math:reduce_max_v1",
    "sparse.reduce_sum": "tf.ops.sparse.sparse_math:reduce_sum",
    "compat.v1.sparse.reduce_sum compat.v1.sparse_reduce_sum": "tf.ops.sparse.sparse_math:reduce_sum_v1",
    "sparse.reorder": "tf.ops.sparse.sparse:reorder",
    "compat.v1.sparse_reorder": "tf.ops.sparse.sparse:reorder",
    "sparse.reset_shape": "tf.ops.sparse.sparse:reset_shape",
    "compat.v1.sparse_reset_shape": "tf.ops.sparse.sparse:reset_shape",
    "sparse.reshape": "tf.ops.sparse.sparse:reshape",
    "compat.v1.sparse_reshape": "tf.ops.sparse.sparse:reshape",
    "sparse.retain": "tf.ops.sparse.sparse:retain",
    "compat.v1.sparse_retain": "tf.ops.sparse.sparse:retain",
    "sparse.slice": "tf.ops.sparse.sparse:slice_sparse",
    "compat.v1.sparse_slice": "tf.ops.sparse.sparse:slice_sparse",
    "sparse.sparse_dense_matmul": "tf.ops.sparse.sparse_math:sparse_dense_matmul",
    "compat.v1.sparse_tensor_dense_matmul": "tf.ops.sparse.sparse_math:sparse_dense_matmul",
    "sparse.split": "tf.ops.sparse.sparse:split",
    "compat.v1.sparse.split compat.v1.sparse_split": "tf.ops.sparse.sparse:split_v1",
    "sparse.to_dense": "tf.ops.sparse.sparse:to_dense",
    "compat.v1.sparse_tensor_to_dense sparse_tensor_to_dense": "tf.ops.sparse.sparse:to_dense",
    "compat.v1.sparse_to_dense": "tf.ops.sparse.sparse:sparse_to_dense",
    "sparse.to_indicator": "tf.ops.sparse.sparse:to_indicator",
    "compat.v1.sparse_to_indicator": "tf.ops.sparse.sparse:to_indicator",
    "sparse.transpose": "tf.ops.sparse.sparse:transpose",
    "compat.v1.sparse_transpose": "tf.ops.sparse.sparse:transpose",
}
