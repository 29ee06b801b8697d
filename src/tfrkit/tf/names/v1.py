"""TensorFlow 1's readers and queues, and names of its graphs, which have other ways here."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

_READERS: Final = (
    "FixedLengthRecordReader",
    "IdentityReader",
    "ReaderBase",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
)
_QUEUES: Final = ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue")

NAMES: Final[dict[str, Entry]] = {
    **{name: Raw(f"tf.v1.readers:{name}") for name in _READERS},
    **{f"{name} queue.{name}": Raw(f"tf.v1.tensor_queues:{name}") for name in _QUEUES},
    **{f"compat.v1.io.{name}": Raw(f"tf.v1.tensor_queues:{name}") for name in _QUEUES if name != "FIFOQueue"},
}
