"""The options that building functions and commands share: damage, limits, shards, compression, how a job runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from tfrkit.build.job.bad_limit import BadLimit, MaxBad
from tfrkit.build.job.progress import OnBad, Progress
from tfrkit.codecs.table import names
from tfrkit.engines.engine import EngineName
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.policy import OnCorrupt
from tfrkit.options import OptionSet, option, option_class, size_bytes

__all__ = [
    "BadOptions",
    "CompressionOptions",
    "DamageOptions",
    "FrameJobOptions",
    "FrameOptions",
    "JobOptions",
    "LayoutOptions",
    "LimitOptions",
    "RunOptions",
    "SeedOptions",
    "ShardOptions",
    "ShardSizeOptions",
]


def _compressions() -> list[str]:
    """Return the names of compressions as the command line has them."""
    return [name.lower() or "none" for name in names()]


def _compression(text: str) -> str:
    if text.lower() not in (known := _compressions()):
        raise ValueError(f"one of {', '.join(map(repr, known))}")
    return text.lower()


def _max_bad(text: str) -> str:
    return BadLimit.parse(text).text


@option_class
class CompressionOptions(OptionSet):
    """How the output is compressed."""

    compression: str | None = option(
        None,
        "Compress the output.",
        more='"none", "GZIP", "ZLIB", "XZ" or "ZSTD". By default as the name of the file says, else as the inputs are; '
        "none where that says nothing.",
        metavar=f"<{'|'.join(_compressions())}>",
        read=_compression,
        choices=_compressions,
    )
    level: int | None = option(None, "Of the compression: higher is smaller and slower.")


@option_class
class ShardSizeOptions(OptionSet):
    """How large files become."""

    shard_bytes: int | None = option(
        None,
        "Begin a new file at this size: 256MB, 1GB, 64MiB, or bytes.",
        "--shard-size",
        more="Before compression, and about; a number here.",
        metavar="SIZE",
        read=size_bytes,
        least=1,
    )


@option_class
class ShardOptions(ShardSizeOptions):
    """How many files are written."""

    shards: int | None = option(None, "How many files to write.", least=1)


@option_class
class LayoutOptions(OptionSet):
    """How the folder is laid out."""

    layout: Literal["tfrkit", "tfds"] = option(
        "tfrkit",
        "How files are named and described: as tfrkit does, or so that TensorFlow Datasets reads the folder.",
        more="See `write_tfds`.",
    )
    dataset: str | None = option(
        None,
        "Name and version with --layout tfds, such as pets:1.0.0; by default as the folder says, pets/1.0.0.",
        metavar="NAME[:VERSION]",
    )

    def __post_init__(self) -> None:
        """Check that they go together."""
        super().__post_init__()
        if self.layout != "tfds" and self.dataset is not None:
            raise InvalidArgumentError(
                f"dataset={self.dataset!r} (--dataset) has a meaning only with layout='tfds' (--layout tfds)."
            )


@option_class
class SeedOptions(OptionSet):
    """What decides random choices."""

    seed: int = option(0, "The same seed chooses the same.")


@option_class
class DamageOptions(OptionSet):
    """What happens to damaged records."""

    on_corrupt: OnCorrupt = option(
        "raise", "What to do about damage: end, leave it out, or leave its file.", more="See `read_blocks`."
    )


@option_class
class BadOptions(OptionSet):
    """What happens to bad input of other formats."""

    on_bad: OnBad = option("skip", "Leave bad input out and count it, or end at the first.")


@option_class
class LimitOptions(OptionSet):
    """How much may be bad."""

    max_bad: MaxBad | None = option(
        None,
        "Fail, and publish nothing, if more than this is bad: a number, or a share such as 0.5%.",
        more="If all is bad, that always is an error.",
        metavar="N|P%",
        read=_max_bad,
    )

    def __post_init__(self) -> None:
        """Check that it is a number or a share."""
        super().__post_init__()
        BadLimit.parse(self.max_bad)


@option_class
class JobOptions(LimitOptions):
    """How a job of any format runs."""

    overwrite: bool = option(False, "Replace existing files; else they are an error.")
    workers: int | None = option(
        None,
        "How many tasks run at once; one per core by default.",
        more="The result does not depend on it.",
        least=1,
    )
    engine: EngineName = option(
        "threads",
        "What runs the tasks: threads of this process, processes of this machine, or a cluster.",
        more="The result does not depend on it. All but threads survive the loss of a worker, and read files only, no "
        "tables in memory.",
    )
    address: str | None = option(
        None,
        "Of the cluster, for engines that have one; by default the one that is configured, or this machine.",
        metavar="ADDRESS",
    )
    progress: Callable[[Progress], None] | None = option(
        None, "Called several times a second with a `Progress`, also while inputs are surveyed.", shell=False
    )

    def of_job(self) -> dict[str, Any]:
        """Return what `run_job` takes, by name."""
        from tfrkit.engines.engine_table import engine_named  # 10 ms that no help needs

        given = ("max_bad", "overwrite", "workers", "zones", "progress")
        return {name: getattr(self, name) for name in given if hasattr(self, name)} | {
            "engine": engine_named(self.engine, self.address)
        }


@option_class
class RunOptions(JobOptions):
    """How a job that writes TFRecord files runs."""

    zones: bool = option(
        False,
        "Keep the bounds of each feature in each run of records beside the shards.",
        more="So that scans read only what can match. The shards are the same without them.",
    )


@option_class
class FrameJobOptions(DamageOptions, JobOptions):
    """What all functions have that read files of records and write files."""


@option_class
class FrameOptions(CompressionOptions, FrameJobOptions, RunOptions):
    """What all functions have that copy records from files to files."""
