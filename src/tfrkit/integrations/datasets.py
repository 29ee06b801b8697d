"""to_hf: TFRecord files as an IterableDataset of Hugging Face, with shards that its workers and ranks share.

A shard is plain data: pieces of files, each whole or a range of records. The files are looked into once, here; workers
get what was found, and read their pieces.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final, TypeAlias

from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.model.block import Block
from tfrkit.optional import require
from tfrkit.records.access.count import count_files
from tfrkit.records.access.record_file import RecordFile
from tfrkit.records.describe.inspect import inspect
from tfrkit.records.describe.schema import Schema
from tfrkit.records.where import parse_where
from tfrkit.scanning.scan import scan
from tfrkit.stores.paths import Paths, expand_paths

__all__ = ["Piece", "split_files", "to_hf"]

_AT_ONCE: Final = 256  # records of a range that are read at once
_READING: Final = ("compression", "crc", "on_corrupt", "threads", "max_record_bytes", "cache")
Piece: TypeAlias = tuple[
    str, int, int
]  # a file, and which of its records; all if the last number is negative


def to_hf(
    paths: Paths,
    columns: Collection[str] | None = None,
    where: str | None = None,
    *,
    num_shards: int | None = None,
    spec: Mapping[Any, Any] | Schema | None = None,
    text: Collection[str] | bool = True,
    with_source: bool = False,
    **options: Any,
) -> Any:
    """Return TFRecord files as a datasets.IterableDataset, with typed features.

    Only the wanted features are decoded, of the wanted records. `split_dataset_by_node`, workers of a DataLoader,
    `shuffle`, and `state_dict` with `load_state_dict` work as for any other dataset: by its shards.

    Args:
        paths: as for `read_blocks`.
        columns: only these features and feature lists; by default all.
        where: which records, as for `scan`.
        num_shards: how many shards, of about the same number of records, which are read through the indexes of the
            files. By default each file is one.
        spec: what the features are, as for `scan`. Without it all records are looked into first.
        text: columns of bytes that are UTF-8 text; True: those that look like it.
        with_source: add the columns `_file` and `_record`.
        options: of `scan`: compression, crc, on_corrupt, threads, max_record_bytes and cache.

    Raises:
        InvalidArgumentError: there are fewer records than shards, damage is to be passed over in numbered records, or
            as for `scan`.
        MissingExtraError: datasets or pyarrow is not installed.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_batch({"label": [1, 2, 3], "name": ["a", "b", "c"]})
    >>> found = to_hf("a.tfrecord", where="label >= 2", num_shards=3)
    >>> found.num_shards, list(found)
    (3, [{'label': 2, 'name': 'b'}, {'label': 3, 'name': 'c'}])
    """
    datasets = require("datasets", "to_hf")
    files = [str(file) for file in expand_paths(paths, globs=True)]
    if num_shards is not None and options.get("on_corrupt") not in (None, "raise"):
        raise InvalidArgumentError(
            "with num_shards= records are read by number, where damage cannot be passed over. Repair the files first "
            "(tfrkit.repair), or leave num_shards out."
        )
    if spec is None:
        keys = () if where is None else parse_where(where).keys
        needed = None if columns is None else list(dict.fromkeys([*columns, *keys]))
        spec = inspect(files, columns=needed, **{name: options[name] for name in _READING if name in options})
    asked = {"columns": columns, "where": where, "spec": spec, "with_source": with_source, **options}
    whole = scan(files, **asked, text=text)
    names = tuple(column.name for column in whole.columns if column.text)
    shards = split_files(files, None if num_shards is None else _counts(files), num_shards)
    return datasets.IterableDataset.from_generator(
        _ShardReader({**asked, "text": names}),
        features=_features(datasets, whole.schema),
        gen_kwargs={"shards": shards},
    )


def split_files(
    files: Sequence[str], counts: Sequence[int] | None, num_shards: int | None
) -> list[tuple[Piece, ...]]:
    """Return what each shard is made of. Pure: no I/O.

    Args:
        files: the files, in order.
        counts: how many records each has; None if each file is a shard.
        num_shards: how many shards to make.

    Raises:
        InvalidArgumentError: there are fewer records than shards.

    >>> split_files(["a", "b"], [3, 3], 3)
    [(('a', 0, 2),), (('a', 2, 3), ('b', 0, 1)), (('b', 1, 3),)]
    """
    if counts is None or num_shards is None:
        return [((file, 0, -1),) for file in files]
    ends = list(accumulate(counts))
    total = ends[-1] if ends else 0
    if not 1 <= num_shards <= total:
        raise InvalidArgumentError(
            f"expected num_shards from 1 to {total}, the number of records, but got {num_shards}"
        )
    bounds = [total * shard // num_shards for shard in range(num_shards + 1)]
    shards = []
    for first, last in pairwise(bounds):
        pieces = []
        for file, count, end in zip(files, counts, ends, strict=True):
            begin = end - count
            if max(first, begin) < min(last, end):
                pieces.append((file, max(first, begin) - begin, min(last, end) - begin))
        shards.append(tuple(pieces))
    return shards


def _counts(files: Sequence[str]) -> list[int]:
    counts = []
    for found in count_files(files):
        if isinstance(found, OpError):
            raise found
        counts.append(found)
    return counts


def _features(datasets: Any, schema: Any) -> Any:
    """Return the features of a schema; names of files are text, which are categories in Arrow."""
    pyarrow = require("pyarrow", "to_hf")
    fields = [
        field.with_type(field.type.value_type) if pyarrow.types.is_dictionary(field.type) else field
        for field in schema
    ]
    return datasets.Features.from_arrow_schema(pyarrow.schema(fields))


@dataclass(frozen=True, slots=True)
class _ShardReader:
    """Reads shards, in any process: what `IterableDataset` calls. Pickles.

    Attributes:
        asked: arguments of `scan`.
    """

    asked: dict[str, Any]

    def __call__(self, shards: list[tuple[Piece, ...]]) -> Iterator[dict[str, Any]]:
        for pieces in shards:
            for path, first, last in pieces:
                source = scan([path], **self.asked)
                blocks = None if last < 0 else _range_blocks(path, first, last)
                batches = source.read(None, blocks=blocks)
                try:
                    for batch in batches:
                        yield from batch.to_pylist()
                finally:
                    batches.close()


def _range_blocks(path: str, first: int, last: int) -> Generator[Block]:
    with RecordFile(path) as records:
        for start in range(first, last, _AT_ONCE):
            yield records[start : min(start + _AT_ONCE, last)]
