# Made by docs/generate.py from the classes of options: keywords of building functions, for type checkers.

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from tfrkit.build.images.image_arguments import Duplicates, Encoding, Names, Order
from tfrkit.build.job.bad_limit import MaxBad
from tfrkit.build.job.progress import OnBad, Progress
from tfrkit.engines.engine import EngineName
from tfrkit.model.policy import OnCorrupt
from tfrkit.scanning.columns import Unset
from tfrkit.stores.paths import PathLike

class LimitKeywords(TypedDict, total=False):
    max_bad: MaxBad | None

class DamageKeywords(TypedDict, total=False):
    on_corrupt: OnCorrupt

class OutputKeywords(DamageKeywords, LimitKeywords, total=False):
    overwrite: bool
    progress: Callable[[Progress], None] | None

class EngineKeywords(TypedDict, total=False):
    engine: EngineName
    address: str | None

class ColumnKeywords(EngineKeywords, OutputKeywords, total=False):
    columns: Collection[str] | None
    workers: int | None

class CsvKeywords(TypedDict, total=False):
    delimiter: str | None
    separator: str

class LevelKeywords(TypedDict, total=False):
    level: int | None

class UnsetKeywords(TypedDict, total=False):
    unset: Unset

class TableExportKeywords(UnsetKeywords, LevelKeywords, CsvKeywords, ColumnKeywords, total=False):
    compression: str | None

class ImageExportKeywords(EngineKeywords, OutputKeywords, total=False):
    image: str | None
    label: str | None
    text: str | None
    filename: str | None
    label_map: PathLike | None
    threads: int | None

class JobKeywords(LimitKeywords, total=False):
    overwrite: bool
    workers: int | None
    engine: EngineName
    address: str | None
    progress: Callable[[Progress], None] | None

class FrameJobKeywords(DamageKeywords, JobKeywords, total=False): ...

class ShardSizeKeywords(TypedDict, total=False):
    shard_bytes: int | None

class ShardKeywords(ShardSizeKeywords, total=False):
    shards: int | None

class ShardExportKeywords(ShardKeywords, FrameJobKeywords, total=False):
    shard_records: int | None

class WebDatasetKeywords(ShardExportKeywords, total=False):
    key_feature: str | None
    columns: Collection[str] | None
    names: Mapping[str, str] | None

class ArrayRecordKeywords(ShardExportKeywords, total=False):
    group_size: int
    compression: Literal["zstd", "none"]
    level: int

class RunKeywords(JobKeywords, total=False):
    zones: bool

class CompressionKeywords(TypedDict, total=False):
    compression: str | None
    level: int | None

class BadKeywords(TypedDict, total=False):
    on_bad: OnBad

class LayoutKeywords(TypedDict, total=False):
    layout: Literal["tfrkit", "tfds"]
    dataset: str | None

class ImagesKeywords(LayoutKeywords, BadKeywords, CompressionKeywords, RunKeywords, total=False):
    split: str | Mapping[str, Any] | None
    per_class: bool
    label_map: PathLike | None
    shards: int | None
    shard_size: int | None
    shuffle: bool
    seed: int
    names: Names | None
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

class FrameKeywords(CompressionKeywords, FrameJobKeywords, RunKeywords, total=False): ...
class CompressKeywords(FrameKeywords, total=False): ...
class MergeKeywords(FrameKeywords, total=False): ...

class ReshardKeywords(ShardKeywords, FrameKeywords, total=False):
    balance: Literal["records", "bytes"] | None

class SeedKeywords(TypedDict, total=False):
    seed: int

class SampleKeywords(SeedKeywords, ShardKeywords, FrameKeywords, total=False):
    count: int | None
    fraction: float | None

class ShuffleKeywords(SeedKeywords, ShardKeywords, FrameKeywords, total=False): ...

class SelectKeywords(FrameKeywords, total=False):
    keys: Collection[str] | None
    drop: Collection[str]
    rename: Mapping[str, str] | None
    where: str | None

class SplitKeywords(SeedKeywords, ShardSizeKeywords, FrameKeywords, total=False):
    in_order: bool
    every: int | None
    by: str | None
    shards: int | Mapping[str, int] | None

class TableRowKeywords(TypedDict, total=False):
    prefix: str
    shuffle: bool

class TableColumnKeywords(TypedDict, total=False):
    column: Iterable[str] | Mapping[str, str]
    columns: Sequence[str] | None
    drop: Sequence[str]
    rename: Mapping[str, str] | None
    null_value: Any

class HiveKeywords(
    TableColumnKeywords,
    TableRowKeywords,
    SeedKeywords,
    ShardKeywords,
    CompressionKeywords,
    BadKeywords,
    RunKeywords,
    total=False,
):
    where: str | None
    partition: str | Sequence[str]
    sql: str | None
    partitions: Literal["columns", "folders"]
    engine: EngineName

class TableKeywords(
    TableColumnKeywords,
    TableRowKeywords,
    SeedKeywords,
    ShardSizeKeywords,
    LayoutKeywords,
    CompressionKeywords,
    BadKeywords,
    RunKeywords,
    total=False,
):
    format: str | None
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
