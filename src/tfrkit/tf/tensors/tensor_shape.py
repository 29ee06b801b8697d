"""TensorShape: the sizes of a tensor, known or not, under TensorFlow's interface."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from tfrkit.model.element_spec import common_shape, compatible_shapes
from tfrkit.model.shapes import Dims, as_dims

__all__ = [
    "Dimension",
    "TensorShape",
    "as_shape",
    "broadcast_static_shape",
    "dimension_at_index",
    "dimension_value",
]


class Dimension:
    """One size, which may be unknown: TensorFlow 1's type of the sizes of a shape.

    Attributes:
        value: an int or None.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        dims = as_dims([value])
        assert dims is not None
        self.value = dims[0]

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __eq__(self, other: object) -> bool:
        given = other.value if isinstance(other, Dimension) else other
        return self.value == given

    def __hash__(self) -> int:
        return hash(self.value)

    def __int__(self) -> Any:
        return self.value

    def __index__(self) -> Any:
        return self.value

    def __add__(self, other: Any) -> Dimension:
        return self._made(other, lambda one, two: one + two)

    def __sub__(self, other: Any) -> Dimension:
        return self._made(other, lambda one, two: one - two)

    def __mul__(self, other: Any) -> Dimension:
        return self._made(other, lambda one, two: one * two)

    def __floordiv__(self, other: Any) -> Dimension:
        return self._made(other, lambda one, two: one // two)

    def __mod__(self, other: Any) -> Dimension:
        return self._made(other, lambda one, two: one % two)

    __radd__ = __add__
    __rmul__ = __mul__

    def _made(self, other: Any, function: Any) -> Dimension:
        value = other.value if isinstance(other, Dimension) else other
        return Dimension(None if self.value is None or value is None else function(self.value, value))


class TensorShape:
    """Sizes, None for an unknown one; `TensorShape(None)` has an unknown rank.

    Attributes:
        known: the sizes as a tuple.

    It equals tuples and lists of the same sizes, and can be indexed, iterated over and joined like them.

    >>> TensorShape([2, None]), str(TensorShape([2, None])), TensorShape([2, 3]) == (2, 3)
    (TensorShape([2, None]), '(2, None)', True)
    """

    __slots__ = ("known",)

    known: Dims | None

    def __init__(self, dims: Any) -> None:
        self.known = dims.known if isinstance(dims, TensorShape) else as_dims(dims)

    @classmethod
    def of(cls, dims: Dims | None) -> TensorShape:
        """Wrap sizes that are known to be valid."""
        made = cls.__new__(cls)
        made.known = dims
        return made

    @property
    def rank(self) -> int | None:
        """Number of sizes, None if unknown."""
        return None if self.known is None else len(self.known)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as TensorFlow 1's Dimensions."""
        return None if self.known is None else [Dimension(size) for size in self.known]

    def as_list(self) -> list[int | None]:
        """Return the sizes as a list.

        Raises:
            ValueError: the rank is not known.
        """
        if self.known is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.known)

    def num_elements(self) -> int | None:
        """Return the product of all sizes, None if one is unknown."""
        if self.known is None or None in self.known:
            return None
        return math.prod(size for size in self.known if size is not None)

    def is_fully_defined(self) -> bool:
        """Return whether all sizes are known."""
        return self.known is not None and None not in self.known

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether a tensor can have both shapes."""
        return compatible_shapes(self.known, as_shape(other).known)

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether every tensor of this shape also has the other."""
        if not isinstance(other, TensorShape):
            return False
        return other.known is None or common_shape(self.known, other.known) == other.known

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """Return the most specific shape that includes this and all others."""
        found = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            found = found.most_specific_compatible_shape(other)
        return found

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the most specific shape that includes both."""
        return TensorShape.of(common_shape(self.known, as_shape(other).known))

    def merge_with(self, other: Any) -> TensorShape:
        """Return a shape with what is known of either.

        Raises:
            ValueError: they contradict each other.
        """
        theirs = as_shape(other)
        if not compatible_shapes(self.known, theirs.known):
            raise ValueError(f"Shapes {self} and {theirs} are not compatible")
        if self.known is None or theirs.known is None:
            return theirs if self.known is None else self
        pairs = zip(self.known, theirs.known, strict=True)
        return TensorShape.of(tuple(two if one is None else one for one, two in pairs))

    def concatenate(self, other: Any) -> TensorShape:
        """Return these sizes followed by the others."""
        theirs = as_shape(other)
        if self.known is None or theirs.known is None:
            return TensorShape.of(None)
        return TensorShape.of(self.known + theirs.known)

    def with_rank(self, rank: int) -> TensorShape:
        """Return a shape of this rank.

        Raises:
            ValueError: the rank is known and differs.
        """
        if self.known is None:
            return TensorShape.of((None,) * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape itself.

        Raises:
            ValueError: the rank is smaller.
        """
        if self.known is not None and len(self.known) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return the shape itself.

        Raises:
            ValueError: the rank is larger.
        """
        if self.known is not None and len(self.known) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Check the rank."""
        if self.known is not None and len(self.known) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Check that both ranks are equal, if they are known."""
        theirs = as_shape(other)
        if None not in (self.rank, theirs.rank) and self.rank != theirs.rank:
            raise ValueError(f"Shapes {self} and {theirs} must have the same rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Check that a tensor can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Check that all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if self.known is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.known)

    def __iter__(self) -> Iterator[int | None]:
        if self.known is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self.known)

    def __bool__(self) -> bool:
        return self.known is not None

    def __getitem__(self, key: Any) -> Any:
        if self.known is not None:
            found = self.known[key]
            return TensorShape.of(found) if isinstance(key, slice) else found
        if not isinstance(key, slice):
            return None
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if key.stop is None or key.stop < 0 or (key.start or 0) < 0:
            return TensorShape.of(None)
        return TensorShape.of((None,) * max(key.stop - (key.start or 0), 0))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self.known == as_shape(other).known
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self.known)

    def __repr__(self) -> str:
        return f"TensorShape({None if self.known is None else list(self.known)})"

    def __str__(self) -> str:
        return "<unknown>" if self.known is None else str(self.known)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.known,)


def as_shape(shape: Any) -> TensorShape:
    """Return a TensorShape of anything that describes one."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def dimension_value(dimension: Any) -> int | None:
    """Return the value of a size, an int or a Dimension."""
    found: int | None = dimension.value if isinstance(dimension, Dimension) else dimension
    return found


def dimension_at_index(shape: Any, index: int) -> Dimension:
    """Return one size of a shape, as a Dimension."""
    return Dimension(as_shape(shape)[index])


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the shape that two shapes broadcast to.

    Raises:
        ValueError: they do not fit.
    """
    one, two = as_shape(shape_x).known, as_shape(shape_y).known
    if one is None or two is None:
        return TensorShape.of(None)
    length = max(len(one), len(two))
    pairs = zip((1,) * (length - len(one)) + one, (1,) * (length - len(two)) + two, strict=True)
    found: list[int | None] = []
    for first, second in pairs:
        if first == 1 or second == 1:
            found.append(second if first == 1 else first)
        elif first is None or second is None or first == second:
            found.append(second if first is None else first)
        else:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are "
                f"either equal or one of them is 1. Received: {shape_x} and {shape_y}."
            )
    return TensorShape.of(tuple(found))
