"""Arrays for frameworks that know no read-only memory: DLPack and PyTorch, without copying.

Columns never change, so their arrays are often read-only, which neither numpy's DLPack nor torch.from_numpy passes
on in silence. What is handed out here is the same memory without that mark; whoever gets it must not write to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.optional import require

__all__ = ["as_torch", "dlpack_capsule", "unlocked"]


class _Memory:
    """An array's memory under numpy's protocol, without the mark that it is read-only."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
        self.owner = array


def unlocked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory as an array that is not marked read-only; it keeps the original alive."""
    return array if array.flags.writeable else np.asarray(_Memory(array))


def dlpack_capsule(array: npt.NDArray[Any], options: dict[str, Any]) -> object:
    """What `__dlpack__` gives."""
    return unlocked(array).__dlpack__(**options)


def as_torch(array: npt.NDArray[Any]) -> Any:
    """A tensor on the same memory.

    Raises:
        MissingExtraError: torch is not installed.
    """
    return require("torch", "to_torch").from_numpy(unlocked(array))
