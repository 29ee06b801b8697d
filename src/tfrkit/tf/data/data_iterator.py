"""Iterators over tf.data.Datasets: Tensors, or what numpy makes of them; and the next element as a value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tfrkit.data.elements.element_values import to_tensors
from tfrkit.data.elements.structure import map_structure
from tfrkit.data.engine.iterator import DatasetIterator
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import spec_of_value
from tfrkit.model.sparse import Sparse
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_specs import public

__all__ = ["NumpyIterator", "Optional", "OwnedIterator"]


class OwnedIterator(DatasetIterator):
    """An iterator over the elements of a Dataset, as Tensors; see `tfrkit.DatasetIterator`."""

    _keeps_values: ClassVar = True  # a Tensor cannot be written to

    def __next__(self) -> Any:
        return wrap(super().__next__())

    def next(self) -> Any:
        """The next element, as `next(iterator)` gives it."""
        return self.__next__()

    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: the iterator is at its end.
        """
        return super().get_next()

    def get_next_as_optional(self) -> Any:
        """The next element, or the end, as a value to ask."""
        try:
            return Optional(self.element_spec, next(self))
        except StopIteration:
            return Optional(self.element_spec)

    @property
    def element_spec(self) -> Any:
        """The structure of an element."""
        return map_structure(public, super().element_spec)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} over {self._node.label}>"


class NumpyIterator:
    """Elements as numpy's scalars, arrays that cannot be written to, and bytes."""

    def __init__(self, iterator: DatasetIterator) -> None:
        """Use `dataset.as_numpy_iterator()`."""
        self._iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return map_structure(_numpy, next(self._iterator))

    def next(self) -> Any:
        """The next element."""
        return self.__next__()

    def save(self) -> bytes:
        """Where it stands, for `restore`."""
        return json.dumps(self._iterator.state()).encode()

    def restore(self, state: Any) -> None:
        """Go to where another iterator stood."""
        self._iterator.load_state_dict(json.loads(unwrap(state)))


def _numpy(value: Any) -> Any:
    """A value as numpy has it: what is sparse is filled up with zeros."""
    if value is None:
        return None
    if isinstance(value, Sparse):
        value = value.to_dense()
    found: Any = wrap(value)
    if not isinstance(found, (Tensor, RaggedTensor)):
        raise TypeError(
            "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
            f"{type(value)}"
        )
    made = _as_numpy(found)
    if isinstance(made, np.ndarray):
        made.flags.writeable = False
    return made


def _as_numpy(tensor: Any) -> Any:
    return tensor.numpy()


class Optional:
    """An element, or none: `has_value()` and `get_value()` tell.

    Attributes:
        element_spec: the structure of the element.
    """

    def __init__(self, element_spec: Any, *values: Any) -> None:
        """Use `from_value` or `empty`."""
        self.element_spec = element_spec
        self._values = values

    @staticmethod
    def from_value(value: Any) -> Optional:
        """One that has a value."""
        made = to_tensors(unwrap(value))
        return Optional(map_structure(lambda leaf: public(spec_of_value(leaf)), made), wrap(made))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """One that has none."""
        return Optional(element_spec)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is an element."""
        return Tensor(np.bool_(len(self._values) > 0))

    def get_value(self, name: str | None = None) -> Any:
        """The element.

        Raises:
            InvalidArgumentError: there is no value.
        """
        if not self._values:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._values[0]
