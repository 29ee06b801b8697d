"""Which runs of records a scan must read, by their zones: where no record can match, nothing is read.

What cannot be told is read: a run of which nothing is known may always match, and zones that are missing or do not fit
the file only cost time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import IO, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.codecs.table import codec
from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.access.zones import FeatureZones, Zones, load_zones
from tfrkit.records.read.position import Position
from tfrkit.records.read.reader import BlockReader, chosen_policy, read_blocks
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.records.where import All, Compare, Literal, Not, Present, Some, Tree
from tfrkit.stores.files import is_local, open_source
from tfrkit.threads import spawn_all

__all__ = ["MayMatch", "PrunedBlocks", "runs_that_may_match"]

Runs: TypeAlias = npt.NDArray[np.bool_]
MayMatch: TypeAlias = Callable[[Zones], Runs]
_REMOTE_AT_ONCE: Final = 32  # files whose zones are fetched
_WORTH: Final = 0.75  # a file of which more must be read is read as a whole


def runs_that_may_match(tree: Tree, zones: Zones) -> Runs:
    """Say for each run whether a condition may hold for some record of it. Pure: no I/O."""
    return _may(tree, zones, wanted=True)


def _may(tree: Tree, zones: Zones, *, wanted: bool) -> Runs:
    """Say whether the condition may be `wanted` (true or false) for some record of each run."""
    match tree:
        case Not(inner):
            return _may(inner, zones, wanted=not wanted)
        case All(parts) | Some(parts):
            every = isinstance(tree, All) == wanted  # "not all" is "some not", "not some" is "all not"
            found = [_may(part, zones, wanted=wanted) for part in parts]
            return np.asarray((np.logical_and if every else np.logical_or).reduce(found))
        case Present(key):
            return _present(zones, key, wanted=wanted)
        case Compare(key, operator, literal):
            return _compare(zones, key, operator, literal) if wanted else np.ones(len(zones), np.bool_)


def _present(zones: Zones, key: str, *, wanted: bool) -> Runs:
    found = zones.features.get(key)
    if found is None:
        nowhere = zones.complete and key not in zones.outline.lists
        return np.full(len(zones), not (nowhere and wanted))
    some = found.present > 0 if wanted else found.present < zones.ends - zones.starts
    return np.asarray(~found.known | some)


def _compare(zones: Zones, key: str, operator: str, literal: Literal) -> Runs:
    found = zones.features.get(key)
    if found is None:
        return np.full(len(zones), not (zones.complete and key not in zones.outline.lists))
    if (found.kind == _core.BYTES) != isinstance(literal, bytes):
        return np.ones(len(zones), np.bool_)  # an error, which reading tells
    bounds = _byte_bounds if isinstance(literal, bytes) else _number_bounds
    inside = bounds(found, operator, literal) & (found.values > found.nans)
    if operator == "!=":
        inside |= found.nans > 0
    return np.asarray(~found.known | inside)


def _number_bounds(found: FeatureZones, operator: str, literal: Any) -> Runs:
    least, greatest = np.asarray(found.least), np.asarray(found.greatest)
    if least.dtype == np.float32:  # as values are compared
        with np.errstate(over="ignore"):
            literal = np.float32(literal)
        return np.asarray(_inside(operator, least, greatest, literal))
    # Whole numbers: a literal beyond them, or between two, is compared as Python does.
    return np.fromiter(
        (
            _inside(operator, low, high, literal)
            for low, high in zip(least.tolist(), greatest.tolist(), strict=True)
        ),
        np.bool_,
        len(least),
    )


def _byte_bounds(found: FeatureZones, operator: str, literal: Any) -> Runs:
    assert isinstance(found.least, BytesColumn)
    assert isinstance(found.greatest, BytesColumn)
    rows = zip(found.least.to_list(), found.greatest.to_list(), found.open_above.tolist(), strict=True)
    return np.fromiter(
        (
            (endless and operator in (">", ">=", "!="))
            or (endless and operator == "==" and low <= literal)
            or bool(_inside(operator, low, high, literal))
            for low, high, endless in rows
        ),
        np.bool_,
        len(found.known),
    )


def _inside(operator: str, least: Any, greatest: Any, literal: Any) -> Any:
    """Say whether some value between two bounds may compare so."""
    if operator == "==":
        return (least <= literal) & (literal <= greatest)
    if operator == "!=":
        return (least != literal) | (greatest != literal)
    if operator in ("<", "<="):
        return least < literal if operator == "<" else least <= literal
    return greatest > literal if operator == ">" else greatest >= literal


class PrunedBlocks:
    """The blocks of some files, without the runs of records that cannot match.

    Attributes:
        runs_left_out: how many runs were not read so far.
    """

    def __init__(
        self,
        files: Sequence[str | IO[bytes]],
        may_match: MayMatch,
        looked_at: Collection[str],
        reading: Mapping[str, Any],
    ) -> None:
        """Read files with options of `read_blocks`; `may_match` looks at some features only."""
        self._files, self._may_match, self._reading = files, may_match, reading
        self._looked_at = looked_at
        self._reader: BlockReader | None = None
        self._before = 0  # damages of readers that are done
        self.runs_left_out = 0

    @property
    def skipped(self) -> int:
        """Damages that were passed over so far."""
        return self._before + (self._reader.skipped if self._reader is not None else 0)

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
            for first, last, offset in ranges:
                yield from self._read_range(str(file), first, last, offset)
        yield from self._read_whole(whole)

    def _read_whole(self, files: list[str | IO[bytes]]) -> Iterator[Block]:
        if files:
            yield from self._follow(read_blocks(files, **self._reading))

    def _read_range(self, path: str, first: int, last: int, offset: int) -> Iterator[Block]:
        options = dict(self._reading)
        size, _ = options.pop("block_bytes"), options.pop("threads")
        start = Position(0, offset, first)
        for block in self._follow(BlockReader([path], chosen_policy(**options), 1, size, start)):
            numbers = last - block.first_record
            yield block if len(block) <= numbers else block[:numbers]
            if len(block) >= numbers:
                self.close()
                return

    def _follow(self, reader: BlockReader) -> Iterator[Block]:
        self._reader = reader
        yield from reader
        self._before += reader.skipped
        self._reader = None

    def _ranges(self, file: str | IO[bytes]) -> list[tuple[int, int, int]] | None:
        """Return ranges of records that must be read, each with its offset; None: the whole file."""
        if not isinstance(file, str):
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
        runs = self._may_match(zones)
        ends = zones.ends
        wanted = int((ends - zones.starts)[runs].sum())
        if zones.other or wanted > _WORTH * zones.records:
            return None
        self.runs_left_out += int(np.count_nonzero(~runs))
        edges = np.flatnonzero(np.diff(np.concatenate([[False], runs, [False]]).astype(np.int8)))
        return [
            (int(zones.starts[begin]), int(ends[end - 1]), int(zones.offsets[begin]))
            for begin, end in edges.reshape(-1, 2).tolist()
        ]
