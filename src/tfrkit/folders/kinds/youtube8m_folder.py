"""YouTube-8M: Examples of videos, or SequenceExamples with numbers of 8 bits for each second. No file describes them.

The names of the files and the first record say what a folder is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.data.dataset import Dataset
from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.folders.folder_kind import (
    FolderDescription,
    FolderListing,
    FolderSplit,
    RecordDecoder,
    Shard,
    SpecDecoder,
)
from tfrkit.model.specs import FixedLenFeature, FixedLenSequenceFeature, Spec, VarLenFeature
from tfrkit.records.describe.inspect import inspect
from tfrkit.records.describe.schema import Schema

__all__ = ["FramesDecoder", "Youtube8mFolder", "dequantize_frames"]

_FILE: Final = re.compile(r"(train|validate|test)[A-Za-z0-9_-]{2,4}\.tfrecord")
_SIZES: Final = {"rgb": 1024, "audio": 128}
_ID: Final = ("id", "video_id")  # today's name, and that of the first release
_CONTEXT: Final = {
    "labels": "int64",
    "segment_labels": "int64",
    "segment_start_times": "int64",
    "segment_end_times": "int64",
    "segment_scores": "float32",
}


class Youtube8mFolder:
    """Videos or frames of YouTube-8M."""

    name = "youtube8m"

    def recognises(self, listing: FolderListing) -> bool:
        """By names such as train0093.tfrecord, if the first record has features of that name."""
        names = _names(listing)
        if not names:
            return False
        try:
            return _decoder(_look(listing, names)) is not None
        except OpError:
            return False

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Put the files of each split together."""
        names = _names(listing)
        decoder = _decoder(_look(listing, names))
        assert decoder is not None
        shards: dict[str, list[Shard]] = {}
        for name in names:
            found = _FILE.fullmatch(name)
            assert found is not None
            shards.setdefault(found[1], []).append(Shard(listing.join(name)))
        splits = {split: FolderSplit(split, tuple(each)) for split, each in shards.items()}
        return FolderDescription(listing.path, self.name, "YouTube-8M", "", splits, decoder)


@dataclass(frozen=True)
class FramesDecoder:
    """Frames as arrays of numbers of 8 bits, a row for each second.

    Attributes:
        context: what is said of the video.
        frames: the lists that there are.
    """

    context: Spec
    frames: tuple[str, ...]

    def decoded(self, records: Dataset, *, images: bool) -> Dataset:
        lists = {name: FixedLenSequenceFeature([], "bytes") for name in self.frames}
        return records.parse_sequence(self.context, lists).map(self._rows)

    def lines(self) -> list[str]:
        rows = (f"{name}: uint8(?, {_SIZES[name]})" for name in self.frames)
        return [*SpecDecoder(self.context).lines(), *rows]

    def class_names(self) -> Mapping[str, tuple[str, ...]]:
        return {}

    def _rows(self, context: Any, lists: Any) -> dict[str, Any]:
        return {**context, **{name: _frames(name, list(lists[name])) for name in self.frames}}


def dequantize_frames(
    values: npt.ArrayLike, max_quantized_value: float = 2.0, min_quantized_value: float = -2.0
) -> npt.NDArray[np.float32]:
    """Return numbers of 8 bits as the floats that they stand for, as YouTube-8M keeps features of frames.

    Args:
        values: the numbers, of any shape.
        max_quantized_value: what 255 stands for, nearly: each number stands for the middle of its range.
        min_quantized_value: the lower end of what 0 stands for.

    Raises:
        InvalidArgumentError: the first limit is not above the second.

    >>> dequantize_frames(np.array([0, 128, 255], np.uint8)).round(3)
    array([-1.992,  0.016,  2.008], dtype=float32)
    """
    if not max_quantized_value > min_quantized_value:
        raise InvalidArgumentError(
            f"Expected max_quantized_value above min_quantized_value but got {max_quantized_value} and "
            f"{min_quantized_value}."
        )
    width = max_quantized_value - min_quantized_value
    scale, bias = np.float32(width / 255.0), np.float32(width / 512.0 + min_quantized_value)
    return np.asarray(values, np.float32) * scale + bias


def _names(listing: FolderListing) -> list[str]:
    return sorted(name for name in listing.names if _FILE.fullmatch(name))


def _look(listing: FolderListing, names: list[str]) -> Schema:
    """Look at the first record that there is."""
    found = (inspect([listing.join(name)], sample=1) for name in names)
    first = next(found)
    return first if first.records else next((schema for schema in found if schema.records), first)


def _decoder(schema: Schema) -> RecordDecoder | None:
    """Return what decodes records like the first; None if it is of something else."""
    key = next((name for name in _ID if name in schema.features), "")
    if not key:
        return None
    context: Spec = {
        key: FixedLenFeature([], "bytes"),
        **{name: VarLenFeature(dtype) for name, dtype in _CONTEXT.items() if name in schema.features},
        "labels": VarLenFeature("int64"),
    }
    frames = tuple(name for name in _SIZES if name in schema.feature_lists)
    if frames:
        return FramesDecoder(context, frames)
    means = {f"mean_{name}": size for name, size in _SIZES.items() if f"mean_{name}" in schema.features}
    sizes: Spec = {name: FixedLenFeature([size], "float32") for name, size in means.items()}
    return SpecDecoder({**context, **sizes}) if sizes else None


def _frames(name: str, values: list[bytes]) -> npt.NDArray[np.uint8]:
    size = _SIZES[name]
    wrong = next((number for number, value in enumerate(values) if len(value) != size), None)
    if wrong is not None:
        raise InvalidArgumentError(
            f"{name}: expected {size} bytes for each second but got {len(values[wrong])} for second {wrong}."
        )
    return np.frombuffer(b"".join(values), np.uint8).reshape((len(values), size)).copy()
