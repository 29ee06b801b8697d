"""Ragged tensors."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "ragged.boolean_mask": "tf.ops.ragged.ragged_join:boolean_mask",
    "ragged.constant": "tf.ops.ragged.ragged_constant:constant",
    "ragged.map_flat_values": Raw("tf.tensors.map_values:map_flat_values"),
    "ragged.range": "tf.ops.ragged.ragged_constant:ragged_range",
    "ragged.row_splits_to_segment_ids": "tf.ops.ragged.ragged_join:row_splits_to_segment_ids",
    "ragged.segment_ids_to_row_splits": "tf.ops.ragged.ragged_join:segment_ids_to_row_splits",
    "ragged.stack": "tf.ops.ragged.ragged_join:stack",
    "ragged.stack_dynamic_partitions": "tf.ops.ragged.ragged_join:stack_dynamic_partitions",
}
