"""Hypothesis strategies: specs, and examples that fit them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import tfrkit as tfr

__all__ = ["fitting_batches"]

VALUES = {
    "int64": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 300),
    "float32": st.floats(width=32, allow_nan=False),
    "bytes": st.binary(max_size=6),
}
_FIELDS = {"int64": "int64_list", "float32": "float_list", "bytes": "bytes_list"}
_LISTS = {"int64": tfr.Int64List, "float32": tfr.FloatList, "bytes": tfr.BytesList}
KEYS = ["a", "b", "c", "d", "longer key", "é", ""]


def _list(dtype: str, values: list[Any]) -> tfr.Feature:
    return tfr.Feature(**{_FIELDS[dtype]: _LISTS[dtype](value=values)})


@st.composite
def _column(draw: st.DrawFn, key: str, rows: int) -> tuple[Any, list[dict[str, tfr.Feature]]]:
    """A feature, and what each of `rows` examples has for it."""
    dtype = draw(st.sampled_from(sorted(VALUES)))
    form = draw(st.sampled_from(["fixed", "default", "var", "sequence", "ragged", "sparse"]))
    shape = draw(st.lists(st.integers(1, 3), max_size=2))
    size = 1
    for dim in shape:
        size *= dim

    def some(least: int, most: int) -> list[Any]:
        return draw(st.lists(VALUES[dtype], min_size=least, max_size=most))

    if form in ("fixed", "default"):
        default = some(size, size) if form == "default" else None
        given = [form == "fixed" or draw(st.booleans()) for _ in range(rows)]
        return tfr.FixedLenFeature(shape, dtype, default), [
            {key: _list(dtype, some(size, size))}
            if present
            else draw(st.sampled_from([{}, {key: tfr.Feature()}]))
            for present in given
        ]
    if form == "sequence":
        steps = [draw(st.integers(0, 3)) for _ in range(rows)]
        default = draw(st.none() | VALUES[dtype])
        return tfr.FixedLenSequenceFeature(shape, dtype, True, default), [
            {key: _list(dtype, some(size * count, size * count))} if count else {} for count in steps
        ]
    lists = [some(0, 4) for _ in range(rows)]
    if form == "sparse":
        at, values = key + "/at", key + "/values"
        feature: Any = tfr.SparseFeature(at, values, dtype, 50, draw(st.booleans()))
        places = [draw(st.lists(st.integers(0, 49), min_size=len(row), max_size=len(row))) for row in lists]
        return feature, [
            {at: _list("int64", place), values: _list(dtype, row)}
            for place, row in zip(places, lists, strict=True)
        ]
    feature = tfr.VarLenFeature(dtype) if form == "var" else tfr.RaggedFeature(dtype)
    return feature, [{key: _list(dtype, row)} if row or draw(st.booleans()) else {} for row in lists]


@st.composite
def fitting_batches(draw: st.DrawFn) -> tuple[dict[str, Any], list[bytes]]:
    """A spec, and serialised examples that fit it and have other features besides."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 5))
    spec: dict[str, Any] = {}
    features: list[dict[str, tfr.Feature]] = [{} for _ in range(rows)]
    for key in keys:
        spec[key], column = draw(_column(key, rows))
        for row, part in zip(features, column, strict=True):
            row.update(part)
    if draw(st.booleans()):
        for row in features:
            row["not asked for"] = _list("bytes", draw(st.lists(st.binary(max_size=3), max_size=2)))
    messages = [tfr.Example(features=tfr.Features(feature=row)) for row in features]
    return spec, [message.SerializeToString() for message in messages]
