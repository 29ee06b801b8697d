"""Records to look at: all of some files, or a sample, chosen without reading the rest.

The same files give the same sample. Of a file with an index beside it the records are spread over the whole file; of
another they are its first ones, as the place of any other is known only after reading all before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np

from tfrkit import _core
from tfrkit.codecs.table import canonical
from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.model.policy import ReadPolicy
from tfrkit.records.access.find_index import kept_index
from tfrkit.records.access.index import load_index
from tfrkit.records.access.record_file import RecordFile
from tfrkit.records.read.feature_columns import gather_blocks
from tfrkit.records.read.reader import BlockReader, read_blocks
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.files import is_local, open_file, open_source
from tfrkit.stores.paths import Paths, expand_paths
from tfrkit.stores.url import display_name
from tfrkit.threads import default_threads, spawn_all

__all__ = ["Chosen", "Progress", "choose_blocks", "choose_files", "sample_blocks", "scan_blocks"]

Progress = Callable[[int, int], object]
_BLOCK_BYTES: Final = 1 << 18  # a sample needs little of each file
_BATCH_BYTES: Final = 1 << 23  # scanned at once: enough work for many threads, little memory
_THREAD_BYTES: Final = 1 << 21  # of it for each thread: what few threads scan stays in the cache
_REMOTE_AT_ONCE: Final = 32  # files that are opened
_Item = TypeVar("_Item")


class Chosen(NamedTuple):
    """Blocks to look at, and the names of their files."""

    blocks: Iterable[Block]
    files: tuple[str, ...]

    @property
    def skipped(self) -> int:
        """Damages that were passed over so far."""
        return self.blocks.skipped if isinstance(self.blocks, BlockReader) else 0


def choose_blocks(
    paths: Paths,
    sample: int | None,
    policy: ReadPolicy,
    *,
    compression: str | None,
    threads: int | None,
    **options: Any,
) -> Chosen:
    """Open all records of some files, or `sample` of them.

    Args:
        paths: as for `read_blocks`.
        sample: how many records; None means all.
        policy: how they are read.
        compression: see `read_blocks`.
        threads: how many cores read; a sample is read in this one.
        options: of the policy.

    Raises:
        ValueError: the sample is empty.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"expected sample to be at least 1 but got {sample}")
    files = expand_paths(paths, globs=policy.globs)
    blocks: Iterable[Block]
    if sample is None:
        blocks = read_blocks(files, compression=compression, threads=threads, policy=policy, **options)
    else:
        if compression is not None and compression != "auto" and not policy.tensorflow_containers:
            compression = canonical(compression)
        files = choose_files(files, sample)
        blocks = sample_blocks(files, policy.with_options(compression=compression, **options), sample)
    names = tuple(display_name(file) if isinstance(file, str) else _stream_name(file) for file in files)
    return Chosen(blocks, names)


def scan_blocks(
    native: _core.Statistics, blocks: Iterable[Block], threads: int | None, progress: Progress | None
) -> Block | None:
    """Add blocks to native statistics, some megabytes at a time, and return the first.

    `progress` gets the records and bytes so far.
    """
    records = data_bytes = 0
    first = None
    size = min(_BATCH_BYTES, _THREAD_BYTES * (threads or default_threads()))
    for batch in gather_blocks(blocks, size):
        first = first or batch[0]
        native.add([(block.data, block.offsets, block.lengths) for block in batch], threads or 0)
        records += sum(len(block) for block in batch)
        data_bytes += sum(block.nbytes for block in batch)
        if progress is not None:
            progress(records, data_bytes)
    return first


def _stream_name(file: IO[bytes]) -> str:
    return str(getattr(file, "name", f"<{type(file).__name__}>"))


def choose_files(files: Sequence[_Item], count: int) -> list[_Item]:
    """Return at most `count` of the files, evenly spread. Pure: no I/O.

    >>> choose_files(["a", "b", "c", "d", "e"], 2)
    ['a', 'c']
    """
    number = min(len(files), count)
    return [files[place * len(files) // number] for place in range(number)]


def sample_blocks(files: Sequence[str | IO[bytes]], policy: ReadPolicy, count: int) -> Iterator[Block]:
    """Return `count` records, as many of each file as possible alike, or all if there are fewer.

    Args:
        files: what `choose_files` gave.
        policy: how they are read.
        count: how many records.
    """
    limit = 1 if all(not isinstance(file, str) or is_local(file) for file in files) else _REMOTE_AT_ONCE
    takers: list[_Taker] = spawn_all(lambda file: _open(file, policy), files, limit)
    while count and takers:
        left = []
        for place, taker in enumerate(takers):
            # What a file does not have is taken from those after it, and in another round from those before.
            for block in taker.take(-(-count // (len(takers) - place))):
                count -= len(block)
                yield block
            if not taker.done:
                left.append(taker)
        takers = left


class _Taker(Protocol):
    """One file of which some more records can be taken."""

    done: bool

    def take(self, count: int) -> Iterator[Block]:
        """Return `count` more records; fewer if there are no more, and then `done` is set."""


def _open(file: str | IO[bytes], policy: ReadPolicy) -> _Taker:
    if isinstance(file, str) and policy.on_corrupt == "raise" and policy.compression == "auto":
        try:
            indexed = _has_index(file)
        except OpError:
            indexed = False  # the error comes when the file is read
        if indexed:
            return _Spread(file, policy)
    return _First(file, policy)


def _has_index(path: str) -> bool:
    source = open_source(path)
    if not source.remote:
        return load_index(path, source) is not None
    return kept_index(path, source, sniff_compression(source.peek(HEAD_BYTES))) is not None


class _Spread:
    """Records from all over a file that has an index."""

    def __init__(self, path: str, policy: ReadPolicy) -> None:
        self.done = False
        self._path = path
        self._crc = policy.crc
        self._taken = np.zeros(0, np.int64)

    def take(self, count: int) -> Iterator[Block]:
        """See _Taker."""
        with RecordFile(self._path, crc=self._crc) as file:
            free = np.setdiff1d(np.arange(len(file)), self._taken)
            count = min(count, len(free))
            chosen = free[np.arange(count) * len(free) // max(count, 1)]
            self._taken = np.union1d(self._taken, chosen)
            self.done = len(self._taken) == len(file)
            for start in range(0, count, 64):  # of large records not all at once
                yield file.take(chosen[start : start + 64])


class _First:
    """Records from the beginning of a file. It is opened again for more, unless it is a stream."""

    def __init__(self, file: str | IO[bytes], policy: ReadPolicy) -> None:
        self.done = False
        self._file = file
        self._policy = policy
        self._taken = 0
        self._reader: BlockReader | None = None
        self._rest: Block | None = None

    def take(self, count: int) -> Iterator[Block]:
        """See _Taker."""
        for block in self._blocks():
            part = block[:count]
            self._rest = block[count:]
            self._taken += len(part)
            count -= len(part)
            yield part
            if not count:
                break
        else:
            self.done = True
        if isinstance(self._file, str) and is_local(self._file):  # few are open at a time
            self._reader = self._rest = None

    def _blocks(self) -> Iterator[Block]:
        if self._reader is None:
            # What is remote is read as a stream: little of it is wanted, and nothing is to be fetched ahead.
            remote = isinstance(self._file, str) and not is_local(self._file)
            file = open_file(str(self._file)) if remote else self._file
            self._reader = BlockReader([file], self._policy, 1, _BLOCK_BYTES)
            self._reader.skip(self._taken)
        if self._rest is not None and len(self._rest):
            yield self._rest
        yield from self._reader
