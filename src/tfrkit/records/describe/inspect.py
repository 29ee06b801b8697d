"""inspect: read records and say what is in them; infer_spec: only how to parse them.

The records are looked into by native code, block by block and on all cores; a part of a file gives the same result in
any number of threads. What comes out is a `Schema`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.model.specs import FeatureSpec
from tfrkit.records.describe.choose_records import Chosen, Progress, choose_blocks, scan_blocks
from tfrkit.records.describe.schema import (
    Counts,
    FeatureSummary,
    KindSummary,
    OtherRecord,
    RecordPlace,
    Schema,
)
from tfrkit.records.read.feature_columns import check_columns
from tfrkit.records.sniff.value_sniffer import Sample, sniff_values
from tfrkit.stores.paths import Paths

__all__ = ["infer_spec", "inspect", "inspect_blocks"]

_SHOWN_BYTES: Final = 64  # of each example that a schema keeps
_KINDS: Final = {3: "int64", 2: "float32", 1: "bytes"}  # by the number of the list in a Feature
_RECORD_KINDS: Final = ("Example", "SequenceExample", "other")


def inspect(
    paths: Paths,
    sample: int | None = None,
    *,
    columns: Collection[str] | None = None,
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    threads: int | None = None,
    max_record_bytes: int | None = None,
    cache: bool | None = None,
    policy: ReadPolicy = TFRKIT,
    progress: Progress | None = None,
) -> Schema:
    """Look into all records, or a sample of them, and say what is there.

    Args:
        paths: as for `read_blocks`.
        sample: how many records to look at; None means all. They are spread over the files, the same ones every time,
            and little else is read: of a file with an index beside it records from everywhere, of another the first.
        columns: only these features and feature lists; by default all.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        threads: how many cores to use; by default all.
        max_record_bytes: a record that claims to be larger is damage.
        cache: keep what is read of remote files in the cache folder, and read it from there the next time.
        policy: where the defaults come from. Records mean what protobuf says whatever the policy.
        progress: called now and then, in this thread, with how many records and how many of their bytes are done.

    Returns:
        What was found: `print` it, or look at `.features` and `.spec`. Records that are not Examples are no error.

    Raises:
        DataLossError: a file is damaged, unless `on_corrupt` says otherwise.
        NotFoundError: a file is not there, or a pattern matches nothing.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write(tfrkit.make_example({"label": 3, "word": b"three"}).SerializeToString())
    >>> schema = inspect("a.tfrecord")
    >>> schema.kind, schema.features["label"].kinds["int64"].range, schema.features["word"].looks_like
    ('Example', (3, 3), 'UTF-8 text')
    >>> schema.spec["label"]
    FixedLenFeature(shape=[], dtype='int64', default_value=None)
    """
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
    return inspect_blocks(chosen, columns, sampled=sample is not None, threads=threads, progress=progress)


def inspect_blocks(
    chosen: Chosen,
    columns: Collection[str] | None = None,
    *,
    sampled: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Schema:
    """Look into records that are read already: see `inspect`."""
    found = _Found()
    names = check_columns(columns)
    scan = _core.Statistics(None if names is None else set(names), outline_only=True)
    scan_blocks(scan, map(found.note, chosen.blocks), threads, progress)
    return _schema(scan.outline(), found, chosen.files, sampled, chosen.skipped)


def infer_spec(
    paths: Paths,
    sample: int | None = None,
    *,
    compression: str | None = None,
    threads: int | None = None,
) -> dict[str, FeatureSpec]:
    """Find the spec with which `parse_example` reads some files.

    Args:
        paths: as for `read_blocks`.
        sample: how many records to look at; None means all. A spec made from some may not fit the others.
        compression: see `read_blocks`.
        threads: how many cores to use; by default all.

    Returns:
        For each feature a FixedLenFeature if every record has equally many values of it, else a VarLenFeature.

    Raises:
        InvalidArgumentError: a record is not an Example, a feature has several kinds, or there are no records; the text
            says where. For SequenceExamples, use `inspect` and its `context_spec` and `sequence_spec`.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     for ids in ([1, 2], [3]):
    ...         writer.write(tfrkit.make_example({"ids": ids, "at": [0.5, 0.25]}).SerializeToString())
    >>> for name, feature in infer_spec("a.tfrecord").items():
    ...     print(name, feature)
    at FixedLenFeature(shape=[2], dtype='float32', default_value=None)
    ids VarLenFeature(dtype='int64')
    """
    schema = inspect(paths, sample, compression=compression, threads=threads)
    if not schema.records:
        raise InvalidArgumentError(f"no records to infer a spec from, in {', '.join(schema.files)}")
    schema.check()
    return schema.spec


@dataclass(slots=True)
class _Found:
    """Where the records are. They have running numbers over all files."""

    records: int = 0
    data_bytes: int = 0
    runs: list[tuple[int, str, int]] = field(
        default_factory=list
    )  # first running number, file, number in there

    def note(self, block: Block) -> Block:
        """Note where the records of the next block are, and return it."""
        path = block.path or ""
        if block.numbers is not None:
            self.runs += [(self.records + i, path, int(number)) for i, number in enumerate(block.numbers)]
        else:
            start, before, first = self.runs[-1] if self.runs else (0, None, 0)
            if before != path or first + self.records - start != block.first_record:
                self.runs.append((self.records, path, block.first_record))
        self.records += len(block)
        self.data_bytes += block.nbytes
        return block

    def place(self, number: int) -> RecordPlace:
        """Where the record with this running number is."""
        start, path, first = self.runs[bisect_right(self.runs, number, key=lambda run: run[0]) - 1]
        return RecordPlace(path, first + number - start)


# -- from the native outline to the schema -----------------------------------------------------------------------------


def _schema(
    result: dict[str, Any], found: _Found, files: tuple[str, ...], sampled: bool, skipped: int
) -> Schema:
    counts = dict(zip(_RECORD_KINDS, result["records"], strict=True))
    return Schema(
        records=found.records,
        data_bytes=found.data_bytes,
        files=files,
        sampled=sampled,
        examples=counts["Example"][0],
        sequence_examples=counts["SequenceExample"][0],
        firsts={kind: found.place(first) for kind, (count, first) in counts.items() if count},
        features=_features(result["features"], found, lists=False),
        feature_lists=_features(result["lists"], found, lists=True),
        others=tuple(_other(found, *other) for other in result["others"]),
        not_followed=result["not_followed"],
        skipped=skipped,
    )


def _other(found: _Found, number: int, head: bytes, size: int) -> OtherRecord:
    return OtherRecord(found.place(number), size, head[:_SHOWN_BYTES], sniff_values([Sample(head, size)]))


def _features(table: dict[str, dict[str, Any]], found: _Found, *, lists: bool) -> dict[str, FeatureSummary]:
    return {
        name: FeatureSummary(
            name=name,
            records=stats["records"],
            kinds=_kinds(stats, found),
            unset=stats["unset"],
            empty=stats["empty"],
            counts=Counts(*stats["counts"]),
            steps=Counts(*stats["steps"]) if lists else None,
            looks_like=sniff_values([Sample(*example) for example in stats["examples"]]),
            examples=tuple(head[:_SHOWN_BYTES] for head, _ in stats["examples"]),
        )
        for name, stats in sorted(table.items())
    }


def _kinds(stats: dict[str, Any], found: _Found) -> dict[str, KindSummary]:
    kinds = {}
    for number, name in _KINDS.items():
        records, first, values = stats["kinds"][number]
        if not records:
            continue
        place = found.place(first)
        if name == "int64":
            kinds[name] = KindSummary(records, values, place, stats["ints"] if values else None)
        elif name == "float32":
            low, high, *special = stats["floats"]
            finite = values > sum(special)
            kinds[name] = KindSummary(records, values, place, (low, high) if finite else None, *special)
        else:
            low, high, total = stats["lengths"]
            kinds[name] = KindSummary(
                records, values, place, (low, high) if values else None, total_bytes=total
            )
    return kinds
