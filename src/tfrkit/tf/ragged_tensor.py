"""RaggedTensor: a Ragged under TensorFlow's interface."""

from __future__ import annotations

from tfrkit.model.ragged import Ragged

__all__ = ["RaggedTensor"]


class RaggedTensor:
    """Rows of different lengths.

    Attributes:
        ragged: the values.
    """

    __slots__ = ("__weakref__", "ragged")

    def __init__(self, ragged: Ragged) -> None:
        """Use the class methods; this wraps values as they are."""
        self.ragged = ragged
