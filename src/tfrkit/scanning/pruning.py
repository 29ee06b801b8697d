"""Which runs of records a scan must read, by their zones: where no record can match, nothing is read.

What cannot be told is read: a run of which nothing is known may always match, and zones that are missing or do not fit
the file only cost time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import IO, Any, Final, TypeAlias

import numpy as np

from tfrkit.codecs.table import codec
from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.records.access.zones import Zones, load_zones
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.position import Position
from tfrkit.records.read.reader import BlockReader, chosen_policy, read_blocks
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.scanning.zone_conditions import ALL, NOTHING, Share
from tfrkit.stores.files import is_local, open_source
from tfrkit.threads import spawn_all

__all__ = ["MatchingBlock", "PrunedBlocks", "ShareOf", "ZonedPart"]

ShareOf: TypeAlias = Callable[[Zones], Share]
ZonedPart: TypeAlias = tuple[
    int, int, int, bool
]  # first record, the one after the last, offset, whether all match
_REMOTE_AT_ONCE: Final = 32  # files whose zones are fetched
_WORTH: Final = 0.75  # a file of which more must be read is read as a whole


class MatchingBlock(Block):
    """A block of which zones say that all records match."""

    __slots__ = ()

    @classmethod
    def of(cls, block: Block) -> MatchingBlock:
        """Return a block as one of these."""
        origin: dict[str, Any] = {name: getattr(block, name) for name in ("path", "first_record", "start")}
        return cls(
            block.data, block.offsets, block.lengths, **origin, numbers=block.numbers, frames=block.frames
        )


class PrunedBlocks:
    """The blocks of some files, without the runs of records that cannot match.

    Attributes:
        runs_left_out: how many runs were not read so far.
    """

    def __init__(
        self,
        files: Sequence[str | IO[bytes]],
        share: ShareOf | None,
        looked_at: Collection[str],
        reading: Mapping[str, Any],
    ) -> None:
        """Read files with options of `read_blocks`; `share` looks at some features only, None: nothing is left out."""
        self._files, self._share, self._reading = files, share, reading
        self._looked_at = looked_at
        self._reader: BlockReader | None = None
        self._before: list[tuple[str, Damage]] = []  # damages of readers that are done, like the next
        self._skipped = 0
        self.runs_left_out = 0

    @property
    def skipped(self) -> int:
        """Damages that were passed over so far."""
        return self._skipped + (self._reader.skipped if self._reader is not None else 0)

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first 10,000 of them of each reader, with their files."""
        return self._before + (self._reader.damages if self._reader is not None else [])

    def close(self) -> None:
        """Stop reading."""
        if self._reader is not None:
            self._reader.close()

    def __iter__(self) -> Iterator[Block]:
        whole: list[str | IO[bytes]] = []  # files that are read together, on all cores
        remote = any(isinstance(file, str) and not is_local(file) for file in self._files)
        found = (
            spawn_all(self._ranges, self._files, _REMOTE_AT_ONCE)
            if remote
            else map(self._ranges, self._files)
        )
        for file, ranges in zip(self._files, found, strict=True):
            if ranges is None:
                whole.append(file)
                continue
            yield from self._read_whole(whole)
            whole = []
            for parts in ranges:
                yield from self._read_range(str(file), parts)
        yield from self._read_whole(whole)

    def _read_whole(self, files: Sequence[str | IO[bytes]]) -> Iterator[Block]:
        if files:
            yield from self._follow(read_blocks(list(files), **self._reading))

    def _read_range(
        self, path: str, parts: list[ZonedPart], near: tuple[int, int] = (0, 0)
    ) -> Iterator[Block]:
        # Zones are of intact files: after damage that is passed over, records would have other numbers than they say.
        options = {**self._reading, "on_corrupt": "raise"}
        size, _ = options.pop("block_bytes"), options.pop("threads")
        (first, _, offset, _), (_, last, _, _) = parts[0], parts[-1]
        reader = BlockReader([path], chosen_policy(**options), 1, size, Position(0, offset, first), near=near)
        for block in self._follow(reader):
            begin, end = block.first_record, block.first_record + len(block)
            for start, stop, _, is_sure in parts:
                if start < end and stop > begin:
                    whole = start <= begin and end <= stop
                    part = block if whole else block[max(start - begin, 0) : stop - begin]
                    yield MatchingBlock.of(part) if is_sure else part
            if end >= last:
                self.close()
                return

    def _follow(self, reader: BlockReader) -> Iterator[Block]:
        self._reader = reader
        yield from reader
        self._skipped += reader.skipped
        self._before += reader.damages
        self._reader = None

    def _ranges(self, file: str | IO[bytes]) -> list[list[ZonedPart]] | None:
        """Return ranges of records that must be read, in parts that match or may match; None: the whole file."""
        if self._share is None or not isinstance(file, str):
            return None
        try:
            source = open_source(file, cache=self._reading["cache"])
            zones = load_zones(file, source, self._looked_at)
            if zones is None:
                return None
            compression = sniff_compression(source.peek(HEAD_BYTES))
        except OpError:
            return None  # the error comes when it is read
        if compression and codec(compression).members is None:
            return None
        shares = self._share(zones)
        ends = zones.ends
        wanted = int((ends - zones.starts)[shares != NOTHING].sum())
        if zones.other or wanted > _WORTH * zones.records:
            return None
        self.runs_left_out += int(np.count_nonzero(shares == NOTHING))
        edges = np.flatnonzero(np.diff(shares, prepend=-1, append=-1))
        ranges: list[list[ZonedPart]] = []
        for begin, end in itertools.pairwise(edges.tolist()):
            if shares[begin] == NOTHING:
                continue
            if not ranges or ranges[-1][-1][1] != zones.starts[begin]:
                ranges.append([])
            part = int(zones.starts[begin]), int(ends[end - 1]), int(zones.offsets[begin])
            ranges[-1].append((*part, bool(shares[begin] == ALL)))
        return ranges
