"""RecordOrder: records in the order of a key: a value of one feature, how many bytes it has, the look of an image.

Records are read once. Of each its place and its key stay in memory, at most `_MOST_BYTES` of them: the first ones in
the order, however many there are. Records that are equal stay in the order of the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.images.codecs.image_header import BadImageError, read_image_header
from tfrkit.model.block import Block
from tfrkit.model.near_names import near_names
from tfrkit.records.read.feature_columns import block_pieces, ragged_of
from tfrkit.threads import default_threads, spawn_all
from tfrkit.viewer.shown.cells import number_json
from tfrkit.viewer.shown.rows import MatchedRecord
from tfrkit.viewer.shown.thumbs import decoded_picture

__all__ = ["RecordOrder", "SortedMatches"]

_MEASURES: Final = ("value", "bytes", "width", "height", "brightness")
_MOST_BYTES: Final = 16 << 20  # of places and keys: a million numbers
_TEXT_BYTES: Final = 64  # of texts that are compared: what begins alike is equal
_SMALL: Final = 64  # pixels of the longer side of a JPEG, of which the brightness is taken
_LUMA: Final = (0.299, 0.587, 0.114)
_RECORD_BITS: Final = 40  # of a place: the file stands above
_KEYED, _MISSING, _UNDECODABLE = range(3)
_CODES: Final = {"int64": _core.INT64, "float32": _core.FLOAT, "bytes": _core.BYTES}
_TYPES: Final = {"int64": "i8", "float32": "f4", "bytes": f"S{_TEXT_BYTES}"}
_Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class RecordOrder:
    """What records are sorted by.

    Attributes:
        measure: one of `_MEASURES`, of the first value of the feature.
        feature: its name; "" with the measure "bytes": the whole record.
        kind: of its values: "int64", "float32" or "bytes".
        descending: whether the greatest come first.
    """

    measure: str
    feature: str
    kind: str
    descending: bool

    @classmethod
    def of(cls, text: Any, kinds: Mapping[str, str]) -> RecordOrder | None:
        """Return an order as a page asks for it: "value:score", with "-" before it from the greatest on.

        Args:
            text: the order; none if it is empty.
            kinds: of the features that are known, "" of one with several.

        Raises:
            InvalidArgumentError: it is not an order, or the feature does not have this measure.
        """
        if not text:
            return None
        measure, _, feature = str(text).removeprefix("-").partition(":")
        if measure not in _MEASURES:
            known = ", ".join(_MEASURES)
            raise InvalidArgumentError(
                f"order: expected one of {known} and a feature but got {str(text)!r:.80}"
            )
        kind = kinds.get(feature, "") if feature or measure != "bytes" else "bytes"
        if not kind or (measure != "value" and kind != "bytes"):
            several = (
                "has several kinds of values" if feature in kinds else near_names(feature, sorted(kinds))
            )
            raise InvalidArgumentError(
                f"order: {measure} needs a feature {'of one kind' if measure == 'value' else 'of bytes'} "
                f"but got {feature!r:.80}: {f'it is {kind}' if kind else several}"
            )
        return cls(measure, feature, kind, str(text).startswith("-"))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the keys."""
        others = {"value": _TYPES[self.kind], "bytes": "i8"}
        return np.dtype(others.get(self.measure, "f8"))

    def keys(self, block: Block) -> tuple[_Array, npt.NDArray[np.uint8]]:
        """Return the keys of the records that have one, and for each record whether it has one, or why not."""
        if not self.feature and self.measure == "bytes":
            return block.lengths, np.full(len(block), _KEYED, np.uint8)
        plan = _core.ExamplePlan([(self.feature, _CODES[self.kind], -1, 1, None)])
        columns, _, failure = plan.parse(block_pieces([block]), _core.PROTOBUF, 0)
        if failure is None:
            rows = ragged_of(columns[0])
            has = rows.row_lengths() > 0
            keys = self._measured(rows.values, rows.row_splits[:-1][has])
            states = np.where(has, _KEYED, _MISSING).astype(np.uint8)
            if keys.dtype.kind == "f":  # NaN of a value, or of an image that does not decode
                without = _MISSING if self.measure == "value" else _UNDECODABLE
                states[has] = np.where(np.isnan(keys), without, _KEYED)
                keys = keys[~np.isnan(keys)]
            return keys, states
        if len(block) == 1:  # of another kind, or no Example
            return np.zeros(0, self.dtype), np.array([_UNDECODABLE], np.uint8)
        half = len(block) // 2
        one, other = self.keys(block[:half]), self.keys(block[half:])
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])

    def _measured(self, values: Any, places: _Array) -> _Array:
        """Return the keys of some of the values of a feature."""
        if self.measure == "bytes":
            return np.asarray(values.lengths[places], np.int64)
        some = values[places]
        if self.measure != "value":
            return np.array(spawn_all(self._look, some.to_list(), default_threads()), np.float64)
        if self.kind == "bytes":
            some = [value[:_TEXT_BYTES] for value in some.to_list()]
        return np.array(some, self.dtype)

    def _look(self, data: bytes) -> float:
        """Measure an image; NaN if it does not decode."""
        try:
            if self.measure != "brightness":
                header = read_image_header(bytearray(data), 0, len(data))
                return float(header.width if self.measure == "width" else header.height)
            pixels = decoded_picture(data, _SMALL)
        except (BadImageError, OpError):
            return float("nan")
        weights = _LUMA if pixels.shape[2] == 3 else (1.0,)
        return float(np.dot(pixels.reshape(-1, len(weights)).mean(axis=0), weights) / 255)


class SortedMatches:
    """The records of a search in an order: one thread adds, and any other reads when it has finished.

    Records without a key come last: first those without a value or with NaN, then those that do not decode.

    Args:
        order: what they are sorted by.
        limit: how many are kept of those with a key, without a value, and that do not decode.

    Attributes:
        count: how many were found.
        kept: how many can be asked for; 0 until all are there.
    """

    def __init__(self, order: RecordOrder, limit: int | None = None) -> None:
        self.count = self.kept = 0
        self._order = order
        self._limit = limit or _MOST_BYTES // (8 + order.dtype.itemsize)
        self._keyed: list[tuple[_Array, _Array]] = []  # places and keys
        self._held = 0
        self._others: dict[int, list[_Array]] = {_MISSING: [], _UNDECODABLE: []}
        self._without = {_MISSING: 0, _UNDECODABLE: 0}
        self._places = self._keys = np.zeros(0, np.int64)

    def add(self, file: int, numbers: Any, block: Block) -> None:
        """Add the records of a block, which come after those that are there."""
        keys, states = self._order.keys(block)
        places = np.asarray(numbers, np.int64) | (file << _RECORD_BITS)
        self._keyed.append((places[states == _KEYED], keys))
        self._held += len(keys)
        self.count += len(places)
        for state, others in self._others.items():
            some = places[states == state]
            others.append(some[: max(0, self._limit - self._without[state])])
            self._without[state] += len(some)
        if self._held >= 2 * self._limit:
            self._sort()

    def finish(self) -> None:
        """Sort what was added."""
        if not self.count:
            return
        self._sort()
        [(places, self._keys)] = self._keyed
        self._places = np.concatenate([places, *self._others[_MISSING], *self._others[_UNDECODABLE]])
        self._keyed, self._others = [], {}
        self.kept = len(self._places)

    def _sort(self) -> None:
        """Make one part of all, sorted and not longer than the limit."""
        places, keys = (np.concatenate(each) for each in zip(*self._keyed, strict=True))
        chosen = np.argsort(keys[::-1] if self._order.descending else keys, kind="stable")
        if self._order.descending:  # backwards twice: equal keys stay as they are
            chosen = len(keys) - 1 - chosen[::-1]
        chosen = chosen[: self._limit]
        self._keyed, self._held = [(places[chosen], keys[chosen])], len(chosen)

    def event(self) -> dict[str, Any]:
        """Return what the page is told of them."""
        missing, undecodable = self._without.values()
        return {"matches": self.count, "kept": self.kept, "missing": missing, "undecodable": undecodable}

    def slice(self, start: int, count: int) -> list[MatchedRecord]:
        """Return some records by their numbers in the order."""
        found: list[MatchedRecord] = []
        for at in range(start, min(self.kept, start + count)):
            file, record = divmod(int(self._places[at]), 1 << _RECORD_BITS)
            is_number = at < len(self._keys) and self._keys.dtype.kind != "S"
            found.append(
                MatchedRecord(file, record, None, number_json(self._keys[at]) if is_number else None)
            )
        return found
