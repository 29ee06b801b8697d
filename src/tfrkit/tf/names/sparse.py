"""Sparse tensors."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Absent, Entry, Raw

_BOTH: Final = "reorder reset_shape reshape to_indicator"
_DENSE: Final = Absent(
    "Make arrays first: tf.sparse.to_dense(a), then tf.add, tf.maximum, tf.reduce_sum and the like. For functions of "
    "the stored values use tf.sparse.map_values."
)

NAMES: Final[dict[str, Entry]] = {
    **{f"sparse.{name} compat.v1.sparse_{name}": f"tf.ops.sparse.sparse:{name}" for name in _BOTH.split()},
    "compat.v1.SparseTensorValue": Raw("tf.tensors.sparse_tensor:SparseTensorValue"),
    "sparse.from_dense": "tf.ops.sparse.sparse:from_dense",
    "sparse.map_values": Raw("tf.tensors.map_values:map_values"),
    "sparse.slice compat.v1.sparse_slice": "tf.ops.sparse.sparse:slice_sparse",
    "sparse.split": "tf.ops.sparse.sparse:split",
    "compat.v1.sparse.split compat.v1.sparse_split": "tf.v1.old_arguments:sparse_split",
    "sparse.to_dense compat.v1.sparse_tensor_to_dense sparse_tensor_to_dense": "tf.ops.sparse.sparse:to_dense",
    "compat.v1.sparse_to_dense": "tf.ops.sparse.sparse:sparse_to_dense",
    "sparse.add sparse.maximum sparse.minimum sparse.reduce_max sparse.reduce_sum": _DENSE,
    "compat.v1.sparse_add compat.v1.sparse_maximum compat.v1.sparse_minimum": _DENSE,
    "compat.v1.sparse_reduce_max compat.v1.sparse_reduce_sum": _DENSE,
    "sparse.sparse_dense_matmul compat.v1.sparse_tensor_dense_matmul": Absent(
        "Use tf.linalg.matmul(tf.sparse.to_dense(a), b)."
    ),
    "sparse.concat compat.v1.sparse_concat": Absent(
        "Use tf.concat of tf.RaggedTensor.from_sparse(a) and the others, or of tf.sparse.to_dense(a) and the others."
    ),
    "sparse.retain compat.v1.sparse_retain": Absent(
        "Use tf.SparseTensor(a.indices[mask], a.values[mask], a.dense_shape)."
    ),
    "sparse.expand_dims": Absent("Use tf.sparse.reshape with a size of 1 more."),
    "sparse.fill_empty_rows compat.v1.sparse_fill_empty_rows": Absent(
        "Use tf.sparse.to_dense with a default_value, or a RaggedTensor, which has empty rows."
    ),
    "sparse.transpose compat.v1.sparse_transpose": Absent(
        "Use tf.sparse.from_dense(tf.transpose(tf.sparse.to_dense(a)))."
    ),
    "sparse.eye": Absent("Use tf.sparse.from_dense(tf.eye(rows, columns))."),
}
