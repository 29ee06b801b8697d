"""`tfr.features`: the features of a data set, by the names that they have in TensorFlow Datasets.

Each function returns a part of a tree of features (`feature_tree.py`), for `tfr.write_tfds`. Wherever a feature is
expected, a dict is a `FeaturesDict`, and a type such as `np.int64`, `"int64"` or `str` a `Scalar` of it; an expectation
of `parse_example`, such as `tfr.FixedLenFeature([], "int64")`, is the `Tensor` of these values. Pure: no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Several
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.folders.feature_tree import (
    STRING,
    ArrayFeature,
    DictFeature,
    Dims,
    Encoding,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
    UnknownFeature,
    numpy_dtype,
)
from tfrkit.model.features import shown
from tfrkit.model.specs import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature

__all__ = [
    "Audio",
    "BBoxFeature",
    "ClassLabel",
    "Dataset",
    "FeaturesDict",
    "Image",
    "LabeledImage",
    "Scalar",
    "Sequence",
    "Tensor",
    "Text",
    "Translation",
    "TranslationVariableLanguages",
    "Video",
    "to_feature",
]

_TREES: Final = (ArrayFeature, ImageFeature, SequenceFeature, DictFeature, UnknownFeature)
_PYTHON: Final[Mapping[Any, str]] = {int: "int64", float: "float32", bool: "bool", str: STRING, bytes: STRING}


def FeaturesDict(features: Mapping[str, Any]) -> DictFeature:
    """Features by name.

    >>> FeaturesDict({"x": "int64"}).features["x"]
    ArrayFeature(dtype='int64', shape=(), encoding='none', optional=False, kind='Scalar', class_names=(), classes=None)
    """
    for name in features:
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError(f"Expected the name of a feature but got {shown(name)}.")
    return DictFeature({name: to_feature(each) for name, each in features.items()})


def Tensor(
    shape: Several[int | None] = (),
    dtype: Any = "float32",
    *,
    encoding: Encoding = "none",
    optional: bool = False,
) -> ArrayFeature:
    """Numbers or byte strings.

    Args:
        shape: None where a size differs from example to example: one size at most, unless there is an encoding.
        dtype: of numpy; str or "string" for byte strings. float64 is stored as float32, unless there is an encoding.
        encoding: "bytes" or "zlib" stores all numbers as one byte string, exactly.
        optional: an example may have None.
    """
    return ArrayFeature(_dtype(dtype), _shape(shape), encoding, optional)


def Scalar(dtype: Any = "int8", *, optional: bool = False) -> ArrayFeature:
    """One number or byte string; see `Tensor`."""
    return ArrayFeature(_dtype(dtype), optional=optional, kind="Scalar")


def ClassLabel(names: Several[str] = (), *, num_classes: int | None = None) -> ArrayFeature:
    """A class: values are numbers from 0 on, or names; -1 is no class.

    Args:
        names: of the classes, in the order of their numbers.
        num_classes: how many there are, if they have no names.
    """
    chosen = _class_names(names)
    return ArrayFeature("int64", kind="ClassLabel", class_names=chosen, classes=_classes(chosen, num_classes))


def Text() -> ArrayFeature:
    """A text, stored as UTF-8."""
    return ArrayFeature(STRING, kind="Text")


def BBoxFeature() -> ArrayFeature:
    """A box: ymin, xmin, ymax and xmax as parts of the image's sides."""
    return ArrayFeature("float32", (4,), kind="BBoxFeature")


def Audio(
    *, shape: Several[int | None] = (None,), dtype: Any = "int64", encoding: Encoding = "none"
) -> ArrayFeature:
    """Samples of sound, as an array."""
    return ArrayFeature(_dtype(dtype), _shape(shape), encoding, kind="Audio")


def Image(
    shape: Several[int | None] = (None, None, 3), dtype: Any = "uint8", encoding_format: str | None = None
) -> ImageFeature:
    """An image: the bytes of a file of any format, its `pathlib.Path`, or an array.

    Args:
        shape: height, width, channels.
        dtype: uint8 or uint16; float32 of one channel.
        encoding_format: "png" (default) or "jpeg", of files made of arrays.
    """
    return ImageFeature(_image_shape(shape), _dtype(dtype), file_format=encoding_format or "")


def LabeledImage(
    labels: Several[str] | int,
    shape: Several[int | None] = (None, None, 1),
    dtype: Any = "uint8",
    encoding_format: str | None = None,
) -> ImageFeature:
    """An image whose pixels are classes.

    Args:
        labels: the names of the classes, or their number.
        shape: as of `Image`.
        dtype: as of `Image`.
        encoding_format: as of `Image`.
    """
    names = () if isinstance(labels, int) else _class_names(labels)
    classes = _classes(names, labels if isinstance(labels, int) else None)
    kind = "LabeledImage"
    return ImageFeature(_image_shape(shape), _dtype(dtype), kind, names, classes, encoding_format or "")


def Video(
    shape: Several[int | None] = (None, None, None, 3),
    dtype: Any = "uint8",
    encoding_format: str | None = None,
) -> SequenceFeature:
    """Frames, each of them an image.

    Args:
        shape: frames, height, width, channels.
        dtype: as of `Image`.
        encoding_format: as of `Image`.
    """
    frames, *size = _shape(shape)
    return SequenceFeature(Image(size, dtype, encoding_format), frames, kind="Video")


def Sequence(feature: Any, length: int | None = None) -> SequenceFeature:
    """A number of values of one feature: a list, an array, or of a dict a list of dicts or a dict of lists.

    Args:
        feature: of each.
        length: how many, if all examples have as many.
    """
    return SequenceFeature(to_feature(feature), length)


def Dataset(feature: Any, length: int | None = None) -> SequenceFeature:
    """A data set inside each example, such as the steps of an episode; values as of `Sequence`, of any sizes."""
    return SequenceFeature(to_feature(feature), length, True, "Dataset")


def Translation(languages: Several[str]) -> DictFeature:
    """A text for each of some languages."""
    return DictFeature(dict.fromkeys(sorted(languages), Text()), "Translation")


def TranslationVariableLanguages() -> SequenceFeature:
    """Texts in languages that differ from example to example: a dict with one or more texts for each language."""
    pair = DictFeature({"language": Text(), "translation": Text()})
    return SequenceFeature(pair, kind="TranslationVariableLanguages")


def to_feature(value: Any) -> FeatureTree:
    """Return the feature that a value stands for.

    Args:
        value: a feature, a dict of such, a type, or what `parse_example` expects of a feature.

    Raises:
        InvalidArgumentError: it stands for none.

    >>> str(to_feature(np.float32)), str(to_feature(VarLenFeature("int64")))
    ('Scalar(float32)', 'Tensor(int64, shape=(?,))')
    """
    if isinstance(value, _TREES):
        return value
    if isinstance(value, Mapping):
        return FeaturesDict(value)
    if isinstance(value, FixedLenFeature):
        return Tensor(value.shape, value.dtype)
    if isinstance(value, VarLenFeature):
        return Tensor((None,), value.dtype)
    if isinstance(value, FixedLenSequenceFeature):
        return Tensor((None, *value.shape), value.dtype)
    return Scalar(value)


def _dtype(value: Any) -> str:
    if isinstance(value, type) and value in _PYTHON:
        return _PYTHON[value]
    name = value if isinstance(value, str) else getattr(value, "name", None)
    if name in (STRING, "bytes", "str", "object"):
        return STRING
    try:
        name = name if isinstance(name, str) else np.dtype(value).name
        numpy_dtype(name)
    except TypeError:
        raise InvalidArgumentError(
            f"Expected a feature of tfr.features, a dict of features or a type such as 'int64' but got {shown(value)}."
        ) from None
    return STRING if name.startswith(("str", "bytes", "object")) else name


def _shape(shape: Several[int | None]) -> Dims:
    sizes = tuple(shape)
    if not all(size is None or (isinstance(size, int) and size >= 0) for size in sizes):
        raise InvalidArgumentError(f"Expected a shape of sizes and None but got {shown(shape)}.")
    return sizes


def _image_shape(shape: Several[int | None]) -> Dims:
    sizes = _shape(shape)
    if len(sizes) < 3:
        raise InvalidArgumentError(
            f"Expected the height, width and channels of an image but got {shown(shape)}."
        )
    return sizes


def _class_names(names: Several[str]) -> tuple[str, ...]:
    for name in names:
        if not isinstance(name, str) or not name.strip() or name != name.strip() or {"\n", "\r"} & set(name):
            raise InvalidArgumentError(
                f"Expected the name of a class, without a line break or white space at its ends, but got {shown(name)}."
            )
    if len(set(names)) < len(names):
        raise InvalidArgumentError("Expected names of classes that differ but got one twice.")
    return tuple(names)


def _classes(names: tuple[str, ...], count: int | None) -> int | None:
    if names and count not in (None, len(names)):
        raise InvalidArgumentError(f"Expected names for {count} classes but got {len(names)}.")
    return len(names) or count
