"""DType: TensorFlow's element types, as objects."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.model.tensor_types import TENSOR_TYPES, TensorType, tensor_type_of
from tfrkit.optional import require

__all__ = ["DTYPES", "QUANTIZED_DTYPES", "DType", "as_dtype", "dtype_of_numpy"]

NEWAXIS: Final = None  # in the brackets of a tensor
_ALIASES: Final = {"half": "float16", "float": "float32", "double": "float64"}
_LIMITED: Final = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


class DType:
    """The type of a tensor's elements: one object for each, equal to its name, its number and numpy's type.

    >>> as_dtype("int32"), str(as_dtype("int32")), as_dtype("int32") == np.int32
    (tf.int32, "<dtype: 'int32'>", True)
    """

    __slots__ = ("_type",)

    _type: TensorType

    def __new__(cls, type_enum: Any) -> DType:  # noqa: PYI034
        """Return the type with a number, as in the field `dtype` of a TensorProto."""
        return as_dtype(type_enum)

    @classmethod
    def of(cls, found: TensorType) -> DType:
        """Make the only object of a type."""
        made = object.__new__(cls)
        made._type = found
        return made

    @property
    def name(self) -> str:
        """TensorFlow's name."""
        return self._type.name

    @property
    def as_datatype_enum(self) -> int:
        """Its number in protocol messages."""
        return self._type.number

    @property
    def as_numpy_dtype(self) -> Any:
        """Numpy's scalar class; object for strings.

        Raises:
            KeyError: numpy has no such class.
        """
        if not self.is_numpy_compatible:
            raise KeyError(self._type.number)
        if self.is_quantized:
            return np.dtype([(self.name, np.dtype(self._type.stored).str[1:])])
        return object if self.name == "string" else self._type.numpy().type

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether numpy has such values."""
        return self.name not in ("resource", "variant")

    @property
    def is_bool(self) -> bool:
        """Whether it is the type of truth values."""
        return self.name == "bool"

    @property
    def is_floating(self) -> bool:
        """Whether it is a type of (real) floating point numbers."""
        return "float" in self.name

    @property
    def is_integer(self) -> bool:
        """Whether it is a type of integers that are not quantized."""
        return self.name.startswith(("int", "uint"))

    @property
    def is_complex(self) -> bool:
        """Whether it is a type of complex numbers."""
        return self.name.startswith("complex")

    @property
    def is_quantized(self) -> bool:
        """Whether it is a type of quantized numbers."""
        return self.name.startswith("q")

    @property
    def is_unsigned(self) -> bool:
        """Whether it has no negative numbers."""
        return self.name.startswith("uint")

    @property
    def is_numeric(self) -> bool:
        """Whether it is a type of numbers that kernels compute with."""
        small = self.name in ("int2", "uint2", "int4", "uint4") or self.name.startswith("float8")
        return not small and (self.is_floating or self.is_integer or self.is_complex or self.is_quantized)

    @property
    def base_dtype(self) -> DType:
        """Itself: there are no reference types here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the parts of complex numbers; others are their own."""
        return as_dtype({"complex64": "float32", "complex128": "float64"}.get(self.name, self.name))

    @property
    def size(self) -> int:
        """Bytes of an element; 0 for strings."""
        return self._type.numpy().itemsize if self._type.stored else 0

    @property
    def min(self) -> Any:
        """The smallest value.

        Raises:
            TypeError: it has none.
        """
        return self._extreme("minimum", "min")

    @property
    def max(self) -> Any:
        """The largest value.

        Raises:
            TypeError: it has none.
        """
        return self._extreme("maximum", "max")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of values of an image, from 0 on.

        Raises:
            ValueError: it has none.
        """
        if not self.is_numpy_compatible:
            raise KeyError(self._type.number)
        if self.name == "bool":
            return 0, True
        if self.name in ("float32", "float64"):
            return 0, 1
        if self.name not in _LIMITED:
            raise ValueError(f"{self} does not have defined limits.")
        return 0, self.max

    def is_compatible_with(self, other: Any) -> bool:
        """Whether the other type is this one."""
        return self == as_dtype(other)

    def _extreme(self, word: str, which: str) -> Any:
        if not self.is_numpy_compatible:
            raise TypeError(f"Cannot find {word} value of {self}.")
        if self.is_quantized:
            raise TypeError(f"Cannot find {word} value of {self} with quantized type {self}.")
        if not (self.is_floating or self.is_integer):
            raise TypeError(f"Cannot find {word} value of {self} with type {self}.")
        if self._type.is_foreign:
            finder = require("ml_dtypes", f"the {word} of {self.name}")
            return getattr((finder.finfo if self.is_floating else finder.iinfo)(self.as_numpy_dtype), which)
        return getattr((np.finfo if self.is_floating else np.iinfo)(self.as_numpy_dtype), which)

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._type.number

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


DTYPES: Final = {found.name: DType.of(found) for found in TENSOR_TYPES.values()}
QUANTIZED_DTYPES: Final = frozenset(found for found in DTYPES.values() if found.is_quantized)
_OF_NUMPY: Final[dict[np.dtype[Any], DType]] = {}


def as_dtype(type_value: Any) -> DType:
    """Return a type.

    Args:
        type_value: a DType, a name, a number, numpy's dtype or scalar class, or one of float, bool and object.

    Raises:
        TypeError: it is not one of them; the text is TensorFlow's.
    """
    if isinstance(type_value, DType):
        return type_value
    found = None
    if isinstance(type_value, str):
        found = DTYPES.get(_ALIASES.get(type_value, type_value))
    elif isinstance(type_value, int) and not isinstance(type_value, bool):
        known = TENSOR_TYPES.get(type_value)
        found = None if known is None else DTYPES[known.name]
    elif isinstance(type_value, np.dtype):
        found = dtype_of_numpy(type_value)
    elif isinstance(type_value, type):
        found = _of_class(type_value)
    elif isinstance(getattr(type_value, "name", None), str):
        found = DTYPES.get(type_value.name)  # TensorFlow's own
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")
    return found


def dtype_of_numpy(dtype: np.dtype[Any]) -> DType | None:
    """Return the type of an array's elements; None if no tensor holds them."""
    found = _OF_NUMPY.get(dtype)
    if found is None:
        known = tensor_type_of(dtype)
        if known is None:
            return None
        found = _OF_NUMPY[dtype] = DTYPES[known.name]
    return found


def _of_class(kind: type) -> DType | None:
    if kind in (float, bool, object):
        return DTYPES[{float: "float32", bool: "bool", object: "string"}[kind]]
    if issubclass(kind, np.generic):
        return dtype_of_numpy(np.dtype(kind))
    return DTYPES.get(kind.__name__) if kind.__module__ == "ml_dtypes" else None


def __getattr__(name: str) -> DType:
    try:
        return DTYPES[_ALIASES.get(name, name)]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
