"""ZoneMaker: takes the records of a shard in order and makes its zones.

Does no I/O: records come from a reader (`zones.py`) or from a writer. They are looked into by native code, which also
finds what a schema says of them.
"""

from __future__ import annotations

import math
from array import array
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.block import IntArray
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.access.zone_bytes import MAX_FEATURES
from tfrkit.records.access.zone_values import FeatureOutline, FeatureZones, KindOutline, ShardOutline, Zones

__all__ = ["ZoneMaker", "rounded_up"]

_FRAME_BYTES: Final = 16  # of a frame besides its payload
_Noted = TypeVar("_Noted")
_KINDS: Final = (_core.BYTES, _core.FLOAT, _core.INT64)

# A run has this many records: zones of 20 features then take 2 % of the index, and a run is parsed in milliseconds.
RUN_RECORDS: Final = 4096
# It has at least as many bytes of frames: skipping less saves no time, neither on a disk nor in a store.
RUN_BYTES: Final = 1 << 18
# It ends with fewer records if they are large: for one record that matches, this much is read. Where it is best to end
# between two pieces, as between GZIP members, it ends after half of them.
MAX_RUN_BYTES: Final = 1 << 24


def rounded_up(head: bytes) -> bytes | None:
    r"""Return the least byte string that is greater than all that begin with `head`. Pure: no I/O.

    >>> rounded_up(b"ab"), rounded_up(b"a\xff"), rounded_up(b"\xff")
    (b'ac', b'b', None)
    """
    kept = head.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


class ZoneMaker:
    """Makes the zones of one shard from its records. Not for several threads at once.

    Args:
        whole_pieces: runs end between two calls of `add` if possible, as between GZIP members.
        threads: how many look into records at once; 0: one for each core.
    """

    def __init__(self, *, whole_pieces: bool, threads: int) -> None:
        self._whole = whole_pieces
        self._threads = threads
        self._scan = _core.Statistics(None, bounds=True)
        self._run_records = self._run_bytes = 0
        self._starts = array("q")
        self._offsets = array("q")
        self._records = self._bytes = 0  # of all runs before
        self._sequences = self._other = 0
        self._unknown = array("q")  # runs with too many different names
        self._complete = True
        self._features: dict[str, _FeatureRuns] = {}
        self._lists: dict[str, _ListRuns] = {}

    def add(self, data: Any, offsets: IntArray, lengths: IntArray) -> None:
        """Take the next records, of which the payloads lie in `data`; nothing of it is kept."""
        ends = np.cumsum(lengths, dtype=np.int64) + _FRAME_BYTES * np.arange(1, len(lengths) + 1)
        first = done = 0
        while first < len(lengths):
            after = self._end_of_run(ends, first, done)
            self._scan.add([(data, offsets[first:after], lengths[first:after])], self._threads)
            self._run_records += after - first
            self._run_bytes += int(ends[after - 1]) - done
            if after < len(lengths) or self._is_full(at_end=self._whole):
                self._end_run()
            first, done = after, int(ends[after - 1])

    def finish(self, shard_bytes: int, tail_crc: int) -> Zones:
        """Return the zones of all records that were added, for a shard of this size and tail checksum."""
        if self._run_records:
            self._end_run()
        runs = len(self._starts)
        unknown = np.frombuffer(self._unknown, np.int64)
        features = {}
        for name in sorted(self._features):
            listed = self._lists.get(name)
            hidden = unknown if listed is None else np.append(unknown, np.frombuffer(listed.runs, np.int64))
            made = self._features[name].zones(runs, hidden)
            if made is not None:
                features[name] = made
        return Zones(
            shard_bytes=shard_bytes,
            tail_crc=tail_crc,
            starts=np.array(self._starts, np.int64),
            offsets=np.array(self._offsets, np.int64),
            records=self._records,
            stream_bytes=self._bytes,
            sequences=self._sequences,
            other=self._other,
            complete=self._complete,
            features=features,
            outline=ShardOutline(_outlines(self._features), _outlines(self._lists)),
        )

    def _end_of_run(self, ends: IntArray, first: int, done: int) -> int:
        """Return where the run ends among records of which `ends` are the ends; all of them if it does not."""

        def reached(size: int) -> int:
            return int(np.searchsorted(ends, done + size - self._run_bytes)) + 1

        after = reached(MAX_RUN_BYTES)
        if not self._whole:
            after = min(after, max(first + RUN_RECORDS - self._run_records, reached(RUN_BYTES)))
        return min(max(after, first + 1), len(ends))

    def _is_full(self, *, at_end: bool) -> bool:
        """Whether the run ends here; `at_end`: where it is best to end."""
        most = MAX_RUN_BYTES // 2 if at_end else MAX_RUN_BYTES
        return (self._run_records >= RUN_RECORDS and self._run_bytes >= RUN_BYTES) or self._run_bytes >= most

    def _end_run(self) -> None:
        found = self._scan.outline()
        self._scan = _core.Statistics(None, bounds=True)
        run = len(self._starts)
        self._starts.append(self._records)
        self._offsets.append(self._bytes)
        _, (sequences, _), (other, _) = found["records"]
        self._sequences += sequences
        self._other += other
        if found["not_followed"]:
            self._complete = False
            self._unknown.append(run)
        for name, stats in found["features"].items():
            if (feature := self._noted(self._features, name, _FeatureRuns)) is not None:
                feature.add(run, self._records, stats)
        for name, stats in found["lists"].items():
            if (feature_list := self._noted(self._lists, name, _ListRuns)) is not None:
                feature_list.add(run, self._records, stats)
        self._records += self._run_records
        self._bytes += self._run_bytes
        self._run_records = self._run_bytes = 0

    def _noted(self, table: dict[str, _Noted], name: str, make: type[_Noted]) -> _Noted | None:
        """Return what is noted of a name; None if there are too many."""
        noted = table.get(name)
        if noted is None:
            if len(table) >= MAX_FEATURES:
                self._complete = False
                return None
            noted = table[name] = make()
        return noted


class _ListRuns:
    """The outline of one feature list, or of one feature, and in which runs it is."""

    def __init__(self) -> None:
        self.runs = array("q")
        self._records = self._unset = self._empty = 0
        self._values: tuple[int, int] | None = None
        self._steps: tuple[int, int] | None = None
        self._kinds: dict[int, KindOutline] = {}

    def add(self, run: int, first: int, stats: dict[str, Any]) -> None:
        """Add what native code has found in a run, of which `first` is the number of the first record."""
        self.runs.append(run)
        self._records += stats["records"]
        self._unset += stats["unset"]
        self._empty += stats["empty"]
        self._values = _wider(self._values, stats["counts"])
        self._steps = _wider(self._steps, stats["steps"])
        for kind in _KINDS:
            records, place, values = stats["kinds"][kind]
            if records:
                known = self._kinds.get(kind, KindOutline(0, 0, first + place))
                self._kinds[kind] = KindOutline(known.records + records, known.values + values, known.first)

    def outline(self) -> FeatureOutline:
        return FeatureOutline(
            self._records,
            self._unset,
            self._empty,
            *(self._values or (0, 0)),
            *(self._steps or (0, 0)),
            {kind: self._kinds[kind] for kind in _KINDS if kind in self._kinds},
        )


def _wider(known: tuple[int, int] | None, counts: tuple[int, ...]) -> tuple[int, int] | None:
    least, greatest, _, _, total = counts
    if not total:
        return known
    return (least, greatest) if known is None else (min(known[0], least), max(known[1], greatest))


class _FeatureRuns(_ListRuns):
    """One feature: an entry for each run that has it. Its kind is the first that it has."""

    def __init__(self) -> None:
        super().__init__()
        self._kind = 0
        self._known = array("b")
        self._single = array("b")
        self._open = array("b")
        self._present = array("q")
        self._count = array("q")
        self._nans = array("q")
        self._least: list[Any] | array[int] | array[float] = []
        self._greatest: list[Any] | array[int] | array[float] = []

    def add(self, run: int, first: int, stats: dict[str, Any]) -> None:
        super().add(run, first, stats)
        kinds = [kind for kind in _KINDS if stats["kinds"][kind][0]]
        if not self._kind and kinds:
            self._begin(min(kinds, key=lambda kind: stats["kinds"][kind][1]))
        known = set(kinds) <= {self._kind}
        present, _, values = stats["kinds"][self._kind] if known and kinds else (0, 0, 0)
        least, greatest, nans, is_open = self._bounds(stats) if values else (self._none, self._none, 0, False)
        counts = stats["counts"]
        self._known.append(known)
        self._single.append(known and (not present or counts[0] == counts[1] == 1))
        self._open.append(is_open)
        self._present.append(present)
        self._count.append(values)
        self._nans.append(nans)
        self._least.append(least)
        self._greatest.append(greatest)

    @property
    def _none(self) -> Any:
        """What stands for a bound that there is not."""
        return b"" if self._kind == _core.BYTES else 0

    def _begin(self, kind: int) -> None:
        """Settle the kind; runs before have entries without values."""
        self._kind = kind
        before = [self._none] * len(self._least)
        code = {_core.INT64: "q", _core.FLOAT: "f"}.get(kind)
        self._least = before if code is None else array(code, before)
        self._greatest = self._least[:]

    def _bounds(self, stats: dict[str, Any]) -> tuple[Any, Any, int, bool]:
        """Return the least and the greatest value of a run, the number of NaN, and whether there is no greatest."""
        if self._kind == _core.INT64:
            return *stats["ints"], 0, False
        if self._kind == _core.FLOAT:
            return *_float_bounds(*stats["floats"]), stats["floats"][2], False
        (least, _), (greatest, is_cut) = stats["bounds"]
        if is_cut:
            bound = rounded_up(greatest)
            return least, bound or b"", 0, bound is None
        return least, greatest, 0, False

    def zones(self, runs: int, hidden: npt.NDArray[np.int64]) -> FeatureZones | None:
        """Return an entry for each of all runs, of which nothing is known of the `hidden` ones; None without a kind."""
        if not self._kind:
            return None
        places = np.frombuffer(self.runs, np.int64)
        known = np.ones(runs, np.bool_)
        known[places] = np.frombuffer(self._known, np.int8)
        known[hidden] = False

        def spread(entries: Any, dtype: npt.DTypeLike, elsewhere: Any = 0) -> npt.NDArray[Any]:
            column = np.full(runs, elsewhere, dtype)
            column[places] = np.array(entries, dtype)
            column[~known] = 0
            return column

        def bound(entries: Any) -> npt.NDArray[Any] | BytesColumn:
            if self._kind != _core.BYTES:
                return spread(entries, np.int64 if self._kind == _core.INT64 else np.float32)
            all_runs = [b""] * runs
            for run, entry in zip(self.runs, entries, strict=True):
                all_runs[run] = entry if known[run] else b""
            return BytesColumn.from_list(all_runs)

        return FeatureZones(
            kind=self._kind,
            known=known,
            present=spread(self._present, np.int64),
            values=spread(self._count, np.int64),
            least=bound(self._least),
            greatest=bound(self._greatest),
            open_above=spread(self._open, np.bool_),
            nans=spread(self._nans, np.int64),
            single=spread(self._single, np.bool_, True),
        )


def _float_bounds(low: float, high: float, _: int, infinities: int, negative: int) -> tuple[float, float]:
    """Return the least and the greatest float that is not NaN, if there is one; of two zeros -0.0 is the lesser."""
    found = [low, high] if low <= high else []
    found += [math.inf] * bool(infinities) + [-math.inf] * bool(negative)
    least, greatest = min(found, default=0.0), max(found, default=0.0)
    return (-0.0 if least == 0 else least), (0.0 if greatest == 0 else greatest)


def _outlines(found: dict[str, Any]) -> dict[str, FeatureOutline]:
    return {name: found[name].outline() for name in sorted(found)}
