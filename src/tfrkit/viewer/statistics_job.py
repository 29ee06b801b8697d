"""The job `stats`: what the values are, feature by feature, of all records or of those that a condition takes.

Native statistics count, as in `tfr stats`; here they are shown while they grow. Each event says how many records it
rests on. First come a few records from all over the files, where their indexes say where those are.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Any, Final

from tfrkit import _core
from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT
from tfrkit.records.describe.choose_records import choose_blocks
from tfrkit.records.describe.feature_statistics import FeatureStatistics
from tfrkit.records.describe.native_statistics import each_feature
from tfrkit.records.describe.statistics import Statistics
from tfrkit.records.read.feature_columns import block_pieces
from tfrkit.records.where import WhereChoice
from tfrkit.viewer.feature_json import TOP, features_json, rarest_json
from tfrkit.viewer.job import BackgroundJob, Work
from tfrkit.viewer.record_pass import JobFiles, RecordPass

__all__ = ["statistics"]

_BATCH_BYTES: Final = 4 << 20  # counted at once: enough work for all threads
_BATCH_SECONDS: Final = 0.25  # few records are counted after this time
_SHARE_OF_TIME: Final = 10  # the time for events is this part of the time for counting
_MOST_VALUES: Final = 10_000  # different ones of a feature, of which the rarest are known
_FIRST_RECORDS: Final = 1000
_FIRST_BYTES: Final = 16 << 20


def statistics(files: JobFiles, where: WhereChoice | None, columns: Collection[str] | None = None) -> Work:
    """Return the work of counting values, of some features and feature lists or of all.

    Raises:
        InvalidArgumentError: the condition does not fit the kinds of features.
    """
    records = RecordPass(files, where)
    names = None if columns is None else set(columns)

    def work(job: BackgroundJob) -> None:
        if where is None:
            _count_first(job, files, names)
        _count_all(job, records, names)

    return work


def _count_all(job: BackgroundJob, records: RecordPass, names: set[str] | None) -> None:
    native = _core.Statistics(names)
    due = 0.0  # when the next event may be made

    def tick() -> None:
        job.check()
        if job.is_due():
            job.publish(**records.progress())

    with closing(records.blocks(tick)) as blocks:
        for batch in _batches(blocks):
            native.add(block_pieces(batch), 0)
            job.check()
            if (now := time.monotonic()) >= due:
                job.publish(**records.progress(), **_found(native))
                due = time.monotonic() + _SHARE_OF_TIME * (time.monotonic() - now)
    found = _found(native)
    _add_rarest(native, found["features"])
    job.publish(**records.progress(), **found)


def _add_rarest(native: _core.Statistics, features: list[dict[str, Any]]) -> None:
    """Add the rarest values to labels and texts that have more of them than are sent, but few for their number."""
    chosen = {
        each["name"]: each
        for each in features
        if each["exact"] and (each["is_label"] or each["kind"] == "bytes") and each["list"] == "context"
        if TOP < each["distinct"] <= min(_MOST_VALUES, each["count"] // 2)
    }
    for name, feature in each_feature(native, _MOST_VALUES, lists=False, names=chosen):
        chosen[name]["rarest"] = rarest_json(feature)


def _count_first(job: BackgroundJob, files: JobFiles, names: set[str] | None) -> None:
    """Count some records from all over the files, if that takes no time."""
    total = files.records
    if not total or files.bytes < 2 * _FIRST_BYTES:
        return
    count = min(_FIRST_RECORDS, _FIRST_BYTES * total // files.bytes)
    native = _core.Statistics(names)
    try:
        chosen = choose_blocks(list(files.paths), max(1, count), TFRKIT, compression=None, threads=None)
        for block in chosen.blocks:
            job.check()
            native.add(block_pieces([block]), 0)
    except OpError:
        return  # what is wrong is noted when everything is read
    job.publish(of=total, **{**_found(native), "sampled": True})


def _batches(blocks: Iterator[Block]) -> Iterator[list[Block]]:
    """Gather blocks: some megabytes, or what has come in a while."""
    batch: list[Block] = []
    size, since = 0, time.monotonic()
    for block in blocks:
        batch.append(block)
        size += block.nbytes
        if size >= _BATCH_BYTES or time.monotonic() - since > _BATCH_SECONDS:
            yield batch
            batch, size, since = [], 0, time.monotonic()
    if batch:
        yield batch


def _found(native: _core.Statistics) -> dict[str, Any]:
    found = Statistics.of(native, (), sampled=False, skipped=0, top=TOP)
    features, left = features_json(_features(found), found.examples + found.sequence_examples)
    return {
        "records": found.records,
        "examples": found.examples,
        "sequence_examples": found.sequence_examples,
        "sampled": False,
        "features": features,
        "features_left_out": left,  # of this event, as it would be too large: ask for them by name
        "all_followed": not found.not_followed,
    }


def _features(found: Statistics) -> Iterator[tuple[FeatureStatistics, bool]]:
    for is_list, features in ((False, found.features), (True, found.feature_lists)):
        for feature in features.values():
            yield feature, is_list
