"""tf.io.TFRecordWriter: that of `tfrkit.records`, writing exactly as TensorFlow does."""

from __future__ import annotations

from typing import Any

from tfrkit.model.policy import TENSORFLOW
from tfrkit.records.write import writer

__all__ = ["TFRecordWriter"]


class TFRecordWriter(writer.TFRecordWriter):
    """Writes records to a TFRecord file.

    Args:
        path: the file; it is emptied first.
        options: TFRecordOptions, or a compression by name or number.
        members: write GZIP as many members, on all cores and seekable, instead of TensorFlow's one stream.
    """

    def __init__(self, path: Any, options: Any = None, *, members: bool = False) -> None:
        super().__init__(path, options, members=members, policy=TENSORFLOW)
