"""RecordReader: files as batches for Spark, a part of the files for each task.

The driver plans: which files there are, what their folders say, and where they can be cut (`scanning.splits`). Each
task scans its part, with the columns that the schema names and the rows that Spark's filters take.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

import numpy as np

from tfrkit.build.tables.partition_filter import NULL_PARTITION
from tfrkit.engines.worker_channel import ChannelAddress
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.integrations.spark.damage_counts import report_damage
from tfrkit.integrations.spark.filters import expression_of, names_in
from tfrkit.integrations.spark.source_options import ReadOptions
from tfrkit.integrations.spark.types import (
    arrow_schema,
    constant_array,
    fit_array,
    partition_types,
    spark_schema,
    spec_of_schema,
)
from tfrkit.integrations.zone_guarantees import runs_of_expression
from tfrkit.model.spec_json import spec_from_data
from tfrkit.model.specs import FixedLenFeature
from tfrkit.optional import lazy, require
from tfrkit.records.describe.inspect import inspect
from tfrkit.records.describe.schema import Schema
from tfrkit.records.manifest import manifest_path, read_manifest
from tfrkit.records.record_names import parse_record_name, shard_prefix
from tfrkit.scanning.scan import Scan, scan
from tfrkit.scanning.splits import ScanSplit, SplitBlocks, plan_splits, read_split
from tfrkit.stores import files
from tfrkit.stores.object_config import adopt_settings
from tfrkit.stores.paths import expand_paths
from tfrkit.stores.url import display_name, is_url, local_path, plain_folder

__all__ = ["RecordPart", "RecordReader", "infer_schema"]

pyarrow: Any = lazy("pyarrow", "tfr.spark")
BYTE_ARRAY: Final = "byteArray"  # the one column of records as they are; LinkedIn's name
_log = logging.getLogger("tfrkit.spark")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that is to be read, and what the folders above it say."""

    path: str
    partition: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class RecordPart:
    """What a task reads: a part of a scan of some files, and what their path says of partition columns. Plain data."""

    scan: Scan
    split: ScanSplit
    partition: Mapping[str, str | None]
    read: str


def find_files(options: ReadOptions) -> list[FoundFile]:
    """Find all files of some paths: of folders those with names of TFRecord files, also in folders such as `day=1`.

    Raises:
        InvalidArgumentError: no path was given.
        NotFoundError: there is no file.
    """
    if not options.paths:
        raise InvalidArgumentError(
            'Expected a path, such as spark.read.format("tfrecord").load("data/*.tfrecord").'
        )
    found: list[FoundFile] = []
    for given in options.paths:
        path = given if is_url(given) else os.path.abspath(local_path(given))
        if files.is_folder(path):
            found += _in_folder(path, partitions=options.partitions)
        else:
            found += (FoundFile(str(each), {}) for each in expand_paths(path, globs=True))
    if not found:
        raise NotFoundError(
            f"{options.paths[0]}; no TFRecord files are there. Files in a folder are recognised by their names, such "
            "as *.tfrecord and *.tfrecord.gz; give a pattern for others.",
            path=options.paths[0],
        )
    return found


def _in_folder(folder: str, *, partitions: bool) -> Iterator[FoundFile]:
    root = plain_folder(folder) if is_url(folder) else folder.rstrip("/")
    for info in sorted(files.list_files(root, recursive=True), key=lambda info: info.path):
        parts = info.path[len(root) :].lstrip("/").split("/")
        hidden = any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts)
        if info.is_folder or hidden or parse_record_name(parts[-1]) is None:
            continue
        pairs = [part.partition("=") for part in parts[:-1] if partitions and "=" in part]
        said = {unquote(name): None if text == NULL_PARTITION else unquote(text) for name, _, text in pairs}
        yield FoundFile(info.path, said)


def infer_schema(options: ReadOptions) -> Any:
    """Return Spark's schema of some files: from a manifest, from zones, or from a sample of their records."""
    types = require("pyspark.sql.types", "tfr.spark")
    found = find_files(options)
    paths = [each.path for each in found]
    if options.record_type == "ByteArray":
        schema = types.StructType([types.StructField(BYTE_ARRAY, types.BinaryType())])
    else:
        schema = spark_schema(_scan(options, paths, _known(options, paths), options.columns).schema)
    names = {each.name for each in schema.fields}
    for name, kind in partition_types([each.partition for each in found]).items():
        if name not in names:
            schema.add(name, kind)
    return schema


def _is_sequence(options: ReadOptions, paths: Sequence[str]) -> bool:
    """Return whether the records are SequenceExamples; if no option says it, the first record does."""
    if options.record_type is not None:
        return options.record_type == "SequenceExample"
    return inspect(paths[0], 1, **_reading(options)).kind == "SequenceExample"


def _reading(options: ReadOptions) -> dict[str, Any]:
    return {"crc": options.crc, "on_corrupt": options.on_corrupt, "compression": options.compression}


def _known(options: ReadOptions, paths: Sequence[str]) -> Mapping[Any, Any] | Schema:
    """Return what the records are: what the manifest says if every record has one shape, else what a sample shows."""
    if options.text == "binary":
        spec = _manifest_spec(paths)
        if spec is not None:
            return {
                name: each
                for name, each in spec.items()
                if options.columns is None or name in options.columns
            }
    found = inspect(list(paths), options.sample, columns=options.columns, **_reading(options))
    if found.others and not found.features and not found.feature_lists:
        raise InvalidArgumentError(
            f"{paths[0]}; the records are neither Examples nor SequenceExamples. Read them as they are with "
            'option("recordType", "ByteArray").'
        )
    return found


def _manifest_spec(paths: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the spec that all of some shards were made with, if there is one and it has one value a record."""
    specs: dict[str, Any] = {}
    for folder in {os.path.dirname(path) for path in paths}:
        if not files.is_there(manifest_path(folder)):
            return None
        content = read_manifest(folder)
        jobs = content.get("jobs", {})
        for path in paths:
            if os.path.dirname(path) == folder:
                made = content["made_by"].get(shard_prefix(os.path.basename(path)) or "", {})
                specs[path] = jobs.get(made.get("job"), {}).get("spec")
    first = next(iter(specs.values()), None)
    if first is None or any(spec != first for spec in specs.values()):
        return None
    spec = spec_from_data(first)
    plain = all(isinstance(each, FixedLenFeature) and not each.shape for each in spec.values())
    return spec if plain else None


def _scan(
    options: ReadOptions,
    paths: Sequence[str],
    spec: Mapping[Any, Any] | Schema,
    columns: Sequence[str] | None,
    text: Sequence[str] | None = None,
) -> Scan:
    as_text: Any = options.text == "utf8" and isinstance(spec, Schema) if text is None else text
    return scan(
        list(paths),
        columns=columns,
        where=options.where,
        spec=spec,
        text=as_text,
        threads=1,
        **_reading(options),
    )


@dataclass(slots=True)
class RecordReader:
    """One read, planned in the driver and done in tasks. Pickles."""

    options: ReadOptions
    schema: Any
    filters: list[Any] = field(default_factory=list)
    counts_at: ChannelAddress | None = None
    stores: Mapping[str, Any] = field(default_factory=dict, repr=False)  # may hold secrets

    def push(self, filters: Sequence[Any]) -> list[Any]:
        """Take the conditions that mean exactly the same here; return those that Spark must apply."""
        arrow = arrow_schema(self.schema)
        self.filters = [each for each in filters if expression_of(each, arrow) is not None]
        return [each for each in filters if all(each is not taken for taken in self.filters)]

    def parts(self) -> list[RecordPart]:
        """Divide the files into parts for tasks; those of partitions that no row is wanted of are left out."""
        adopt_settings(self.stores)  # Spark plans in a process of its own
        found = find_files(self.options)
        said = partition_types([each.partition for each in found])
        by_value: dict[tuple[Any, ...], list[str]] = {}
        for each in found:
            by_value.setdefault(tuple(each.partition.get(name) for name in said), []).append(each.path)
        whole = self._scan([each.path for each in found], list(said))
        made: list[RecordPart] = []
        name = secrets.token_hex(6)
        for texts, paths in by_value.items():
            values = dict(zip(said, texts, strict=True))
            if self._wanted(values):
                splits = plan_splits(whole.of_files(paths), most_bytes=self.options.split_bytes)
                made += [RecordPart(whole.of_files(split.paths), split, values, name) for split in splits]
        return made

    def _scan(self, paths: Sequence[str], partitions: Sequence[str]) -> Scan:
        """Return the scan of the columns that are read; ByteArrays have none."""
        options, types = self.options, require("pyspark.sql.types", "tfr.spark")
        own = [each for each in self.schema.fields if each.name not in partitions]
        if options.record_type == "ByteArray":
            return scan(list(paths), columns=[], spec={}, threads=1, **_reading(options))
        schema = types.StructType(own)
        text = [each.name for each in own if isinstance(each.dataType, types.StringType)]
        spec: Mapping[Any, Any] | Schema
        names: Sequence[str] = [each.name for each in own]
        if _is_sequence(options, paths):
            spec = inspect(list(paths), options.sample, **_reading(options))
            there = {
                *spec.features,
                *spec.feature_lists,
                *(f"feature_lists/{name}" for name in spec.feature_lists),
            }
            names = [name for name in names if name in there]
            text = []
        else:
            spec = spec_of_schema(schema)
        return _scan(options, paths, spec, names, text).settled(threads=1)

    def _wanted(self, values: Mapping[str, Any]) -> bool:
        """Return whether conditions on partition columns hold for some values of them."""
        arrow = arrow_schema(self.schema)
        fields = [each for each in arrow if each.name in values]
        filters = [each for each in self.filters if set(names_in([each])) <= {each.name for each in fields}]
        if not filters:
            return True
        row = pyarrow.RecordBatch.from_arrays(
            [_partition_column(values[each.name], 1, each) for each in fields], schema=pyarrow.schema(fields)
        )
        return bool(_mask(row, filters, arrow).all())

    def read(self, part: RecordPart) -> Iterator[Any]:
        """Read a part, in a task: batches that are exactly as Spark expects them."""
        arrow = arrow_schema(self.schema)
        if self.options.record_type == "ByteArray":
            yield from self._read_records(part, arrow)
            return
        filters = [each for each in self.filters if not set(names_in([each])) <= part.partition.keys()]
        rows = None
        if filters:
            names = names_in(filters)
            known = {column.name for column in part.scan.columns}
            mask = partial(_mask_of_scanned, arrow=arrow, filters=filters, partition=part.partition)
            share = _share(part.scan, filters, arrow)
            rows = part.scan.row_filter([name for name in names if name in known], mask, share)
        batches = read_split(part.scan, part.split, None, rows)
        try:
            for batch in batches:
                yield _fitted(batch, arrow, part.partition)
        finally:
            self._note(part, batches.skipped)
            batches.close()

    def _read_records(self, part: RecordPart, arrow: Any) -> Iterator[Any]:
        """Read whole records."""
        own = [each for each in arrow if each.name not in part.partition]
        if len(own) != 1:
            raise InvalidArgumentError(
                f"Expected one column of records ({BYTE_ARRAY} binary) but the schema has "
                f"{', '.join(each.name for each in own)}."
            )
        blocks = SplitBlocks(part.split, part.scan, None)
        try:
            for block in blocks:
                records = pyarrow.array(block.to_list(), pyarrow.binary())
                batch = pyarrow.RecordBatch.from_arrays([records], names=[own[0].name])
                fitted = _fitted(batch, arrow, part.partition)
                if self.filters:
                    fitted = fitted.filter(pyarrow.array(_mask(fitted, self.filters, arrow)))
                yield fitted
        finally:
            self._note(part, getattr(blocks, "skipped", 0))
            blocks.close()

    def _note(self, part: RecordPart, skipped: int) -> None:
        """Say how much damage was passed over: of a part of several files, with the first of them."""
        if skipped:
            names = [display_name(path) for path in part.split.paths]
            _log.warning("%d damaged places were passed over in %s", skipped, ", ".join(names))
            first = part.split.ranges[0]
            report_damage(self.counts_at, part.read, f"{names[0]}:{first.offset}", {names[0]: skipped})


def _fitted(batch: Any, arrow: Any, partition: Mapping[str, Any]) -> Any:
    """Return a batch of a scan as Spark expects it: all columns, in order, of exactly its types."""
    rows = batch.num_rows
    arrays = []
    for each in arrow:
        at = batch.schema.get_field_index(each.name)
        if at >= 0:
            arrays.append(fit_array(batch.column(at), each))
        else:  # of the path, or of no record
            arrays.append(_partition_column(partition.get(each.name), rows, each))
    return pyarrow.RecordBatch.from_arrays(arrays, schema=arrow)


def _partition_column(text: str | None, rows: int, each: Any) -> Any:
    """Return the column of what a path says."""
    if text is None:
        return fit_array(constant_array(None, rows, each), each)
    value = fit_array(pyarrow.array([text], pyarrow.string()), each)[0]
    return pyarrow.repeat(value, rows)


def _mask(batch: Any, filters: Sequence[Any], arrow: Any) -> Any:
    """Return which rows of a batch filters take."""
    taken = np.ones(batch.num_rows, bool)
    table = pyarrow.Table.from_batches([batch])
    for each in filters:
        name = "\0taken"
        numbered = table.append_column(name, pyarrow.array(np.arange(len(taken))))
        kept = numbered.filter(expression_of(each, arrow)).column(name).to_numpy()
        found = np.zeros(len(taken), bool)
        found[kept] = True
        taken &= found
    return taken


def _mask_of_scanned(batch: Any, *, arrow: Any, filters: Sequence[Any], partition: Mapping[str, Any]) -> Any:
    """Return which rows of a batch of a scan filters take, on the values as Spark sees them."""
    names = set(names_in(filters))
    own = pyarrow.schema([each for each in arrow if each.name in names])
    return _mask(_fitted(batch, own, partition), filters, own)


def _share(made: Scan, filters: Sequence[Any], arrow: Any) -> Any:
    """Return what tells by zones which runs of records can match, if the scan has the columns as Spark sees them."""
    names = set(names_in(filters))
    scanned = made.schema
    for name in names:
        at = scanned.get_field_index(name)
        if at < 0 or scanned.field(at).type != arrow.field(name).type:
            return None
    expression = expression_of(filters[0], arrow)
    for each in filters[1:]:
        expression = expression & expression_of(each, arrow)
    columns = [column for column in made.columns if column.name in names]
    return partial(runs_of_expression, expression, columns, scanned)
