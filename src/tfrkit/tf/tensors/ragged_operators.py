"""The operators of a RaggedTensor: entry by entry, with ragged tensors of the same rows and what broadcasts to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.math import elementwise
from tfrkit.tf.ops.ragged.ragged_elementwise import map_flat
from tfrkit.tf.tensors.operators import Binary, Operators
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.values.operands import convert

__all__ = ["RaggedOperators"]


class RaggedOperators(Operators):
    """Base class of RaggedTensor: `+` and all other operators.

    Attributes:
        ragged: the values.
    """

    __slots__ = ()
    __tensor_operand__ = True  # a Tensor on the left leaves the work to the right

    ragged: Ragged

    def __eq__(self, other: object) -> Any:
        return self._compared(elementwise.equal, other, otherwise=False)

    def __ne__(self, other: object) -> Any:
        return self._compared(elementwise.not_equal, other, otherwise=True)

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def _made(self, value: Any) -> Any:
        """Wrap the result of an operation."""
        return type(self)(value)  # type: ignore[call-arg]

    def _bits(self, of_truths: Any, of_integers: Any) -> Any:
        return of_truths if self.ragged.dtype == np.bool_ else of_integers

    def _with(self, function: Binary, other: Any, quick: Any = None) -> Any:
        return self._made(map_flat(function, self.ragged, _value(other)))

    def _alone(self, function: Callable[[Any], Any]) -> Any:
        return self._made(map_flat(function, self.ragged))

    def _after(self, function: Binary, other: Any) -> Any:
        given = _value(other)
        if not isinstance(given, Ragged):
            given = convert(given, self.ragged.dtype)
        return self._made(map_flat(function, given, self.ragged))

    def _compared(self, function: Binary, other: Any, *, otherwise: bool) -> Any:
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
