"""The operators that all kinds of tensors have: each names its operation, and how it is applied is up to the kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from tfrkit.tf.ops.math import elementwise
from tfrkit.tf.tensors.tensor_shape import TensorShape

__all__ = ["Binary", "Operators"]

Binary = Callable[[Any, Any], Any]


def _left(function: Binary, quick: Any = None) -> Binary:
    return lambda self, other: self._with(function, other, quick)


def _right(function: Binary) -> Binary:
    return lambda self, other: self._after(function, other)


def _left_bits(of_truths: Binary, of_integers: Binary) -> Binary:
    return lambda self, other: self._with(self._bits(of_truths, of_integers), other)


def _right_bits(of_truths: Binary, of_integers: Binary) -> Binary:
    return lambda self, other: self._after(self._bits(of_truths, of_integers), other)


class Operators:
    """What `+` and most others do, by three steps that each kind of tensor defines."""

    __slots__ = ()

    @abstractmethod
    def _with(self, function: Binary, other: Any, quick: Any = None) -> Any:
        """Apply to it and another, which takes its type.

        Args:
            function: of two values.
            other: a tensor or anything else.
            quick: numpy's function for integers of one type, which needs no checks.
        """

    @abstractmethod
    def _after(self, function: Binary, other: Any) -> Any:
        """Apply to another, which takes its type, and it."""

    @abstractmethod
    def _alone(self, function: Callable[[Any], Any]) -> Any:
        """Apply to it."""

    @abstractmethod
    def _bits(self, of_truths: Any, of_integers: Any) -> Any:
        """Return the first for bools, the second for integers."""

    @property
    @abstractmethod
    def shape(self) -> TensorShape:
        """The sizes, as far as they are known."""

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def __copy__(self) -> Self:
        return self  # it does not change

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    __add__, __radd__ = _left(elementwise.add, np.add), _right(elementwise.add)
    __sub__, __rsub__ = _left(elementwise.subtract, np.subtract), _right(elementwise.subtract)
    __mul__, __rmul__ = _left(elementwise.multiply, np.multiply), _right(elementwise.multiply)
    __truediv__, __rtruediv__ = _left(elementwise.truediv), _right(elementwise.truediv)
    __floordiv__, __rfloordiv__ = _left(elementwise.floordiv), _right(elementwise.floordiv)
    __mod__, __rmod__ = _left(elementwise.floormod), _right(elementwise.floormod)
    __pow__, __rpow__ = _left(elementwise.pow), _right(elementwise.pow)
    __and__ = _left_bits(elementwise.logical_and, elementwise.bitwise_and)
    __rand__ = _right_bits(elementwise.logical_and, elementwise.bitwise_and)
    __or__ = _left_bits(elementwise.logical_or, elementwise.bitwise_or)
    __ror__ = _right_bits(elementwise.logical_or, elementwise.bitwise_or)
    __xor__ = _left_bits(elementwise.logical_xor, elementwise.bitwise_xor)
    __rxor__ = _right_bits(elementwise.logical_xor, elementwise.bitwise_xor)
    __lt__, __le__ = _left(elementwise.less, np.less), _left(elementwise.less_equal, np.less_equal)
    __gt__, __ge__ = (
        _left(elementwise.greater, np.greater),
        _left(elementwise.greater_equal, np.greater_equal),
    )

    def __invert__(self) -> Any:
        return self._alone(self._bits(elementwise.logical_not, elementwise.invert))

    def __neg__(self) -> Any:
        return self._alone(elementwise.negative)

    def __abs__(self) -> Any:
        return self._alone(elementwise.absolute)
