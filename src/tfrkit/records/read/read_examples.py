"""read_examples: the examples of TFRecord files as dicts, without a spec.

Every block is parsed at once by native code and its columns are split into rows. Records are taken one by one only
where a key has several kinds in a block, or where they are SequenceExamples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import pairwise, repeat
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.no_bytes import NoBytes
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.feature_columns import ABSENT, UNSET, ScannedBlocks, check_columns
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.reader import BlockReader, read_blocks
from tfrkit.stores.paths import Paths

__all__ = ["ExampleIterator", "read_examples", "rows_of"]

_NOTHING: Final = object()  # in the place of a feature that a record does not have
Example = dict[str, Any]


class ExampleIterator:
    """Iterator over examples as dicts; after an error it continues with the next record or the next file."""

    def __init__(self, blocks: BlockReader, columns: Collection[str] | None, threads: int | None) -> None:
        """Use `read_examples`."""
        self.blocks = blocks
        self._columns = None if columns is None else frozenset(columns)
        self._threads = threads or 0
        self._rows: Iterator[Example] = iter(())
        self._sequence_file: tuple[str | None] | None = None

    def __iter__(self) -> Iterator[Example]:
        return self

    def __next__(self) -> Example:
        while True:
            for row in self._rows:
                return row
            self._rows = self._open(next(self.blocks))

    @property
    def skipped(self) -> int:
        """Number of damages passed over so far."""
        return self.blocks.skipped

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first 10,000 of them, as (path, Damage)."""
        return self.blocks.damages

    def close(self) -> None:
        """Stop reading and let go of all files."""
        self.blocks.close()
        self._rows = iter(())

    def _open(self, block: Block) -> Iterator[Example]:
        """The examples of a block. Where single records can fail, an iterator that continues after them."""
        group = ScannedBlocks.of([block], self._columns)
        if group.sequences:
            self._sequence_file = (block.path,)
        if self._sequence_file == (block.path,):
            return map(self._one_sequence(group), range(len(block)))
        mixed = any(len(kinds) > 1 for kinds in group.features.values())
        if mixed or group.other >= 0 or not group.all_keys:
            return map(self._one(group), range(len(block)))
        return rows_of(group, self._threads)

    def _one(self, group: ScannedBlocks) -> Callable[[int], Example]:
        from tfrkit.parsing.example_values import to_dict  # protobuf, which the usual way does without

        block = group.blocks[0]

        def read(index: int) -> Example:
            single = ScannedBlocks.of([block[index : index + 1]])
            if single.other >= 0:
                raise single.not_an_example()
            return self._chosen(to_dict(block[index]))

        return read

    def _one_sequence(self, group: ScannedBlocks) -> Callable[[int], Example]:
        from tfrkit.parsing.example_values import to_dict

        block = group.blocks[0]

        def read(index: int) -> Example:
            try:
                found = to_dict(block[index], sequence=True)
            except InvalidArgumentError as error:
                raise group.error(index, f"{error}; in {group.where(index)}") from error
            return {name: self._chosen(part) for name, part in found.items()}

        return read

    def _chosen(self, found: Example) -> Example:
        if self._columns is None:
            return found
        return {key: value for key, value in found.items() if key in self._columns}


def read_examples(
    paths: Paths,
    columns: Collection[str] | None = None,
    *,
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    threads: int | None = None,
    block_bytes: int = BLOCK_BYTES,
    max_record_bytes: int | None = None,
    cache: bool | None = None,
    policy: ReadPolicy = TFRKIT,
) -> ExampleIterator:
    """Read the Examples or SequenceExamples of TFRecord files as dicts; no spec is needed.

    Args:
        paths: as for `read_blocks`.
        columns: only these features; by default all. A feature that is nowhere is no error.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        threads: how many cores to use; by default all.
        block_bytes: about how much to read at once.
        max_record_bytes: a record that claims to be larger is damage.
        cache: keep what is read of remote files in the cache folder, and read it from there the next time.
        policy: where the defaults come from. Records mean what protobuf says whatever the policy.

    Returns:
        An iterator of dicts as `to_dict` makes them: int64 and float32 arrays, lists of bytes, None for a feature
        without a kind; keys in order. A file in whose block a SequenceExample is met yields from then on
        `{"context": ..., "feature_lists": ...}`. Arrays are views of larger ones: copy what you keep of much.

    Raises:
        NotFoundError: a pattern matches nothing. Errors about files and records come while iterating, which
            continues after them; a record that is not an Example is an InvalidArgumentError.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write(tfrkit.make_example({"label": 3, "words": ["a", "b"]}).SerializeToString())
    >>> list(read_examples("a.tfrecord"))
    [{'label': array([3]), 'words': [b'a', b'b']}]
    """
    names = check_columns(columns)
    blocks = read_blocks(
        paths,
        compression=compression,
        crc=crc,
        on_corrupt=on_corrupt,
        threads=threads,
        block_bytes=block_bytes,
        max_record_bytes=max_record_bytes,
        cache=cache,
        policy=policy,
    )
    return ExampleIterator(blocks, names, threads)


def rows_of(group: ScannedBlocks, threads: int) -> Iterator[Example]:
    """Return the examples of a group whose records are all Examples, and whose features have one kind each."""
    kinds = {key: next(iter(found)) for key, found in group.features.items() if found}
    parsed = group.parse(kinds, threads)
    # A key without any kind is parsed too, as whatever: what counts is its state.
    unset = group.parse(dict.fromkeys(group.features.keys() - kinds.keys(), 3), threads)
    keys = list(group.features)
    if not keys:
        return iter([{} for _ in range(group.rows)])
    cells = [_cells(*(parsed.get(key) or unset[key])) for key in keys]
    if not any(gaps for _, gaps in cells):
        return map(dict, map(zip, repeat(keys), zip(*(values for values, _ in cells), strict=True)))
    rows = zip(*(values for values, _ in cells), strict=True)
    return (
        {key: value for key, value in zip(keys, row, strict=True) if value is not _NOTHING} for row in rows
    )


def _cells(column: Ragged, states: Any) -> tuple[list[Any], bool]:
    """A feature's value in every row, and whether there are rows without it."""
    cells: list[Any]
    values = column.values
    splits = column.row_splits.tolist()
    if isinstance(values, BytesColumn):
        flat = values.to_list()
        cells = [flat[start:stop] or NoBytes() for start, stop in pairwise(splits)]
    else:
        lengths = column.row_lengths()
        if len(lengths) and bool((lengths == lengths[0]).all()):
            cells = list(values.reshape(len(lengths), int(lengths[0])))
        else:
            cells = [values[start:stop] for start, stop in pairwise(splits)]
    odd = np.flatnonzero(states <= UNSET).tolist()
    for row in odd:
        cells[row] = _NOTHING if states[row] == ABSENT else None
    return cells, bool((states == ABSENT).any())
