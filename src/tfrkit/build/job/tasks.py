"""ShardTask: a shard that is written, wherever its engine runs it. Plain data that pickles.

On a file system an attempt writes to a folder of its own, `.tfrkit/tmp/<job>/<attempt>/`, of which the coordinator
moves exactly one into place (`staging.py`). Into a store it writes under the final name at once: an object appears
whole or not at all, and every attempt has the same bytes.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from tfrkit.build.job.job_plan import FileForm, FormWriter, Recipe, made_blocks
from tfrkit.build.job.progress import OnBad, TaskReporter
from tfrkit.build.job.report import Finished
from tfrkit.codecs.table import codec
from tfrkit.engines.engine import Control
from tfrkit.errors import OpError
from tfrkit.records.access.index import tail_checksum
from tfrkit.records.write.writer import TFRecordWriter
from tfrkit.stores import files

__all__ = ["ShardTask", "TaskOptions", "attempt_folder", "drop_attempt"]

_TOKEN_BYTES: Final = 6


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What all tasks of a job share.

    Attributes:
        attempts: the folder for those of attempts; empty: they write under the final names.
        compression: of shards.
        level: of the compression.
        zones: keep zones beside shards.
        threads: for compression.
        on_bad: what becomes of bad input.
        listed: how many bad inputs a task lists.
        form: of the files; see `Job`.
    """

    attempts: str
    compression: str
    level: int | None
    zones: bool
    threads: int
    on_bad: OnBad
    listed: int
    form: FileForm | None = None

    def reporter(self, control: Control, share: float = 1) -> TaskReporter:
        """Return what a task reports to; of the input that it reads, `share` counts as done."""

        def count(input_bytes: int, bad: int) -> None:  # records count when they are written
            control.count({"done_bytes": share * input_bytes, "bad": bad})

        return TaskReporter(control, self.on_bad, count, self.listed)


@dataclass(frozen=True, slots=True)
class ShardTask:
    """One shard.

    Attributes:
        name: of its file.
        recipes: what it holds, one after another.
        output: the folder that it belongs into.
        options: as all tasks of the job have them.
        input_bytes: how much it reads, for the progress bar.
        per_record: bytes of input that a record counts when it is written, beside what recipes report.
    """

    name: str
    recipes: tuple[Recipe, ...]
    output: str
    options: TaskOptions
    input_bytes: int
    per_record: float = 0

    def run(self, control: Control) -> Finished:
        """Write the shard and its sidecars; a local attempt that fails leaves nothing."""
        options = self.options
        folder = attempt_folder(options.attempts) if options.attempts else self.output
        path = os.path.join(folder, self.name)
        reporter = options.reporter(control)
        try:
            with closing(made_blocks(self.recipes, reporter)) as blocks, self._writer(path) as writer:
                for block in blocks:
                    reporter.check()
                    before = writer.records
                    writer.write_frames(block)
                    records = writer.records - before
                    control.count({"records": records, "done_bytes": self.per_record * records})
                    del block  # before the next one is made
                reporter.check()
            size, checksum = tail_checksum(files.open_source(path))
        except BaseException:
            if options.attempts:
                drop_attempt(folder)
            raise
        return Finished.of(self.name, writer.records, size, reporter, path=path, checksum=checksum)

    def _writer(self, path: str) -> TFRecordWriter | FormWriter:
        options = self.options
        if options.form is not None:
            return options.form.open(path)
        return TFRecordWriter(
            path,
            compression=options.compression or "none",
            level=options.level,
            atomic=True,
            index=codec(options.compression).seeks,
            zones=options.zones,
            threads=options.threads,
        )


def attempt_folder(attempts: str) -> str:
    """Make a folder for one attempt at a task."""
    folder = os.path.join(attempts, secrets.token_hex(_TOKEN_BYTES))
    files.make_folder(folder)
    return folder


def drop_attempt(folder: str) -> None:
    """Remove the folder of an attempt that failed or is not wanted."""
    with contextlib.suppress(OSError, OpError):
        files.remove_tree(folder)
