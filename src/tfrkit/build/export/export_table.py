"""export: TFRecord files into Parquet, Arrow, JSON lines or CSV.

The columns are settled over all records first, then each output is written chunk by chunk, several at once. They get
their names when all are whole: an export that fails or is interrupted leaves nothing. Where names cannot be given
afterwards, each has its own when it is whole, and is removed if another fails. What a format looks like is in its own
file; images are in `export_images.py`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from tfrkit.build.export.export_format import check_options, format_of
from tfrkit.build.export.export_options import FORMATS, Format, TableExportOptions
from tfrkit.build.export.export_paths import STDOUT, ExportTarget, input_files, plan_targets, refuse_existing
from tfrkit.build.export.export_progress import Meter
from tfrkit.build.export.export_tasks import (
    ExportTask,
    WrittenTable,
    attempts_of,
    drop_attempts,
    run_export_tasks,
    write_table,
)
from tfrkit.build.job.bad_limit import BadLimit
from tfrkit.build.job.input_stamp import InputChangedError, InputStamp, check_unchanged, stamps_of
from tfrkit.engines.engine import Engine
from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.optional import require
from tfrkit.options import takes
from tfrkit.records.describe.inspect import inspect
from tfrkit.scanning.columns import (
    ScanColumn,
    count_unset,
    settle_columns,
    type_text,
)
from tfrkit.stores import files
from tfrkit.stores.output import ObjectOutput, Output, WholeOutput
from tfrkit.stores.paths import PathLike, Paths, path_text

if TYPE_CHECKING:
    from tfrkit.build.keywords import TableExportKeywords

__all__ = ["ExportReport", "ExportedFile", "export", "run_export"]

_WORKERS: Final = 4  # by default: more take more than 500 MB, and texts are made under the interpreter's lock


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file that was written."""

    path: str
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did.

    Attributes:
        format: what was written.
        files: each with its counts, in the order of the inputs.
        columns: name and type of each column.
        dropped: what the format could not say, and how often; formats that lose nothing have only features without a
            kind here.
        skipped: damages of the inputs that were passed over (`on_corrupt="skip"` or "stop").
        seconds: how long it took.
    """

    format: str
    files: tuple[ExportedFile, ...]
    columns: Mapping[str, str]
    dropped: Mapping[str, int]
    skipped: int
    seconds: float

    @property
    def records(self) -> int:
        """Records in all files."""
        return sum(file.records for file in self.files)

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.bytes for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**asdict(self), "records": self.records, "bytes": self.bytes}


@takes(TableExportOptions)
def export(
    paths: Paths,
    out: PathLike,
    format: Format | None = None,  # the name that users expect
    **options: Unpack[TableExportKeywords],
) -> ExportReport:
    """Write the Examples or SequenceExamples of TFRecord files as Parquet, Arrow, JSON lines or CSV.

    The first three lose nothing: `tfrkit.build.table` makes the same records of them. Memory does not grow with the
    inputs. Files appear when all of them are whole; after an error or an interruption there are none. In a store each
    appears when it is whole, and is removed if another fails; only a killed process leaves some of them.

    Args:
        paths: files or patterns. They are read twice, first to settle the columns.
        out: a file, if it ends as files of the format do (`.parquet`, `.arrow`, `.jsonl`, `.csv`): all records go into
            it. Else a folder, which is made: each input gets a file of its name there. It may be a URL. "-" is standard
            output, for JSON lines and CSV.
        format: "parquet", "arrow", "jsonl" or "csv"; by default what `out` ends with.

    Returns:
        What was written, and for CSV what could not be.

    Raises:
        InvalidArgumentError: a record is no Example, a feature has several kinds, or an option does not fit.
        AlreadyExistsError: an output is there already.
        DataLossError, NotFoundError: as in `read_blocks`.
        MissingExtraError: pyarrow is not installed (Parquet and Arrow).

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_batch({"label": [3, 5], "word": ["three", None]})
    >>> report = export("a.tfrecord", "a.jsonl")
    >>> report.records, report.columns
    (2, {'label': 'int64', 'word': 'bytes'})
    >>> from pathlib import Path
    >>> print(Path("a.jsonl").read_text(), end="")
    {"label": 3, "word": "three"}
    {"label": 5}
    """
    return run_export(paths, out, format, TableExportOptions.of(options))


def run_export(
    paths: Paths, out: PathLike, format: Format | None, wanted: TableExportOptions
) -> ExportReport:
    """Export with options that are checked: see `export`."""
    started = time.perf_counter()
    place = path_text(out)
    chosen = _checked_format(place, format)
    wanted = replace(
        wanted,
        compression=wanted.compression or FORMATS[chosen].compressions[0],
        delimiter=wanted.delimiter or ("\t" if place.lower().endswith(".tsv") else ","),
    )
    check_options(chosen, wanted)
    if chosen in ("parquet", "arrow"):
        require("pyarrow", f"export to {chosen}")  # before all records are read
    inputs = input_files(paths)
    stamps = stamps_of(inputs)
    targets = plan_targets(inputs, place, FORMATS[chosen].suffixes)
    refuse_existing(targets, wanted.overwrite)
    engine = wanted.made_engine()
    if not engine.shares_memory and STDOUT in (target.path for target in targets):
        raise InvalidArgumentError("Standard output is this process's: expected the engine 'threads' for it.")
    meter = Meter(sum(stamps[file].size for file in inputs if file in stamps), len(targets), wanted.progress)
    schema = inspect(inputs, on_corrupt=wanted.on_corrupt, threads=wanted.workers, progress=meter.surveyed)
    BadLimit.parse(wanted.max_bad).check({"damaged": schema.skipped}, schema.records, ())
    settled = settle_columns(schema, wanted.columns, unset="absent" if chosen == "csv" else wanted.unset)
    if schema.records and not settled:
        raise InvalidArgumentError(
            f"expected features to export but none of the {schema.records} records has any. There is nothing to write."
        )
    meter.begin(schema.data_bytes)
    cores = min(engine.cores, _WORKERS) if engine.shares_memory else engine.cores
    job = _Export(
        chosen, wanted, settled, meter, Stop(), wanted.workers or cores, stamps,
        schema.records if len(targets) == 1 else None,
    )  # fmt: skip
    written = job.run(targets) if engine.shares_memory else job.run_elsewhere(targets, engine)
    dropped: Counter[str] = Counter(count_unset(schema, wanted.columns))
    for _, losses in written:
        dropped.update(losses)
    return ExportReport(
        chosen,
        tuple(file for file, _ in written),
        {column.name: type_text(column) for column in settled},
        {what: number for what, number in sorted(dropped.items()) if number},
        schema.skipped,
        time.perf_counter() - started,
    )


@dataclass(frozen=True, slots=True)
class _Export:
    """What all files of an export share."""

    format: Format
    options: TableExportOptions
    columns: tuple[ScanColumn, ...]
    meter: Meter
    stop: Stop
    workers: int
    stamps: Mapping[str, InputStamp]
    records: int | None
    outputs: dict[str, Output] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)

    def run(self, targets: list[ExportTarget]) -> list[tuple[ExportedFile, Mapping[str, int]]]:
        """Write all files, in any order, and give them their names when all are whole; else nothing is left."""
        try:
            done = self._write_all(targets)
            for target in targets:
                self._publish(target.path)
        except BaseException:
            for output in self.outputs.values():
                output.discard()
            self._unname()
            raise
        return [done[target] for target in targets]

    def _publish(self, path: str) -> None:
        """Give a file its name, unless it has it."""
        output = self.outputs[path]
        if output.whole and path not in self.named:
            cast("WholeOutput", output).publish()
            self.named.append(path)

    def _write_all(
        self, targets: list[ExportTarget]
    ) -> dict[ExportTarget, tuple[ExportedFile, Mapping[str, int]]]:
        done: dict[ExportTarget, tuple[ExportedFile, Mapping[str, int]]] = {}
        threads = max(1, self.workers // max(1, len(targets)))
        tasks = run_tasks(
            targets,
            lambda target: self._write(target, threads),
            workers=self.workers,
            stop=self.stop,
            tick=self.meter.tick,
        )
        with contextlib.closing(tasks):  # type: ignore[type-var]  # a generator: no task runs after this
            for target, result in tasks:
                done[target] = result
                self.meter.finished()
        return done

    def _write(self, target: ExportTarget, threads: int) -> tuple[ExportedFile, Mapping[str, int]]:
        output = self.outputs[target.path] = _open_output(target.path)

        def written(data_bytes: int, records: int) -> None:
            self.stop.check()
            self.meter.written(data_bytes, records)

        records, losses = write_table(
            output, target.inputs, self.format, self.columns, self.options, threads, written
        )
        self._check(target, records)
        if not output.whole:
            output.close()
        else:
            cast("WholeOutput", output).finish()
            if not files.traits_of(target.path).local:  # what waits for its name may wait in memory
                self._publish(target.path)
        return ExportedFile(target.path, records, output.position), losses

    def run_elsewhere(
        self, targets: list[ExportTarget], engine: Engine
    ) -> list[tuple[ExportedFile, Mapping[str, int]]]:
        """Do as `run` with an engine whose tasks share no memory with this process."""
        attempts = attempts_of(targets[0].path)
        options = replace(self.options, progress=None)
        tasks = [
            ExportTask(
                os.path.basename(target.path), attempts, target.inputs, self.format, self.columns, options, 1,
                self.meter.ratio,
            )
            for target in targets
        ]  # fmt: skip

        def took(number: int, written: WrittenTable) -> None:
            self._check(targets[number], written.records)

        try:
            done = run_export_tasks(engine, tasks, self.workers, self.meter, took, outputs=True)
            for target, written in zip(targets, done, strict=True):
                files.make_folder(os.path.dirname(target.path))
                self.named.append(target.path)
                files.move(written.path, target.path)
        except BaseException:
            self._unname()
            raise
        finally:
            drop_attempts(attempts)
        return [
            (ExportedFile(target.path, each.records, each.bytes), each.losses)
            for target, each in zip(targets, done, strict=True)
        ]

    def _unname(self) -> None:
        """Remove files that have their names already, unless they have replaced others."""
        for path in [] if self.options.overwrite else self.named:  # there were none of these before
            with contextlib.suppress(OSError, OpError):
                files.remove(path)

    def _check(self, target: ExportTarget, records: int) -> None:
        """Refuse to publish a file if its inputs are not what the columns were settled from.

        Raises:
            InputChangedError: they are not.
        """
        check_unchanged(self.stamps[path] for path in target.inputs if path in self.stamps)
        if self.records not in (None, records):
            raise InputChangedError(
                target.inputs[-1], f"expected {self.records:,} records in all inputs but got {records:,}"
            )


def _checked_format(out: str, wanted: str | None) -> Format:
    chosen = format_of(out) if wanted is None else next((name for name in FORMATS if name == wanted), None)
    if chosen is None:
        raise InvalidArgumentError(
            f"expected a format, {', '.join(FORMATS)}, but got {wanted!r} and the output {out!r}. Pass format=, or an "
            "output that ends with one, such as data.parquet."
        )
    if format_of(out) not in (None, chosen) and not files.is_folder(out):
        raise InvalidArgumentError(
            f"expected an output for {chosen} but {out!r} ends like a file of {format_of(out)}. Give it the suffix "
            f"{FORMATS[chosen].suffixes[0]}, or none for a folder."
        )
    if out == STDOUT and chosen not in ("jsonl", "csv"):
        raise InvalidArgumentError(
            f"expected a file or folder for {chosen}: only jsonl and csv go to standard output."
        )
    return chosen


def _open_output(path: str) -> Output:
    if path == STDOUT:
        return ObjectOutput(sys.stdout.buffer)
    files.make_folder(os.path.dirname(path))
    return files.create(path)
