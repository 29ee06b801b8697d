"""Element types of tensors: TensorFlow's name and number of each, and the numpy type that holds it.

Features know three types, see `dtypes`; raw bytes and serialised tensors know all of these. What numpy has not
itself (bfloat16, float8, int4 and smaller) comes from the package ml_dtypes, which is asked for when it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.model.dtypes import op_name, type_name
from tfrkit.optional import require

__all__ = ["TENSOR_TYPES", "TensorType", "tensor_type", "tensor_type_of"]


@dataclass(frozen=True, slots=True)
class TensorType:
    """One element type.

    Attributes:
        number: as in the field `dtype` of a TensorProto.
        name: TensorFlow's name, such as "float32".
        stored: name of the numpy type; "" for string, resource and variant.
        field: the field of a TensorProto that holds such values one by one.
    """

    number: int
    name: str
    stored: str
    field: str

    @property
    def op_name(self) -> str:
        """The name that TensorFlow's kernels print: "float" for float32, "half" for float16."""
        return op_name(self.name)

    @property
    def is_foreign(self) -> bool:
        """Whether numpy needs ml_dtypes for it."""
        return self.stored not in _OF_NUMPY and bool(self.stored)

    def numpy(self) -> np.dtype[Any]:
        """The numpy type of the elements.

        Raises:
            MissingExtraError: it comes from ml_dtypes, which is not installed.
        """
        if self.is_foreign:
            kind: type[Any] = getattr(require("ml_dtypes", f"an array of {self.name}"), self.stored)
            return np.dtype(kind)
        return np.dtype(self.stored or object)


_OF_NUMPY: Final = (
    {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    | {"float16", "float32", "float64", "complex64", "complex128", "bool"}
)  # fmt: skip
_TYPES: Final = (
    TensorType(1, "float32", "float32", "float_val"),
    TensorType(2, "float64", "float64", "double_val"),
    TensorType(3, "int32", "int32", "int_val"),
    TensorType(4, "uint8", "uint8", "int_val"),
    TensorType(5, "int16", "int16", "int_val"),
    TensorType(6, "int8", "int8", "int_val"),
    TensorType(7, "string", "", "string_val"),
    TensorType(8, "complex64", "complex64", "scomplex_val"),
    TensorType(9, "int64", "int64", "int64_val"),
    TensorType(10, "bool", "bool", "bool_val"),
    TensorType(11, "qint8", "int8", "int_val"),
    TensorType(12, "quint8", "uint8", "int_val"),
    TensorType(13, "qint32", "int32", "int_val"),
    TensorType(14, "bfloat16", "bfloat16", "half_val"),
    TensorType(15, "qint16", "int16", "int_val"),
    TensorType(16, "quint16", "uint16", "int_val"),
    TensorType(17, "uint16", "uint16", "int_val"),
    TensorType(18, "complex128", "complex128", "dcomplex_val"),
    TensorType(19, "float16", "float16", "half_val"),
    TensorType(20, "resource", "", "resource_handle_val"),
    TensorType(21, "variant", "", "variant_val"),
    TensorType(22, "uint32", "uint32", "uint32_val"),
    TensorType(23, "uint64", "uint64", "uint64_val"),
    TensorType(24, "float8_e5m2", "float8_e5m2", "float8_val"),
    TensorType(25, "float8_e4m3fn", "float8_e4m3fn", "float8_val"),
    TensorType(26, "float8_e4m3fnuz", "float8_e4m3fnuz", "float8_val"),
    TensorType(27, "float8_e4m3b11fnuz", "float8_e4m3b11fnuz", "float8_val"),
    TensorType(28, "float8_e5m2fnuz", "float8_e5m2fnuz", "float8_val"),
    TensorType(29, "int4", "int4", "int_val"),
    TensorType(30, "uint4", "uint4", "int_val"),
    TensorType(31, "int2", "int2", "int_val"),
    TensorType(32, "uint2", "uint2", "int_val"),
)
TENSOR_TYPES: Final = {found.number: found for found in _TYPES}
_BY_NAME: Final = {found.name: found for found in _TYPES}


def tensor_type(dtype: Any, argument: str = "out_type") -> TensorType:
    """Find the type that an argument names.

    Args:
        dtype: TensorFlow's name of it, a numpy dtype or scalar class, TensorFlow's number, one of int, float, bool,
            bytes and str, or an object with a `name`, as TensorFlow's and tfrkit's dtypes have.
        argument: what the argument is called, for the message.

    Raises:
        TypeError: it names no type.

    >>> tensor_type("half").name, tensor_type(np.dtype(">i2")).name, tensor_type(bytes).name, tensor_type(3).name
    ('float16', 'int16', 'string', 'int32')
    """
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if isinstance(name, str) and name in _BY_NAME:
        return _BY_NAME[name]
    if isinstance(dtype, int) and not isinstance(dtype, bool) and dtype in TENSOR_TYPES:
        return TENSOR_TYPES[dtype]
    try:
        return _BY_NAME[type_name(dtype)]
    except (TypeError, KeyError):
        foreign = getattr(dtype, "__name__", None)  # a scalar class of ml_dtypes is no np.generic
        if isinstance(foreign, str) and foreign in _BY_NAME:
            return _BY_NAME[foreign]
        raise TypeError(f"Expected DataType for argument '{argument}' not {dtype!r}.") from None


def tensor_type_of(dtype: np.dtype[Any]) -> TensorType | None:
    """Find the type of an array's elements by its numpy dtype, None if no tensor can hold it.

    >>> tensor_type_of(np.dtype(">f8")).number, tensor_type_of(np.dtype("M8[s]"))
    (2, None)
    """
    if dtype.kind in "SUO":
        return _BY_NAME["string"]
    return _BY_NAME.get(dtype.name)
