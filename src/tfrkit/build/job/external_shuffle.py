"""The external shuffle: all records of a group in random order, however many, in bounded memory.

Every record has a random key of 64 bits, made of the seed, the number of its recipe and its own number in it. The order
is that of the keys, so it is a uniform permutation and does not depend on how the work is divided. Three steps:

    part     records go to the temporary file of their part, chunk by chunk; in a chunk they stand by bucket, which is
             the first bits of the key
    split    a bucket that is too large is divided by the next bits, until none is
    gather   a shard is a range of ranks: its buckets are read whole, one by one, and sorted by key

This is the coordinator's half: it plans the tasks, and knows what is done. The tasks are in `shuffle_tasks.py`; keys,
and the files of chunks, in `shuffle_chunks.py`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tfrkit.build.job.job_plan import ShardGroup
from tfrkit.build.job.report import Finished
from tfrkit.build.job.shuffle_chunks import KEY_BITS, RECORD_BYTES
from tfrkit.build.job.shuffle_tasks import (
    BucketPart,
    BucketRecipe,
    ChunkFile,
    PartTask,
    SplitTask,
    read_pairs,
)
from tfrkit.build.job.tasks import TaskOptions
from tfrkit.errors import OpError, os_errors
from tfrkit.stores.source import open_descriptor

__all__ = ["MAX_SHUFFLERS", "Bucket", "ExternalShuffle"]

MAX_SHUFFLERS: Final = 16  # tasks at once: each has a bucket or a chunk in memory
_CHUNK_ROOM: Final = 1 << 26  # bytes of the chunks of all tasks together
_CHUNK_BYTES: Final = (1 << 22, 1 << 25)  # of one, at least and at most
_BUCKET_BYTES: Final = 1 << 22  # that a bucket should have
_SPLIT_BYTES: Final = 3 * _BUCKET_BYTES  # with more it is split
_MAX_BITS: Final = 10  # of the key in one step: more would make the reads of gathering small
_TABLE_BYTES: Final = 1 << 25  # of heads of chunks that are kept in memory
_PARTS: Final = 64  # about how many parts a group is cut into, if they are not too small
_PART_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Bucket:
    """One range of keys.

    Attributes:
        path: the numbers of the buckets that lead to it, its own last.
        shift: how many bits of the key these are.
        number: the last of these numbers.
        sources: names of the parts that hold its records, in order.
        records: how many there are.
        bytes: of their frames.
    """

    path: str
    shift: int
    number: int
    sources: tuple[str, ...]
    records: int
    bytes: int

    @property
    def cost(self) -> int:
        """About how much memory it takes to sort it."""
        return self.bytes + RECORD_BYTES * self.records

    @property
    def too_large(self) -> bool:
        """Whether it must be split before it can be sorted."""
        return self.cost > _SPLIT_BYTES and self.records > 1 and self.shift + _MAX_BITS <= KEY_BITS


class ExternalShuffle:
    """The records of one group on their way into random order.

    The folder for temporary files is made when the first is written. The number of workers decides how much memory
    each task may take. Tasks that are done, of this shuffle and of others, are in `done`, by name.
    """

    def __init__(
        self, folder: str, number: int, group: ShardGroup, workers: int, done: dict[str, Finished]
    ) -> None:
        self._folder, self._number, self.group, self._done = folder, number, group, done
        at_least, at_most = _CHUNK_BYTES
        self._chunk_bytes = max(at_least, min(at_most, _CHUNK_ROOM // workers))
        self._bits = _bits_for(2 * group.input_bytes)  # frames may be larger than what they are made of
        self._room = _TABLE_BYTES // workers
        self._parts = _cut([recipe.input_bytes for recipe in group.recipes])
        self._mark = ""

    # -- names ------------------------------------------------------------------------------------------------------

    @property
    def part_names(self) -> list[str]:
        return [f"mix/{self._number}/part-{number:05d}" for number in range(len(self._parts))]

    def split_name(self, bucket: Bucket) -> str:
        return f"mix/{self._number}/split-{bucket.path}"

    def is_mine(self, name: str) -> bool:
        return name.startswith(f"mix/{self._number}/")

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name.removeprefix("mix/").replace("/", "-"))

    def _path_of(self, done: Finished) -> str:
        """The file of the attempt that counts."""
        return os.path.join(self._folder, done.path) if done.path else self._path(done.name)

    def mark(self) -> None:
        """Put a file into the folder, which is there: tasks begin only on machines that see it."""
        self._mark = os.path.join(self._folder, f"{self._number}-shared-{secrets.token_hex(4)}")
        with os_errors(self._mark), open(self._mark, "xb"):
            pass

    # -- parts and splits ---------------------------------------------------------------------------------------------

    def part_tasks(self, options: TaskOptions) -> list[PartTask]:
        """Return the tasks of the first step, done or not. Pure: no I/O."""
        return [
            PartTask(
                name,
                self._path(name),
                tuple((recipe, self.group.recipes[recipe]) for recipe in part),
                self.group.shuffle_seed or 0,
                self._bits,
                self._chunk_bytes,
                options,
                sum(self.group.recipes[recipe].input_bytes for recipe in part) // 2,
                self._mark,
            )
            for name, part in zip(self.part_names, self._parts, strict=True)
        ]

    def split_tasks(self, options: TaskOptions) -> list[SplitTask]:
        """Return tasks that divide the buckets which still are too large, when all parts are done. Pure: no I/O."""
        return [
            SplitTask(
                (name := self.split_name(bucket)),
                self._path(name),
                tuple(self._file(source) for source in bucket.sources),
                bucket.number,
                bucket.shift,
                min(max(1, _bits_for(bucket.cost)), KEY_BITS - bucket.shift),
                self._chunk_bytes,
                options,
            )
            for bucket in self.buckets()
            if bucket.too_large
        ]

    def _file(self, name: str) -> ChunkFile:
        done = self._done[name]
        return ChunkFile(self._path_of(done), len(done.buckets), done.chunks)

    # -- gather -----------------------------------------------------------------------------------------------------

    def buckets(self) -> list[Bucket]:
        """Return the buckets in order of their keys, when all parts are done. Pure: no I/O."""
        names = tuple(self.part_names)
        counts: list[tuple[int, int]] = [(0, 0)] * (1 << self._bits)
        for name in names:
            pairs = zip(counts, self._done[name].buckets, strict=True)
            counts = [(records + more, size + more_bytes) for (records, size), (more, more_bytes) in pairs]
        return list(self._expand("", 0, names, counts))

    def _expand(
        self, path: str, shift: int, sources: tuple[str, ...], counts: Sequence[tuple[int, int]]
    ) -> Iterator[Bucket]:
        shift += (len(counts) - 1).bit_length()
        for number, (records, size) in enumerate(counts):
            if records:
                bucket = Bucket(
                    f"{path}.{number}" if path else str(number), shift, number, sources, records, size
                )
                split = self._done.get(self.split_name(bucket))
                if split is None:
                    yield bucket
                else:
                    yield from self._expand(bucket.path, shift, (split.name,), split.buckets)

    def shard_recipes(self) -> list[BucketRecipe]:
        """Return what each shard holds, when no bucket is too large. Pure: no I/O."""
        buckets = self.buckets()
        names = list(dict.fromkeys(name for bucket in buckets for name in bucket.sources))
        places = {name: number for number, name in enumerate(names)}
        files = tuple(map(self._file, names))
        total = sum(bucket.records for bucket in buckets)
        shards = self.group.shards or 1
        recipes = []
        for shard in range(shards):
            first, after = shard * total // shards, (shard + 1) * total // shards
            rank, parts = 0, []
            for bucket in buckets:
                if first < rank + bucket.records and rank < after:
                    place = places[bucket.sources[0]]
                    parts.append(
                        BucketPart(
                            (place, place + len(bucket.sources)),
                            bucket.number,
                            bucket.records,
                            bucket.bytes,
                            max(0, first - rank),
                            min(bucket.records, after - rank),
                        )
                    )
                rank += bucket.records
            recipes.append(BucketRecipe(files, tuple(parts), self._room))
        return recipes

    # -- after a kill -----------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Forget finished tasks whose files are needed and not whole, and remove files that belong to no task."""
        names, done = set(self.part_names), self._done
        for name in names & done.keys():
            if len(done[name].buckets) != 1 << self._bits:
                del done[name]
        mine = {name for name in done if self.is_mine(name)}
        if names <= mine:
            needed = {name for bucket in self.buckets() for name in bucket.sources}
            if not all(self._is_whole(done[name]) for name in needed):
                for name in mine:
                    del done[name]
        else:
            for name in mine:
                if name not in names or not self._is_whole(done[name]):
                    del done[name]
        kept = {os.path.basename(self._path_of(done[name])) for name in done if self.is_mine(name)}
        with contextlib.suppress(FileNotFoundError):
            for file in os.listdir(self._folder):
                if file.startswith(f"{self._number}-") and file not in kept:
                    os.unlink(os.path.join(self._folder, file))

    def _is_whole(self, part: Finished) -> bool:
        """Return whether the file of a part is the one that its entry describes: the chunks are where it says.

        Another machine may have written the entry, whose chunks are larger or smaller.
        """
        last = len(part.buckets)
        try:
            if os.stat(self._path_of(part)).st_size != part.bytes:
                return False
            file = open_descriptor(self._path_of(part))
            for start, end in itertools.pairwise((*part.chunks, part.bytes)):
                ((records, size),) = read_pairs(file, start + 16 * last, 1)
                if start + 16 * (last + 1) + 8 * records + size != end:
                    return False
        except (OSError, OpError):
            return False
        return True

    def drop_split(self) -> None:
        """Remove the files of parts all of whose buckets were split."""
        needed = {name for bucket in self.buckets() for name in bucket.sources}
        for name, done in self._done.items():
            if self.is_mine(name) and name not in needed:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._path_of(done))


def _bits_for(size: int) -> int:
    """Return how many bits of the key divide `size` bytes into buckets of a good size."""
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
