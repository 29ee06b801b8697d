"""diff: compare two data sets, their records, schemas and statistics."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from tfrkit.errors import DataLossWarning, FailedPreconditionError, InvalidArgumentError
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.options import takes
from tfrkit.records.check.completeness import find_shards
from tfrkit.records.compare.compare_records import compare_records
from tfrkit.records.compare.data_set import DataSet
from tfrkit.records.compare.diff_options import CompareOptions, DiffKeywords
from tfrkit.records.compare.diff_report import DiffReport
from tfrkit.records.compare.drift import TOP, feature_drifts, schema_differences
from tfrkit.records.describe.choose_records import Progress
from tfrkit.records.describe.statistics import Statistics
from tfrkit.records.describe.stats import stats
from tfrkit.stores.files import is_local
from tfrkit.stores.paths import Paths

__all__ = ["diff", "diff_files"]


@takes(CompareOptions)
def diff(
    a: Paths,
    b: Paths,
    *,
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    threads: int | None = None,
    max_record_bytes: int | None = None,
    cache: bool | None = None,
    policy: ReadPolicy = TFRKIT,
    progress: Progress | None = None,
    **options: Unpack[DiffKeywords],
) -> DiffReport:
    """Compare two data sets: records, schemas, and statistics.

    Records are the same if they mean the same: the order of features in the bytes does not count. Of what is the same
    only digests are kept, 12 bytes a record, and 12 more for a key.

    Args:
        a: the first data set: files, patterns or folders. They are read several times.
        b: the second.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        threads: how many cores to use; by default all. The result does not depend on it.
        max_record_bytes: a record that claims to be larger is damage.
        cache: keep what is read of remote files in the cache folder, and read it from there the next time.
        policy: where the defaults come from. Records mean what protobuf says whatever the policy.
        progress: called now and then, in this thread, with how many records and how many of their bytes are done;
            every record is counted once, and once more if there are statistics.

    Returns:
        What differs: `print` it, or look at `.records`, `.schema` and `.drifts`. It is true if anything does.

    Raises:
        DataLossError: a file is damaged, unless `on_corrupt` says otherwise.
        NotFoundError: a file is not there, or a pattern matches nothing.
        InvalidArgumentError: a record has no such key.
        FailedPreconditionError: a file has changed meanwhile.

    >>> import tfrkit
    >>> for name, sizes in (("a.tfrecord", {1: 10, 2: 20, 3: 30}), ("b.tfrecord", {4: 40, 2: 21, 1: 10})):
    ...     with tfrkit.TFRecordWriter(name) as writer:
    ...         for number, size in sizes.items():
    ...             writer.write_example({"id": number, "size": size})
    >>> found = diff("a.tfrecord", "b.tfrecord", key="id").records
    >>> found.same, found.changed, found.added, found.removed
    (1, 1, 1, 1)
    >>> [(feature.name, feature.changed) for feature in found.features]
    [('size', 1)]
    """
    read = {
        "compression": compression,
        "crc": crc,
        "on_corrupt": on_corrupt,
        "max_record_bytes": max_record_bytes,
        "cache": cache,
        "policy": policy,
        "threads": threads,
    }
    return diff_files(_files(a), _files(b), CompareOptions.of(options), progress, None, **read)


def diff_files(
    a: Sequence[str],
    b: Sequence[str],
    options: CompareOptions,
    progress: Progress | None,
    check: Callable[[], object] | None = None,
    **read: Any,
) -> DiffReport:
    """Compare two lists of files; see `diff`. What `check` raises, which is called for each block, ends it.

    Raises:
        InvalidArgumentError: one is a pipe, or the like.
    """
    for file in (*a, *b):
        if is_local(file) and os.path.exists(file) and not os.path.isfile(file):
            raise InvalidArgumentError(
                f"expected files, which can be read several times, but {file!r} is not one. Write it to a file first."
            )
    keys = (options.key,) if isinstance(options.key, str) else tuple(options.key or ())
    sets = DataSet(a, check=check, **read), DataSet(b, check=check, **read)
    done = _Progress(progress)
    records = None
    if options.compare != "statistics":
        records = compare_records(
            *sets, keys=keys, tolerance=options.tolerance, limit=options.limit, progress=done.add
        )
    found: list[Statistics] = []
    if options.compare != "records" and (records is None or not records.identical):
        for each in sets:
            found.append(stats(each.files, top=TOP, progress=done.part(), **read))
            _check_unchanged(each, found[-1], records is not None)
    return DiffReport(
        old_files=sets[0].names,
        new_files=sets[1].names,
        key=keys,
        records=records,
        schema=schema_differences(*found) if found else (),
        drifts=feature_drifts(*found) if found else (),
        old_statistics=found[0] if found else None,
        new_statistics=found[1] if found else None,
        skipped=(found[0].skipped, found[1].skipped) if found else (sets[0].skipped, sets[1].skipped),
        max_drift=options.max_drift,
    )


def _files(paths: Paths) -> list[str]:
    """Return the files of a data set, which has to be read more than once."""
    found = find_shards(paths)
    for problem in found.problems:
        if problem.kind == "missing":
            warnings.warn(DataLossWarning(str(problem)), stacklevel=3)
    files = []
    for file in found.files:
        if not isinstance(file, str):
            raise TypeError(
                "expected paths but got a stream, which cannot be read several times: write it to a file first"
            )
        files.append(file)
    return files


def _check_unchanged(data: DataSet, found: Statistics, was_read: bool) -> None:
    if was_read and found.records != data.records:
        raise FailedPreconditionError(
            f"the files have changed while they were read: {found.records:,} records, and {data.records:,} at first, "
            f"in {', '.join(data.names[:3])}. Compare again when they are complete."
        )


class _Progress:
    """Counts over several steps for a function that takes totals."""

    def __init__(self, report: Progress | None) -> None:
        self._report = report
        self._records = self._bytes = 0

    def add(self, records: int, data_bytes: int) -> None:
        self._records += records
        self._bytes += data_bytes
        if self._report is not None:
            self._report(self._records, self._bytes)

    def part(self) -> Callable[[int, int], None]:
        """Return what takes the totals of another step."""
        records, data_bytes = self._records, self._bytes

        def report(more_records: int, more_bytes: int) -> None:
            self._records, self._bytes = records + more_records, data_bytes + more_bytes
            self.add(0, 0)

        return report
