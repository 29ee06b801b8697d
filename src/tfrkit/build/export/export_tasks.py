"""Writing one file of an export: by a thread of this process, or as a task that any engine runs.

A task is plain data. It writes to a folder of its attempt below `.tfrkit/tmp/`, and returns what it wrote; whoever
started it gives one attempt at each file its name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final, TypeVar, cast

from tfrkit.build.export.export_arrow import ArrowSink, ParquetSink
from tfrkit.build.export.export_csv import CsvSink
from tfrkit.build.export.export_format import OutputFile, TableSink
from tfrkit.build.export.export_jsonl import JsonlSink
from tfrkit.build.export.export_options import FORMATS, Format, TableExportOptions
from tfrkit.build.export.export_progress import Meter
from tfrkit.engines.engine import Control, Engine, Task, outcomes
from tfrkit.errors import InternalError, OpError
from tfrkit.records.read.reader import read_blocks
from tfrkit.scanning.chunks import scan_chunks
from tfrkit.scanning.columns import ScanColumn, ScanParser
from tfrkit.stores import files
from tfrkit.stores.output import SIDECAR_FOLDER, Output

__all__ = ["ExportTask", "WrittenTable", "attempts_of", "drop_attempts", "run_export_tasks", "write_table"]

_Result = TypeVar("_Result")
_TOKEN_BYTES: Final = 6
_SINKS: Final[
    Mapping[Format, Callable[[IO[bytes], tuple[ScanColumn, ...], TableExportOptions], TableSink]]
] = {
    "parquet": ParquetSink,
    "arrow": ArrowSink,
    "jsonl": JsonlSink,
    "csv": CsvSink,
}


def write_table(
    output: Output,
    inputs: tuple[str, ...],
    format: Format,  # as options have it
    columns: tuple[ScanColumn, ...],
    options: TableExportOptions,
    threads: int,
    written: Callable[[int, int], None],
) -> tuple[int, Mapping[str, int]]:
    """Write the records of files to an output, which stays open; return how many, and what the format could not say.

    Args:
        output: where to.
        inputs: the files.
        format: what to write.
        columns: settled over all inputs of the export.
        options: of the export.
        threads: how many cores read and parse.
        written: gets the bytes of records, and their number, of each chunk; may raise to stop.
    """
    file = OutputFile(output)
    records = 0
    try:
        sink = _SINKS[format](cast("IO[bytes]", file), columns, options)
        read = read_blocks(list(inputs), on_corrupt=options.on_corrupt, threads=threads)
        size = FORMATS[format].chunk_bytes
        for chunk in scan_chunks(read, ScanParser(columns), size=size, threads=threads):
            written(0, 0)
            sink.write(chunk)
            records += chunk.rows
            written(sum(block.nbytes for block in chunk.blocks), chunk.rows)
        sink.close()
    except BaseException:
        file.abandon()
        raise
    return records, sink.losses


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A file that an attempt has written: where it is, its records and bytes, and what could not be said."""

    path: str
    records: int
    bytes: int
    losses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ExportTask:
    """One file of an export; the attributes are those of `write_table`.

    Attributes:
        name: of the file.
        attempts: the folder for those of attempts.
        ratio: bytes of progress for each byte of records.
    """

    name: str
    attempts: str
    inputs: tuple[str, ...]
    format: Format
    columns: tuple[ScanColumn, ...]
    options: TableExportOptions
    threads: int
    ratio: float

    def run(self, control: Control) -> WrittenTable:
        """Write it; an attempt that fails leaves nothing."""

        def written(data_bytes: int, records: int) -> None:
            control.check()
            if records:
                control.count({"done_bytes": data_bytes * self.ratio, "records": records})

        folder = os.path.join(self.attempts, secrets.token_hex(_TOKEN_BYTES))
        files.make_folder(folder)
        path = os.path.join(folder, self.name)
        output = files.create(path)
        try:
            records, losses = write_table(
                output, self.inputs, self.format, self.columns, self.options, self.threads, written
            )
            size = output.position
            output.close()
        except BaseException:
            output.discard()
            with contextlib.suppress(OSError, OpError):
                files.remove_tree(folder)
            raise
        return WrittenTable(path, records, size, losses)


def run_export_tasks(
    engine: Engine,
    tasks: Sequence[Task[_Result]],
    workers: int,
    meter: Meter,
    took: Callable[[int, _Result], None] | None = None,
    *,
    outputs: bool = False,
) -> list[_Result]:
    """Have an engine do tasks; return their results in order. The first error ends all of them.

    Args:
        engine: what runs them.
        tasks: of an export.
        workers: how many at a time.
        meter: counts their progress.
        took: gets the number and the result of each when it has ended.
        outputs: each is an output, which counts as progress.
    """
    done: dict[int, _Result] = {}
    with contextlib.closing(engine.start(tasks, workers)) as running:
        for ended in outcomes(running, len(tasks)):
            for outcome in ended:
                if outcome.error is not None or outcome.result is None:
                    raise outcome.error or InternalError(f"{tasks[outcome.number].name}; no result")
                if took is not None:
                    took(outcome.number, outcome.result)
                done[outcome.number] = outcome.result
            meter.count(**running.counts(), shards_done=len(ended) if outputs else 0)
            meter.tick(last=bool(ended))
    return [done[number] for number in range(len(tasks))]


def attempts_of(path: str) -> str:
    """Return a folder for attempts at files that belong beside a path. Pure: no I/O."""
    token = secrets.token_hex(_TOKEN_BYTES)
    return os.path.join(os.path.dirname(path), SIDECAR_FOLDER, "tmp", f"export-{token}")


def drop_attempts(attempts: str) -> None:
    """Remove what attempts have left, and folders that are empty then."""
    with contextlib.suppress(OSError, OpError):
        files.remove_tree(attempts)
    if files.is_local(attempts):
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(attempts))
            os.rmdir(os.path.dirname(os.path.dirname(attempts)))
