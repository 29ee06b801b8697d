"""The bytes of a file of zones, as FORMAT.md describes them. Pure: no I/O.

Files may be damaged or hostile: everything is checked, and memory is in proportion to the file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.block import IntArray
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.access.zone_values import FeatureOutline, FeatureZones, KindOutline, ShardOutline, Zones

__all__ = ["BOUND_BYTES", "MAX_FEATURES", "MAX_ZONE_BYTES", "decode_zones", "encode_zones"]

MAX_FEATURES: Final = 1000  # that are noted, and as many feature lists
MAX_ZONE_BYTES: Final = 1 << 28
BOUND_BYTES: Final = 16  # of a byte string that a bound has

_MAGIC: Final = b"TFRKZON1"
_HEAD: Final = struct.Struct(
    "<8sIIQQQQQQII"
)  # magic, flags, tail CRC, shard, stream, records, runs, sequences, other, features, lists
_ENTRY: Final = struct.Struct("<II")  # bytes of the name, kind
_OUTLINE: Final = struct.Struct("<16Q")  # of the entry's feature
_CRC: Final = struct.Struct("<I")
_Value = TypeVar("_Value")
_Taken: TypeAlias = dict[str, tuple[int, memoryview, memoryview]]  # by name: kind, outline, entries of runs
_COMPLETE: Final = 1
_KNOWN, _SINGLE, _OPEN = 1, 2, 4
_KINDS: Final = (_core.BYTES, _core.FLOAT, _core.INT64)
_COUNTS: Final = [("flags", "u1"), ("present", "<i8"), ("values", "<i8")]
_ROWS: Final[dict[int, np.dtype[Any]]] = {
    _core.INT64: np.dtype([*_COUNTS, ("least", "<i8"), ("greatest", "<i8")]),
    _core.FLOAT: np.dtype([*_COUNTS, ("nans", "<i8"), ("least", "<f4"), ("greatest", "<f4")]),
    _core.BYTES: np.dtype(
        [
            *_COUNTS,
            ("least_bytes", "u1"),
            ("least", "u1", BOUND_BYTES),
            ("greatest_bytes", "u1"),
            ("greatest", "u1", BOUND_BYTES),
        ]
    ),
}


def encode_zones(zones: Zones) -> bytes:
    """Return the content of a file of zones."""
    names = zones.outline.features
    parts = [
        _HEAD.pack(
            _MAGIC,
            _COMPLETE if zones.complete else 0,
            zones.tail_crc,
            zones.shard_bytes,
            zones.stream_bytes,
            zones.records,
            len(zones),
            zones.sequences,
            zones.other,
            len(names),
            len(zones.outline.lists),
        ),
        np.stack([zones.starts, zones.offsets], axis=1).astype("<i8").tobytes(),
    ]
    for name in sorted(names, key=str.encode):
        parts += _entry(name, names[name], zones.features.get(name))
    for name in sorted(zones.outline.lists, key=str.encode):
        parts += _entry(name, zones.outline.lists[name], None)
    body = b"".join(parts)
    return body + _CRC.pack(_core.crc32c(body))


def _entry(name: str, outline: FeatureOutline, zones: FeatureZones | None) -> list[bytes]:
    key = name.encode()
    kinds = [outline.kinds.get(kind, KindOutline(0, 0, 0)) for kind in _KINDS]
    head = _ENTRY.pack(len(key), 0 if zones is None else zones.kind)
    head += _OUTLINE.pack(
        outline.records,
        outline.unset,
        outline.empty,
        outline.least_values,
        outline.most_values,
        outline.least_steps,
        outline.most_steps,
        *(number for kind in kinds for number in (kind.records, kind.values, kind.first)),
    )
    return [head, key] if zones is None else [head, key, _rows(zones).tobytes()]


def _rows(zones: FeatureZones) -> npt.NDArray[Any]:
    rows = np.zeros(len(zones.known), _ROWS[zones.kind])
    rows["flags"] = zones.known * _KNOWN + zones.single * _SINGLE + zones.open_above * _OPEN
    rows["present"], rows["values"] = zones.present, zones.values
    if zones.kind == _core.FLOAT:
        rows["nans"] = zones.nans
    for name, bound in (("least", zones.least), ("greatest", zones.greatest)):
        if isinstance(bound, BytesColumn):
            rows[f"{name}_bytes"] = bound.lengths
            used = np.arange(BOUND_BYTES) < bound.lengths[:, None]
            heads = np.zeros(used.shape, np.uint8)
            heads[used] = bound.used()
            rows[name] = heads
        else:
            rows[name] = bound
    return rows


# -- reading -----------------------------------------------------------------------------------------------------------


class _Cursor:
    """Takes bytes from front to back.

    Raises:
        ValueError: there are not as many.
    """

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0
        self._end = len(data) - _CRC.size

    def take(self, size: int) -> memoryview:
        if size > self._end - self._at:
            raise ValueError("bad zones: too short")
        self._at += size
        return self._data[self._at - size : self._at]

    def numbers(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.take(layout.size))

    def rows(self, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        return np.frombuffer(self.take(count * dtype.itemsize), dtype)

    def end(self) -> None:
        _check(self._at == self._end, "too long")


def _check(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"bad zones: {what}")


class _Entries(Mapping[str, _Value]):
    """What a file says of features by name, decoded and checked when it is looked at: most of it never is.

    Raises:
        ValueError: what it says is not in order.
    """

    def __init__(self, decode: Callable[[str], _Value], names: Collection[str]) -> None:
        self._decode, self._names = decode, dict.fromkeys(names)
        self._known: dict[str, _Value] = {}

    def __getitem__(self, name: str) -> _Value:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._decode(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def decode_zones(data: bytes, looked_at: Collection[str] | None = None) -> Zones:
    """Read the content of a file of zones.

    Args:
        data: the content.
        looked_at: which features the caller looks at, and checks; None: all. Others are decoded if they are looked at
            nevertheless, and may then raise the same error.

    Raises:
        ValueError: it is not one, or damaged; the text says how.
    """
    _check(_HEAD.size + _CRC.size <= len(data) <= MAX_ZONE_BYTES, "size")
    cursor = _Cursor(data)
    head = cursor.numbers(_HEAD)
    magic, flags, tail_crc, shard_bytes, stream_bytes, records, runs, sequences, other, features, lists = head
    _check(magic == _MAGIC, "magic")
    _check(_CRC.unpack(data[-_CRC.size :])[0] == _core.crc32c(memoryview(data)[: -_CRC.size]), "checksum")
    _check(flags <= _COMPLETE, "flags")
    _check(max(shard_bytes, stream_bytes, records, sequences, other) < 2**63, "a number over 2^63 - 1")
    _check(features <= MAX_FEATURES and lists <= MAX_FEATURES, "too many features")
    _check(sequences + other <= records, "more SequenceExamples than records")
    table = cursor.rows(2 * runs, np.dtype("<i8")).reshape(-1, 2)
    starts, offsets = (np.ascontiguousarray(table[:, side], np.int64) for side in (0, 1))
    _check_runs(starts, records, 1, "starts of runs")
    _check_runs(offsets, stream_bytes, 16, "offsets of runs")
    lengths = np.diff(starts, append=records)
    found, found_lists = (_take_entries(cursor, count, len(lengths)) for count in (features, lists))
    _check(not any(kind for kind, _, _ in found_lists.values()), "zones of a feature list")
    cursor.end()
    outline = ShardOutline(_outlines(found, records), _outlines(found_lists, records))
    zoned = _zoned(found, outline, lengths)
    for entries in (zoned, outline.features, outline.lists):
        for name in entries if looked_at is None else looked_at:
            entries.get(name)
    return Zones(
        shard_bytes=shard_bytes,
        tail_crc=tail_crc,
        starts=starts,
        offsets=offsets,
        records=records,
        stream_bytes=stream_bytes,
        sequences=sequences,
        other=other,
        complete=bool(flags & _COMPLETE),
        features=zoned,
        outline=outline,
    )


def _check_runs(starts: IntArray, end: int, least: int, what: str) -> None:
    """Check that runs begin at 0 and that each, up to the end, has at least a number of records, or of bytes."""
    if len(starts):
        rising = starts[0] == 0 and (starts[1:] - least >= starts[:-1]).all() and starts[-1] <= end - least
        _check(rising, what)
    else:
        _check(end == 0, what)


def _outlines(found: _Taken, records: int) -> Mapping[str, FeatureOutline]:
    return _Entries(lambda name: _outline(found[name][1], records), found)


def _zoned(found: _Taken, outline: ShardOutline, lengths: IntArray) -> Mapping[str, FeatureZones]:
    def decode(name: str) -> FeatureZones:
        kind, _, rows = found[name]
        _check(kind in outline.features[name].kinds, "kind of a feature")
        return _feature(kind, np.frombuffer(rows, _ROWS[kind]), lengths)

    return _Entries(decode, [name for name, (kind, _, _) in found.items() if kind])


def _take_entries(cursor: _Cursor, count: int, runs: int) -> _Taken:
    """Take entries as they are."""
    found: _Taken = {}
    before = None
    for _ in range(count):
        name_bytes, kind = cursor.numbers(_ENTRY)
        outline = cursor.take(_OUTLINE.size)
        key = bytes(cursor.take(name_bytes))
        _check(before is None or before < key, "order of names")
        before = key
        _check(not kind or kind in _ROWS, "kind of a feature")
        rows = cursor.take(runs * _ROWS[kind].itemsize if kind else 0)
        found[key.decode()] = kind, outline, rows  # UnicodeDecodeError is a ValueError
    return found


def _outline(data: memoryview, records: int) -> FeatureOutline:
    numbers = _OUTLINE.unpack(data)
    _check(max(numbers) < 2**63, "a number over 2^63 - 1")
    of_kinds: Mapping[int, tuple[int, ...]] = {
        kind: numbers[7 + 3 * at : 10 + 3 * at] for at, kind in enumerate(_KINDS)
    }
    kinds = {kind: KindOutline(*found) for kind, found in of_kinds.items() if found[0]}
    present, unset, empty, least_values, most_values, least_steps, most_steps = numbers[:7]
    outline = FeatureOutline(present, unset, empty, least_values, most_values, least_steps, most_steps, kinds)
    _check(outline.records <= records, "records with a feature")
    _check(outline.least_values <= outline.most_values, "counts of values")
    _check(outline.least_steps <= outline.most_steps, "counts of steps")
    good = (kind.records <= outline.records and kind.first < records for kind in kinds.values())
    _check(all(good), "records with a kind")
    return outline


def _feature(kind: int, rows: npt.NDArray[Any], lengths: IntArray) -> FeatureZones:
    flags = rows["flags"]
    present, values = rows["present"].astype(np.int64), rows["values"].astype(np.int64)
    nans = rows["nans"].astype(np.int64) if kind == _core.FLOAT else np.zeros(len(rows), np.int64)
    zones = FeatureZones(
        kind=kind,
        known=(flags & _KNOWN) != 0,
        present=present,
        values=values,
        least=_bound(rows, "least"),
        greatest=_bound(rows, "greatest"),
        open_above=(flags & _OPEN) != 0,
        nans=nans,
        single=(flags & _SINGLE) != 0,
    )
    _check((flags <= _KNOWN + _SINGLE + _OPEN).all(), "flags of a run")
    _check((kind == _core.BYTES) or not zones.open_above.any(), "flags of a run")
    _check(((present >= 0) & (present <= lengths)).all(), "records with a feature")
    _check(((values >= 0) & (nans >= 0) & (nans <= values)).all(), "counts of values")
    _check((values[zones.single] == present[zones.single]).all(), "single values")
    _check_order(zones)
    return zones


def _bound(rows: npt.NDArray[Any], name: str) -> npt.NDArray[Any] | BytesColumn:
    if f"{name}_bytes" not in (rows.dtype.names or ()):
        return rows[name].astype(rows.dtype[name].newbyteorder("="))
    lengths = rows[f"{name}_bytes"].astype(np.int64)
    _check((lengths <= BOUND_BYTES).all(), "length of a bound")
    used = np.arange(BOUND_BYTES) < lengths[:, None]
    return BytesColumn.unchecked(rows[name][used], np.concatenate([[0], np.cumsum(lengths)]))


def _check_order(zones: FeatureZones) -> None:
    """Check that bounds which mean something are in order, and not NaN."""
    least, greatest = zones.least, zones.greatest
    bounded = zones.known & (zones.values > zones.nans)
    if isinstance(least, BytesColumn) and isinstance(greatest, BytesColumn):
        pairs = zip(least.to_list(), greatest.to_list(), bounded & ~zones.open_above, strict=True)
        _check(all(low <= high for low, high, counts in pairs if counts), "order of bounds")
    else:
        _check(np.all(least[bounded] <= greatest[bounded]), "order of bounds")
