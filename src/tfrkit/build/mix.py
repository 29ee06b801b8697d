"""Mixing: all records of a group in random order, whatever their number, in bounded memory.

Every record has a random key of 64 bits, made of the seed, the number of its recipe and its own number in it. The order
is that of the keys. So it is a uniform permutation, and does not depend on how the work is cut. Three steps:

    scatter   records go to the temporary file of their part, chunk by chunk; in a chunk they stand by bucket, which is
              the first bits of the key
    split     a bucket that is too large is scattered again by the next bits, until none is
    gather    a shard is a range of ranks: its buckets are read whole, one by one, and sorted by key

A chunk is `records, bytes` before each bucket and at the end (2 x (buckets + 1) i64), the keys (u64 each), the frames.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.build.plan import Group
from tfrkit.build.report import Finished
from tfrkit.build.watch import Watch
from tfrkit.engines.local import Stop
from tfrkit.errors import DataLossError, from_os_error
from tfrkit.model.block import Block
from tfrkit.storage.output import FileOutput

__all__ = ["MAX_MIXERS", "Leaf", "Mixture"]

MAX_MIXERS: Final = 16  # tasks at once: each has a bucket or a chunk in memory
_CHUNK_ROOM: Final = 1 << 26  # bytes of the chunks of all tasks together
_CHUNK_BYTES: Final = (1 << 22, 1 << 25)  # of one, at least and at most
_BUCKET_BYTES: Final = 1 << 22  # that a bucket should have
_SPLIT_BYTES: Final = 3 * _BUCKET_BYTES  # with more it is split
_RECORD_BYTES: Final = 64  # that a record costs beside its frame: key, place, rank
_MAX_BITS: Final = 10  # of the key in one step: more would make the reads of gathering small
_KEY_BITS: Final = 64
_PARTS: Final = 64  # about how many parts a group is cut into, if they are not too small
_PART_BYTES: Final = 1 << 24
_HEADER_BYTES: Final = 12
_FRAMING_BYTES: Final = 16

Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A bucket: one range of keys.

    Attributes:
        path: where it is: the numbers of the buckets that lead to it.
        shift: how many bits of the key these are.
        bucket: the last of these numbers.
        sources: names of the parts that hold its records, in order.
        records: how many there are.
        bytes: of their frames.
    """

    path: str
    shift: int
    bucket: int
    sources: tuple[str, ...]
    records: int
    bytes: int

    @property
    def cost(self) -> int:
        """About how much memory it takes to sort it."""
        return self.bytes + _RECORD_BYTES * self.records

    @property
    def too_large(self) -> bool:
        """Whether it must be split before it can be sorted."""
        return self.cost > _SPLIT_BYTES and self.records > 1 and self.shift + _MAX_BITS <= _KEY_BITS


class Mixture:
    """The records of one group on their way into random order.

    Args:
        folder: for temporary files; it is made when the first is written.
        number: of the group.
        group: with a seed.
        workers: how many tasks run at once, which decides how much memory each may take.
    """

    def __init__(self, folder: str, number: int, group: Group, workers: int) -> None:
        self._folder = folder
        self._number = number
        self._group = group
        at_least, at_most = _CHUNK_BYTES
        self._chunk_bytes = max(at_least, min(at_most, _CHUNK_ROOM // workers))
        self._bits = _bits_for(2 * group.input_bytes)  # frames may be larger than what they are made of
        self._parts = _cut([recipe.input_bytes for recipe in group.recipes])

    # -- names ------------------------------------------------------------------------------------------------------

    @property
    def part_names(self) -> list[str]:
        """Of the tasks that scatter, in order."""
        return [f"mix/{self._number}/part-{number:05d}" for number in range(len(self._parts))]

    def part_bytes(self, number: int) -> int:
        """How much input a part reads."""
        return sum(self._group.recipes[recipe].input_bytes for recipe in self._parts[number])

    def split_name(self, leaf: Leaf) -> str:
        """Of the task that splits a bucket."""
        return f"mix/{self._number}/split-{leaf.path}"

    def is_mine(self, name: str) -> bool:
        """Tell whether a task is one of this mixture's."""
        return name.startswith(f"mix/{self._number}/")

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name.removeprefix("mix/").replace("/", "-"))

    # -- scatter ----------------------------------------------------------------------------------------------------

    def write_part(self, number: int, watch: Watch, stop: Stop) -> Finished:
        """Scatter the records of a part."""
        with self._scatter(self.part_names[number], 0, self._bits) as scatter:
            for recipe in self._parts[number]:
                keys = _KeyStream(self._group.mix_seed or 0, recipe)
                with contextlib.closing(self._group.recipes[recipe].blocks(watch)) as blocks:  # type: ignore[type-var]
                    for block in blocks:
                        stop.check()
                        scatter.add(block, keys.next(len(block)))
            return scatter.finish(watch)

    def write_split(self, leaf: Leaf, done: Mapping[str, Finished], stop: Stop) -> Finished:
        """Scatter the records of a bucket once more."""
        bits = min(max(1, _bits_for(leaf.cost)), _KEY_BITS - leaf.shift)
        with self._scatter(self.split_name(leaf), leaf.shift, bits) as scatter:
            for name in leaf.sources:
                for keys, frames in self._segments(done[name], leaf.bucket):
                    stop.check()
                    scatter.add(_as_block(frames, len(keys), self._path(name)), keys)
            return scatter.finish(None)

    @contextlib.contextmanager
    def _scatter(self, name: str, shift: int, bits: int) -> Iterator[_Scatter]:
        path = self._path(name)
        try:
            os.makedirs(self._folder, exist_ok=True)
        except OSError as error:
            raise from_os_error(error, self._folder) from error
        output = FileOutput(path)
        try:
            yield _Scatter(name, output, shift, bits, self._chunk_bytes)
            output.close()
        except BaseException:
            output.close()
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise

    # -- gather -----------------------------------------------------------------------------------------------------

    def leaves(self, done: Mapping[str, Finished]) -> list[Leaf]:
        """Give the buckets in order of their keys, when all parts are done. Pure: no I/O.

        Args:
            done: finished tasks by name, parts and splits among them.
        """
        names = tuple(self.part_names)
        buckets: list[tuple[int, int]] = [(0, 0)] * (1 << self._bits)
        for name in names:
            pairs = zip(buckets, done[name].buckets, strict=True)
            buckets = [(records + more, size + more_bytes) for (records, size), (more, more_bytes) in pairs]
        return list(self._expand("", 0, names, buckets, done))

    def _expand(
        self,
        path: str,
        shift: int,
        sources: tuple[str, ...],
        buckets: Sequence[tuple[int, int]],
        done: Mapping[str, Finished],
    ) -> Iterator[Leaf]:
        shift += (len(buckets) - 1).bit_length()
        for number, (records, size) in enumerate(buckets):
            if records:
                leaf = Leaf(
                    f"{path}.{number}" if path else str(number), shift, number, sources, records, size
                )
                split = done.get(self.split_name(leaf))
                if split is None:
                    yield leaf
                else:
                    yield from self._expand(leaf.path, shift, (split.name,), split.buckets, done)

    def blocks(
        self, leaves: Sequence[Leaf], shard: int, done: Mapping[str, Finished], stop: Stop
    ) -> Iterator[Block]:
        """Give the records of a shard in their final order, a bucket at a time."""
        total = sum(leaf.records for leaf in leaves)
        shards = self._group.shards or 1
        first, after = shard * total // shards, (shard + 1) * total // shards
        rank = 0
        for leaf in leaves:
            if first < rank + leaf.records and rank < after:
                stop.check()
                yield self._sorted(leaf, done, max(0, first - rank), min(leaf.records, after - rank))
            rank += leaf.records

    def _sorted(self, leaf: Leaf, done: Mapping[str, Finished], first: int, after: int) -> Block:
        keys = np.empty(leaf.records, np.uint64)
        frames = np.empty(leaf.bytes, np.uint8)
        record = at = 0
        for name in leaf.sources:
            for some, data in self._segments(done[name], leaf.bucket):
                keys[record : record + len(some)] = some
                frames[at : at + len(data)] = data
                record, at = record + len(some), at + len(data)
        block = _as_block(frames, leaf.records, self._path(leaf.sources[0]))
        order = np.argsort(keys, kind="stable")[first:after]
        return Block(block.data, block.offsets[order], block.lengths[order])

    def _segments(self, part: Finished, bucket: int) -> Iterator[tuple[Keys, npt.NDArray[np.uint8]]]:
        """Read what the chunks of a part have for a bucket."""
        path = self._path(part.name)
        buckets = len(part.buckets)
        if not part.buckets[bucket][0]:
            return
        try:
            with open(path, "rb", buffering=0) as file:
                for start in part.chunks:
                    counts = _read(file, start + 16 * bucket, 32, np.int64)
                    (record, at), (next_record, end) = counts.reshape(2, 2).tolist()
                    if next_record == record:
                        continue
                    records = int(_read(file, start + 16 * buckets, 8, np.int64)[0])
                    keys_at = start + 16 * (buckets + 1)
                    keys = _read(file, keys_at + 8 * record, 8 * (next_record - record), np.uint64)
                    yield keys, _read(file, keys_at + 8 * records + at, end - at, np.uint8)
        except OSError as error:
            raise from_os_error(error, path) from error

    # -- after a kill -----------------------------------------------------------------------------------------------

    def restore(self, done: dict[str, Finished]) -> None:
        """Forget finished tasks whose files are needed and not whole, and remove files that belong to none."""
        names = set(self.part_names)
        mine = {name for name in done if self.is_mine(name)}
        if names <= mine:
            needed = {name for leaf in self.leaves(done) for name in leaf.sources}
            if not all(self._is_whole(done[name]) for name in needed):
                for name in mine:
                    del done[name]
        else:
            for name in mine:
                if name not in names or not self._is_whole(done[name]):
                    del done[name]
        kept = {os.path.basename(self._path(name)) for name in done if self.is_mine(name)}
        with contextlib.suppress(FileNotFoundError):
            for file in os.listdir(self._folder):
                if file.startswith(f"{self._number}-") and file not in kept:
                    os.unlink(os.path.join(self._folder, file))

    def _is_whole(self, part: Finished) -> bool:
        try:
            return os.stat(self._path(part.name)).st_size == part.bytes
        except OSError:
            return False

    def drop_split(self, done: Mapping[str, Finished]) -> None:
        """Remove the files of parts all of whose buckets were split."""
        needed = {name for leaf in self.leaves(done) for name in leaf.sources}
        for name in done:
            if self.is_mine(name) and name not in needed:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._path(name))


class _KeyStream:
    """The keys of a recipe's records: numpy's Philox, whose raw numbers are fixed for ever."""

    def __init__(self, seed: int, recipe: int) -> None:
        digest = hashlib.blake2b(f"tfrkit mix {seed} {recipe}".encode(), digest_size=16).digest()
        self._bits = np.random.Philox(key=int.from_bytes(digest, "little"))

    def next(self, count: int) -> Keys:
        """Give the keys of the next records."""
        return np.asarray(self._bits.random_raw(count), np.uint64)


class _Scatter:
    """One temporary file in the making: gathers a chunk, orders it by bucket, writes it."""

    def __init__(self, name: str, output: FileOutput, shift: int, bits: int, chunk_bytes: int) -> None:
        self._name = name
        self._output = output
        self._shift = shift
        self._bits = bits
        self._chunk_bytes = chunk_bytes
        self._blocks: list[Block] = []
        self._keys: list[Keys] = []
        self._pending = 0
        self._chunks: list[int] = []
        self._totals = np.zeros((1 << bits, 2), np.int64)

    def add(self, block: Block, keys: Keys) -> None:
        """Take records; whole chunks are written."""
        ends = np.cumsum(block.lengths + (_FRAMING_BYTES + _RECORD_BYTES))
        first = before = 0
        while first < len(block):
            room = max(1, self._chunk_bytes - self._pending)
            after = max(first + 1, int(np.searchsorted(ends, before + room, side="right")))
            self._blocks.append(block[first:after])
            self._keys.append(keys[first:after])
            self._pending += int(ends[after - 1]) - before
            first, before = after, int(ends[after - 1])
            if self._pending >= self._chunk_bytes or first < len(block):
                self._flush()

    def _flush(self) -> None:
        if not self._blocks:
            return
        keys = np.concatenate(self._keys)
        buckets = _bucket_of(keys, self._shift, self._bits)
        order = np.argsort(buckets, kind="stable")
        which = np.repeat(np.arange(len(self._blocks)), [len(block) for block in self._blocks])
        starts = np.concatenate([block.offsets for block in self._blocks]) - _HEADER_BYTES
        sizes = np.concatenate([block.lengths for block in self._blocks]) + _FRAMING_BYTES
        data: list[Any] = [block.data for block in self._blocks]
        frames = _core.gather_runs(data, which[order], starts[order], sizes[order])
        self._blocks, self._keys, self._pending = [], [], 0
        del data
        counts = np.zeros((1 << self._bits, 2), np.int64)
        counts[:, 0] = np.bincount(buckets, minlength=1 << self._bits)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[order])])
        table = np.zeros(((1 << self._bits) + 1, 2), np.int64)
        np.cumsum(counts[:, 0], out=table[1:, 0])
        table[:, 1] = ends[table[:, 0]]
        counts[:, 1] = np.diff(table[:, 1])
        self._totals += counts
        self._chunks.append(self._output.position)
        self._output.write_pieces([_bytes(table), _bytes(keys[order]), frames])

    def finish(self, watch: Watch | None) -> Finished:
        """Write what is left and say what is in the file."""
        self._flush()
        return Finished(
            self._name,
            int(self._totals[:, 0].sum()),
            self._output.position,
            0 if watch is None else watch.input_bytes,
            {} if watch is None else watch.counts,
            () if watch is None else tuple(watch.listed),
            tuple((records, size) for records, size in self._totals.tolist()),
            tuple(self._chunks),
        )


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _bucket_of(keys: Keys, shift: int, bits: int) -> npt.NDArray[np.uint16]:
    if bits == 0:
        return np.zeros(len(keys), np.uint16)
    return ((keys << np.uint64(shift)) >> np.uint64(_KEY_BITS - bits)).astype(np.uint16)  # 16 bits sort fast


def _bits_for(size: int) -> int:
    """How many bits of the key cut so many bytes into buckets of a good size."""
    return min(_MAX_BITS, max(0, -(-size // _BUCKET_BYTES) - 1).bit_length())


def _cut(sizes: Sequence[int]) -> list[range]:
    """Put neighbouring recipes together into parts of about the same size."""
    enough = max(_PART_BYTES, sum(sizes) // _PARTS)
    parts, first, size = [], 0, 0
    for number, more in enumerate(sizes):
        size += more
        if size >= enough or number == len(sizes) - 1:
            parts.append(range(first, number + 1))
            first, size = number + 1, 0
    return parts


def _read(file: Any, at: int, size: int, dtype: Any) -> npt.NDArray[Any]:
    buffer = np.empty(size, np.uint8)
    view = memoryview(buffer)
    while len(view):
        done = os.preadv(file.fileno(), [view], at)
        if done == 0:
            raise _damaged(file.name)
        view, at = view[done:], at + done
    return buffer.view(dtype)


def _as_block(frames: npt.NDArray[np.uint8], records: int, path: str) -> Block:
    scan = _core.scan_frames(frames, 0, len(frames), True, 2**62)
    if scan.end != len(frames) or len(scan.offsets) != records:
        raise _damaged(path)
    return Block(frames, scan.offsets, scan.lengths)


def _damaged(path: str) -> DataLossError:
    return DataLossError(
        f"{path}; this temporary file is not what was written. Check the disk, then run the job again with "
        "overwrite=True (--overwrite), which begins anew.",
        path=path,
    )
