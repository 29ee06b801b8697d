"""Random specs that fit a schema, mostly."""

from __future__ import annotations

import random
from typing import Any

from fuzz.differential.content import KEYS, Column
from tests.oracle.support.parsing import Feature
from tests.oracle.support.wire import BYTES, FLOAT, INT64

DTYPES = {BYTES: "string", FLOAT: "float32", INT64: "int64"}
PARTITIONS = {
    "splits": "RowSplits",
    "lengths": "RowLengths",
    "starts": "RowStarts",
    "limits": "RowLimits",
    "rowids": "ValueRowIds",
}
Spec = dict[str, Feature]


def make_spec(rng: random.Random, schema: list[Column]) -> Spec:
    """A spec for Examples of this schema: some keys are left out, some are of another kind, some are not there."""
    spec: Spec = {}
    for column in schema:
        if not column.role and rng.random() < 0.9:
            spec[column.key] = _plain(rng, column)
    spec |= _grouped(rng, schema)
    if not spec or rng.random() < 0.1:
        key = rng.choice(KEYS)
        spec.setdefault(key, _plain(rng, Column(key, rng.choice((BYTES, FLOAT, INT64)), 1)))
    keys = list(spec)
    rng.shuffle(keys)
    return {key: spec[key] for key in keys}


def make_sequence_specs(rng: random.Random, context: list[Column], lists: list[Column]) -> tuple[Spec, Spec]:
    """Specs for the context and the feature lists of SequenceExamples."""
    first = {column.key: _context(rng, column) for column in context if rng.random() < 0.9}
    second = {column.key: _list(rng, column) for column in lists if rng.random() < 0.9}
    if not first and not second:
        second = {"a": _list(rng, Column("a", INT64, 1))}
    return first, second


def _dtype(rng: random.Random, column: Column) -> str:
    return DTYPES[column.kind] if rng.random() < 0.97 else rng.choice(list(DTYPES.values()))


def _shape(rng: random.Random, count: int) -> list[int]:
    if rng.random() < 0.05:
        count = rng.choice((0, 1, 2, 3))
    if count == 1:
        return list(rng.choice(((), (1,), (1, 1))))
    for divisor in (2, 3):
        if count and count % divisor == 0 and rng.random() < 0.4:
            return [divisor, count // divisor]
    return [count]


def _default(rng: random.Random, dtype: str, count: int) -> Any:
    one: Any = {"int64": -9, "float32": 0.25, "string": b"none"}[dtype]
    return [one] * count if rng.random() < 0.5 else None


def _size(shape: list[int]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _fixed(rng: random.Random, column: Column) -> Feature:
    dtype, shape = _dtype(rng, column), _shape(rng, column.count)
    default = _default(rng, dtype, _size(shape))
    if not shape and default:
        default = default[0]
    return "FixedLenFeature", {"shape": shape, "dtype": dtype, "default_value": default}


def _steps(rng: random.Random, column: Column) -> Feature:
    dtype = _dtype(rng, column)
    shape = rng.choice(([], [], [1], [2], [column.count or 1]))
    default = (_default(rng, dtype, 1) or [None])[0]
    return "FixedLenSequenceFeature", {
        "shape": shape,
        "dtype": dtype,
        "allow_missing": True,
        "default_value": default,
    }


def _ragged(rng: random.Random, column: Column) -> Feature:
    options: dict[str, Any] = {"dtype": _dtype(rng, column)}
    if rng.random() < 0.5:
        options["row_splits_dtype"] = rng.choice(("int32", "int64"))
    if rng.random() < 0.3:
        options["value_key"] = column.key or None
    return "RaggedFeature", options


def _plain(rng: random.Random, column: Column) -> Feature:
    choice = rng.random()
    if choice < 0.4:
        return _fixed(rng, column)
    if choice < 0.65:
        return "VarLenFeature", {"dtype": _dtype(rng, column)}
    if choice < 0.8:
        return _steps(rng, column)
    return _ragged(rng, column)


def _grouped(rng: random.Random, schema: list[Column]) -> Spec:
    values = next((column for column in schema if column.role == "values"), None)
    if values is None:
        return {}
    others = [column for column in schema if column.role not in ("", "values")]
    dtype = DTYPES[values.kind]
    if others[0].role == "index":
        keys = [column.key for column in others]
        sizes = [rng.choice((1, 10, 101)) for _ in keys]
        one = len(keys) == 1
        options: dict[str, Any] = {
            "index_key": keys[0] if one else keys,
            "value_key": values.key,
            "dtype": dtype,
            "size": sizes[0] if one else sizes,
            "already_sorted": rng.random() < 0.2,
        }
        return {"sparse": ("SparseFeature", options)}
    # Of two partitions the outer one would have to count rows of the inner: only the inner is asked for.
    partitions: list[tuple[str, Any]] = [(PARTITIONS[others[0].role], others[0].key)]
    if rng.random() < 0.2:
        partitions = (
            [("UniformRowLength", 1), *partitions] if rng.random() < 0.5 else [("UniformRowLength", 2)]
        )
    return {
        "ragged": (
            "RaggedFeature",
            {
                "dtype": dtype,
                "value_key": values.key,
                "partitions": partitions,
                "row_splits_dtype": rng.choice(("int32", "int64")),
            },
        )
    }


def _context(rng: random.Random, column: Column) -> Feature:
    choice = rng.random()
    if choice < 0.5:
        return _fixed(rng, column)
    if choice < 0.8:
        return "VarLenFeature", {"dtype": _dtype(rng, column)}
    return _ragged(rng, column)


def _list(rng: random.Random, column: Column) -> Feature:
    choice = rng.random()
    if choice < 0.4:
        shape = _shape(rng, column.count)
        options = {
            "shape": shape if _size(shape) else [1],
            "dtype": _dtype(rng, column),
            "allow_missing": rng.random() < 0.6,
        }
        return "FixedLenSequenceFeature", options
    if choice < 0.7:
        return "VarLenFeature", {"dtype": _dtype(rng, column)}
    return _ragged(rng, column)
