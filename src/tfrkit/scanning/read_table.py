"""read_table: all examples of TFRecord files as one Arrow table, without a spec."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.optional import require
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.scanning.scan import scan
from tfrkit.stores.paths import Paths

__all__ = ["read_table"]


def read_table(
    paths: Paths,
    columns: Collection[str] | None = None,
    *,
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    threads: int | None = None,
    block_bytes: int = BLOCK_BYTES,
    max_record_bytes: int | None = None,
    cache: bool | None = None,
    policy: ReadPolicy = TFRKIT,
) -> Any:
    """Read the Examples or SequenceExamples of TFRecord files into a pyarrow.Table; no spec is needed.

    Args:
        paths: as for `read_blocks`.
        columns: only these features, in this order; by default all, sorted.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        threads: how many cores to use; by default all.
        block_bytes: about how much to read at once.
        max_record_bytes: a record that claims to be larger is damage.
        cache: keep what is read of remote files in the cache folder, and read it from there the next time.
        policy: where the defaults come from. Records mean what protobuf says whatever the policy.

    Returns:
        A table of int64, float and binary columns: plain ones if every record that has the feature has exactly one
        value of it, else lists. Null where a record has no such feature, or one without a kind. Feature lists of
        SequenceExamples are lists of their steps, or lists of lists unless every step has exactly one value; null where
        there are no steps. A list whose name is a context feature's too is called "feature_lists/NAME".

    Raises:
        InvalidArgumentError: a record is not an Example, a feature has several kinds, or no record has a column.
        DataLossError, NotFoundError: as in `read_blocks`.
        MissingExtraError: pyarrow is not installed.

    >>> import numpy as np
    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     for ids in ([1, 2], []):
    ...         writer.write(tfrkit.make_example({"n": len(ids), "ids": np.array(ids, int)}).SerializeToString())
    >>> read_table("a.tfrecord").to_pydict()
    {'ids': [[1, 2], []], 'n': [2, 0]}
    """
    require("pyarrow", "read_table")
    found = scan(
        paths,
        columns,
        compression=compression,
        crc=crc,
        on_corrupt=on_corrupt,
        threads=threads,
        block_bytes=block_bytes,
        max_record_bytes=max_record_bytes,
        cache=cache,
        policy=policy,
    )
    return (found if found.is_local else found.kept()).to_table()  # what is remote is fetched once
