"""stats: read records and count what their values are.

Native code counts, some blocks at a time and on all cores, each feature in the order of the records; so the result is
the same in any number of threads. What comes out is `Statistics`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tfrkit import _core
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.records.describe.choose_records import Progress, choose_blocks, scan_blocks
from tfrkit.records.describe.statistics import Statistics
from tfrkit.records.read.feature_columns import check_columns, check_found
from tfrkit.stores.paths import Paths

__all__ = ["stats"]

_MAX_TOP: Final = 1000


def stats(
    paths: Paths,
    sample: int | None = None,
    *,
    columns: Collection[str] | None = None,
    top: int = 10,
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    threads: int | None = None,
    max_record_bytes: int | None = None,
    cache: bool | None = None,
    policy: ReadPolicy = TFRKIT,
    progress: Progress | None = None,
) -> Statistics:
    """Count what the values of all records, or of a sample of them, are.

    Counts, least and greatest, means and standard deviations are exact. So is everything else of a feature with up to
    100,000 different values (1,000 from the 49th feature on, 100 from the 177th on); beyond that distinct, frequent
    values and quantiles are estimated, and say how well.

    Args:
        paths: as for `read_blocks`.
        sample: how many records to look at; None means all. They are chosen as by `inspect`.
        columns: names of the features and feature lists to count; None means all. One that no record has is an error,
            unless there are no records, or only a sample is looked at.
        top: how many of the most frequent values to keep, up to 1,000.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        threads: how many cores to use; by default all. The result does not depend on it.
        max_record_bytes: a record that claims to be larger is damage.
        cache: keep what is read of remote files in the cache folder, and read it from there the next time.
        policy: where the defaults come from. Records mean what protobuf says whatever the policy.
        progress: called now and then, in this thread, with how many records and how many of their bytes are done.

    Returns:
        What was counted: `print` it, or look at `.features`. Records that are not Examples are no error.

    Raises:
        DataLossError: a file is damaged, unless `on_corrupt` says otherwise.
        NotFoundError: a file is not there, or a pattern matches nothing.
        InvalidArgumentError: no record has one of `columns`; the text suggests the nearest names.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     for number in range(100):
    ...         writer.write_example({"label": number % 4 == 0, "x": [0.5 * number]})
    >>> found = stats("a.tfrecord")
    >>> x = found.features["x"].float32
    >>> x.min, x.mean, x.max, x.distinct.count, x.quantiles[50]
    (0.0, 24.75, 49.5, 100, 24.5)
    >>> [(label.value, label.count) for label in found.features["label"].int64.top]
    [(0, 75), (1, 25)]
    """
    if not 0 <= top <= _MAX_TOP:
        raise ValueError(f"expected top to be between 0 and {_MAX_TOP} but got {top}")
    names = check_columns(columns)
    chosen = choose_blocks(
        paths,
        sample,
        policy,
        compression=compression,
        threads=threads,
        crc=crc,
        on_corrupt=on_corrupt,
        max_record_bytes=max_record_bytes,
        cache=cache,
    )
    native = _core.Statistics(None if names is None else set(names))
    first = scan_blocks(native, chosen.blocks, threads, progress)
    if sample is None:
        check_found(names, {*native.names(False), *native.names(True)}, first, "columns (--key)")
    return Statistics.of(native, chosen.files, sampled=sample is not None, skipped=chosen.skipped, top=top)
