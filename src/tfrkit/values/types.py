"""The types that TensorFlow's operations take, in the order in which its messages name them.

Operations that work entry by entry add theirs with `allow_types` (see `tf.names.math`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name

__all__ = ["KNOWN", "WORDS", "allow_types", "check_type"]

_ORDERED: Final = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_ALL: Final = (
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 quint16 uint16 complex128 "
    "half uint32 uint64"
)
WORDS: Final = {  # that stand for several types
    "real": "bfloat16 half float double",
    "complex": "complex64 complex128",
    "ints": "int8 int16 int32 int64",
    "uints": "uint8 uint16 uint32 uint64",
    "ordered": _ORDERED,
    "complete": "bfloat16 half float double uint8 int8 uint16 int16 int32 uint32 uint64 int64 complex64 complex128",
    "all": _ALL,
    "ranked": f"{_ORDERED} qint8 quint8 qint32 qint16 quint16",
}
_ALLOWED: Final[dict[str, list[str]]] = {}
KNOWN: Final[set[tuple[str, int]]] = set()  # operations with numpy's numbers of types that they take; grows


def allow_types(op: str, types: str) -> None:
    """Set which types an operation takes.

    Args:
        op: TensorFlow's name of the operation.
        types: TensorFlow's names of types, and WORDS that stand for several.
    """
    _ALLOWED[op] = " ".join(WORDS.get(word, word) for word in types.split()).split()


def check_type(op: str, dtype: np.dtype[Any], attribute: str = "T", allowed: list[str] | None = None) -> None:
    """Check that an operation takes a type; one that is not in the table takes all.

    Raises:
        InvalidArgumentError: it does not; the text is TensorFlow's.

    >>> check_type("Softmax", np.dtype("uint8"))
    Traceback (most recent call last):
    tfrkit.errors.InvalidArgumentError: Value for attr 'T' of uint8 is not in the list of allowed values: half, ...
    """
    if allowed is None and (op, dtype.num) in KNOWN:
        return
    allowed = _ALLOWED.get(op) if allowed is None else allowed
    name = op_name(dtype_name(dtype))
    if allowed is not None and name not in allowed:
        raise InvalidArgumentError(
            f"Value for attr '{attribute}' of {name} is not in the list of allowed values: {', '.join(allowed)}"
        )
    if attribute == "T":
        KNOWN.add((op, dtype.num))


for _ops, _types in {
    "AddV2": "real uints ints complex",
    "Add": "real uint8 int8 int16 int32 int64 complex string",
    "Abs": "real ints",
    "Round": "real ints complex",
    "AddN": "all variant",
    "Sum Mean Prod Cumsum Cumprod EuclideanNorm": "all",
    "Max Min": "ranked",
    "ArgMax ArgMin": "ranked bool",
    "Where": "all bool",
    "TopKV2": "ordered",
    "MatMul": "real int32 int64 uints complex",
    "BatchMatMulV2": "real int16 int32 int64 uints complex",
    "Softmax LogSoftmax L2Loss": "half bfloat16 float double",
    "Range": "real ints uint16 uint32 uint64",
    "ReverseV2": "uint8 int8 uint16 int16 int32 uint32 int64 uint64 bool real complex string",
    "OnesLike": "real int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex bool",
    "Bitcast": "real int64 int32 uints int8 int16 complex qint8 quint8 qint16 quint16 qint32",
}.items():
    for _op in _ops.split():
        allow_types(_op, _types)
