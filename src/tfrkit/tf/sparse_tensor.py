"""SparseTensor: a Sparse under TensorFlow's interface."""

from __future__ import annotations

from typing import Any

from tfrkit.model.sparse import Sparse

__all__ = ["SparseTensor"]


class SparseTensor:
    """Values at some places of an array.

    Attributes:
        sparse: the values.
    """

    __slots__ = ("__weakref__", "sparse")

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        """Put values at indices of an array of a shape."""
        self.sparse = Sparse(indices, values, dense_shape)

    @classmethod
    def of(cls, sparse: Sparse) -> SparseTensor:
        """Wrap values as they are."""
        made = cls.__new__(cls)
        made.sparse = sparse
        return made
