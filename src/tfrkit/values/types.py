"""The types that TensorFlow's operations take, in the order in which its messages name them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name

__all__ = ["ALLOWED", "KNOWN", "check_type"]

_REAL: Final = "bfloat16 half float double"
_FLOAT: Final = f"{_REAL} complex64 complex128"
_ALL: Final = (
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 quint16 uint16 complex128 "
    "half uint32 uint64"
)
_ORDERED: Final = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_RANKED: Final = f"{_ORDERED} qint8 quint8 qint32 qint16 quint16"
_INTEGERS: Final = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_SIGNED: Final = f"{_REAL} int8 int16 int32 int64"
_COMPLETE: Final = f"{_REAL} uint8 int8 uint16 int16 int32 uint32 uint64 int64 complex64 complex128"

_TABLE: Final = {
    f"{_REAL} uint8 uint16 uint32 uint64 int8 int16 int32 int64 complex64 complex128": "AddV2",
    f"{_REAL} uint8 int8 int16 int32 int64 complex64 complex128 string": "Add",
    f"{_REAL} uint8 int8 uint16 int16 int32 int64 complex64 complex128 uint32 uint64": "Sub",
    _COMPLETE: "Mul RealDiv Div FloorDiv TruncateDiv",
    "half float bfloat16 double complex64 complex128": "DivNoNan",
    f"{_REAL} complex64 complex128": "MulNoNan Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh "
    "Tanh Asinh Acosh Atanh Sigmoid",
    f"{_INTEGERS} {_REAL}": "FloorMod",
    f"int32 int64 {_REAL}": "TruncateMod",
    "bfloat16 float half double int8 int16 int32 int64 complex64 complex128": "Pow",
    f"{_SIGNED} complex64 complex128": "Neg Sign Reciprocal Round",
    _SIGNED: "Abs",
    f"{_SIGNED} uint8 uint16 uint32 uint64 complex64 complex128": "Square",
    _REAL: "Atan2 Erf Rint Floor Ceil IsNan IsInf IsFinite Lgamma LinSpace",
    f"{_REAL} int8 uint8 int16 uint16 int32 uint32 int64 uint64": "Maximum Minimum",
    f"{_REAL} int32 int64 complex64 complex128": "SquaredDifference",
    _ORDERED: "Less LessEqual Greater GreaterEqual TopKV2 Relu6 Cross",
    _INTEGERS: "BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift PopulationCount",
    _ALL: "Sum Mean Prod Cumsum Cumprod ClipByValue EuclideanNorm ApproximateEqual",
    f"{_ALL} variant": "AddN",
    f"{_ALL} bool": "Where",
    _RANKED: "Max Min",
    f"{_RANKED} bool": "ArgMax ArgMin",
    f"{_REAL} int32 int64 uint8 uint16 uint32 uint64 complex64 complex128": "MatMul",
    f"{_REAL} int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128": "BatchMatMulV2",
    f"{_REAL} int8 int16 int32 int64 uint16 uint32 uint64": "Range",
    "int32 int64 float double": "HistogramFixedWidth",
    f"{_ORDERED} qint8": "Relu",
    "half bfloat16 float double": "Softmax LogSoftmax Softplus Elu L2Loss",
    "half bfloat16 float double complex64 complex128": "Xlogy Xdivy",
    "complex64 complex128": "Real Imag Angle ComplexAbs",
    "int32 int64": "InvertPermutation",
    "uint8 int8 uint16 int16 int32 uint32 int64 uint64 bool bfloat16 half float double complex64 complex128 string": (
        "ReverseV2"
    ),
    f"{_REAL} int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128 bool": "OnesLike",
    "bfloat16 half float double int64 int32 uint8 uint16 uint32 uint64 int8 int16 complex64 complex128 qint8 quint8 "
    "qint16 quint16 qint32": "Bitcast",
}
ALLOWED: Final = {op: types.split() for types, ops in _TABLE.items() for op in ops.split()}
KNOWN: Final[set[tuple[str, int]]] = set()  # operations with numpy's numbers of types that they take; grows


def check_type(op: str, dtype: np.dtype[Any], attribute: str = "T", allowed: list[str] | None = None) -> None:
    """Check that an operation takes a type; one that is not in the table takes all.

    Raises:
        InvalidArgumentError: it does not; the text is TensorFlow's.

    >>> check_type("Neg", np.dtype("uint8"))
    Traceback (most recent call last):
    tfrkit.errors.InvalidArgumentError: Value for attr 'T' of uint8 is not in the list of allowed values: bfloat16, ...
    """
    if allowed is None and (op, dtype.num) in KNOWN:
        return
    allowed = ALLOWED.get(op) if allowed is None else allowed
    name = op_name(dtype_name(dtype))
    if allowed is not None and name not in allowed:
        raise InvalidArgumentError(
            f"Value for attr '{attribute}' of {name} is not in the list of allowed values: {', '.join(allowed)}"
        )
    if attribute == "T":
        KNOWN.add((op, dtype.num))
