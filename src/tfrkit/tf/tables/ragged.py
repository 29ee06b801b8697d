"""Ragged tensors."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "ragged.boolean_mask": "ops.ragged_join:boolean_mask",
    "ragged.constant": "ops.ragged_constant:constant",
    "ragged.map_flat_values": Raw("tf.map_values:map_flat_values"),
    "ragged.range": "ops.ragged_constant:ragged_range",
    "ragged.row_splits_to_segment_ids": "ops.ragged_join:row_splits_to_segment_ids",
    "ragged.segment_ids_to_row_splits": "ops.ragged_join:segment_ids_to_row_splits",
    "ragged.stack": "ops.ragged_join:stack",
    "ragged.stack_dynamic_partitions": "ops.ragged_join:stack_dynamic_partitions",
}
