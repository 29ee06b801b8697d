"""The parsing functions of both libraries on the same bytes, and their results in one plain form.

A spec is written once: a dict of key -> (name of the feature class, arguments), where the arguments hold dtypes by
name and partitions as pairs of class name and argument. `theirs` and `ours` make a library's own spec of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, attempt, tensorflow, undecorated

Feature = tuple[str, dict[str, Any]]
Spec = Mapping[str, Feature]
BROKEN = ("a ragged tensor whose rows are not in its values",)  # as TensorFlow makes it of wrong partitions
DTYPES = ("int64", "float32", "string")


def fixed(shape: Sequence[int] = (), dtype: str = "int64", default: Any = None) -> Feature:
    """A FixedLenFeature."""
    return "FixedLenFeature", {"shape": list(shape), "dtype": dtype, "default_value": default}


def variable(dtype: str = "int64") -> Feature:
    """A VarLenFeature."""
    return "VarLenFeature", {"dtype": dtype}


def ragged(dtype: str = "int64", **options: Any) -> Feature:
    """A RaggedFeature."""
    return "RaggedFeature", {"dtype": dtype, **options}


def steps(
    shape: Sequence[int] = (), dtype: str = "int64", *, missing: bool = True, default: Any = None
) -> Feature:
    """A FixedLenSequenceFeature."""
    options = {"shape": list(shape), "dtype": dtype, "allow_missing": missing, "default_value": default}
    return "FixedLenSequenceFeature", options


def make_spec(spec: Spec, namespace: Any) -> dict[str, Any]:
    """The spec in a library's own classes."""
    made = {}
    for key, (name, options) in spec.items():
        cls = getattr(namespace, name)
        arguments = dict(options)
        if "partitions" in arguments:
            arguments["partitions"] = [getattr(cls, kind)(value) for kind, value in arguments["partitions"]]
        made[key] = cls(**arguments)
    return made


def plain(value: Any) -> Any:
    """An array, column or tensor in a form that compares bit by bit."""
    if isinstance(value, bytes | str):
        return "dense", "string", (), (value,)
    if isinstance(value, tfr.BytesColumn):
        return "dense", "string", tuple(value.shape), tuple(value.reshape(-1).to_list())
    if isinstance(value, tfr.Sparse):
        return _sparse(value.indices, value.values, value.dense_shape)
    if hasattr(value, "dense_shape"):
        return _sparse(value.indices.numpy(), value.values, value.dense_shape.numpy())
    if hasattr(value, "nested_row_splits"):
        return _ragged(value)
    if hasattr(value, "numpy"):
        value = value.numpy()
    array = np.asarray(value, object if isinstance(value, bytes) else None)
    if array.dtype == object:
        return "dense", "string", array.shape, tuple(array.reshape(-1).tolist())
    return "dense", str(array.dtype), array.shape, array.tobytes()


def _ragged(value: Any) -> Any:
    """Splits from the outermost, then the values; what no row holds is left out, as TensorFlow's own methods do."""
    splits = [np.asarray(part) for part in value.nested_row_splits]
    flat = value.flat_values
    ends = [len(part) - 1 for part in splits[1:]] + [len(flat)]
    for part, end in zip(splits, ends, strict=True):
        if len(part) == 0 or part[0] != 0 or (part[1:] < part[:-1]).any() or part[-1] > end:
            return BROKEN
    return (
        "ragged",
        tuple((str(part.dtype), tuple(part.tolist())) for part in splits),
        plain(flat[: splits[-1][-1]]),
    )


def _sparse(indices: Any, values: Any, shape: Any) -> Any:
    return "sparse", tuple(map(tuple, indices.tolist())), tuple(shape.tolist()), plain(values)


def as_sparse(value: Any) -> Any:
    """What tfrkit gives for a VarLenFeature, as the sparse tensor that TensorFlow gives."""
    if isinstance(value, tfr.Ragged):
        return plain(value.to_sparse())
    length = len(value)
    return "sparse", tuple((number,) for number in range(length)), (length,), plain(value)


def plain_results(results: Mapping[str, Any], spec: Spec) -> dict[str, Any]:
    """All results of a parse in plain form."""
    made = {}
    for key, value in results.items():
        to_sparse = spec[key][0] == "VarLenFeature" and not hasattr(value, "dense_shape")
        made[key] = as_sparse(value) if to_sparse else plain(value)
    return made


def attempt_theirs(call: Callable[[], Any]) -> Any:
    """As `attempt`; where TensorFlow could not decode its own message, the error that it was about to raise."""
    try:
        return call()
    except UnicodeDecodeError as error:
        return Failure("InvalidArgumentError", undecorated(error.object.decode("utf-8", "backslashreplace")))
    except Exception as error:
        return Failure.of(error)


def theirs(records: Sequence[bytes] | bytes, spec: Spec) -> Any:
    """TensorFlow's parse_example of a batch, or parse_single_example of one record."""
    io = tensorflow().io
    features = make_spec(spec, io)
    if isinstance(records, bytes):
        return attempt_theirs(lambda: plain_results(io.parse_single_example(records, features), spec))
    return attempt_theirs(lambda: plain_results(io.parse_example(tensor_of(records), features), spec))


def ours(records: Sequence[bytes] | bytes, spec: Spec, policy: Any = tfr.TENSORFLOW) -> Any:
    """tfrkit's, of the same."""
    features = make_spec(spec, tfr)
    if isinstance(records, bytes):
        return attempt(
            lambda: plain_results(tfr.parse_single_example(records, features, policy=policy), spec)
        )
    return attempt(lambda: plain_results(tfr.parse_example(list(records), features, policy=policy), spec))


def tensor_of(records: Sequence[bytes]) -> Any:
    """A vector of strings, which may be empty."""
    tf = tensorflow()
    return tf.constant(list(records), tf.string)


def failure_text(outcome: Any) -> str:
    """The text of a failure, which the outcome must be."""
    assert isinstance(outcome, Failure), outcome
    return outcome.message
