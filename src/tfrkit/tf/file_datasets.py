"""Datasets of the contents of files, read exactly as TensorFlow reads them."""

from __future__ import annotations

from typing import Any

from tfrkit.data import records_dataset, text_lines
from tfrkit.model.policy import TENSORFLOW
from tfrkit.tf.dataset import Dataset
from tfrkit.tf.lift import unwrap

__all__ = ["TFRecordDataset", "TextLineDataset"]


class TFRecordDataset(Dataset, records_dataset.TFRecordDataset):
    """The records of TFRecord files, each a Tensor of one string."""

    shown = "TFRecordDatasetV2"

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Describe the files; they are opened when their turn comes."""
        given = [unwrap(each) for each in (filenames, compression_type, buffer_size, num_parallel_reads)]
        records_dataset.TFRecordDataset.__init__(self, *given, policy=TENSORFLOW)


class TextLineDataset(Dataset, text_lines.TextLineDataset):
    """The lines of text files, each a Tensor of one string."""

    shown = "TextLineDatasetV2"

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Describe the files; they are opened when their turn comes."""
        given = [unwrap(each) for each in (filenames, compression_type, buffer_size, num_parallel_reads)]
        text_lines.TextLineDataset.__init__(self, *given, policy=TENSORFLOW)
