"""tf.print: values as TensorFlow prints them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.tf.functions.lift import unwrap
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.values.stateful import note

__all__ = ["print_v2", "shown"]

_DIGITS: Final = {np.dtype("float16"): (6, 9), np.dtype("float32"): (6, 9), np.dtype("float64"): (15, 17)}


def print_v2(*inputs: Any, **options: Any) -> None:
    """Print values, by default to the standard error.

    Args:
        inputs: Tensors, Python's values, and structures of them.
        options: `output_stream` (sys.stderr, sys.stdout, "file://path", or a function of logging), `summarize` (how
            many of the first and last elements of a dimension are shown, -1 for all; by default 3), `sep` and `end`.

    Raises:
        ValueError: there is another option, or no such stream.
    """
    note()
    stream = options.pop("output_stream", sys.stderr)
    summarize = options.pop("summarize", 3)
    end, sep = options.pop("end", "\n"), options.pop("sep", " ")
    options.pop("name", None)
    if options:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {options}")
    if summarize != -1 and summarize <= 0:
        raise InvalidArgumentError(f"summarize must be positive or -1, got {summarize}")
    if len(inputs) == 1 and isinstance(inputs[0], Tensor) and isinstance(inputs[0].value, bytes):
        text = inputs[0].value.decode("utf-8", "backslashreplace")
    else:
        text = sep.join(shown(each, summarize) for each in inputs)
    _write(stream, text, end)


def _write(stream: Any, text: str, end: str) -> None:
    if isinstance(stream, str):
        if not stream.startswith("file://"):
            raise ValueError(f"Unknown output stream, output_stream: {stream}")
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text + end)
    elif hasattr(stream, "write"):
        stream.write(text + end)
        stream.flush()
    elif callable(stream):
        stream(text)
    else:
        raise ValueError(f"Output stream was not `sys.stdout`, `sys.stderr`, or a log level: {stream}")


def shown(value: Any, summarize: int = 3) -> str:
    """One argument of `tf.print` as text.

    >>> shown(Tensor(np.arange(10))), shown([1, "a"]), shown({"x": 0.5})
    ('[0 1 2 ... 7 8 9]', "[1, 'a']", "{'x': 0.5}")
    """
    if isinstance(value, Tensor):
        return _tensor(value.value, summarize)
    if isinstance(value, SparseTensor):
        sparse = unwrap(value)
        indices, values, shape = (
            _tensor(part, summarize) for part in (sparse.indices, sparse.values, sparse.dense_shape)
        )
        return f"'SparseTensor(indices={indices}, values={values}, shape={shape})'"
    if isinstance(value, RaggedTensor):
        return _rows(unwrap(value).to_list(), summarize)
    if isinstance(value, str):
        return value
    return _structure(value, summarize)


def _structure(value: Any, summarize: int) -> str:
    """Something inside of a list or dict: strings are quoted there."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_structure(part, summarize)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_structure(part, summarize) for part in value) + "]"
    if isinstance(value, tuple):
        inner = ", ".join(_structure(part, summarize) for part in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, (Tensor, RaggedTensor, SparseTensor)):
        return shown(value, summarize)
    return repr(value)


def _tensor(value: Any, summarize: int) -> str:
    if isinstance(value, bytes):
        return _cell(value)
    array = value.to_numpy() if isinstance(value, BytesColumn) else np.asarray(value)
    return _cells(array, summarize) if array.ndim else _cell(array[()])


def _cells(array: Any, summarize: int, depth: int = 1) -> str:
    """An array in brackets; of a long dimension the first and the last."""
    count = len(array)
    short = summarize == -1 or count <= 2 * summarize
    numbers = list(range(count)) if short else [*range(summarize), *range(count - summarize, count)]
    deep = array.ndim > 1
    texts = [_cells(array[at], summarize, depth + 1) if deep else _cell(array[at]) for at in numbers]
    if not short:
        texts.insert(summarize, "...")
    between = "\n" * (array.ndim - 1) + " " * depth if deep else " "
    return f"[{between.join(texts)}]"


def _cell(value: Any) -> str:
    if isinstance(value, bytes):
        return f'"{_escaped(value)}"'
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, np.floating):
        return _number(value)
    return str(value)


def _escaped(value: bytes) -> str:
    """A string as TensorFlow escapes it: text that is not ASCII stays, control characters are octal."""
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
    text = value.decode("utf-8", "surrogateescape")
    made = [named.get(each) or (each if each.isprintable() else f"\\{ord(each) & 255:03o}") for each in text]
    return "".join(made)


def _number(value: np.floating[Any]) -> str:
    """The shorter of two precisions, if it is exact."""
    few, many = _DIGITS[value.dtype]
    text = f"{float(value):.{few}g}"
    wide = np.float64(text) if many > 9 else np.float32(text)
    return text if wide == value or not np.isfinite(value) else f"{float(value):.{many}g}"


def _rows(rows: list[Any], summarize: int) -> str:
    texts = [_rows(row, summarize) if isinstance(row, list) else _cell(row) for row in rows]
    if summarize != -1 and len(texts) > 2 * summarize:
        texts[summarize : len(texts) - summarize] = ["..."]
    return "[" + ", ".join(texts) + "]"
