"""One call in TensorFlow and in tfrkit, and what both give in one form that reads like the documentation.

A case is a function of a library: it makes a spec of the library's classes and parses. Its outcome is put into plain
Python: arrays as nested lists, sparse and ragged tensors as named tuples, an error as its class and text.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow, undecorated


class Dense(NamedTuple):
    """An array: its type, shape and values; floats by their bits, so that NaN equals NaN."""

    dtype: str
    shape: tuple[int, ...]
    values: Any


class Sparse(NamedTuple):
    """A SparseTensor."""

    indices: list[list[int]]
    values: Dense
    dense_shape: list[int]


class Ragged(NamedTuple):
    """A RaggedTensor: splits of each level with their type, outermost first, and the flat values."""

    splits: list[tuple[str, list[int]]]
    values: Dense


class Library(NamedTuple):
    """The parsing functions and feature classes of one library; for tfrkit, under one policy."""

    name: str
    space: Any
    policy: Any = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.space, name)
        if self.policy is None or not name.startswith("parse_") or name == "parse_tensor":
            return found
        return lambda *args, **options: found(*args, policy=self.policy, **options)


def theirs() -> Library:
    """TensorFlow's tf.io."""
    return Library("TensorFlow", tensorflow().io)


OURS = Library("tfrkit as TensorFlow", tfr, tfr.TENSORFLOW)
OURS_BY_DEFAULT = Library("tfrkit", tfr, tfr.TFRKIT)
Case = Callable[[Any], Any]


def by_its_names() -> Library:
    """tf.io of `tfrkit.tf`, which gives Tensors."""
    return Library("tfrkit.tf", importlib.import_module("tfrkit.tf").io)


def outcome(library: Library, case: Case) -> Any:
    """What the case gives with this library, in plain form, or its failure."""
    try:
        return plain(case(library))
    except UnicodeDecodeError as error:  # TensorFlow could not decode its own message
        return Failure("InvalidArgumentError", core(error.object.decode("utf-8", "backslashreplace")))
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))


def core(message: str) -> str:
    """A message without what TensorFlow puts round it: the node, the operation, the definition of the operation."""
    return undecorated(message).split(" [Op:")[0].split("\n\t; NodeDef")[0].strip()


def plain(value: Any) -> Any:
    """Any result of a parsing function as plain Python."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "dense_shape"):
        return tuple(plain(part) for part in value)
    if hasattr(value, "dense_shape"):
        shape = np.asarray(value.dense_shape).tolist()
        return Sparse(np.asarray(value.indices).tolist(), plain(value.values), shape)
    if hasattr(value, "nested_row_splits"):
        splits = [np.asarray(part) for part in value.nested_row_splits]
        flat = value.flat_values
        if len(splits[-1]):  # TensorFlow may keep values behind the last row, which are part of nothing
            flat = flat[: int(splits[-1][-1])]
        return Ragged([(part.dtype.name, part.tolist()) for part in splits], plain(flat))
    if isinstance(value, tfr.BytesColumn):
        value = value.to_numpy()
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    if array.dtype.kind in "SO":
        return Dense("string", array.shape, array.tolist())
    bits = array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "f" else array
    return Dense(array.dtype.name, array.shape, bits.tolist())


def like(ours: Any, theirs: Any) -> Any:
    """Bring what tfrkit gives for variable lengths (Ragged, or one array) into the sparse form of TensorFlow's."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return {key: like(value, theirs.get(key)) for key, value in ours.items()}
    if isinstance(theirs, tuple) and type(theirs) is tuple and isinstance(ours, tuple):
        return tuple(like(our, their) for our, their in zip(ours, theirs, strict=True))
    if not isinstance(theirs, Sparse):
        return ours
    if isinstance(ours, Dense) and len(ours.shape) == 1:
        return Sparse([[number] for number in range(ours.shape[0])], ours, list(ours.shape))
    return sparse_of(ours) if isinstance(ours, Ragged) else ours


def sparse_of(ragged: Ragged) -> Sparse:
    """The sparse tensor of a ragged one, row-major, as wide as its longest rows."""
    rows: list[list[int]] = [[number] for number in range(len(ragged.splits[0][1]) - 1)]
    sizes = [len(rows)]
    for _, splits in ragged.splits:
        lengths = [end - begin for begin, end in pairwise(splits)]
        sizes.append(max(lengths, default=0))
        rows = [[*row, at] for row, length in zip(rows, lengths, strict=True) for at in range(length)]
    return Sparse(rows, ragged.values, sizes)


def explain(ours: Any, theirs: Any) -> str:
    """Say in what two outcomes differ, '' if in nothing. Our text may go on where TensorFlow's ends."""
    if isinstance(ours, Failure) and isinstance(theirs, Failure):
        same = ours.name == theirs.name and ours.message.startswith(theirs.message)
        return "" if same else f"\ntfrkit     {ours}\nTensorFlow {theirs}"
    ours = like(ours, theirs)
    return "" if ours == theirs else f"\ntfrkit     {ours}\nTensorFlow {theirs}"


def check(case: Case, expected: Any, *libraries: Library) -> None:
    """TensorFlow gives what is expected, and tfrkit what TensorFlow gives.

    Args:
        case: the call.
        expected: a Failure whose text TensorFlow's begins with, the whole outcome, or a function that judges it.
        libraries: which of tfrkit's; both policies if none is named.
    """
    reference = outcome(theirs(), case)
    if isinstance(expected, Failure):
        assert isinstance(reference, Failure), reference
        assert reference.name == expected.name, reference
        assert reference.message.startswith(expected.message), reference
    elif callable(expected):
        assert expected(reference), reference
    else:
        assert summary(reference) == expected, summary(reference)
    chosen = list(libraries or (OURS, OURS_BY_DEFAULT))
    if OURS in chosen:
        chosen.append(by_its_names())
    for library in chosen:
        difference = explain(outcome(library, case), reference)
        assert not difference, f"{library.name}: {difference}"


def summary(value: Any) -> Any:
    """An outcome in short: nested lists for arrays, (indices, values, shape) for sparse, lists of splits for ragged."""
    if isinstance(value, dict):
        return {key: summary(part) for key, part in value.items()}
    if isinstance(value, Dense):
        if value.dtype.startswith("float"):
            return np.array(value.values, "u4").view("f4").reshape(value.shape).tolist()
        return value.values
    if isinstance(value, Sparse):
        return value.indices, summary(value.values), value.dense_shape
    if isinstance(value, Ragged):
        return [splits for _, splits in value.splits], summary(value.values)
    if type(value) is tuple:
        return tuple(summary(part) for part in value)
    return value


def invalid(message: str) -> Failure:
    """An InvalidArgumentError that begins so."""
    return Failure("InvalidArgumentError", message)


def wrong(message: str) -> Failure:
    """A ValueError that begins so."""
    return Failure("ValueError", message)
