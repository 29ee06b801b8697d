"""The argument of an integration that has to be a Dataset."""

from __future__ import annotations

from typing import Any

from tfrkit.data.dataset import Dataset
from tfrkit.errors import InvalidArgumentError

__all__ = ["require_dataset"]


def require_dataset(ds: Any) -> Dataset:
    """Return it.

    Raises:
        InvalidArgumentError: it is none.
    """
    if not isinstance(ds, Dataset):
        raise InvalidArgumentError(f"Expected a tfrkit Dataset but got {type(ds).__name__}.")
    return ds
