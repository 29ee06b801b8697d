"""Specs: what is expected of each feature of an Example, in TensorFlow's five forms.

A spec is a dict of feature names to these tuples; `parse_example` and its relatives take it. The tuples hold what they
were given, and only `RaggedFeature` checks it, as TensorFlow does: the others are checked when a spec is used, where
the error can name the feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self, TypeAlias

from tfrkit.model.dtypes import KINDS, public_name, type_name

__all__ = [
    "PARTITIONS",
    "FeatureSpec",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "Spec",
    "VarLenFeature",
    "as_feature",
]


class FixedLenFeature(NamedTuple):
    """A feature with the same number of values in every example.

    Attributes:
        shape: shape of one example's value; [] for a single value.
        dtype: "int64", "float32" or "bytes", or another name of one of them (numpy's, Python's, TensorFlow's).
        default_value: what an example without the feature gets; None makes that an error.

    >>> FixedLenFeature([], "int64")
    FixedLenFeature(shape=[], dtype='int64', default_value=None)
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values; it may be absent.

    Attributes:
        dtype: "int64", "float32" or "bytes".

    >>> VarLenFeature("bytes")
    VarLenFeature(dtype='bytes')
    """

    dtype: Any


class SparseFeature(NamedTuple):
    """Coordinates and values of a sparse array, each in a feature of its own.

    Attributes:
        index_key: name of the feature with the coordinates (int64), or a list of names, one for each dimension.
        value_key: name of the feature with the values.
        dtype: type of the values: "int64", "float32" or "bytes".
        size: length of the dimension, or a list of lengths.
        already_sorted: the coordinates are in order in every example, so that they need not be sorted.

    >>> SparseFeature("at", "weight", "float32", size=100).already_sorted
    False
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: Any = False


class FixedLenSequenceFeature(NamedTuple):
    """A feature that is a run of any length of equally shaped values; a batch is padded to the longest.

    Attributes:
        shape: shape of one value of the run.
        dtype: "int64", "float32" or "bytes".
        allow_missing: whether an example may be without it; must be True outside of feature lists.
        default_value: the single value to pad with; None pads with 0 or b"".

    >>> FixedLenSequenceFeature([2], "float32", allow_missing=True)
    FixedLenSequenceFeature(shape=[2], dtype='float32', allow_missing=True, default_value=None)
    """

    shape: Any
    dtype: Any
    allow_missing: Any = False
    default_value: Any = None


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: str | None
    partitions: tuple[Any, ...]
    row_splits_dtype: Any
    validate: bool


class RaggedFeature(_RaggedFields):
    """Nested rows of varying length: values in one feature, the rows' borders in others.

    Attributes:
        dtype: type of the values: "int64", "float32" or "bytes".
        value_key: name of the feature with the values; None means the name of this feature in the spec.
        partitions: how the values are cut into rows, outermost first; objects of the nested classes.
        row_splits_dtype: "int32" or "int64", the type of the result's row borders.
        validate: check that the borders fit the values; else what does not fit is silently left out.

    Raises:
        TypeError: partitions or validate are of a wrong type.
        ValueError: another argument is not one of the possible ones.

    >>> RaggedFeature("int64", "tokens", [RaggedFeature.RowLengths("words")]).partitions
    (RowLengths(key='words'),)
    """

    __slots__ = ()

    class RowSplits(NamedTuple):
        """Borders of the rows: one more than there are rows, beginning with 0."""

        key: str

    class RowLengths(NamedTuple):
        """Number of values of each row."""

        key: str

    class RowStarts(NamedTuple):
        """Where each row begins."""

        key: str

    class RowLimits(NamedTuple):
        """Where each row ends."""

        key: str

    class ValueRowIds(NamedTuple):
        """For each value, the number of its row."""

        key: str

    class UniformRowLength(NamedTuple):
        """All rows have this many values."""

        length: int

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = "int32",
        validate: bool = False,
    ) -> Self:
        """Check and keep the arguments; types are kept by name."""
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key}")
        if value_key is not None and not value_key:
            raise ValueError("Argument `value_key` must not be empty")
        name, splits_name = type_name(dtype), type_name(row_splits_dtype)
        if name not in KINDS:
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got tf.{name}")
        if splits_name not in ("int32", "int64"):
            # There is no space in TensorFlow's text either.
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; gottf.{splits_name}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(
                "Argument `partitions` must be a list or tuple. Received"
                f"partitions={partitions} of type {type(partitions).__name__}."
            )
        cut = tuple(_as_partition(partition) for partition in partitions)
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(cls, public_name(name), value_key, cut, splits_name, validate)


FeatureSpec: TypeAlias = (
    FixedLenFeature | VarLenFeature | SparseFeature | FixedLenSequenceFeature | RaggedFeature
)
Spec: TypeAlias = Mapping[str, FeatureSpec]

_FEATURES: Final[dict[str, type[Any]]] = {
    cls.__name__: cls
    for cls in (FixedLenFeature, VarLenFeature, SparseFeature, FixedLenSequenceFeature, RaggedFeature)
}
# The partition classes by name, which is how TensorFlow's own and those in JSON are known.
PARTITIONS: Final[dict[str, type[Any]]] = {
    cls.__name__: cls
    for cls in (
        RaggedFeature.RowSplits,
        RaggedFeature.RowLengths,
        RaggedFeature.RowStarts,
        RaggedFeature.RowLimits,
        RaggedFeature.ValueRowIds,
        RaggedFeature.UniformRowLength,
    )
}


def _as_partition(given: Any) -> Any:
    cls = PARTITIONS.get(type(given).__name__)
    if cls is None:
        types = tuple(PARTITIONS.values())
        raise TypeError(
            f"Argument `partitions` cannot be cast to any of the partition types in {types}; "
            f"got: {given!r} with type {type(given)}"
        )
    return given if isinstance(given, cls) else cls(*given)


def as_feature(given: Any) -> FeatureSpec | None:
    """Return the feature itself, tfrkit's form of TensorFlow's object of that name, or None for anything else.

    >>> as_feature(VarLenFeature("int64")), as_feature(5)
    (VarLenFeature(dtype='int64'), None)
    """
    cls = _FEATURES.get(type(given).__name__)
    if cls is None or type(given) is cls:
        result: FeatureSpec | None = given if cls is not None else None
        return result
    converted: FeatureSpec = cls(*given)
    return converted
