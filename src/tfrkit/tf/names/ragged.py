"""Ragged tensors."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Absent, Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "ragged.boolean_mask": "tf.ops.ragged.ragged_gather:boolean_mask",
    "ragged.constant": "tf.ops.ragged.ragged_constant:constant",
    "ragged.map_flat_values": Raw("tf.tensors.map_values:map_flat_values"),
    "ragged.range": Absent("Use tf.ragged.stack([tf.range(start, limit) for start, limit in ...])."),
    "ragged.row_splits_to_segment_ids": Absent(
        "Use tf.RaggedTensor.from_row_splits(values, splits).value_rowids()."
    ),
    "ragged.segment_ids_to_row_splits": Absent(
        "Use tf.RaggedTensor.from_value_rowids(values, segment_ids).row_splits."
    ),
    "ragged.stack": "tf.ops.ragged.ragged_join:stack",
    "ragged.stack_dynamic_partitions": Absent(
        "Sort by row: order = tf.argsort(partitions, stable=True), then tf.RaggedTensor.from_value_rowids("
        "tf.gather(data, order), tf.gather(partitions, order), nrows=num_partitions)."
    ),
}
