"""The features of examples that nobody has described: by the values of some of them. Pure: no I/O.

Numbers keep their type, but floats become the float32 that Examples store; sizes that differ stay open. Files of images
and arrays that are images become Images.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.folders.feature_tree import (
    STRING,
    ArrayFeature,
    DictFeature,
    Dims,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
)
from tfrkit.images.codecs.image_format import JPEG_MAGIC, PNG_MAGIC
from tfrkit.images.codecs.image_header import BadImageError, read_image_header
from tfrkit.model.features import shown

__all__ = ["infer_features"]

_IMAGE: Final[Dims] = (None, None, 3)
_CHANNELS: Final = (1, 3, 4)  # of arrays that are taken for images


def infer_features(examples: Iterable[Any]) -> FeatureTree:
    """Return the features that examples have.

    Raises:
        InvalidArgumentError: values of one feature do not go together, or say nothing.

    >>> print(*infer_features([{"x": 1, "tags": ["a", "b"]}]).features.values())
    Scalar(int64) SequenceFeature(feature=ArrayFeature(dtype='string', shape=(), encoding='none', optional=False, \
kind='Text', class_names=(), classes=None), length=None, steps=False, kind='Sequence')
    """
    tree = _infer(list(examples), "", sequences=0)
    if not isinstance(tree, DictFeature):
        raise InvalidArgumentError("Expected examples as dicts of values by the names of features.")
    return tree


def _infer(values: list[Any], key: str, *, sequences: int) -> FeatureTree:
    there = [value for value in values if value is not None]
    optional = len(there) < len(values)
    if not there:
        raise _unclear(key, "there is no value")
    if all(isinstance(value, Mapping) for value in there):
        return _infer_dict(there, key, sequences)
    if all(_is_list(value) for value in there):
        elements = [element for value in there for element in value]
        return SequenceFeature(_infer(elements, key, sequences=sequences + 1))
    if all(isinstance(value, str) for value in there):
        return ArrayFeature(STRING, optional=optional, kind="Text")
    if all(isinstance(value, bytes) for value in there):
        if all(value.startswith((PNG_MAGIC, JPEG_MAGIC)) for value in there):
            return ImageFeature(_of_files(there))
        return ArrayFeature(STRING, optional=optional, kind="Scalar")
    return _infer_array(there, key, optional=optional, sequences=sequences)


def _infer_dict(values: list[Mapping[str, Any]], key: str, sequences: int) -> DictFeature:
    names = dict.fromkeys(name for value in values for name in value)
    return DictFeature(
        {
            name: _infer(
                [value.get(name) for value in values],
                f"{key}/{name}" if key else str(name),
                sequences=sequences,
            )
            for name in names
        }
    )


def _is_list(value: Any) -> bool:
    return not isinstance(value, (str, bytes, Mapping, np.ndarray, np.generic)) and isinstance(
        value, Iterable
    )


def _infer_array(values: list[Any], key: str, *, optional: bool, sequences: int) -> FeatureTree:
    arrays = [np.asarray(value) for value in values]
    if len({array.ndim for array in arrays}) > 1:
        raise _unclear(key, f"there are values such as {shown(values[0])} and others of another rank")
    dtype = _common_type(arrays, key)
    sizes = zip(*(array.shape for array in arrays), strict=True)
    shape = tuple(size[0] if len(set(size)) == 1 else None for size in sizes)
    if dtype == "uint8" and len(shape) == 3 and shape[-1] in _CHANNELS and all(each.size for each in arrays):
        return ImageFeature(shape)
    if not shape:
        return ArrayFeature(dtype, optional=optional, kind="Scalar")
    open_sizes = shape.count(None)
    if sequences and shape == (None,):
        return SequenceFeature(ArrayFeature(dtype, kind="Scalar"))
    whole = dtype != STRING and open_sizes > (0 if sequences else 1)
    return ArrayFeature(dtype, shape, "zlib" if whole else "none", optional and not open_sizes)


def _common_type(arrays: list[Any], key: str) -> str:
    kinds = {array.dtype.kind for array in arrays}
    if kinds <= set("USO") and all(_is_text(array) for array in arrays):
        return STRING
    if not kinds <= set("biufV"):
        wrong = next(array for array in arrays if array.dtype.kind not in "biufV")
        raise _unclear(key, f"there is {shown(wrong.ravel()[:1].tolist()[0] if wrong.size else wrong.dtype)}")
    found = np.result_type(*{array.dtype for array in arrays})
    return "float32" if found == np.float64 else found.name


def _is_text(array: Any) -> bool:
    return all(isinstance(value, (str, bytes)) for value in array.ravel().tolist())


def _of_files(files: list[bytes]) -> Dims:
    """Return the shape of images: their channels, if all have as many."""
    channels = set()
    for file in files:
        try:
            channels.add(read_image_header(bytearray(file), 0, len(file)).channels)
        except BadImageError:
            return _IMAGE
    return (None, None, channels.pop()) if len(channels) == 1 and channels <= set(_CHANNELS) else _IMAGE


def _unclear(key: str, text: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"feature {key!r}: {text}, which does not say what it is. Describe it: features={{...}}."
    )
