"""The options of `tfr.build.export`, `tfr.build.export_images` and `tfr export`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tfrkit.build.job.job_options import DamageOptions, FrameJobOptions, LimitOptions, ShardOptions
from tfrkit.build.job.progress import Progress
from tfrkit.engines.engine import Engine, EngineName
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import OptionSet, option, option_class, read_pairs
from tfrkit.scanning.columns import Unset
from tfrkit.stores.paths import PathLike

__all__ = [
    "FORMATS",
    "ArrayRecordOptions",
    "ColumnOptions",
    "CsvOptions",
    "Format",
    "FormatInfo",
    "ImageExportOptions",
    "ShardExportOptions",
    "TableExportOptions",
    "Unset",
    "UnsetOptions",
    "WebDatasetOptions",
    "compression_of",
]

Format: TypeAlias = Literal["parquet", "arrow", "jsonl", "csv"]


class FormatInfo(NamedTuple):
    """What is known of a format.

    Attributes:
        suffixes: of its files; the first is what files in a folder get.
        compressions: that it has; the first is the default.
        chunk_bytes: of records that are parsed and written at once; texts of numbers take many times their room.
    """

    suffixes: tuple[str, ...]
    compressions: tuple[str, ...]
    chunk_bytes: int


FORMATS: Final[Mapping[Format, FormatInfo]] = {
    "parquet": FormatInfo((".parquet", ".pq"), ("zstd", "snappy", "gzip", "lz4", "brotli", "none"), 16 << 20),
    "arrow": FormatInfo((".arrow", ".feather", ".ipc"), ("none", "lz4", "zstd"), 16 << 20),
    "jsonl": FormatInfo((".jsonl", ".ndjson"), ("none",), 4 << 20),
    "csv": FormatInfo((".csv", ".tsv"), ("none",), 4 << 20),
}


def compression_of(form: Format) -> Any:
    """Declare the compression of a format, as an option of its command."""
    known = FORMATS[form].compressions

    def read(text: str) -> str:
        if text.lower() not in known:
            raise ValueError(f"one of {', '.join(map(repr, known))}")
        return text.lower()

    return option(
        known[0], "Of the columns.", metavar=f"<{'|'.join(known)}>", read=read, choices=lambda: known
    )


@option_class
class OutputOptions(DamageOptions, LimitOptions):
    """What all exports share."""

    overwrite: bool = option(False, "Replace existing files; else they are an error.")
    progress: Callable[[Progress], None] | None = option(
        None, "Called several times a second with a `Progress`, in this thread.", shell=False
    )


@option_class
class EngineOptions(OptionSet):
    """What writes the files."""

    engine: EngineName = option(
        "threads",
        "What writes the files: threads of this process, processes of this machine, or a cluster.",
        more="The result does not depend on it.",
    )
    address: str | None = option(
        None,
        "Of the cluster, for engines that have one; by default the one that is configured, or this machine.",
        metavar="ADDRESS",
    )

    def made_engine(self) -> Engine:
        """Return the engine that was chosen."""
        from tfrkit.engines.engine_table import engine_named  # 10 ms that no help needs

        return engine_named(self.engine, self.address)


@option_class
class ColumnOptions(EngineOptions, OutputOptions):
    """What exports of tables share."""

    columns: Collection[str] | None = option(
        None,
        "Only this feature; may be given several times.",
        "--key",
        more="A list of names here, in this order; by default all, sorted.",
        metavar="NAME",
        several=True,
    )
    workers: int | None = option(
        None,
        "How many files are written at once; as many as there are cores by default, but at most 4.",
        more="Each takes up to 90 MB of memory. On a cluster as many as it has cores.",
        least=1,
    )


@option_class
class UnsetOptions(OptionSet):
    """What formats have that lose nothing."""

    unset: Unset = option(
        "absent",
        "A feature that has no kind at all is written as if it were absent, or is an error.",
        more="TFX writes such features, and every reader takes them as absent; they are counted. Not in CSV.",
    )


@option_class
class LevelOptions(OptionSet):
    """What compressed formats have."""

    level: int | None = option(None, "Of the compression: higher is smaller and slower.")


@option_class
class CsvOptions(OptionSet):
    """What only CSV has."""

    delimiter: str | None = option(
        None, "Between columns.  [default: a comma; a tab if OUT ends with .tsv]", more="Of CSV only."
    )
    separator: str = option("|", "Between the values of a list.", more="Of CSV only.")


@option_class
class TableExportOptions(UnsetOptions, LevelOptions, CsvOptions, ColumnOptions):
    """The options of `export`."""

    compression: str | None = option(
        None,
        "Of the columns.",
        more='Of Parquet "zstd" (default), "snappy", "gzip", "lz4", "brotli" or "none"; of Arrow "none" (default), '
        '"lz4" or "zstd".',
    )


@option_class
class ImageExportOptions(EngineOptions, OutputOptions):
    """The options of `export_images`."""

    image: str | None = option(
        None,
        "Feature with the image.",
        more='By default "image/encoded", "image" or the only one that looks like images.',
    )
    label: str | None = option(
        None,
        "Feature with the number of the class.",
        more='By default "image/label", "image/class/label" or "label".',
    )
    text: str | None = option(
        None,
        "Feature with the name of the class.",
        more='By default "image/text" or "image/class/text".',
    )
    filename: str | None = option(
        None,
        "Feature with the name of the file.",
        more='By default "image/filename" or "file_name".',
    )
    label_map: PathLike | None = option(
        None,
        "A class name on each line, for numbers.  [default: labels.txt beside the first input]",
        metavar="FILE",
    )
    threads: int | None = option(None, "How many cores to use; all by default, of a cluster, too.", least=1)


@option_class
class ShardExportOptions(ShardOptions, FrameJobOptions):
    """What exports share that are jobs, with numbered files."""

    shard_records: int | None = option(
        None, "At most this many records in each file.", more="All but the last have about as many.", least=1
    )

    def __post_init__(self) -> None:
        """Check that the number of files is said in one way only."""
        super().__post_init__()
        if sum(given is not None for given in (self.shards, self.shard_bytes, self.shard_records)) > 1:
            raise InvalidArgumentError(
                "Expected at most one of shards, shard_bytes and shard_records "
                "(--shards, --shard-size, --shard-records)."
            )


@option_class
class WebDatasetOptions(ShardExportOptions):
    """The options of `export_webdataset`."""

    key_feature: str | None = option(
        None,
        "Feature that names samples, such as image/filename; by default their number does.",
        more="Dots, slashes and control characters become underscores.",
        metavar="NAME",
    )
    columns: Collection[str] | None = option(
        None,
        "Only this feature; may be given several times.",
        "--key",
        more="A list of names here, in this order; by default all, sorted.",
        metavar="NAME",
        several=True,
    )
    names: Mapping[str, str] | None = option(
        None,
        "What ends the name of a feature's files, such as image/encoded=jpg; may be given several times.",
        "--name",
        more="Ends of names by feature here; by default the name of the feature and a suffix by the content.",
        metavar="FEATURE=END",
        several=True,
        read=read_pairs,
    )


@option_class
class ArrayRecordOptions(ShardExportOptions):
    """The options of `export_array_record`."""

    group_size: int = option(
        1,
        "How many records are compressed together, and read together: more are smaller, and slower to read singly.",
        least=1,
    )
    compression: Literal["zstd", "none"] = option("zstd", "Of the records.")
    level: int = option(3, "Of the compression: higher is smaller and slower.", least=1, most=22)
