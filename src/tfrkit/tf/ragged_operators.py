"""The operators of a RaggedTensor: entry by entry, with ragged tensors of the same rows and what fits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.ragged import Ragged
from tfrkit.ops import arithmetic, compare, elementary
from tfrkit.ops.convert import convert
from tfrkit.ops.ragged_elementwise import map_flat
from tfrkit.tf.tensor import Tensor

__all__ = ["RaggedOperators"]

_Binary = Callable[[Any, Any], Any]


class RaggedOperators:
    """What `+` and all others do; a RaggedTensor is one.

    Attributes:
        ragged: the values.
    """

    __slots__ = ()
    __tensor_operand__ = True  # a Tensor on the left leaves the work to the right

    ragged: Ragged

    def __add__(self, other: Any) -> Any:
        return self._with(arithmetic.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._after(arithmetic.add, other)

    def __sub__(self, other: Any) -> Any:
        return self._with(arithmetic.subtract, other)

    def __rsub__(self, other: Any) -> Any:
        return self._after(arithmetic.subtract, other)

    def __mul__(self, other: Any) -> Any:
        return self._with(arithmetic.multiply, other)

    def __rmul__(self, other: Any) -> Any:
        return self._after(arithmetic.multiply, other)

    def __truediv__(self, other: Any) -> Any:
        return self._with(arithmetic.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._after(arithmetic.truediv, other)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(arithmetic.floordiv, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._after(arithmetic.floordiv, other)

    def __mod__(self, other: Any) -> Any:
        return self._with(arithmetic.floormod, other)

    def __rmod__(self, other: Any) -> Any:
        return self._after(arithmetic.floormod, other)

    def __pow__(self, other: Any) -> Any:
        return self._with(arithmetic.power, other)

    def __rpow__(self, other: Any) -> Any:
        return self._after(arithmetic.power, other)

    def __and__(self, other: Any) -> Any:
        return self._with(self._bits(compare.logical_and, arithmetic.bitwise_and), other)

    def __rand__(self, other: Any) -> Any:
        return self._after(self._bits(compare.logical_and, arithmetic.bitwise_and), other)

    def __or__(self, other: Any) -> Any:
        return self._with(self._bits(compare.logical_or, arithmetic.bitwise_or), other)

    def __ror__(self, other: Any) -> Any:
        return self._after(self._bits(compare.logical_or, arithmetic.bitwise_or), other)

    def __xor__(self, other: Any) -> Any:
        return self._with(self._bits(compare.logical_xor, arithmetic.bitwise_xor), other)

    def __rxor__(self, other: Any) -> Any:
        return self._after(self._bits(compare.logical_xor, arithmetic.bitwise_xor), other)

    def __invert__(self) -> Any:
        return self._made(map_flat(self._bits(compare.logical_not, elementary.invert), self.ragged))

    def __neg__(self) -> Any:
        return self._made(map_flat(elementary.negative, self.ragged))

    def __abs__(self) -> Any:
        return self._made(map_flat(elementary.absolute, self.ragged))

    def __lt__(self, other: Any) -> Any:
        return self._with(compare.less, other)

    def __le__(self, other: Any) -> Any:
        return self._with(compare.less_equal, other)

    def __gt__(self, other: Any) -> Any:
        return self._with(compare.greater, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(compare.greater_equal, other)

    def __eq__(self, other: object) -> Any:
        return self._compared(compare.equal, other, otherwise=False)

    def __ne__(self, other: object) -> Any:
        return self._compared(compare.not_equal, other, otherwise=True)

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def _made(self, value: Any) -> Any:
        """Wrap what an operation gave."""
        return type(self)(value)  # type: ignore[call-arg]

    def _bits(self, of_truths: Any, of_integers: Any) -> Any:
        return of_truths if self.ragged.dtype == np.bool_ else of_integers

    def _with(self, function: _Binary, other: Any) -> Any:
        return self._made(map_flat(function, self.ragged, _value(other)))

    def _after(self, function: _Binary, other: Any) -> Any:
        given = _value(other)
        if not isinstance(given, Ragged):
            given = convert(given, self.ragged.dtype)
        return self._made(map_flat(function, given, self.ragged))

    def _compared(self, function: _Binary, other: Any, *, otherwise: bool) -> Any:
        if other is None:
            return otherwise
        try:
            return self._with(function, other)
        except (InvalidArgumentError, TypeError, ValueError):
            return otherwise


def _value(other: Any) -> Any:
    if isinstance(other, RaggedOperators):
        return other.ragged
    return other.value if isinstance(other, Tensor) else other
