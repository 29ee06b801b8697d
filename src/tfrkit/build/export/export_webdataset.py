"""export_webdataset: records as samples in numbered tar files, which webdataset and its kin read.

A file in a tar is called KEY.FEATURE.SUFFIX, and a sample is the files of one key that follow each other. The rule for
features is in `export_sample_files.py`; files are made by the tasks of a job.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from tfrkit.build.export.export_names import safe_name
from tfrkit.build.export.export_options import WebDatasetOptions
from tfrkit.build.export.export_sample_files import Found, SampleFile, settle_files
from tfrkit.build.export.export_shards import plan_form
from tfrkit.build.export.export_tar import TarForm, TarPart, tar_header, tar_padding
from tfrkit.build.job.job import BadInput, BuildReport, Job, SurveyMeter, TaskReporter
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_output import run_frames
from tfrkit.build.reshape.frame_read import FrameReader
from tfrkit.build.reshape.frame_recipe import FrameRecipe
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.options import takes
from tfrkit.records.describe.choose_records import Chosen
from tfrkit.records.describe.inspect import inspect_blocks
from tfrkit.records.describe.schema import Schema
from tfrkit.records.read.feature_columns import Cells
from tfrkit.scanning.columns import ScanColumn, ScanParser, settle_columns, type_text
from tfrkit.stores.paths import PathLike, Paths
from tfrkit.stores.url import base_name

if TYPE_CHECKING:
    from tfrkit.build.keywords import WebDatasetKeywords

__all__ = ["export_webdataset", "plan_webdataset"]

NO_KEY: Final = "records without a key, which have their number instead"
CHANGED: Final = "keys with characters that names of samples cannot have, which were changed"
TAKEN: Final = "keys that another sample of the file has, which were given a number"
EMPTY: Final = "records without any feature, which are an empty .json"
_LARGE: Final = 1 << 14  # bytes from which on a value is written from where it is, and not copied


@takes(WebDatasetOptions)
def export_webdataset(paths: Paths, prefix: PathLike, **options: Unpack[WebDatasetKeywords]) -> BuildReport:
    """Write the records of TFRecord files as samples of WebDataset: tar files with a file for each feature.

    Images keep their bytes (`.jpg`, `.png` and so on, by the content), texts are `.txt`, single integers `.cls`, other
    numbers `.npy`, other byte strings `.bin`, everything else `.json`; behind the key comes the name of the feature, as
    in `000000017.image.jpg`. A feature that a record has not has no file. It is a job: it resumes where it was
    interrupted, and the bytes are the same whatever runs it.

    Args:
        paths: the inputs, as for `read_blocks`. They are read twice, first to settle what features are.
        prefix: folder and beginning of the names, such as "out/train" for out/train-000000.tar and so on.

    Returns:
        What was written. What was left out for damage is in `.bad`, keys that were changed and the like in `.noted`.

    Raises:
        InvalidArgumentError: a record is no Example, a feature has several kinds, or a name cannot be used.
        AlreadyExistsError: there are such files already.
        DataLossError: an input is damaged.

    >>> import tarfile, tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_batch({"label": [1, 2], "word": ["one", "two"], "id": ["x/1", "x/2"]})
    >>> [shard.name for shard in export_webdataset("a.tfrecord", "out/words", key_feature="id").shards]
    ['words-000000.tar']
    >>> with tarfile.open("out/words-000000.tar") as tar:
    ...     tar.getnames()[:3]
    ['x_1.id.txt', 'x_1.label.cls', 'x_1.word.txt']
    """
    return run_frames(plan_webdataset, paths, prefix, WebDatasetOptions.of(options))


def plan_webdataset(given: FrameInput, prefix: PathLike, options: WebDatasetOptions) -> Job:
    """Plan it: see `export_webdataset`."""
    key, names = options.key_feature, dict(options.names or {})
    schema = _survey(given)
    wanted = None if options.columns is None else list(options.columns)
    columns = settle_columns(schema, wanted)
    files = settle_files(columns, schema, names)
    place = None if key is None or not schema.records else _key_place(schema, key, columns)
    if place == len(columns):
        columns += settle_columns(schema, [key or ""])[:1]
    arguments = {"command": "export webdataset", "key_feature": key, "columns": wanted, "names": names}
    recipe = partial(SampleRecipe, columns, files, place)
    return plan_form(given, prefix, options, TarForm(), arguments, recipe, schema.records)


def _survey(given: FrameInput) -> Schema:
    """Look at all records; what is passed over is in the report, and no warning."""
    meter, seen = SurveyMeter(given.progress, len(given.paths), given.file_bytes), 0

    def surveyed(_records: int, data_bytes: int) -> None:
        nonlocal seen
        meter.count(done_bytes=data_bytes - seen)
        seen = data_bytes
        meter.tick()

    with closing(FrameReader(given.paths, given.on_corrupt, None)) as reader:
        return inspect_blocks(Chosen(reader, given.paths), progress=surveyed)


def _key_place(schema: Schema, key: str, columns: tuple[ScanColumn, ...]) -> int:
    """Return which column the feature with the keys is, or would be if it is none of those that are written.

    Raises:
        InvalidArgumentError: it is not there, or cannot be a key.
    """
    (column,) = settle_columns(schema, [key])[:1] or [None]
    if column is None or column.steps or column.form.depth or column.kind not in ("bytes", "int64"):
        raise InvalidArgumentError(
            f"key_feature (--key-feature): expected a feature of one byte string or one integer but {key!r} has "
            f"{'no kind' if column is None else type_text(column)}. Choose another, or none: then samples are "
            "called by their number."
        )
    return columns.index(column) if column in columns else len(columns)


@dataclass(frozen=True, slots=True)
class SampleRecipe:
    """The members of a tar file: some records as samples.

    Attributes:
        columns: of the features that are written, and perhaps one more with the keys.
        files: what features become.
        key: which column names samples; None: their numbers do.
        frames: the records.
    """

    columns: tuple[ScanColumn, ...]
    files: tuple[SampleFile, ...]
    key: int | None
    frames: FrameRecipe

    @property
    def input_bytes(self) -> int:
        return self.frames.input_bytes

    def blocks(self, reporter: TaskReporter) -> Iterator[TarPart]:
        """Make them."""
        keys = SampleKeys(self.frames.first)
        parser = ScanParser(self.columns)
        for block in self.frames.blocks(reporter):
            chunk = parser.parse([block], 1)
            odd: Counter[str] = Counter()
            titles = keys.of(len(block), None if self.key is None else chunk.cells[self.key], odd)
            parts = zip(self.columns, self.files, chunk.cells, strict=False)
            found = [file.files(column, cells, odd) for column, file, cells in parts]
            yield _samples(titles, found, odd)
            for reason, count in odd.items():
                reporter.note(BadInput(base_name(block.path or ""), None, reason), count)


def _samples(keys: list[bytes], files: list[list[Found | None]], odd: Counter[str]) -> TarPart:
    """Make the members of some samples: all of a sample, one after the other."""
    pieces: list[bytes | memoryview] = []
    large: list[bytes | memoryview] = []  # small ones are joined between those that are not copied
    for row, key in enumerate(keys):
        members = [file for column in files if (file := column[row]) is not None]
        if not members:
            members.append((b".json", b"{}"))
            odd[EMPTY] += 1
        for name, content in members:
            size = len(content)
            pieces.append(tar_header(key + name, size))
            if size >= _LARGE:
                large += b"".join(pieces), content
                pieces = []
            else:
                pieces.append(content)
            pieces.append(tar_padding(size))
    return TarPart([*large, b"".join(pieces)], len(keys))


class SampleKeys:
    """The keys of the samples in one file: no two are the same, and none leads anywhere."""

    def __init__(self, first: int) -> None:
        """Begin with the record of this number."""
        self._number = first
        self._next: dict[bytes, int] = {}  # number to try next for a key that is taken

    def of(self, rows: int, cells: Cells | None, odd: Counter[str]) -> list[bytes]:
        """Return the keys of the next records; `odd` counts what is not as the records say."""
        numbers = [b"%09d" % number for number in range(self._number, self._number + rows)]
        self._number += rows
        if cells is None:
            return numbers
        values: Any = cells.rows.values
        wanted = iter(values.to_list() if isinstance(values, BytesColumn) else values.tolist())
        return [
            self._free(self._title(next(wanted) if has else b"", odd) or number, odd)
            for has, number in zip(cells.valid.tolist(), numbers, strict=True)
        ]

    def _title(self, value: bytes | int, odd: Counter[str]) -> bytes:
        """Return the name of a sample; empty if nothing is left."""
        text = str(value) if isinstance(value, int) else value.decode("utf-8", "backslashreplace")
        title = safe_name(text).replace(".", "_")  # what is behind the first dot would be no part of it
        if title != text or not title:
            odd[CHANGED if title else NO_KEY] += 1
        return title.encode()

    def _free(self, wanted: bytes, odd: Counter[str]) -> bytes:
        """Take a key, with a number if it is taken."""
        if wanted not in self._next:
            self._next[wanted] = 2
            return wanted
        odd[TAKEN] += 1
        while (title := b"%b-%d" % (wanted, self._next[wanted])) in self._next:
            self._next[wanted] += 1
        self._next[wanted] += 1
        self._next[title] = 2
        return title
