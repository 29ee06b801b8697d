"""TFRecordDataset: a dataset of the records of TFRecord files. Its arguments are checked here."""

from __future__ import annotations

import functools
from typing import Any, Final

from tfrkit.codecs.table import canonical
from tfrkit.data.dataset import Dataset
from tfrkit.data.engine.node import Node
from tfrkit.data.sources.file_names import check_buffer_size, check_text, make_reading_node
from tfrkit.data.sources.records_source import RecordsNode
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy

__all__ = ["TFRecordDataset"]

_SMALL_BLOCK_BYTES: Final = 1 << 18


class TFRecordDataset(Dataset):
    """The records of TFRecord files, each a `bytes`.

    >>> import os, tempfile, tfrkit
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tfrkit.TFRecordWriter(path) as writer:
    ...     writer.write_many([b"one", b"two", b"three"])
    >>> list(TFRecordDataset(path))
    [b'one', b'two', b'three']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
        *,
        on_corrupt: OnCorrupt | None = None,
        crc: bool | None = None,
        max_record_bytes: int | None = None,
        cache: bool | None = None,
        policy: ReadPolicy = TFRKIT,
    ) -> None:
        """Describe the files; they are opened when their turn comes.

        Args:
            filenames: a path, a pattern such as "train-*.tfrecord", "-" for standard input, any nesting of lists and
                arrays of them, or a Dataset of names. Patterns are matched now.
            compression_type: None finds out by the content; "" or "none", "GZIP", "ZLIB", "XZ", "ZSTD".
            buffer_size: checked, without effect: files are read in blocks.
            num_parallel_reads: return records of this many files in turn; AUTOTUNE takes a third of the cores. Without
                it one file comes after another, which is faster: blocks are read and checked on all cores anyway.
            name: ignored; TensorFlow has it.
            on_corrupt: "raise" (default): the error comes in the record's place, and the next element is of the next
                file; "skip": drop damaged records; "stop": leave the rest of the file out. What was skipped is
                counted: see `DatasetIterator.skipped` and `damages`. Iterating in order, the records after a dropped
                one move up. By number (`len`, `ds[i]`, `at`, `global_shuffle`) damaged records keep their numbers: they
                count, and are missing; damage that leaves no numbers (of a length, a cut end) is an error there.
            crc: check the CRC of every record's data (default).
            max_record_bytes: a record that claims to be larger is damage.
            cache: keep what is read of remote files in the cache folder, and read it from there in the next epoch; by
                default as `configure_store` says.
            policy: where the defaults come from: TFRKIT, or TENSORFLOW to read exactly as TensorFlow does, without
                patterns and without guessing the compression.

        Raises:
            NotFoundError: a pattern matches nothing. Errors about single files come while iterating.
            TypeError: there are names that are not strings.
        """
        check_buffer_size(buffer_size, -1, "no buffering")
        compression = check_text(compression_type)
        if compression is not None and compression != "auto" and not policy.tensorflow_containers:
            compression = canonical(compression)
        chosen = policy.with_options(
            compression=compression,
            crc=crc,
            on_corrupt=on_corrupt,
            max_record_bytes=max_record_bytes,
            cache=cache,
        )
        super().__init__(
            make_reading_node(
                filenames,
                num_parallel_reads,
                functools.partial(_read, chosen),
                functools.partial(_read_one_of_many, chosen),
                globs=chosen.globs,
                verb="TFRecordDataset",
            )
        )


def _read(policy: ReadPolicy, files: tuple[str, ...]) -> Node:
    return RecordsNode(files, policy)


def _read_one_of_many(policy: ReadPolicy, files: tuple[str, ...]) -> Node:
    # Reading ahead on all cores in every file would take memory without making anything faster.
    return RecordsNode(files, policy, threads=1, block_bytes=_SMALL_BLOCK_BYTES)
