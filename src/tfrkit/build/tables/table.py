"""build.table: tables of many formats into shards of Examples.

Surveys all inputs first, settles the columns, plans which rows go to which shard, and hands that to the job. Inputs are
read by the formats (`delimited.py`, `jsonl.py`, `parquet.py`, `arrow_file.py`, `arrow_stream.py`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tfrkit.build.job.input_stamp import unchanged
from tfrkit.build.job.job import (
    BuildReport,
    Job,
    MaxBad,
    OnBad,
    Progress,
    ShardGroup,
    TaskReporter,
    plan_shards,
    run_job,
)
from tfrkit.build.tables.arrow.arrow_stream import StreamFormat, is_stream, open_stream
from tfrkit.build.tables.table_format import InputFile, Survey, TableColumn, TableFormat
from tfrkit.build.tables.table_inputs import (
    FORMATS,
    SUFFIXES,
    FormatName,
    find_inputs,
    guess_format,
    unpacked_name,
)
from tfrkit.build.tables.table_plan import Part, TableRecipe, all_parts, cut_rows, estimate_bytes
from tfrkit.build.tables.table_schema import (
    ColumnChoice,
    choose_columns,
    column_reports,
    feature_spec,
    settle,
)
from tfrkit.codecs.table import canonical
from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.spec_json import spec_to_data
from tfrkit.stores.output import SIDECAR_FOLDER
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.url import is_url
from tfrkit.threads import default_threads

__all__ = ["TableOptions", "check_options", "plan_table", "table"]

MAX_FIELD: Final = 64 << 20
PER_INPUT: Final = "per-input"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What `table` takes besides its inputs and where to write; see there."""

    format: FormatName | None = None
    column: Iterable[str] | Mapping[str, str] = ()
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    rename: Mapping[str, str] | None = None
    null_value: Any = None
    names: Sequence[str] | None = None
    header: bool | None = None
    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    encoding: str | None = None
    nulls: Sequence[str] | None = None
    max_field: int = MAX_FIELD
    partitions: bool = True
    prefix: str = "data"
    shards: int | Literal["per-input"] | None = None
    shard_bytes: int | None = None
    shuffle: bool = False
    seed: int = 0
    compression: str | None = None
    level: int | None = None

    def of_text(self) -> dict[str, Any]:
        """Those that only delimited text has, as far as they were given."""
        names = ("names", "header", "delimiter", "quote", "escape", "encoding", "nulls")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {name: tuple(given[name]) if name in ("names", "nulls") else given[name] for name in given}


def table(
    inputs: Any,
    out: PathLike,
    *,
    format: FormatName | None = None,
    column: Iterable[str] | Mapping[str, str] = (),
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    null_value: Any = None,
    names: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    encoding: str | None = None,
    nulls: Sequence[str] | None = None,
    max_field: int = MAX_FIELD,
    partitions: bool = True,
    prefix: str = "data",
    shards: int | Literal["per-input"] | None = None,
    shard_bytes: int | None = None,
    shuffle: bool = False,
    seed: int = 0,
    compression: str | None = None,
    level: int | None = None,
    on_bad: OnBad = "skip",
    max_bad: MaxBad | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write the rows of tables as Examples, a feature for each column.

    Args:
        inputs: a path or a list of them: files, patterns, folders (all files below them but `_*` and dot files), or
            `@FILE`, a list of paths; or a table: anything with the Arrow C stream, such as a pandas or polars
            DataFrame, a pyarrow Table, or a RecordBatchReader.
        out: folder for the shards; it is made.
        format: "csv", "tsv", "hive", "jsonl", "parquet" or "arrow"; by default from the suffix or the content.
        column: kinds of columns: texts such as "fea1:float" or "tags:bytes[|]" (a list, cut at each `|`), or a dict
            such as {"fea1": "float"}. Kinds are int64, float and bytes. Those of other columns are found out:
            int64 if all values are integers, float if all are numbers, else bytes.
        columns: only these.
        drop: not these.
        rename: names of features, where they are not the column's.
        null_value: what stands for a null, in all columns, or by column in a dict, in which None stands for all other
            columns. By default a row with a null does not have the feature.
        names: of the columns, for delimited text without a header.
        header: whether delimited text begins with the names; by default it does unless `names` are given.
        delimiter: what separates fields of delimited text.
        quote: the quotation mark of delimited text; "" for none.
        escape: the character of delimited text that makes the next one a plain one; none by default.
        encoding: of delimited text, such as "gbk".
        nulls: texts that mean null in delimited text.
        max_field: a field (JSON: a line) of more bytes is bad.
        partitions: make columns of folders that are called `name=value`.
        prefix: of the shards' names.
        shards: how many files, of the same number of rows; or "per-input": a file for each input, under its name.
        shard_bytes: or about how large a file is, before compression; 256 MB by default.
        shuffle: shuffle the rows of all inputs.
        seed: of the shuffle.
        compression: "GZIP", "ZLIB", "XZ" or "ZSTD".
        level: of the compression.
        on_bad: "skip" counts lines and rows that do not fit and leaves them out, "raise" ends at the first.
        max_bad: with "skip", more bad rows than this number, or than this share ("1%"), are an error, and nothing is
            published. If all rows are bad, that always is.
        workers: how many tasks run at once; all cores by default. The result does not depend on it.
        overwrite: replace what another job has left in the folder.
        progress: called several times a second with a `Progress`.

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
    options = TableOptions(
        format=format, column=column, columns=columns, drop=drop, rename=rename, null_value=null_value, names=names,
        header=header, delimiter=delimiter, quote=quote, escape=escape, encoding=encoding, nulls=nulls,
        max_field=max_field, partitions=partitions, prefix=prefix, shards=shards, shard_bytes=shard_bytes,
        shuffle=shuffle, seed=seed, compression=compression, level=level,
    )  # fmt: skip
    job = plan_table(inputs, out, options, workers=workers)
    return run_job(
        job, workers=workers, on_bad=on_bad, max_bad=max_bad, overwrite=overwrite, progress=progress
    )


def plan_table(inputs: Any, out: PathLike, options: TableOptions, *, workers: int | None = None) -> Job:
    """Survey all inputs and plan the job; writes nothing but a stream that can be read only once."""
    folder = path_text(out)
    choice = check_options(options)
    if is_stream(inputs):
        reader, files = _open_stream(inputs, folder, options)
    else:
        files = find_inputs(_paths(inputs), partitions=options.partitions, out=folder)
        reader = _make_format(options.format or guess_format(files), options)
    surveys = _survey_all(reader, files, workers)
    if not any(survey.pieces for survey in surveys):
        raise InvalidArgumentError(
            f"No rows in the input: {_shown(files)}. Check that this is the right input; one empty file among "
            "others is fine."
        )
    columns = settle(surveys, choice)
    groups = _groups(surveys, columns, reader, options)
    return Job(
        folder,
        groups,
        canonical(options.compression),
        options.level,
        _made_by(options, columns, reader, groups, surveys),
        None if (spec := feature_spec(columns)) is None else spec_to_data(spec),
        transient=_stamp(files) if not isinstance(reader, StreamFormat) else {},
        columns=column_reports(surveys, columns, choice),
        stamps=tuple(file.stamp for file in files if file.stamp is not None),
    )


# -- inputs ------------------------------------------------------------------------------------------------------------


def check_options(options: TableOptions) -> ColumnChoice:
    """Refuse options that no input fits; returns those about columns, parsed. Pure: no I/O.

    Raises:
        InvalidArgumentError: there are such.
    """
    _check(options)
    if options.format in (None, "csv", "tsv", "hive"):
        _make_format(options.format or "csv", options)
    return choose_columns(
        options.column, options.columns, options.drop, options.rename or {}, options.null_value
    )


def _check(options: TableOptions) -> None:
    if options.format is not None and options.format not in FORMATS:
        raise InvalidArgumentError(
            f"Expected one of {', '.join(FORMATS)} as format (--format) but got {options.format!r}."
        )
    if isinstance(options.shards, str) and options.shards != PER_INPUT:
        raise InvalidArgumentError(
            f"Expected a number or {PER_INPUT!r} for shards (--shards) but got {options.shards!r}."
        )
    if options.shards == PER_INPUT and options.shard_bytes is not None:
        raise InvalidArgumentError("Expected either shards per input or a size of shards, and not both.")
    if options.shards == PER_INPUT and options.shuffle:
        raise InvalidArgumentError(
            "Rows cannot be shuffled over all inputs (--shuffle) and stay in a file for each (--shards per-input). "
            "Leave out one of them."
        )
    if options.max_field < 1:
        raise InvalidArgumentError(
            f"Expected max_field (--max-field) to be at least 1 but got {options.max_field}."
        )


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
    for name, value in {**options.of_text(), "format": options.format}.items():
        if value is not None:
            raise InvalidArgumentError(
                f"{name}: this option is for files, and the input is a table in memory."
            )
    kept = None if is_url(folder) else os.path.join(folder, SIDECAR_FOLDER)
    reader = open_stream(source, kept)
    return reader, [reader.file()]


def _make_format(kind: FormatName, options: TableOptions) -> TableFormat:
    """The reader of all files."""
    given = options.of_text()
    if kind in ("csv", "tsv", "hive"):
        from tfrkit.build.tables.delimited.delimited import DelimitedFormat

        return DelimitedFormat(kind=kind, max_field=options.max_field, **given)
    for name in given:
        raise InvalidArgumentError(
            f"{name}: this option is for delimited text, and the input is {kind}. Leave it out."
        )
    if kind == "jsonl":
        from tfrkit.build.tables.jsonl.jsonl import JsonlFormat

        return JsonlFormat(options.max_field)
    if kind == "parquet":
        from tfrkit.build.tables.arrow.parquet import ParquetFormat

        return ParquetFormat()
    from tfrkit.build.tables.arrow.arrow_file import ArrowFormat

    return ArrowFormat()


def _survey_all(reader: TableFormat, files: Sequence[InputFile], workers: int | None) -> list[Survey]:
    """Look at all files, several at once."""
    stop = Stop()

    def survey(number: int) -> Survey:
        with unchanged(files[number].path):
            return reader.survey(files[number], TaskReporter(stop, "skip", lambda *_: None))

    threads = min(workers or default_threads(), len(files))
    found = dict(run_tasks(range(len(files)), survey, workers=threads, stop=stop))
    return [found[number] for number in range(len(files))]


def _shown(files: Sequence[InputFile]) -> str:
    first = files[0].path
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more files"


# -- the plan ----------------------------------------------------------------------------------------------------------


def _groups(
    surveys: Sequence[Survey], columns: Sequence[TableColumn], reader: TableFormat, options: TableOptions
) -> tuple[ShardGroup, ...]:
    by_file = all_parts(surveys, columns)
    sequences = any(column.steps for column in columns)
    if options.shards == PER_INPUT:
        stems = [_stem(survey.file) for survey in surveys]
        return tuple(
            ShardGroup(stem, (TableRecipe(reader, tuple(parts), sequences),), None)
            for stem, parts in zip(stems, by_file, strict=True)
        )
    parts = [part for of_file in by_file for part in of_file]
    shards = _count_shards(parts, TableRecipe(reader, (), sequences), options)
    if options.shuffle:
        recipes = tuple(TableRecipe(reader, (part,), sequences) for part in parts)
        return (ShardGroup(options.prefix, recipes, shards, options.seed),)
    return (
        ShardGroup(
            options.prefix,
            tuple(TableRecipe(reader, cut, sequences) for cut in cut_rows(parts, shards)),
            shards,
        ),
    )


def _count_shards(parts: Sequence[Part], like: TableRecipe, options: TableOptions) -> int:
    if isinstance(options.shards, int):
        return plan_shards(0, options.shards, options.shard_bytes)
    rows = sum(part.stop - part.start for part in parts)
    return plan_shards(estimate_bytes(parts, like), None, options.shard_bytes, most=rows)


def _stem(file: InputFile) -> str:
    """The name of the one shard of an input: without its suffixes, and folders joined with `__`."""
    stem, suffix = os.path.splitext(unpacked_name(file.name))
    return (stem if suffix.lower() in SUFFIXES else file.name).replace(os.sep, "__")


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
        "format": type(reader).__name__.removesuffix("Format").lower()
        if options.format is None
        else options.format,
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
    made.update({name: list(v) if isinstance(v, tuple) else v for name, v in options.of_text().items()})
    return made


def _column_entry(column: TableColumn) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "feature": column.feature, "kind": column.kind}
    if column.steps:
        entry["steps"] = True
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


def _stamp(files: Sequence[InputFile]) -> dict[str, Any]:
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        digest.update(b"-" if file.stamp is None else file.stamp.mark)
    return {"stamp": digest.hexdigest()}
