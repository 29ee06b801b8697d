"""The operators that all kinds of tensors have: each names its operation, and the kind of tensor applies it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tfrkit.tf.ops.math import elementwise

__all__ = ["Binary", "Operators"]

Binary = Callable[[Any, Any], Any]


class Operators:
    """`+` and most other operators, by four methods that each kind of tensor implements."""

    __slots__ = ()

    @abstractmethod
    def _with(self, function: Binary, other: Any, quick: Any = None) -> Any:
        """Apply a function to this tensor and another operand, which takes its type.

        Args:
            function: of two values.
            other: a tensor or anything else.
            quick: numpy's function for integers of one type, which needs no checks.
        """

    @abstractmethod
    def _after(self, function: Binary, other: Any) -> Any:
        """Apply a function to another operand, which takes the type of this tensor, and this tensor."""

    @abstractmethod
    def _alone(self, function: Callable[[Any], Any]) -> Any:
        """Apply a function to this tensor."""

    @abstractmethod
    def _bits(self, of_truths: Any, of_integers: Any) -> Any:
        """Return the first for bools, the second for integers."""

    def __add__(self, other: Any) -> Any:
        return self._with(elementwise.add, other, np.add)

    def __radd__(self, other: Any) -> Any:
        return self._after(elementwise.add, other)

    def __sub__(self, other: Any) -> Any:
        return self._with(elementwise.subtract, other, np.subtract)

    def __rsub__(self, other: Any) -> Any:
        return self._after(elementwise.subtract, other)

    def __mul__(self, other: Any) -> Any:
        return self._with(elementwise.multiply, other, np.multiply)

    def __rmul__(self, other: Any) -> Any:
        return self._after(elementwise.multiply, other)

    def __truediv__(self, other: Any) -> Any:
        return self._with(elementwise.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._after(elementwise.truediv, other)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(elementwise.floordiv, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._after(elementwise.floordiv, other)

    def __mod__(self, other: Any) -> Any:
        return self._with(elementwise.floormod, other)

    def __rmod__(self, other: Any) -> Any:
        return self._after(elementwise.floormod, other)

    def __pow__(self, other: Any) -> Any:
        return self._with(elementwise.pow, other)

    def __rpow__(self, other: Any) -> Any:
        return self._after(elementwise.pow, other)

    def __and__(self, other: Any) -> Any:
        return self._with(self._bits(elementwise.logical_and, elementwise.bitwise_and), other)

    def __rand__(self, other: Any) -> Any:
        return self._after(self._bits(elementwise.logical_and, elementwise.bitwise_and), other)

    def __or__(self, other: Any) -> Any:
        return self._with(self._bits(elementwise.logical_or, elementwise.bitwise_or), other)

    def __ror__(self, other: Any) -> Any:
        return self._after(self._bits(elementwise.logical_or, elementwise.bitwise_or), other)

    def __xor__(self, other: Any) -> Any:
        return self._with(self._bits(elementwise.logical_xor, elementwise.bitwise_xor), other)

    def __rxor__(self, other: Any) -> Any:
        return self._after(self._bits(elementwise.logical_xor, elementwise.bitwise_xor), other)

    def __invert__(self) -> Any:
        return self._alone(self._bits(elementwise.logical_not, elementwise.invert))

    def __neg__(self) -> Any:
        return self._alone(elementwise.negative)

    def __abs__(self) -> Any:
        return self._alone(elementwise.absolute)

    def __lt__(self, other: Any) -> Any:
        return self._with(elementwise.less, other, np.less)

    def __le__(self, other: Any) -> Any:
        return self._with(elementwise.less_equal, other, np.less_equal)

    def __gt__(self, other: Any) -> Any:
        return self._with(elementwise.greater, other, np.greater)

    def __ge__(self, other: Any) -> Any:
        return self._with(elementwise.greater_equal, other, np.greater_equal)
