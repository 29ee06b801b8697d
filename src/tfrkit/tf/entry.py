"""What stands behind a name of TensorFlow: an operation to be lifted, an object as it is, or advice."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Absent", "Entry", "Raw"]


@dataclass(frozen=True, slots=True)
class Raw:
    """An object that is given as it is: a class, a constant, a function that knows Tensors.

    Attributes:
        target: where it is, as "module:attribute" below tfrkit.
    """

    target: str


@dataclass(frozen=True, slots=True)
class Absent:
    """A name that does not exist here, with what to do instead.

    Attributes:
        advice: a sentence.
    """

    advice: str


Entry = str | Raw | Absent  # a string is the target of an operation, which is lifted
