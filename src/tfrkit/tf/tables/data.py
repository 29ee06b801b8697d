"""tf.data."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "data.Dataset": Raw("tf.dataset:Dataset"),
    "data.TFRecordDataset": Raw("tf.file_datasets:TFRecordDataset"),
    "data.TextLineDataset": Raw("tf.file_datasets:TextLineDataset"),
    "data.Options data.experimental.Options": Raw("data.options:Options"),
    "data.Iterator": Raw("tf.data_iterator:OwnedIterator"),
    "data.NumpyIterator": Raw("tf.data_iterator:NumpyIterator"),
    "data.AUTOTUNE data.experimental.AUTOTUNE": Raw("data.node:AUTOTUNE"),
    "data.INFINITE_CARDINALITY data.experimental.INFINITE_CARDINALITY": Raw("data.node:INFINITE_CARDINALITY"),
    "data.UNKNOWN_CARDINALITY data.experimental.UNKNOWN_CARDINALITY": Raw("data.node:UNKNOWN_CARDINALITY"),
}
