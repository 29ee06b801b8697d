"""TensorFlow 1's readers and queues."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Absent, Entry, Raw

_READER: Final = Absent(
    "Use tf.data: TFRecordDataset, TextLineDataset or FixedLengthRecordDataset of the file names; for whole files "
    "Dataset.from_tensor_slices(names).map(tf.io.read_file). TFRecordReader is here."
)
_PADDING: Final = Absent(
    "Use tf.data: dataset.padded_batch(n) pads elements to one shape. FIFOQueue is here."
)
_PRIORITY: Final = Absent("Use Python's heapq, or queue.PriorityQueue between threads. FIFOQueue is here.")
_READERS: Final = "FixedLengthRecordReader IdentityReader ReaderBase TextLineReader WholeFileReader"

NAMES: Final[dict[str, Entry]] = {
    "TFRecordReader": Raw("tf.v1.readers:TFRecordReader"),
    "FIFOQueue queue.FIFOQueue": Raw("tf.v1.queues:FIFOQueue"),
    "QueueBase queue.QueueBase compat.v1.io.QueueBase": Raw("tf.v1.queues:QueueBase"),
    "RandomShuffleQueue queue.RandomShuffleQueue": Raw("tf.v1.queues:RandomShuffleQueue"),
    "compat.v1.io.RandomShuffleQueue": Raw("tf.v1.queues:RandomShuffleQueue"),
    _READERS: _READER,
    "PaddingFIFOQueue queue.PaddingFIFOQueue compat.v1.io.PaddingFIFOQueue": _PADDING,
    "PriorityQueue queue.PriorityQueue compat.v1.io.PriorityQueue": _PRIORITY,
}
