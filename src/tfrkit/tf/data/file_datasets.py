"""Datasets of the contents of files, read exactly as TensorFlow reads them."""

from __future__ import annotations

import functools
from typing import Any

from tfrkit.data.arguments import integer
from tfrkit.data.engine.node import Node
from tfrkit.data.sources import records_dataset, text_lines
from tfrkit.data.sources.file_names import check_buffer_size, check_text, make_reading_node
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.policy import TENSORFLOW, ReadPolicy
from tfrkit.tf.data.fixed_length import FixedLengthNode
from tfrkit.tf.data.tensor_dataset import Dataset
from tfrkit.tf.functions.lift import unwrap

__all__ = ["FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset"]


class FixedLengthRecordDataset(Dataset):
    """Records of one length, between a header and a footer, each a Tensor of one string."""

    shown = "FixedLengthRecordDatasetV2"

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Describe the files; they are opened when their turn comes."""
        check_buffer_size(unwrap(buffer_size), 0, "default")
        kind = check_text(unwrap(compression_type)) or ""
        if kind not in ("", "GZIP", "ZLIB"):
            raise InvalidArgumentError(
                f"Unsupported compression_type. Expected '', 'GZIP' or 'ZLIB' but got {kind!r}."
            )
        size, header, footer = (
            integer(0 if each is None and word != "record_bytes" else unwrap(each), word)
            for each, word in (
                (record_bytes, "record_bytes"),
                (header_bytes, "header_bytes"),
                (footer_bytes, "footer_bytes"),
            )
        )
        make = functools.partial(
            _fixed_length, TENSORFLOW.with_options(compression=kind), size, header, footer
        )
        make(())  # refuses sizes that cannot be
        parallel = unwrap(num_parallel_reads)
        node = make_reading_node(
            unwrap(filenames), parallel, make, make, globs=False, verb="FixedLengthRecordDataset"
        )
        super().__init__(node)


def _fixed_length(policy: ReadPolicy, size: int, header: int, footer: int, files: tuple[str, ...]) -> Node:
    return FixedLengthNode(files, policy, size, header, footer)


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
