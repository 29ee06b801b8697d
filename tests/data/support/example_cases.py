"""Hypothesis strategies: any spec, and Examples and SequenceExamples of which most fit it and some do not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.wire import entry, example, feature_list, floats, ints, sequence_example, strings

__all__ = ["any_examples", "any_sequences"]

_BODIES = {"int64": ints, "float32": floats, "bytes": strings}
_VALUES = {"int64": st.integers(-9, 300), "float32": st.floats(width=32), "bytes": st.binary(max_size=3)}
_TYPES = st.sampled_from(sorted(_VALUES))
_SHAPES = st.sampled_from([[], [], [1], [2], [2, 1], [0], [1, 2, 2]])
_CUTS = ["RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds", "UniformRowLength"]


@st.composite
def _list(draw: st.DrawFn, dtype: str, size: int | None = None) -> bytes:
    """The body of a Feature; one in twelve is of any type."""
    if draw(st.integers(0, 11)) == 0:
        dtype = draw(_TYPES)
    least, most = (0, 4) if size is None else (size, size)
    return _BODIES[dtype](*draw(st.lists(_VALUES[dtype], min_size=least, max_size=most)))


@st.composite
def _partitions(draw: st.DrawFn, key: str) -> tuple[list[Any], list[str]]:
    made, keys = [], []
    for place, name in enumerate(draw(st.lists(st.sampled_from(_CUTS), min_size=1, max_size=2))):
        kind = getattr(tfr.RaggedFeature, name)
        if name == "UniformRowLength":
            made.append(kind(draw(st.integers(1, 2))))
        else:
            keys.append(f"{key}/{place}")
            made.append(kind(keys[-1]))
    return made, keys


@st.composite
def _feature(draw: st.DrawFn, key: str) -> tuple[Any, dict[str, st.SearchStrategy[bytes]]]:
    """A feature, and for every key that it reads what an Example may have there."""
    dtype = draw(_TYPES)
    kind = draw(st.sampled_from(["fixed", "default", "var", "sequence", "ragged", "cut", "sparse"]))
    shape = draw(_SHAPES)
    size = 1
    for dim in shape:
        size *= dim
    if kind in ("fixed", "default"):
        default = draw(st.lists(_VALUES[dtype], min_size=size, max_size=size)) if kind == "default" else None
        return tfr.FixedLenFeature(shape, dtype, default), {key: _list(dtype, size)}
    if kind == "sequence":
        bodies = st.integers(0, 3).flatmap(lambda steps: _list(dtype, steps * size))
        return tfr.FixedLenSequenceFeature(shape, dtype, True, draw(st.none() | _VALUES[dtype])), {
            key: bodies
        }
    if kind == "sparse":
        names = draw(st.sampled_from([["at"], ["at", "by"]]))
        at = [f"{key}/{name}" for name in names]
        places = st.lists(st.integers(0, 9), min_size=2, max_size=3).map(lambda values: ints(*values))
        feature: Any = tfr.SparseFeature(at, key, dtype, [9] * len(at), draw(st.booleans()))
        return feature, {key: _list(dtype, 2), **dict.fromkeys(at, places)}
    splits = draw(st.sampled_from(["int32", "int64"]))
    if kind == "cut":
        partitions, keys = draw(_partitions(key))
        feature = tfr.RaggedFeature(dtype, key, partitions, splits, draw(st.booleans()))
        borders = st.lists(st.integers(-1, 4), max_size=4) | st.lists(st.integers(0, 4), max_size=3).map(
            sorted
        )
        return feature, {key: _list(dtype), **dict.fromkeys(keys, borders.map(lambda values: ints(*values)))}
    feature = tfr.VarLenFeature(dtype) if kind == "var" else tfr.RaggedFeature(dtype, row_splits_dtype=splits)
    return feature, {key: _list(dtype)}


@st.composite
def any_examples(draw: st.DrawFn) -> tuple[dict[str, Any], list[bytes]]:
    """A spec, and serialised Examples."""
    spec: dict[str, Any] = {}
    bodies: dict[str, st.SearchStrategy[bytes]] = {}
    for key in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)):
        spec[key], parts = draw(_feature(key))
        bodies.update(parts)
    records = []
    for _ in range(draw(st.integers(1, 6))):
        entries = [
            entry(key.encode(), draw(body)) for key, body in bodies.items() if draw(st.integers(0, 7)) > 0
        ]
        records.append(draw(st.sampled_from([example(*entries)] * 11 + [b"\n\xff"])))
    return spec, records


@st.composite
def any_sequences(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], list[bytes]]:
    """Specs of context and feature lists, and serialised SequenceExamples."""
    context: dict[str, Any] = {}
    bodies: dict[str, st.SearchStrategy[bytes]] = {}
    for key in draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True)):
        feature, parts = draw(_feature(key).filter(lambda made: not isinstance(made[0], _NOT_CONTEXT)))
        context[key] = feature
        bodies.update(parts)
    lists: dict[str, Any] = {}
    steps: dict[str, st.SearchStrategy[bytes]] = {}
    for key in draw(st.lists(st.sampled_from("stu"), min_size=1, max_size=2, unique=True)):
        feature, parts = draw(_feature(key).filter(lambda made: not isinstance(made[0], _NOT_LISTS)))
        if isinstance(feature, tfr.FixedLenSequenceFeature):
            size = 1
            for dim in feature.shape:
                size *= dim
            feature, parts = feature._replace(default_value=None), {key: _list(feature.dtype, size)}
        lists[key] = feature
        steps.update(parts)
    records = []
    for _ in range(draw(st.integers(1, 5))):
        entries = [entry(key.encode(), draw(body)) for key, body in bodies.items() if draw(st.integers(0, 7))]
        count = draw(st.integers(0, 3))
        found = [
            entry(
                key.encode(),
                feature_list(*[draw(body) for _ in range(count + (draw(st.integers(0, 9)) == 0))]),
            )
            for key, body in steps.items()
            if draw(st.integers(0, 7))
        ]
        records.append(draw(st.sampled_from([sequence_example(entries, found)] * 11 + [b"\n\xff"])))
    return context, lists, records


_NOT_CONTEXT = (tfr.SparseFeature, tfr.FixedLenSequenceFeature)
_NOT_LISTS = (tfr.SparseFeature, tfr.FixedLenFeature)
