"""TFRecord files as a ray.data.Dataset, and back: a Datasource that reads parts of a scan, a Datasink of shards.

A read task is a part of a scan (`scanning/splits.py`), also of one large file, and gives Arrow blocks of the columns
and rows that are wanted. A write task encodes columns, and its shards are published once
(`records/write/shard_sink.py`). What Ray asks for (columns, expressions, limits) is translated here; nothing else is.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from tfrkit.engines.ray import connect_ray
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.arrow_dataset import arrow_condition
from tfrkit.integrations.pushdown import condition_rows, pick_columns
from tfrkit.model.arguments import as_integer
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.optional import require
from tfrkit.records.describe.schema import Schema
from tfrkit.records.manifest_spec import manifest_spec
from tfrkit.records.write.shard_sink import RecordType, ShardSink, SinkReport, begin_sink
from tfrkit.records.write.written_shards import WrittenShard
from tfrkit.scanning.scan import Scan, scan
from tfrkit.scanning.splits import ScanSplit, plan_splits, read_split
from tfrkit.stores.paths import PathLike, Paths, path_text
from tfrkit.stores.url import is_url

__all__ = ["SkippedDamage", "read_tfrecords", "write_tfrecords"]

_READ: Final = "tfr.ray.read_tfrecords"
_WRITE: Final = "tfr.ray.write_tfrecords"
_TASK_BYTES: Final = 64 << 20
_LEAST_BYTES: Final = 8 << 20
_ROWS_ONLY: Final = (
    "__bsp_stub"  # Ray's name of a column that users do not see: without any it counts no rows
)
_TITLE: Final = "data"  # of shards in a folder, where no other beginning of names is given


def read_tfrecords(
    paths: Paths,
    spec: Mapping[Any, Any] | Schema | None = None,
    columns: Collection[str] | None = None,
    where: str | None = None,
    *,
    with_source: bool = False,
    text: Collection[str] | bool = False,
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    skipped: SkippedDamage | None = None,
    max_record_bytes: int | None = None,
    policy: ReadPolicy = TFRKIT,
    parallelism: int | None = None,
    concurrency: int | None = None,
    num_cpus: float | None = None,
    ray_remote_args: Mapping[str, Any] | None = None,
) -> Any:
    """Read Examples or SequenceExamples as a ray.data.Dataset of columns; all workers must see the files.

    A task reads a range of records: several files, one, or a part of one that is plain or GZIP in members and has an
    index (a large local file without one is walked once). `ds.select_columns`, `ds.filter(expr=...)` and `ds.limit`
    reach the readers, which decode no more than they need; `ds.schema()` and, without conditions, `ds.count()` read no
    record where manifest, zones or index know them.

    Args:
        paths: as for `read_blocks`.
        spec: what the columns are, as for `scan`. By default what the manifest or the zones beside the files say, else
            all records are looked into, by this process.
        columns: only these features and feature lists, in this order.
        where: which records, in the language of `tfr select`.
        with_source: add the columns `_file` and `_record`; local paths are absolute there.
        text: columns of bytes that are UTF-8 text; True: those that look like it.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        skipped: counts damage that is passed over.
        max_record_bytes: a record that claims to be larger is damage.
        policy: where the defaults come from.
        parallelism: about how many tasks; by default one for 64 MB of files, or more if the cluster has the cores.
        concurrency: how many run at once, as for `ray.data.read_datasource`, also the next ones.
        num_cpus: of each task.
        ray_remote_args: of each task.

    Returns:
        A ray.data.Dataset of Arrow blocks with the columns that `scan` gives.

    Raises:
        InvalidArgumentError, DataLossError, NotFoundError: as for `scan`.
        MissingExtraError: ray is not installed.
    """
    data = require("ray.data", _READ)
    if parallelism is not None and as_integer("parallelism", parallelism) < 1:
        raise InvalidArgumentError(f"Expected parallelism to be at least 1 but got {parallelism}.")
    ray = connect_ray(None, _READ)
    found = scan(
        paths,
        columns,
        where,
        spec=spec,
        with_source=with_source,
        text=text,
        compression=compression,
        crc=crc,
        on_corrupt=on_corrupt,
        max_record_bytes=max_record_bytes,
        policy=policy,
    )
    if spec is None and text is not True and (known := manifest_spec(found.files)) is not None:
        found = found.with_spec(known)
    source = _classes()[0](found.settled(threads=1), skipped)
    if parallelism is None:
        wanted = _tasks_for(source.estimate_inmemory_data_size(), ray.cluster_resources().get("CPU", 1))
        parallelism = source.task_count(wanted)
    return data.read_datasource(
        source,
        override_num_blocks=parallelism,
        concurrency=concurrency,
        num_cpus=num_cpus,
        ray_remote_args=None if ray_remote_args is None else dict(ray_remote_args),
    )


def write_tfrecords(
    ds: Any,
    path: PathLike,
    *,
    compression: str | None = None,
    level: int | None = None,
    index: bool = True,
    zones: bool = True,
    overwrite: bool = False,
    shard_records: int | None = None,
    shard_bytes: int | None = None,
    min_rows_per_shard: int | None = None,
    record_type: RecordType = "Example",
    feature_lists: Collection[str] | None = None,
    concurrency: int | None = None,
    ray_remote_args: Mapping[str, Any] | None = None,
) -> SinkReport:
    """Write the rows of a ray.data.Dataset as shards with index and manifest; all workers must see the folder.

    A task writes its rows, in their order, below `.tfrkit/tmp/`; when all are done their shards get their names,
    `<path>-00000-of-00016.tfrecord` and so on, each task's exactly once, and what lost workers have left is removed. If
    a task fails, nothing appears.

    Args:
        ds: the dataset. Numbers, text, bytes, lists of them and tensors can be features.
        path: folder and beginning of the names, such as "out/train" or "s3://bucket/train"; a folder ("out/") stands
            for "out/data".
        compression: as for `ShardWriter`, also for the next ones.
        level: of the compression.
        index: keep an index of each shard beside it.
        zones: keep the bounds of each feature beside each shard: reading then knows the columns without a look.
        overwrite: replace the shards that are there under this name; else they are an error.
        shard_records: at most so many records in a shard; by default a task writes one shard.
        shard_bytes: begin a new shard when this much was written to one.
        min_rows_per_shard: let a task write at least so many rows.
        record_type: what a row becomes: an "Example", a "SequenceExample", or, of one column, the record ("bytes").
        feature_lists: columns that are feature lists of SequenceExamples; by default those of lists of lists.
        concurrency: how many tasks run at once, as for `Dataset.write_datasink`.
        ray_remote_args: of each task.

    Returns:
        The paths of the shards, and how many records and bytes they have.

    Raises:
        AlreadyExistsError: there are shards of this name already.
        MissingExtraError: ray is not installed.
    """
    data = require("ray.data", _WRITE)
    if not isinstance(ds, data.Dataset):
        raise InvalidArgumentError(f"Expected a ray.data.Dataset but got {type(ds).__name__}.")
    text = path_text(path)
    text = os.path.join(text, _TITLE) if text.endswith("/") else text
    sink = begin_sink(
        text if is_url(text) else os.path.abspath(text),
        compression=compression,
        level=level,
        index=index,
        zones=zones,
        overwrite=overwrite,
        shard_records=shard_records,
        shard_bytes=shard_bytes,
        record_type=record_type,
        feature_lists=feature_lists,
    )
    target = _classes()[1](sink, min_rows_per_shard)
    try:
        ds.write_datasink(
            target,
            ray_remote_args=None if ray_remote_args is None else dict(ray_remote_args),
            concurrency=concurrency,
        )
    except BaseException:
        sink.abort()
        raise
    report: SinkReport = target.report
    return report


def _tasks_for(size: int, cores: float) -> int:
    """Return how many tasks read so many bytes: some for each core, but none without enough to do. Pure: no I/O.

    Ray's own choice, 200 and more, takes most of the time for tasks: 5 times as long for 600 MB on two cores
    (benchmarks/ray_read_write.py).

    >>> _tasks_for(1 << 20, 8), _tasks_for(600 << 20, 2), _tasks_for(600 << 20, 400)
    (1, 9, 75)
    """
    return max(1, size // _TASK_BYTES, min(int(2 * cores), size // _LEAST_BYTES))


class SkippedDamage:
    """Counts the damage that readers pass over, on the whole cluster: an argument of `read_tfrecords`.

    A task that is run again counts once.
    """

    def __init__(self) -> None:
        ray = connect_ray(None, "SkippedDamage")
        self._tally = ray.remote(_Tally).options(num_cpus=0).remote()

    @property
    def count(self) -> int:
        """How many damages were passed over so far."""
        return int(require("ray", "SkippedDamage").get(self._tally.total.remote()))

    def report(self, split: ScanSplit, number: int) -> None:
        """Note how many damages a part has, in a worker."""
        require("ray", "SkippedDamage").get(self._tally.report.remote(split, number))


class _Tally:
    """How many damages each part has: an actor."""

    def __init__(self) -> None:
        self._parts: dict[ScanSplit, int] = {}

    def report(self, split: ScanSplit, number: int) -> None:
        self._parts[split] = number

    def total(self) -> int:
        return sum(self._parts.values())


def _read(
    scan: Scan,
    split: ScanSplit,
    names: list[str],
    expression: Any,
    limit: int | None,
    skipped: SkippedDamage | None,
) -> Iterator[Any]:
    """Read one part, in a worker: Arrow tables of some columns of the rows for which an expression holds."""
    pyarrow = require("pyarrow", _READ)
    rows = None
    if expression is not None:
        rows = condition_rows(scan, arrow_condition(expression.to_pyarrow(), scan.schema))
    batches = read_split(scan, split, names, rows, limit=limit)
    try:
        for batch in batches:
            picked = pick_columns(batch, names)
            nothing = pyarrow.nulls(batch.num_rows)
            yield pyarrow.Table.from_batches([picked]) if names else pyarrow.table({_ROWS_ONLY: nothing})
    finally:
        batches.close()
        if skipped is not None:
            skipped.report(split, batches.skipped)


class _SourceMethods:
    """The methods of ray.data.Datasource on a scan."""

    def __init__(self, scan: Scan, skipped: SkippedDamage | None) -> None:
        super().__init__()
        self._scan, self._skipped = scan, skipped
        self._schema = scan.schema
        self._projection_map: dict[str, str] | None = None
        self._predicate_expr: Any = None
        self._plans: dict[int, list[ScanSplit]] = {}

    def get_name(self) -> str:
        return "TFRecords"

    def supports_projection_pushdown(self) -> bool:
        return True

    def supports_predicate_pushdown(self) -> bool:
        return True

    def apply_predicate(self, predicate_expr: Any) -> Any:
        """Take a condition, or return the same object: what Arrow cannot evaluate here is left to Ray."""
        try:
            arrow_condition(predicate_expr.to_pyarrow(), self._schema)
        except Exception:  # noqa: BLE001  # Ray says what is wrong with it, in its own words
            return self
        return super().apply_predicate(predicate_expr)  # type: ignore[misc]  # Ray's, which joins conditions

    def _splits(self, count: int) -> list[ScanSplit]:
        if count not in self._plans:
            self._plans[count] = plan_splits(self._scan, count)
        return self._plans[count]

    def task_count(self, wanted: int) -> int:
        """Return how many tasks there are if about so many are wanted: asked for any other number, Ray cuts blocks."""
        count = len(self._splits(wanted))
        self._plans.setdefault(count, self._splits(wanted))
        return max(1, count)

    def estimate_inmemory_data_size(self) -> int | None:
        return sum(split.bytes for split in self._splits(1))

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]:
        data, block = require("ray.data", _READ), require("ray.data.block", _READ)
        pyarrow = require("pyarrow", _READ)
        names = list(self._schema.names)
        if self._projection_map is not None:
            names = [name for name in self._projection_map if name in names]
        schema = pyarrow.schema([self._schema.field(name) for name in names] or {_ROWS_ONLY: pyarrow.null()})
        takes_all = self._scan.takes_all and self._predicate_expr is None
        tasks = []
        for split in self._splits(parallelism):
            rows = split.records if takes_all else None
            if rows is not None and per_task_row_limit is not None:
                rows = min(rows, per_task_row_limit)
            metadata = block.BlockMetadata(
                num_rows=rows, size_bytes=split.bytes, exec_stats=None, input_files=split.paths
            )
            read = functools.partial(
                _read, self._scan, split, names, self._predicate_expr, per_task_row_limit, self._skipped
            )
            tasks.append(data.ReadTask(read, metadata, schema=schema, per_task_row_limit=per_task_row_limit))
        return tasks


class _SinkMethods:
    """The methods of ray.data.Datasink on a sink of shards."""

    def __init__(self, sink: ShardSink, min_rows: int | None) -> None:
        self._sink, self._min_rows = sink, min_rows
        self.report: SinkReport | None = None

    def get_name(self) -> str:
        return "TFRecords"

    @property
    def min_rows_per_write(self) -> int | None:
        return self._min_rows

    def on_write_start(self, schema: Any = None) -> None:
        """Nothing is made before there is something to write."""

    def write(self, blocks: Iterable[Any], ctx: Any) -> list[WrittenShard]:
        accessor = require("ray.data.block", _WRITE).BlockAccessor
        tables = (_plain(accessor.for_block(block).to_arrow()) for block in blocks)
        return self._sink.write(tables, ctx.task_idx)

    def on_write_complete(self, write_result: Any) -> None:
        self.report = self._sink.publish(shard for shards in write_result.write_returns for shard in shards)

    def on_write_failed(self, error: Exception) -> None:
        self._sink.abort()


def _plain(table: Any) -> Any:
    """Return a table with Ray's tensors as lists of their values."""
    pyarrow = require("pyarrow", _WRITE)
    for number, field in enumerate(table.schema):
        if isinstance(field.type, pyarrow.BaseExtensionType):
            chunks = [chunk.storage for chunk in table.column(number).chunks]
            if pyarrow.types.is_struct(chunks[0].type):  # of tensors that differ in shape
                chunks = [chunk.field("data") for chunk in chunks]
            table = table.set_column(number, field.name, pyarrow.chunked_array(chunks))
    return table


@functools.cache
def _classes() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make the classes, which derive from an optional package's."""
    data = require("ray.data", _READ)
    return (
        type("TFRecordSource", (_SourceMethods, data.Datasource), {"__module__": __name__}),
        type("TFRecordSink", (_SinkMethods, data.Datasink), {"__module__": __name__}),
    )
