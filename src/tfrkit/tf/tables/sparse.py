"""Sparse tensors."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "compat.v1.SparseTensorValue": Raw("tf.sparse_tensor:SparseTensorValue"),
    "sparse.add": "ops.sparse_math:add",
    "compat.v1.sparse.add compat.v1.sparse_add": "ops.sparse_math:add_v1",
    "sparse.concat": "ops.sparse:concat",
    "compat.v1.sparse.concat compat.v1.sparse_concat": "ops.sparse:concat_v1",
    "sparse.expand_dims": "ops.sparse:expand_dims",
    "sparse.eye": "ops.sparse:eye",
    "sparse.fill_empty_rows": "ops.sparse:fill_empty_rows",
    "compat.v1.sparse_fill_empty_rows": "ops.sparse:fill_empty_rows",
    "sparse.from_dense": "ops.sparse:from_dense",
    "sparse.map_values": Raw("tf.map_values:map_values"),
    "sparse.maximum": "ops.sparse_math:maximum",
    "compat.v1.sparse_maximum": "ops.sparse_math:maximum",
    "sparse.minimum": "ops.sparse_math:minimum",
    "compat.v1.sparse_minimum": "ops.sparse_math:minimum",
    "sparse.reduce_max": "ops.sparse_math:reduce_max",
    "compat.v1.sparse.reduce_max compat.v1.sparse_reduce_max": "ops.sparse_math:reduce_max_v1",
    "sparse.reduce_sum": "ops.sparse_math:reduce_sum",
    "compat.v1.sparse.reduce_sum compat.v1.sparse_reduce_sum": "ops.sparse_math:reduce_sum_v1",
    "sparse.reorder": "ops.sparse:reorder",
    "compat.v1.sparse_reorder": "ops.sparse:reorder",
    "sparse.reset_shape": "ops.sparse:reset_shape",
    "compat.v1.sparse_reset_shape": "ops.sparse:reset_shape",
    "sparse.reshape": "ops.sparse:reshape",
    "compat.v1.sparse_reshape": "ops.sparse:reshape",
    "sparse.retain": "ops.sparse:retain",
    "compat.v1.sparse_retain": "ops.sparse:retain",
    "sparse.slice": "ops.sparse:slice_sparse",
    "compat.v1.sparse_slice": "ops.sparse:slice_sparse",
    "sparse.sparse_dense_matmul": "ops.sparse_math:sparse_dense_matmul",
    "compat.v1.sparse_tensor_dense_matmul": "ops.sparse_math:sparse_dense_matmul",
    "sparse.split": "ops.sparse:split",
    "compat.v1.sparse.split compat.v1.sparse_split": "ops.sparse:split_v1",
    "sparse.to_dense": "ops.sparse:to_dense",
    "compat.v1.sparse_tensor_to_dense sparse_tensor_to_dense": "ops.sparse:to_dense",
    "compat.v1.sparse_to_dense": "ops.sparse:sparse_to_dense",
    "sparse.to_indicator": "ops.sparse:to_indicator",
    "compat.v1.sparse_to_indicator": "ops.sparse:to_indicator",
    "sparse.transpose": "ops.sparse:transpose",
    "compat.v1.sparse_transpose": "ops.sparse:transpose",
}
