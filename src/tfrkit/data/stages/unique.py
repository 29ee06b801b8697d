"""unique: every element once, where it comes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.structure import flatten
from tfrkit.data.engine.node import UnaryNode
from tfrkit.data.engine.steps import Open, Save, Step, StepsNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import dtype_name

__all__ = ["UniqueNode"]

_TYPES: Final = frozenset({"int32", "int64", "string"})


@dataclass(frozen=True, eq=False)
class UniqueNode(StepsNode, UnaryNode):
    """Elements that did not come before; all that came are remembered."""

    verb = "unique"
    unindexable = "Put unique() after what needs the numbers, or leave doubles out when the files are made."
    keeps_count = False
    seeks = False  # what it has seen is data

    def __post_init__(self) -> None:
        """Refuse what TensorFlow refuses, where that is known without running a user's function."""
        if not self.input.opaque:
            self.element_spec()

    def element_spec(self) -> Any:
        """That of the input; several parts, or a type that is not one of three, are refused."""
        spec = self.input.element_spec()
        leaves = flatten(spec)
        for leaf in leaves:
            if dtype_name(leaf.dtype) not in _TYPES:
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support type <dtype: '{dtype_name(leaf.dtype)}'> -- only "
                    "`tf.int32`, `tf.int64`, and `tf.string` are supported."
                )
        if len(leaves) != 1:
            raise InvalidArgumentError("UniqueDataset only supports inputs with a single component.")
        return spec

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        elements = begin(self.input)
        seen: set[Any] = set()

        def step() -> Any:
            while True:
                element = next(elements)
                key = _key(element)
                if key not in seen:
                    seen.add(key)
                    return element

        return step, elements.save


def _key(element: Any) -> Any:
    value = flatten(element)[0]
    if isinstance(value, bytes):
        return value
    array = np.asarray(value)
    content = tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()
    return array.shape, content
