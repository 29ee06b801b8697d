"""Marks images whose sizes TensorFlow would not know when it makes a graph.

These are images that a function of `Dataset.map` decodes. TensorFlow 1's `resize` returns an image as it is if it has
the size already, but resizes these, into another type. The arrays are marked as long as they exist.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tfrkit.values.seeds import in_scope

__all__ = ["NOTED", "decodes", "follow", "is_unsized", "note_shape", "note_sizes"]

NOTED: Final[dict[int, weakref.ref[Any]]] = {}  # by id; empty in programs that decode nothing in a map
_DECODERS: Final = frozenset(
    f"decode_{name}" for name in ("and_crop_jpeg", "bmp", "gif", "image", "jpeg", "png", "webp")
)
_SIZERS: Final = frozenset(
    (
        "reshape",
        "crop_to_bounding_box",
        "pad_to_bounding_box",
        "random_crop",
        "stateless_random_crop",
        "slice",
    )
)


def is_unsized(array: Any) -> bool:
    """Whether TensorFlow would not know the height and width of this very array."""
    noted = NOTED.get(id(array))
    return noted is not None and noted() is array


def decodes(name: str) -> bool:
    """Whether an operation of this name returns images whose sizes only the data determines."""
    return name in _DECODERS


def note_sizes(array: Any, known: bool) -> None:
    """Note whether the sizes of an array are known, in a function of which TensorFlow would make a graph."""
    key = id(array)
    if known:
        NOTED.pop(key, None)
    elif type(array) is np.ndarray and in_scope():
        NOTED[key] = weakref.ref(array, lambda _: NOTED.pop(key, None))


def note_shape(array: Any, shape: Sequence[int | None]) -> None:
    """Note that an array is said to have a shape; its sizes are known then if height and width are in it."""
    if len(shape) >= 3 and None not in shape[-3:-1]:
        note_sizes(array, known=True)


def follow(name: str, given: list[Any], found: Any) -> None:
    """Note of a result what its operation makes of the sizes of its arguments."""
    if name in _SIZERS or "resize" in name:
        note_sizes(found, known=True)
    elif any(map(is_unsized, given)) and found.ndim >= 3:
        note_sizes(found, known=False)
