"""scan: records as Arrow batches, with only the asked features decoded, and only of the rows that are wanted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any, Final, TypeGuard

from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.optional import require
from tfrkit.records.access.count import count_files, count_records
from tfrkit.records.check.completeness import files_or_folders
from tfrkit.records.describe.choose_records import Chosen
from tfrkit.records.describe.inspect import inspect, inspect_blocks
from tfrkit.records.describe.schema import Schema
from tfrkit.records.read.feature_columns import check_columns
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.reader import BlockReader, read_blocks
from tfrkit.records.where import WhereChoice, parse_where
from tfrkit.scanning.batches import Batches
from tfrkit.scanning.chunks import Mask, RowFilter, scan_chunks
from tfrkit.scanning.columns import OnKind, ScanChunk, ScanColumn, ScanParser
from tfrkit.scanning.frames import FrameMethods
from tfrkit.scanning.outline_schema import outline_schema
from tfrkit.scanning.pruning import PrunedBlocks, ShareOf
from tfrkit.scanning.settle import Settled, settle_by_spec, settle_by_survey
from tfrkit.scanning.splits import MOST_BYTES, ScanSplit, SplitBlocks, plan_splits
from tfrkit.scanning.zone_conditions import matching_runs
from tfrkit.stores.files import is_local
from tfrkit.stores.object_config import adopt_settings, settings_of
from tfrkit.stores.paths import Paths
from tfrkit.stores.source import is_stream
from tfrkit.stores.url import display_name, is_url

__all__ = ["Scan", "ScanBatches", "scan"]

_KEPT_BYTES: Final = 64 << 20  # of remote files, what a survey has read and the scan need not fetch again


@dataclass(frozen=True, slots=True)
class _Request:
    """What a scan is asked for."""

    files: Sequence[str | IO[bytes]]
    columns: tuple[str, ...] | None
    where: WhereChoice | None
    spec: Mapping[Any, Any] | Schema | None
    with_source: bool
    text: tuple[str, ...] | bool
    limit: int | None
    on_kind: OnKind
    reading: Mapping[str, Any]  # options of read_blocks
    keeps: bool = False
    split: ScanSplit | None = None  # only these records of the files

    @property
    def streams(self) -> bool:
        """Whether files are read once and their records kept: that is asked for, or one cannot be read again."""
        return self.keeps or any(not isinstance(file, str) or is_stream(file) for file in self.files)


class ScanBatches(Iterator[Any]):
    """The batches of one pass over a scan, as pyarrow.RecordBatches.

    Attributes:
        schema: of all of them.
    """

    def __init__(
        self,
        request: _Request,
        blocks: BlockReader | PrunedBlocks | Generator[Block] | list[Block],
        columns: Sequence[ScanColumn],
        rows: RowFilter | None,
    ) -> None:
        """Use `Scan.to_batches`."""
        self._makes = Batches(columns, "scan", with_source=request.with_source)
        self.schema = self._makes.schema
        self._blocks = blocks
        self._chunks = scan_chunks(
            self._blocks,
            ScanParser(columns),
            rows,
            threads=request.reading["threads"],
            limit=request.limit,
        )

    def __next__(self) -> Any:
        return self._makes.batch(next(self._chunks))

    @property
    def skipped(self) -> int:
        """Damages that were passed over so far."""
        return int(getattr(self._blocks, "skipped", 0))

    @property
    def runs_left_out(self) -> int:
        """Runs of records that were not read, as their zones say that none of them can match."""
        return self._blocks.runs_left_out if isinstance(self._blocks, PrunedBlocks) else 0

    def close(self) -> None:
        """Stop reading."""
        self._chunks.close()
        if not isinstance(self._blocks, list):
            self._blocks.close()


class Scan(FrameMethods):
    """The records of some files as a table: see `scan`. Nothing is read before it is asked for.

    It can be read any number of times, each time from the beginning, and by several threads. Whatever takes an Arrow
    stream takes it: `pyarrow.table(scan)`, `polars.DataFrame(scan)`, `duckdb.from_arrow(scan)`.
    """

    def __init__(self, request: _Request) -> None:
        """Use `scan`."""
        self._request = request
        self._lock = threading.Lock()
        self._known: Settled | None = None
        self._kept: list[Block] | None = None  # of what can be read only once, or is remote and small

    def __getstate__(self) -> tuple[_Request, Settled | None, dict[str, Any]]:
        """What another process needs of it: columns, if they are known, how its stores are configured, no records."""
        files = [file for file in self._request.files if isinstance(file, str)]
        return self._request, self._known, settings_of(files)

    def __setstate__(self, state: tuple[_Request, Settled | None, dict[str, Any]]) -> None:
        adopt_settings(state[2])
        self.__init__(state[0])  # type: ignore[misc]
        self._known = state[1]

    def settled(self, *, threads: int | None = None) -> Scan:
        """Return a scan whose columns are known, to be read elsewhere with some number of threads."""
        reading = {**self._request.reading, "threads": threads}
        files = [os.path.abspath(file) if _is_name(file) else file for file in self._request.files]
        other = Scan(replace(self._request, reading=reading, files=files))
        other._known = self._settled()
        return other

    def of_files(self, paths: Sequence[str]) -> Scan:
        """Return the same scan of other files, with the columns that are settled here."""
        other = Scan(replace(self._request, files=list(paths), split=None))
        other._known = self._settled()
        return other

    def parts(
        self, count: int | None = None, *, most_bytes: int = MOST_BYTES, threads: int | None = 1
    ) -> list[Scan]:
        """Divide the scan into scans that can be sent to other processes or machines and read there.

        One after the other they have the rows of this scan, in order. A part is some files, one file, or a range of
        records of a large one: plain files and GZIP in members are cut where their index says that a record begins, and
        a local file of 64 MiB or more without an index is walked once. The columns are settled here, so that no part
        looks into records for them: without `spec=` and zones, this process looks into all records first.

        Args:
            count: about how many parts; by default as many as `most_bytes` makes. A part has at least 4 MiB of files,
                and what cannot be cut is one part.
            most_bytes: about how many bytes of files a part may have.
            threads: how many cores a part is read with; None means all of the machine. One is best where each core
                reads a part of its own.

        Returns:
            Scans that pickle. They hold paths (absolute, if local), columns, the condition, and what `configure_store`
            was given for their files (secrets too), but no records.

        Raises:
            InvalidArgumentError: a file is only open in this process, the scan has a limit, or it is a part itself.
            NotFoundError: a file is not there.

        >>> import tfrkit
        >>> with tfrkit.ShardWriter("a", shards=3) as writer:
        ...     writer.write_batch({"n": list(range(9))})
        >>> parts = scan("a-*.tfrecord", where="n >= 6").parts()
        >>> [n for part in parts for n in part.to_table()["n"].to_pylist()]
        [6, 7, 8]
        """
        whole = self.settled(threads=threads)
        return [whole.of_split(split) for split in plan_splits(whole, count, most_bytes=most_bytes)]

    def of_split(self, split: ScanSplit) -> Scan:
        """Return a part of the scan, with the columns that are settled here."""
        other = Scan(replace(self._request, files=split.paths, split=split))
        other._known = self._settled()
        return other

    @property
    def split(self) -> ScanSplit | None:
        """Which records of its files it is, if it is a part of a scan."""
        return self._request.split

    def __repr__(self) -> str:
        asked = self._request
        whole = (
            "" if asked.split is None or all(each.is_whole for each in asked.split.ranges) else "a part of "
        )
        parts = [f"{whole}{len(asked.files)} file{'s' * (len(asked.files) != 1)}"]
        if asked.columns is not None:
            parts.append(f"columns {list(asked.columns)}")
        if asked.where is not None:
            parts.append(f"where {asked.where.text!r}")
        if asked.limit is not None:
            parts.append(f"at most {asked.limit} rows")
        return f"<Scan: {', '.join(parts)}>"

    @property
    def columns(self) -> tuple[ScanColumn, ...]:
        """What columns there are. Without a spec all records are looked into when this is first needed."""
        return self._settled().columns

    @property
    def schema(self) -> Any:
        """The pyarrow.Schema; see `columns`."""
        return Batches(self.columns, "scan", with_source=self._request.with_source).schema

    @property
    def files(self) -> Sequence[str | IO[bytes]]:
        """What is read, in order."""
        return self._request.files

    @property
    def reading(self) -> Mapping[str, Any]:
        """The options of `read_blocks` with which it is read."""
        return self._request.reading

    @property
    def raises(self) -> bool:
        """Whether damage is an error, and nothing is passed over and counted."""
        return self._request.reading["on_corrupt"] in (None, "raise")

    @property
    def takes_all(self) -> bool:
        """Whether every record is a row: there is no condition, and damage is an error."""
        return self.raises and self._request.where is None and self._request.limit is None

    def with_spec(self, spec: Mapping[Any, Any]) -> Scan:
        """Return the same scan with columns by a spec."""
        return Scan(replace(self._request, spec=spec))

    @property
    def row_limit(self) -> int | None:
        """At most so many rows, if there is a limit."""
        return self._request.limit

    @property
    def is_local(self) -> bool:
        """Whether all files are on local disks: they can be read again at little cost."""
        return all(isinstance(file, str) and is_local(file) for file in self._request.files)

    def count(self) -> int:
        """Count the rows: from indexes and manifests where all are wanted, without reading a record."""
        asked = self._request
        if asked.where is not None or not self.raises:
            return sum(batch.num_rows for batch in self.read([]))
        if asked.streams or asked.split is not None:
            known = None if asked.split is None else asked.split.records
            total = sum(map(len, self._blocks())) if known is None else known
            return total if asked.limit is None else min(total, asked.limit)
        if asked.limit is not None:
            total = 0
            for file in asked.files:
                if total >= asked.limit:
                    break
                total += count_records(file)
            return min(total, asked.limit)
        counts = []
        for found in count_files(asked.files):
            if isinstance(found, OpError):
                raise found
            counts.append(found)
        return sum(counts)

    def limit(self, rows: int) -> Scan:
        """Return a scan of the first rows only; what comes after them is not read."""
        if rows < 0:
            raise ValueError(f"expected at least 0 rows but got {rows}")
        least = rows if self._request.limit is None else min(rows, self._request.limit)
        other = Scan(replace(self._request, limit=least))
        other._known, other._kept = self._known, self._kept
        return other

    def kept(self) -> Scan:
        """Return a scan that reads its files once, and keeps the records in memory for every further look at them."""
        return Scan(replace(self._request, keeps=True))

    def to_batches(self) -> ScanBatches:
        """Return the rows as pyarrow.RecordBatches, in order."""
        return self.read(None)

    def __iter__(self) -> Iterator[Any]:
        return self.to_batches()

    def to_reader(self) -> Any:
        """Return the rows as a pyarrow.RecordBatchReader."""
        batches = self.to_batches()
        return require("pyarrow", "scan").RecordBatchReader.from_batches(batches.schema, batches)

    def to_table(self) -> Any:
        """Read all rows into a pyarrow.Table."""
        batches = self.to_batches()
        return require("pyarrow", "scan").Table.from_batches(batches, schema=batches.schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def read(
        self,
        names: Collection[str] | None,
        rows: RowFilter | None = None,
        *,
        limit: int | None = None,
        blocks: Generator[Block] | PrunedBlocks | None = None,
    ) -> ScanBatches:
        """Return batches for an engine that says what it needs.

        Args:
            names: of the columns, in order; None means all.
            rows: a further choice of rows, as `row_filter` makes it.
            limit: a further limit of rows.
            blocks: the records, if they are not all of the files; they are closed.
        """
        known, asked = self._settled(), self._request
        columns = known.columns
        if names is not None:
            by_name = {column.name: column for column in columns}
            columns = tuple(by_name[name] for name in names if name in by_name)
            asked = replace(asked, with_source=asked.with_source and len(columns) < len(names))
        limits = [each for each in (limit, asked.limit) if each is not None]
        wanted = self.chosen_rows(rows)
        return ScanBatches(
            replace(asked, limit=min(limits, default=None)),
            self._blocks(wanted) if blocks is None else blocks,
            columns,
            wanted,
        )

    def chosen_rows(self, rows: RowFilter | None = None) -> RowFilter | None:
        """Return which rows are taken, by the scan's own condition and then by a further choice; None: all."""
        return _both(_where_filter(self._request.where, self._settled()), rows)

    def row_filter(
        self,
        names: Collection[str],
        mask: Callable[[Any], Mask],
        share: ShareOf | None = None,
    ) -> RowFilter:
        """Return a choice of rows for `read`.

        Args:
            names: of the columns that it looks at.
            mask: gets a pyarrow.RecordBatch of them, in the order of the table, and returns an array that is true where
                a row is taken. Called by several threads at once.
            share: tells by zones how much of each run of records is taken; None: perhaps something.
        """
        wanted = set(names)
        columns = tuple(column for column in self.columns if column.name in wanted)
        batches = Batches(
            columns, "scan", with_source=self._request.with_source and len(columns) < len(wanted)
        )
        return RowFilter(ScanParser(columns), lambda chunk: mask(batches.batch(chunk)), share)

    def _blocks(self, rows: RowFilter | None = None) -> BlockReader | PrunedBlocks | list[Block]:
        asked = self._request
        if self._kept is not None:
            return self._kept
        if not asked.streams and asked.split is not None:
            return SplitBlocks(asked.split, self, rows)
        if not asked.streams and rows is not None and self.raises:
            return PrunedBlocks(asked.files, rows.shares, rows.features, asked.reading)
        if not asked.streams:
            return read_blocks(list(asked.files), **asked.reading)
        with self._lock:
            if self._kept is None and asked.split is not None:
                self._kept = list(SplitBlocks(asked.split, self, None))
            elif self._kept is None:
                self._kept = list(read_blocks(list(asked.files), **asked.reading))
            return self._kept

    def _survey(self, columns: Collection[str] | None, sample: int | None = None) -> Schema:
        asked = self._request
        if asked.streams:
            return inspect_blocks(Chosen(self._blocks(), ()), columns, threads=asked.reading["threads"])
        if (
            sample is None
            and asked.text is not True
            and (known := outline_schema(asked.files, columns)) is not None
        ):
            return known
        if sample is None and not self.is_local and self.raises:
            return self._survey_once(columns)
        options = {name: value for name, value in asked.reading.items() if name != "block_bytes"}
        return inspect(list(asked.files), sample, columns=columns, **options)

    def _survey_once(self, columns: Collection[str] | None) -> Schema:
        """Look into all records of remote files, and keep them if they are few, so that they are fetched once."""
        asked = self._request
        kept: list[Block] = []
        held = 0

        def read() -> Iterator[Block]:
            nonlocal held
            for block in read_blocks(list(asked.files), **asked.reading):
                held += len(block.data)
                kept.append(block)
                if held > _KEPT_BYTES:
                    kept.clear()
                yield block

        names = tuple(display_name(str(file)) for file in asked.files)
        found = inspect_blocks(Chosen(read(), names), columns, threads=asked.reading["threads"])
        if held <= _KEPT_BYTES:
            self._kept = kept
        return found

    def _offset(self, path: str | None, record: int) -> int | None:
        """Find where a record begins that a survey has only numbered: an error needs it, and nothing else."""
        for block in self._blocks():
            if block.path == path and block.first_record <= record < block.first_record + len(block):
                return block.place(record - block.first_record)[1]
        return None

    def _settled(self) -> Settled:
        if self._known is None:
            asked = self._request
            if asked.spec is None or isinstance(asked.spec, Schema):
                try:
                    self._known = settle_by_survey(
                        self._survey, asked.spec, asked.columns, asked.where, asked.text, asked.on_kind
                    )
                except OpError as error:
                    if error.record is not None and error.offset is None:
                        error.offset = self._offset(error.path, error.record)
                    raise
            else:
                self._known = settle_by_spec(asked.spec, asked.columns, asked.where, asked.text)
        return self._known


def _is_name(file: str | IO[bytes]) -> TypeGuard[str]:
    """Say whether a file is named by a path of this machine, which may be relative to the current folder."""
    return isinstance(file, str) and not is_url(file) and not is_stream(file)


def _where_filter(where: WhereChoice | None, known: Settled) -> RowFilter | None:
    if where is None:
        return None
    keys = list(known.keys)

    def mask(chunk: ScanChunk) -> Mask:
        return where.mask_of(dict(zip(keys, chunk.cells, strict=True)), chunk.rows)

    share = partial(matching_runs, where.tree, known.keys)
    return RowFilter(ScanParser([known.keys[key] for key in keys]), mask, share)


def _both(one: RowFilter | None, other: RowFilter | None) -> RowFilter | None:
    """Join two choices of rows: the second looks only at what the first takes."""
    if one is None or other is None:
        return one or other
    return replace(other, before=one)


def scan(
    paths: Paths,
    columns: Collection[str] | None = None,
    where: str | None = None,
    *,
    spec: Mapping[Any, Any] | Schema | None = None,
    with_source: bool = False,
    text: Collection[str] | bool = False,
    limit: int | None = None,
    on_kind: OnKind = "raise",
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    threads: int | None = None,
    block_bytes: int = BLOCK_BYTES,
    max_record_bytes: int | None = None,
    cache: bool | None = None,
    policy: ReadPolicy = TFRKIT,
) -> Scan:
    """See the Examples or SequenceExamples of TFRecord files as a table, of which only what is asked for is decoded.

    Args:
        paths: as for `read_blocks`. A folder, of a URL with a slash at its end, means the shards in it.
        columns: only these features and feature lists, in this order; by default all, sorted.
        where: which records, in the language of `tfr select`: "label > 3 and not broken". A condition on a feature
            holds if it does for some value of it, and not for a record without it.
        spec: what the columns are, as for `parse_example`: nothing needs to be looked into before the first batch
            comes. Or what `inspect` has returned. Without it all records are looked into first, for the wanted features
            only, unless all files have zones. Remote files of up to 64 MiB in all are kept in memory meanwhile, larger
            ones are fetched twice.
        with_source: add the columns `_file` and `_record`: where each record comes from.
        text: columns of bytes that are UTF-8 text; True: those that look like it.
        limit: at most so many rows; what comes after them is not read.
        on_kind: what to do about a feature that has several kinds: "raise", or "null" for records in which it is not
            the most usual one.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        threads: how many cores to use; by default all.
        block_bytes: about how much to read at once.
        max_record_bytes: a record that claims to be larger is damage.
        cache: keep what is read of remote files in the cache folder, and read it from there the next time.
        policy: where the defaults come from. Records mean what protobuf says whatever the policy.

    Returns:
        A table of int64, float and binary columns, as `tfr export parquet` writes it: plain ones if every record that
        has the feature has exactly one value of it, else lists; null where a record has no such feature. Feature lists
        are lists of lists unless every step has one value.

    Raises:
        InvalidArgumentError: the condition is none, and says where. When it is read: a column is nowhere, a feature has
            several kinds, or a record is not as the spec says.
        DataLossError, NotFoundError: as in `read_blocks`.
        MissingExtraError: pyarrow is not installed.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_batch({"label": [1, 2, 3], "name": ["a", "b", "c"]})
    >>> found = scan("a.tfrecord", ["name"], "label >= 2")
    >>> found.count(), found.to_table().to_pydict()
    (2, {'name': [b'b', b'c']})
    """
    names = check_columns(columns)
    if on_kind not in ("raise", "null"):
        raise ValueError(f"expected on_kind to be 'raise' or 'null' but got {on_kind!r}")
    if limit is not None and limit < 0:
        raise ValueError(f"expected limit to be at least 0 but got {limit}")
    files = files_or_folders(paths, globs=policy.globs)
    request = _Request(
        files,
        None if names is None else tuple(names),
        None if where is None else parse_where(where),
        spec,
        with_source,
        text if isinstance(text, bool) else tuple(text),
        limit,
        on_kind,
        {
            "compression": compression,
            "crc": crc,
            "on_corrupt": on_corrupt,
            "threads": threads,
            "block_bytes": block_bytes,
            "max_record_bytes": max_record_bytes,
            "cache": cache,
            "policy": policy,
        },
    )
    return Scan(request)
