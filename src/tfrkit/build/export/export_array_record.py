"""export_array_record: the bytes of records in files of ArrayRecord, which grain reads by number.

The package `array_record`, which grain needs too, writes them; it says only at the end whether all of it went well.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, Unpack

from tfrkit.build.export.export_options import ArrayRecordOptions
from tfrkit.build.export.export_shards import plan_form
from tfrkit.build.job.job import BuildReport, Job
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_output import run_frames
from tfrkit.errors import InternalError, InvalidArgumentError, from_os_error, os_errors
from tfrkit.model.block import Block
from tfrkit.optional import require
from tfrkit.options import takes
from tfrkit.stores import files
from tfrkit.stores.paths import PathLike, Paths

if TYPE_CHECKING:
    from tfrkit.build.keywords import ArrayRecordKeywords

__all__ = ["export_array_record", "plan_array_record"]

_MODULE: Final = "array_record.python.array_record_module"
_COPY_BYTES: Final = 1 << 23
_FULL: Final = {os.strerror(code): code for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)}


@takes(ArrayRecordOptions)
def export_array_record(
    paths: Paths, prefix: PathLike, **options: Unpack[ArrayRecordKeywords]
) -> BuildReport:
    """Write the records of TFRecord files, their bytes unchanged, to files of ArrayRecord.

    `grain`'s ArrayRecordDataSource reads any record of them by its number. It is a job: it resumes where it was
    interrupted, and the bytes are the same whatever runs it. It needs the extra `array_record`, also on workers.

    Args:
        paths: the inputs, as for `read_blocks`; records may be anything.
        prefix: folder and beginning of the names, such as "out/train" for out/train-00000-of-00008.array_record and
            so on.

    Returns:
        What was written. What was left out for damage is in `.bad`.

    Raises:
        AlreadyExistsError: there are such files already.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_many([b"one", b"two", b"three"])
    >>> [(shard.name, shard.records) for shard in export_array_record("a.tfrecord", "out/words").shards]
    [('words-00000-of-00001.array_record', 3)]
    """
    return run_frames(plan_array_record, paths, prefix, ArrayRecordOptions.of(options))


def plan_array_record(given: FrameInput, prefix: PathLike, options: ArrayRecordOptions) -> Job:
    """Plan it: see `export_array_record`."""
    require(_MODULE, "export to ArrayRecord")  # before anything is read
    packed = "uncompressed" if options.compression == "none" else f"zstd:{options.level}"
    form = ArrayRecordForm(f"group_size:{options.group_size},{packed},max_parallelism:1")
    arguments = {"command": "export array_record", "options": form.options}
    return plan_form(given, prefix, options, form, arguments, lambda frames: frames)


@dataclass(frozen=True, slots=True)
class ArrayRecordForm:
    """Files of ArrayRecord as what a job writes, with the options of their writer."""

    suffix: ClassVar[str] = ".array_record"
    options: str

    def open(self, path: str) -> ArrayRecordFile:
        return ArrayRecordFile(path, self.options)


class ArrayRecordFile:
    """Writes a file in the folder of an attempt; or a local one first, which then goes into a store."""

    def __init__(self, path: str, options: str) -> None:
        module: Any = require(_MODULE, "export to ArrayRecord")
        self._path, self.records = path, 0
        self._folder = None if files.is_local(path) else tempfile.mkdtemp(prefix="tfrkit-")
        self._local = path if self._folder is None else os.path.join(self._folder, "records")
        try:
            self._writer = module.ArrayRecordWriter(self._local, options)
        except TypeError as error:
            raise InvalidArgumentError(
                f"{path}; array_record writes to names that are UTF-8 only. Choose another folder.", path=path
            ) from error
        except (RuntimeError, ValueError) as error:
            raise self._failed(error) from error

    def __enter__(self) -> Self:
        return self

    def write_frames(self, part: Block) -> None:
        write = self._writer.write
        try:
            for record in part.to_list():
                write(record)
        except (RuntimeError, ValueError) as error:
            raise self._failed(error) from error
        self.records += len(part)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
            else:
                with contextlib.suppress(RuntimeError, ValueError):
                    self._writer.close()
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _finish(self) -> None:
        try:
            self._writer.close()
        except (RuntimeError, ValueError) as error:
            failed = self._failed(error)
            raise failed from failed.__cause__ or error
        with os_errors(self._local), open(self._local, "rb") as file:
            if self._folder is None:
                os.fsync(file.fileno())
                return
            output = files.create(self._path)
            try:
                while data := file.read(_COPY_BYTES):
                    output.write(data)
                output.close()
            finally:
                output.discard()

    def _failed(self, error: Exception) -> Exception:
        """Return the error for what array_record says, which knows no numbers of errors."""
        code = next((code for text, code in _FULL.items() if text in str(error)), None)
        if code is None:
            return InternalError(f"{self._path}; array_record: {error}")
        failure = OSError(code, os.strerror(code), self._path)
        failed = from_os_error(failure, self._path)
        failed.__cause__ = failure  # by which a job knows that there is no room
        return failed
