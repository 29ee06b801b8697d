"""Made by docs/generate.py from the classes of options: keywords of building functions, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from tfrkit.build.images.image_arguments import Duplicates, Encoding, Names, Order
from tfrkit.build.job.bad_limit import MaxBad
from tfrkit.build.job.progress import OnBad, Progress
from tfrkit.model.policy import OnCorrupt
from tfrkit.scanning.columns import Unset
from tfrkit.stores.paths import PathLike

__all__ = [
    "CompressKeywords",
    "ImageExportKeywords",
    "ImagesKeywords",
    "MergeKeywords",
    "ReshardKeywords",
    "SampleKeywords",
    "SelectKeywords",
    "ShuffleKeywords",
    "SplitKeywords",
    "TableExportKeywords",
    "TableKeywords",
]


class LimitKeywords(TypedDict, total=False):
    """Keywords of `LimitOptions`."""

    max_bad: MaxBad | None


class DamageKeywords(TypedDict, total=False):
    """Keywords of `DamageOptions`."""

    on_corrupt: OnCorrupt


class OutputKeywords(DamageKeywords, LimitKeywords, total=False):
    """Keywords of `OutputOptions`."""

    overwrite: bool
    progress: Callable[[Progress], None] | None


class ColumnKeywords(OutputKeywords, total=False):
    """Keywords of `ColumnOptions`."""

    columns: Collection[str] | None
    workers: int | None


class CsvKeywords(TypedDict, total=False):
    """Keywords of `CsvOptions`."""

    delimiter: str | None
    separator: str


class LevelKeywords(TypedDict, total=False):
    """Keywords of `LevelOptions`."""

    level: int | None


class UnsetKeywords(TypedDict, total=False):
    """Keywords of `UnsetOptions`."""

    unset: Unset


class TableExportKeywords(UnsetKeywords, LevelKeywords, CsvKeywords, ColumnKeywords, total=False):
    """Keywords of `TableExportOptions`."""

    compression: str | None


class ImageExportKeywords(OutputKeywords, total=False):
    """Keywords of `ImageExportOptions`."""

    image: str | None
    label: str | None
    text: str | None
    filename: str | None
    label_map: PathLike | None
    threads: int | None


class RunKeywords(LimitKeywords, total=False):
    """Keywords of `RunOptions`."""

    overwrite: bool
    workers: int | None
    progress: Callable[[Progress], None] | None


class CompressionKeywords(TypedDict, total=False):
    """Keywords of `CompressionOptions`."""

    compression: str | None
    level: int | None


class BadKeywords(TypedDict, total=False):
    """Keywords of `BadOptions`."""

    on_bad: OnBad


class ImagesKeywords(BadKeywords, CompressionKeywords, RunKeywords, total=False):
    """Keywords of `ImagesOptions`."""

    split: str | Mapping[str, Any] | None
    per_class: bool
    label_map: PathLike | None
    shards: int | None
    shard_size: int | None
    shuffle: bool
    seed: int
    names: Names
    rename: Mapping[str, str] | None
    encoding: Encoding | None
    size: str | tuple[int, int] | None
    max_side: int | None
    quality: int | None
    order: Order
    channels: int | None
    check: bool
    duplicates: Duplicates
    max_image: int
    list_encoding: str
    zip_encoding: str | None


class FrameKeywords(CompressionKeywords, DamageKeywords, RunKeywords, total=False):
    """Keywords of `FrameOptions`."""


class CompressKeywords(FrameKeywords, total=False):
    """Keywords of `CompressOptions`."""


class MergeKeywords(FrameKeywords, total=False):
    """Keywords of `MergeOptions`."""


class ShardSizeKeywords(TypedDict, total=False):
    """Keywords of `ShardSizeOptions`."""

    shard_bytes: int | None


class ShardKeywords(ShardSizeKeywords, total=False):
    """Keywords of `ShardOptions`."""

    shards: int | None


class ReshardKeywords(ShardKeywords, FrameKeywords, total=False):
    """Keywords of `ReshardOptions`."""

    balance: Literal["records", "bytes"] | None


class SeedKeywords(TypedDict, total=False):
    """Keywords of `SeedOptions`."""

    seed: int


class SampleKeywords(SeedKeywords, ShardKeywords, FrameKeywords, total=False):
    """Keywords of `SampleOptions`."""

    count: int | None
    fraction: float | None


class ShuffleKeywords(SeedKeywords, ShardKeywords, FrameKeywords, total=False):
    """Keywords of `ShuffleOptions`."""


class SelectKeywords(FrameKeywords, total=False):
    """Keywords of `SelectOptions`."""

    keys: Collection[str] | None
    drop: Collection[str]
    rename: Mapping[str, str] | None
    where: str | None


class SplitKeywords(SeedKeywords, ShardSizeKeywords, FrameKeywords, total=False):
    """Keywords of `SplitOptions`."""

    in_order: bool
    every: int | None
    by: str | None
    shards: int | Mapping[str, int] | None


class TableKeywords(
    SeedKeywords, ShardSizeKeywords, CompressionKeywords, BadKeywords, RunKeywords, total=False
):
    """Keywords of `TableOptions`."""

    format: str | None
    column: Iterable[str] | Mapping[str, str]
    columns: Sequence[str] | None
    drop: Sequence[str]
    rename: Mapping[str, str] | None
    null_value: Any
    names: Sequence[str] | None
    header: bool | None
    delimiter: str | None
    quote: str | None
    escape: str | None
    encoding: str | None
    nulls: Sequence[str] | None
    max_field: int
    partition: str | Sequence[str]
    partitions: bool
    where: str | None
    shards: int | Literal["per-input"] | None
    prefix: str
    shuffle: bool
