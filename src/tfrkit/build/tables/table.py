"""build.table: tables of many formats into shards of Examples.

Surveys all inputs first, settles the columns, plans which rows go to which shard, and hands that to the job. Inputs are
read by the formats of `format_table.py`, tables in memory by `arrow_stream.py`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from tfrkit.build.job.input_stamp import stamp_digest, unchanged
from tfrkit.build.job.job import BuildReport, Job, ShardGroup, SurveyMeter, TaskReporter, plan_shards, run_job
from tfrkit.build.tables.arrow.arrow_stream import StreamFormat, is_stream, open_stream
from tfrkit.build.tables.format_table import all_formats, formats_by_suffix, named_format, split_suffix
from tfrkit.build.tables.partition_filter import parse_partitions
from tfrkit.build.tables.row_choice import RowChoice
from tfrkit.build.tables.table_format import InputFile, Survey, TableColumn, TableFormat, open_input
from tfrkit.build.tables.table_inputs import find_inputs, guess_format
from tfrkit.build.tables.table_options import PER_INPUT, TableOptions
from tfrkit.build.tables.table_plan import (
    Part,
    TableRecipe,
    all_parts,
    count_chosen,
    cut_rows,
    estimate_bytes,
    look_at_all,
)
from tfrkit.build.tables.table_schema import (
    ColumnChoice,
    choose_columns,
    column_reports,
    feature_spec,
    settle,
)
from tfrkit.build.tables.text_source import ChecksummedSource
from tfrkit.codecs.table import canonical
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.spec_json import spec_to_data
from tfrkit.options import takes
from tfrkit.records.where import parse_where
from tfrkit.stores.output import SIDECAR_FOLDER
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.url import is_url

if TYPE_CHECKING:
    from tfrkit.build.keywords import TableKeywords

__all__ = ["check_options", "plan_table", "table"]


@takes(TableOptions)
def table(inputs: Any, out: PathLike, **options: Unpack[TableKeywords]) -> BuildReport:
    """Write the rows of tables as Examples, a feature for each column.

    Args:
        inputs: a path or a list of them: files, patterns, folders (all files below them but `_*` and dot files), or
            `@FILE`, a list of paths; or a table: anything with the Arrow C stream, such as a pandas or polars
            DataFrame, a pyarrow Table, or a RecordBatchReader.
        out: folder for the shards; it is made.

    Returns:
        The report: shards with counts, bad rows by reason and where they are.

    Raises:
        InvalidArgumentError: an option does not fit the inputs, no input has rows, too many rows are bad, or one is
            with `on_bad="raise"`.
        NotFoundError: an input is not there.
        AlreadyExistsError: the folder has the shards of another job.
        DataLossError: a Parquet or Arrow file is damaged, or an input has changed while it was read.
        MissingExtraError: pyarrow is not installed.

    >>> import tempfile, pyarrow, tfrkit as tfr
    >>> folder = tempfile.mkdtemp()
    >>> report = tfr.build.table(pyarrow.table({"label": [3, 5], "name": ["Ada", None]}), folder)
    >>> report.records, [shard.name for shard in report.shards]
    (2, ['data-00000-of-00001.tfrecord'])
    >>> tfr.read_table(f"{folder}/*.tfrecord").to_pydict()
    {'label': [3, 5], 'name': [b'Ada', None]}
    """
    chosen = TableOptions.of(options)
    return run_job(plan_table(inputs, out, chosen), on_bad=chosen.on_bad, **chosen.of_job())


def plan_table(inputs: Any, out: PathLike, options: TableOptions) -> Job:
    """Survey all inputs and plan the job; writes nothing but a stream that can be read only once."""
    folder = path_text(out)
    choice = check_options(options)
    left_out: list[str] = []
    if is_stream(inputs):
        name, (reader, files) = "stream", _open_stream(inputs, folder, options)
    else:
        wanted = parse_partitions(options.partition)
        files = find_inputs(
            _paths(inputs), partitions=options.partitions, out=folder, wanted=wanted, left_out=left_out
        )
        name = options.format or guess_format(files)
        reader = _reader(name, options)
    surveys = _survey_all(reader, files, options)
    if not any(survey.pieces for survey in surveys):
        raise InvalidArgumentError(
            f"No rows in the input: {_shown(files)}. Check that this is the right input; one empty file among "
            "others is fine."
        )
    columns = settle(surveys, choice)
    groups = _groups(surveys, columns, reader, options)
    job = Job(
        folder,
        groups,
        canonical(options.compression),
        options.level,
        {"format": name, **_made_by(options, columns, reader, groups, surveys)},
        None if (spec := feature_spec(columns)) is None else spec_to_data(spec),
        transient={}
        if isinstance(reader, StreamFormat)
        else {"stamp": stamp_digest(file.stamp for file in files)},
        columns=column_reports(surveys, columns),
        stamps=tuple(file.stamp for file in files if file.stamp is not None),
        files_left_out=len(left_out),
    )
    if options.layout == "tfrkit":
        return job
    from tfrkit.build.job.tfds_layout import tfds_job  # with pipelines, which no other table needs

    return tfds_job(job, options.dataset, {"data": "train"}, {})


# -- inputs ------------------------------------------------------------------------------------------------------------


def check_options(options: TableOptions) -> ColumnChoice:
    """Refuse options that no input fits; returns those about columns, parsed. Pure: no I/O.

    Raises:
        InvalidArgumentError: there are such.
    """
    parse_partitions(options.partition)
    if given := options.of_text():
        likely = (each.name for each in all_formats() if set(each.options).issuperset(given))
        _reader(options.format or next(likely), options)
    elif options.format is not None:
        named_format(options.format)
    return choose_columns(options)


def _paths(inputs: Any) -> list[PathLike]:
    if isinstance(inputs, (str, bytes, os.PathLike)):
        return [inputs]
    if isinstance(inputs, Iterable) and not isinstance(inputs, Mapping):
        found = list(inputs)
        if all(isinstance(item, (str, bytes, os.PathLike)) for item in found):
            return found
    raise TypeError(
        "expected paths, or a table with the Arrow C stream (pandas, polars, pyarrow), but got "
        f"{type(inputs).__name__}"
    )


def _open_stream(source: Any, folder: str, options: TableOptions) -> tuple[TableFormat, list[InputFile]]:
    of_files = {**options.of_text(), "format": options.format, "partition": options.partition or None}
    for name, value in of_files.items():
        if value is not None:
            raise InvalidArgumentError(
                f"{name}: this option is for files, and the input is a table in memory."
            )
    kept = None if is_url(folder) else os.path.join(folder, SIDECAR_FOLDER)
    reader = open_stream(source, kept)
    return reader, [reader.file()]


def _reader(name: str, options: TableOptions) -> TableFormat:
    """The reader of all files."""
    return named_format(name).reader(options.of_text(), options.max_field)


def _survey_all(reader: TableFormat, files: Sequence[InputFile], options: TableOptions) -> list[Survey]:
    """Look at all files, several at once."""

    def survey(file: InputFile, reporter: TaskReporter) -> Survey:
        with unchanged(file.path):
            found = reader.survey(file, reporter)
            if found.fingerprint is None and file.stamp is not None:
                crc = ChecksummedSource(open_input(file), 0, file.size).finish()
                found = replace(found, fingerprint=(file.size, crc))
            return found

    meter = SurveyMeter(options.progress, len(files), sum(file.size for file in files))
    return look_at_all(files, survey, options.workers, meter)


def _shown(files: Sequence[InputFile]) -> str:
    first = files[0].path
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more files"


# -- the plan ----------------------------------------------------------------------------------------------------------


def _groups(
    surveys: Sequence[Survey], columns: Sequence[TableColumn], reader: TableFormat, options: TableOptions
) -> tuple[ShardGroup, ...]:
    where = None if options.where is None else parse_where(options.where)
    by_file = all_parts(surveys, columns, None if where is None else RowChoice.of(where, columns))
    like, counts = TableRecipe(reader, (), any(column.steps for column in columns)), None
    if options.shards == PER_INPUT:
        return tuple(
            ShardGroup(_stem(survey.file), (replace(like, parts=tuple(parts)),), None)
            for survey, parts in zip(surveys, by_file, strict=True)
        )
    parts = [part for of_file in by_file for part in of_file]
    if where is not None and (options.shards is None or (options.shards != 1 and not options.shuffle)):
        counts = count_chosen(parts, like, options.workers, options.progress)
    shards = _count_shards(parts, like, options, counts)
    cuts = [(part,) for part in parts] if options.shuffle else cut_rows(parts, shards, counts)
    recipes = tuple(replace(like, parts=cut) for cut in cuts)
    return (ShardGroup(options.prefix, recipes, shards, options.seed if options.shuffle else None),)


def _count_shards(
    parts: Sequence[Part], like: TableRecipe, options: TableOptions, counts: Sequence[int] | None
) -> int:
    if isinstance(options.shards, int):
        return plan_shards(0, options.shards, options.shard_bytes)
    rows = sum(part.stop - part.start for part in parts) if counts is None else sum(counts)
    return plan_shards(estimate_bytes(parts, like, rows), None, options.shard_bytes, most=rows)


def _stem(file: InputFile) -> str:
    """The name of the one shard of an input: without its suffixes, and folders joined with `__`."""
    stem = split_suffix(file.name)[0] if formats_by_suffix(file.name) else file.name
    return stem.replace(os.sep, "__")


def _made_by(
    options: TableOptions,
    columns: Sequence[TableColumn],
    reader: TableFormat,
    groups: Sequence[ShardGroup],
    surveys: Sequence[Survey],
) -> dict[str, Any]:
    """Return everything that determines the bytes."""
    made: dict[str, Any] = {
        "command": "build table",
        "columns": [_column_entry(column) for column in columns],
        "shards": PER_INPUT if options.shards == PER_INPUT else groups[0].shards,
        "prefix": options.prefix,
        "max_field": options.max_field,
        "compression": canonical(options.compression),
        "level": options.level,
        "source": _source(reader, surveys),
    }
    if options.shuffle:
        made["seed"] = options.seed
    if options.where is not None:
        made["where"] = options.where
    if options.partition:
        made["partition"] = parse_partitions(options.partition).texts
    made.update({name: list(v) if isinstance(v, tuple) else v for name, v in options.of_text().items()})
    return made


def _column_entry(column: TableColumn) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "feature": column.feature, "kind": column.kind}
    if column.steps:
        entry["steps"] = True
    if not column.written:
        entry["written"] = False
    if column.separator is not None:
        entry["separator"] = column.separator
    if column.null_value is not None:
        value = column.null_value
        entry["null_value"] = value if isinstance(value, int) else repr(value)
    return entry


def _source(reader: TableFormat, surveys: Sequence[Survey]) -> dict[str, Any]:
    """Return what distinguishes these inputs from others."""
    if isinstance(reader, StreamFormat):
        return {"rows": sum(reader.rows), "fingerprint": reader.fingerprint}
    digest = hashlib.blake2b(digest_size=16)
    for survey in surveys:
        known = repr(survey.fingerprint).encode()
        digest.update(os.fsencode(survey.file.name) + b"\0" + known + b"\n")
    size = sum(survey.file.size for survey in surveys)
    return {"files": len(surveys), "bytes": size, "fingerprint": digest.hexdigest()}
