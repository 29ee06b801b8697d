"""Arrays for frameworks that know no read-only memory: DLPack and PyTorch.

What may be written to is handed over as it is, on the same memory. Arrays that are marked read-only are shared with
others (a cache, a buffer of Python's), and a framework would write to them all the same: those are copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.optional import require

__all__ = ["as_torch", "dlpack_capsule", "pinned"]


def dlpack_capsule(array: npt.NDArray[Any], options: dict[str, Any]) -> object:
    """What `__dlpack__` gives.

    Raises:
        BufferError: a copy is forbidden, and the array is read-only.
    """
    if not array.flags.writeable and options.get("copy") is False:
        raise BufferError("read-only memory is handed over as a copy only: leave out copy=False")
    return _writable(array).__dlpack__(**options)


def as_torch(array: npt.NDArray[Any]) -> Any:
    """A tensor on the same memory, or on a copy if the array is read-only.

    Raises:
        MissingExtraError: torch is not installed.
    """
    return require("torch", "to_torch").from_numpy(_writable(array))


def pinned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy in memory that PyTorch has pinned, from which transfers to its devices need not wait.

    Raises:
        MissingExtraError: torch is not installed.
    """
    made: npt.NDArray[Any] = as_torch(array).pin_memory().numpy()  # which keeps the memory alive
    return made


def _writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array if array.flags.writeable else np.array(array)
