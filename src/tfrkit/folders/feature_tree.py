"""The tree of features: what an example of a data set is made of, whoever said so. Pure: no I/O.

Inner nodes are dicts and sequences, leaves are arrays and images. How a leaf lies in an Example follows from the tree
alone (`decode/stored_keys.py`), by the rules of TensorFlow Datasets, which other kinds of folders use a part of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from tfrkit.model.tensor_types import tensor_type

__all__ = [
    "ArrayFeature",
    "DictFeature",
    "Dims",
    "Encoding",
    "FeatureTree",
    "ImageFeature",
    "SequenceFeature",
    "UnknownFeature",
    "class_names_of",
    "lines_of",
    "numpy_dtype",
]

Dims: TypeAlias = tuple[int | None, ...]
Encoding: TypeAlias = Literal["none", "bytes", "zlib"]

STRING: Final = "string"
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class ArrayFeature:
    """Numbers or byte strings of one type and shape.

    Attributes:
        dtype: numpy's name of the type, or "string" for bytes.
        shape: None where a size differs from example to example.
        encoding: "none" as a list of values; else one byte string of them, little-endian, compressed with zlib or not.
        optional: an example may be without it, and gets the lowest number of the type, False or b"".
        kind: what the data set calls it.
        class_names: what the numbers 0, 1, ... stand for, if that is known.
        classes: how many of these there are; None if it is no class, or nobody says it.
    """

    dtype: str
    shape: Dims = ()
    encoding: Encoding = "none"
    optional: bool = False
    kind: str = "Tensor"
    class_names: tuple[str, ...] = ()
    classes: int | None = None

    def __str__(self) -> str:
        shape = f", shape={show_shape(self.shape)}" if self.shape else ""
        encoding = f", encoding={self.encoding}" if self.encoding != "none" else ""
        optional = ", optional" if self.optional else ""
        classes = f", {len(self.class_names)} classes" if self.class_names else ""
        return f"{self.kind}({self.dtype}{shape}{encoding}{optional}{classes})"


@dataclass(frozen=True, slots=True)
class ImageFeature:
    """An image file as one byte string.

    Attributes:
        shape: height, width and channels of the decoded image, or frames and those; the last 0 or None: as stored.
        dtype: uint8, uint16 or float32; float32 is the four bytes of a pixel of an RGBA file.
        kind: what the data set calls it.
        class_names: what the numbers of its pixels stand for, if that is known.
        classes: how many of these there are; None if pixels are no classes, or nobody says it.
        file_format: "png" or "jpeg" of arrays that are written; "" for png.
    """

    shape: Dims = (None, None, 3)
    dtype: str = "uint8"
    kind: str = "Image"
    class_names: tuple[str, ...] = ()
    classes: int | None = None
    file_format: str = ""

    def __str__(self) -> str:
        classes = f", {len(self.class_names)} classes" if self.class_names else ""
        return f"{self.kind}({self.dtype}, shape={show_shape(self.shape)}{classes})"


@dataclass(frozen=True, slots=True)
class SequenceFeature:
    """A number of values of one feature; of a dict of features, each of them is a sequence.

    Attributes:
        feature: of one element.
        length: how many, if that is the same in every example.
        steps: a data set inside each example, such as the steps of an episode: its elements may differ in shape.
        kind: what the data set calls it.
    """

    feature: FeatureTree
    length: int | None = None
    steps: bool = False
    kind: str = "Sequence"


@dataclass(frozen=True, slots=True)
class DictFeature:
    """Features by name."""

    features: Mapping[str, FeatureTree] = field(default_factory=dict)
    kind: str = "FeaturesDict"


@dataclass(frozen=True, slots=True)
class UnknownFeature:
    """A feature of a class that is not known here: its values are returned as they are stored."""

    kind: str


FeatureTree: TypeAlias = ArrayFeature | ImageFeature | SequenceFeature | DictFeature | UnknownFeature


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the numpy type of a feature's type; object for byte strings.

    Raises:
        TypeError: there is no such type.
        MissingExtraError: bfloat16 without the package that has it.
    """
    return np.dtype(object) if name == STRING else tensor_type(name).numpy()


def show_shape(shape: Dims) -> str:
    """Return a shape as text.

    >>> show_shape((None, 28, 1)), show_shape(())
    ('(?, 28, 1)', '()')
    """
    inner = ", ".join("?" if size is None else str(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def class_names_of(tree: FeatureTree, path: str = "") -> dict[str, tuple[str, ...]]:
    """Return the names of classes by feature, nested names joined by "/".

    >>> class_names_of(DictFeature({"label": ArrayFeature("int64", class_names=("cat", "dog"))}))
    {'label': ('cat', 'dog')}
    """
    if isinstance(tree, DictFeature):
        parts = ((f"{path}/{name}" if path else name, each) for name, each in tree.features.items())
        return {key: names for name, each in parts for key, names in class_names_of(each, name).items()}
    if isinstance(tree, SequenceFeature):
        return class_names_of(tree.feature, path)
    names = () if isinstance(tree, UnknownFeature) else tree.class_names
    return {path: names} if names else {}


def lines_of(tree: FeatureTree, name: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the lines of a tree as text, features in their order.

    >>> print(*lines_of(DictFeature({"steps": SequenceFeature(DictFeature({"x": ArrayFeature("float32")}))})))
    steps: Sequence of   x: Tensor(float32)
    """
    begin = f"{_INDENT * depth}{name}: " if name else ""
    if isinstance(tree, SequenceFeature):
        length = "" if tree.length is None else f" of length {tree.length}"
        inner = list(lines_of(tree.feature, "", depth))
        plain = len(inner) == 1 and not isinstance(tree.feature, DictFeature)
        yield f"{begin}{tree.kind}{length} of{' ' + inner[0] if plain else ''}"
        if not plain:
            yield from inner
    elif isinstance(tree, DictFeature):
        if name:
            yield f"{begin}{tree.kind}"
        for key, each in tree.features.items():
            yield from lines_of(each, key, depth + (1 if name or depth else 0))
    else:
        yield f"{begin}{tree.kind} (as stored)" if isinstance(tree, UnknownFeature) else f"{begin}{tree}"
