"""One program with TensorFlow's module and with `tfrkit.tf`: what both give, in one form that can be compared.

A case is a function of the module; whatever it gives is compared: tensors by type, shape and bits, structures part by
part, Python values by equality, other objects by their text, errors by class and core text (ours may go on behind
TensorFlow's).

    same(lambda tf: tf.constant([1, 2]) + 1)
    same(lambda tf: tf.image.resize(photo, (9, 9), "lanczos3"), within=3e-7)
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core

Case = Callable[[Any], Any]
Within = float | np.ndarray


class Array(NamedTuple):
    """A tensor, or a value of numpy: which of the two, its type, shape and values."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    values: Any


class Parts(NamedTuple):
    """A SparseTensor or RaggedTensor, by its parts."""

    kind: str
    parts: Any


def ours() -> Any:
    """The module `tfrkit.tf`."""
    return importlib.import_module("tfrkit.tf")


def outcome(module: Any, case: Case) -> Any:
    """What the case gives with this module, in plain form, or its failure."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(case(module))
    except UnicodeDecodeError as error:  # TensorFlow could not decode its own message
        return Failure("InvalidArgumentError", core(error.object.decode("utf-8", "backslashreplace")))
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))


def plain(value: Any) -> Any:
    """Any result as named tuples, lists, dicts and Python values."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, Failure)):
        return value
    if hasattr(value, "dense_shape"):
        parts = value.indices, value.values, value.dense_shape
        return Parts(type(value).__name__, [plain(part) for part in parts])
    if hasattr(value, "nested_row_splits"):
        parts = [*value.nested_row_splits, value.flat_values]
        return Parts(type(value).__name__, [plain(part) for part in parts])
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return Array("numpy", value.dtype.name, value.shape, _listed(value))
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        dtype = value.dtype
        return Array("tensor", getattr(dtype, "name", str(dtype)), tuple(value.shape), _listed(value.numpy()))
    return str(value)


def same(case: Case, *, within: Within = 0.0) -> Any:
    """TensorFlow and tfrkit give the same; what TensorFlow gives is returned.

    Args:
        case: a function of the module.
        within: how far apart numbers may be, as a part of the largest one at hand, or an array of how far each of
            them may be; 0 compares bits (NaN equals NaN).
    """
    theirs, our = outcome(tensorflow(), case), outcome(ours(), case)
    assert _equal(our, theirs, within), f"\ntfrkit     {our}\nTensorFlow {theirs}"
    return theirs


def same_lines(text: str, *, within: float = 0.0, **names: Any) -> None:
    """Both give the same for every line, an expression of `tf`, `np` and these names.

    Args:
        text: lines; empty ones and those that begin with # are passed over.
        within: as in `same`.
        names: what lines may use besides; a function of one argument called `tf` is called with the module.
    """
    differences = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            continue

        def case(tf: Any, line: str = line) -> Any:
            made = {name: value(tf) if _takes_module(value) else value for name, value in names.items()}
            return eval(line, {"tf": tf, "np": np, **made})

        theirs, our = outcome(tensorflow(), case), outcome(ours(), case)
        if not _equal(our, theirs, within):
            differences.append(f"{line}\ntfrkit     {our}\nTensorFlow {theirs}")
    assert not differences, "\n" + "\n".join(differences)


def _takes_module(value: Any) -> bool:
    code = getattr(value, "__code__", None)
    return code is not None and code.co_varnames[: code.co_argcount] == ("tf",)


def fails(case: Case, name: str, text: str = "") -> None:
    """Both fail alike, with this class and a text that has this in it."""
    found = same(case)
    assert isinstance(found, Failure), found
    assert found.name == name, found
    assert text in found.message, found


def _listed(value: Any) -> Any:
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array


def _equal(our: Any, their: Any, within: Within) -> bool:
    if isinstance(our, Failure) and isinstance(their, Failure):
        return our.name == their.name and our.message.startswith(their.message)
    if isinstance(our, Array) and isinstance(their, Array):
        return our[:3] == their[:3] and _close(our.values, their.values, within)
    if type(our) is not type(their):
        return False
    if isinstance(our, dict):
        return list(our) == list(their) and all(_equal(our[key], their[key], within) for key in our)
    if isinstance(our, (list, tuple)):
        return len(our) == len(their) and all(
            _equal(one, other, within) for one, other in zip(our, their, strict=True)
        )
    return bool(our == their)


def _close(our: Any, their: Any, within: Within) -> bool:
    if isinstance(within, np.ndarray):
        return within.shape == our.shape and bool(
            np.allclose(our, their, rtol=0.0, atol=within, equal_nan=True)
        )
    if our.dtype.kind not in "fc" or not within:
        return our.tobytes() == their.tobytes() if our.dtype != object else our.tolist() == their.tolist()
    scale = np.max(np.abs(their), initial=0.0, where=np.isfinite(their))
    return bool(np.allclose(our, their, rtol=0.0, atol=within * float(scale), equal_nan=True))
