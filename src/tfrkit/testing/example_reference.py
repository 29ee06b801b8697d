"""What parsing an Example should give, worked out value by value from protobuf's messages.

Slow and simple, for tests to compare the kernels with. Results are plain lists; specs must be sound, and examples fit
them: what is wrong is a ValueError without TensorFlow's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from tfrkit.model.dtypes import KINDS, type_name
from tfrkit.model.messages import Example, SequenceExample
from tfrkit.model.shapes import as_dims
from tfrkit.model.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)

__all__ = ["parse_by_messages", "parse_lists_by_messages", "parse_one_by_messages"]

_FIELDS = {"string": "bytes_list", "float32": "float_list", "int64": "int64_list"}


def parse_by_messages(records: Sequence[bytes], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Parse a batch; a Sparse is (indices, values, dense shape).

    >>> from tfrkit.model.specs import VarLenFeature
    >>> parse_by_messages([b"", b""], {"a": VarLenFeature("int64")})
    {'a': [[], []]}
    """
    rows = [parse_one_by_messages(record, spec) for record in records]
    result: dict[str, Any] = {}
    for key, feature in spec.items():
        column = [row[key] for row in rows]
        if isinstance(feature, SparseFeature):
            indices = [[row, *place] for row, sparse in enumerate(column) for place in sparse[0]]
            values = [value for sparse in column for value in sparse[1]]
            result[key] = (indices, values, [len(records), *_sizes(feature)])
        elif isinstance(feature, FixedLenSequenceFeature):
            result[key] = _pad(column, feature)
        else:
            result[key] = column
    return result


def parse_one_by_messages(record: bytes, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Parse one example."""
    features = Example.FromString(record).features.feature
    return {key: _parse_feature(key, feature, features) for key, feature in spec.items()}


def parse_lists_by_messages(record: bytes, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the feature lists of one SequenceExample: a list of steps for each."""
    lists = SequenceExample.FromString(record).feature_lists.feature_list
    result: dict[str, Any] = {}
    for key, feature in spec.items():
        steps = lists[key].feature if key in lists else []
        values = [_values({"": step}, "", feature.dtype) or [] for step in steps]
        if isinstance(feature, FixedLenSequenceFeature):
            if key not in lists and not feature.allow_missing:
                raise ValueError(f"no feature list {key!r}")
            values = [_shape(step, _dims(feature.shape)) for step in values]
        result[key] = values
    return result


def _parse_feature(key: str, feature: Any, features: Any) -> Any:
    if isinstance(feature, SparseFeature):
        names = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
        places = [
            list(place) for place in zip(*(_values(features, n, "int64") or [] for n in names), strict=True)
        ]
        values = _values(features, feature.value_key, feature.dtype) or []
        pairs = list(zip(places, values, strict=True))
        if not feature.already_sorted:
            pairs.sort(key=lambda pair: pair[0])
        return [place for place, _ in pairs], [value for _, value in pairs], _sizes(feature)
    if isinstance(feature, RaggedFeature):
        rows: list[Any] = _values(features, feature.value_key or key, feature.dtype) or []
        for partition in reversed(feature.partitions):
            rows = _cut(rows, partition, features)
        return rows
    found = _values(features, key, feature.dtype)
    if isinstance(feature, VarLenFeature):
        return found or []
    dims = _dims(feature.shape)
    if isinstance(feature, FixedLenSequenceFeature):
        flat = found or []
        size = prod(dims)
        if len(flat) % size:
            raise ValueError(f"{len(flat)} values for {key!r}")
        return [_shape(flat[place : place + size], dims) for place in range(0, len(flat), size)]
    return _shape(_default(feature) if found is None else found, dims)


def _default(feature: FixedLenFeature) -> list[Any]:
    if feature.default_value is None:
        raise ValueError("a feature is missing")
    array = np.array(feature.default_value, object).ravel()
    return [_rounded(item.encode() if isinstance(item, str) else item, feature.dtype) for item in array]


def _rounded(value: Any, dtype: Any) -> Any:
    return float(np.float32(value)) if type_name(dtype) == "float32" else value


def _values(features: Any, key: str, dtype: Any) -> list[Any] | None:
    """The values under a key, or None if it has no list."""
    if key not in features:
        return None
    kind = features[key].WhichOneof("kind")
    if kind is None:
        return None
    name = type_name(dtype)
    if kind != _FIELDS[name] or name not in KINDS:
        raise ValueError(f"expected {_FIELDS[name]} for {key!r} but got {kind}")
    return list(getattr(features[key], kind).value)


def _cut(rows: list[Any], partition: Any, features: Any) -> list[Any]:
    if isinstance(partition, RaggedFeature.UniformRowLength):
        borders = list(range(0, len(rows) + 1, partition.length))
        return [rows[a : a + partition.length] for a in borders[:-1]]
    given: list[int] = _values(features, partition.key, "int64") or []
    if isinstance(partition, RaggedFeature.RowLengths):
        limits = np.cumsum([0, *given]).tolist()
    elif isinstance(partition, RaggedFeature.RowStarts):
        limits = [*given, len(rows)]
    elif isinstance(partition, RaggedFeature.RowLimits):
        limits = [0, *given]
    elif isinstance(partition, RaggedFeature.ValueRowIds):
        count = max(given, default=-1) + 1
        return [
            [row for row, place in zip(rows, given, strict=True) if place == number]
            for number in range(count)
        ]
    else:
        limits = given
    return [rows[a:b] for a, b in pairwise(limits)]


def _pad(column: list[list[Any]], feature: FixedLenSequenceFeature) -> list[Any]:
    default = feature.default_value
    if default is None:
        default = b"" if type_name(feature.dtype) == "string" else 0
    default = default.encode() if isinstance(default, str) else _rounded(default, feature.dtype)
    dims = _dims(feature.shape)
    longest = max(map(len, column), default=0)
    return [row + [_shape([default] * prod(dims), dims)] * (longest - len(row)) for row in column]


def _dims(shape: Any) -> tuple[int, ...]:
    return tuple(dim for dim in as_dims(shape) or () if dim is not None)


def _sizes(feature: SparseFeature) -> list[int]:
    return [feature.size] if isinstance(feature.index_key, str) else list(feature.size)


def _shape(values: list[Any], dims: tuple[int, ...]) -> Any:
    if len(values) != prod(dims):
        raise ValueError(f"expected {prod(dims)} values but got {len(values)}")
    if not dims:
        return values[0]
    size = prod(dims[1:])
    return [_shape(values[place * size : (place + 1) * size], dims[1:]) for place in range(dims[0])]
