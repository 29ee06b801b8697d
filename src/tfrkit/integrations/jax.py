"""Batches as JAX arrays: what a Dataset gives, moved to devices while the one before it is in use.

Numbers become arrays, on the devices of a sharding if there is one. Bytes stay on the host. What a batch is, is the
pipeline's business: here nothing is divided among processes, padded or cast.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.structure import is_nested, parts, rebuild
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.dataset_argument import require_dataset
from tfrkit.integrations.pass_loader import PassLoader
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.optional import require

__all__ = ["ArrayLoader", "RaggedArrays", "loader"]

_ON_HOST: Final = "OSU"  # kinds of arrays that JAX has not: objects and strings
_NARROW: Final = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


class RaggedArrays(NamedTuple):
    """Rows of different lengths as JAX arrays: row i is `values[row_splits[i]:row_splits[i + 1]]`.

    A named tuple, and so a tree for JAX.

    Attributes:
        values: of all rows; RaggedArrays again if they are ragged.
        row_splits: one more than there are rows.
    """

    values: Any
    row_splits: Any


def loader(ds: Dataset, sharding: Any = None) -> ArrayLoader:
    """Return the elements of a dataset, which usually are batches, as JAX arrays.

    Numbers become arrays. BytesColumns and bytes stay what they are. A Ragged becomes `RaggedArrays`, whose sizes are
    other ones in every batch: pad it in the pipeline (`padded_batch`, `Ragged.to_padded`) for functions under `jit`.
    One batch is made and moved while another is in use, in another thread: `jax.default_device` and
    `jax.enable_x64` count as they are where the pass begins.

    Args:
        ds: any dataset; one of `tfrkit.tf` too.
        sharding: where the arrays go, such as a NamedSharding over an axis of a mesh. The batch is this process's part
            of the global one, as for `jax.make_array_from_process_local_data`; its size must be divisible, so that
            `batch` needs drop_remainder=True. None: the default device.

    Raises:
        MissingExtraError: jax is not installed.

    >>> import tfrkit as tfr
    >>> for batch in tfr.jax.loader(tfr.Dataset.range(4).batch(2)):  # doctest: +SKIP
    ...     print(type(batch).__name__, batch)
    ArrayImpl [0 1]
    ArrayImpl [2 3]
    """
    return ArrayLoader(require_dataset(ds), _Placer(sharding).element, depth=1)


class ArrayLoader(PassLoader):
    """The elements of a dataset as JAX arrays; `loader` makes it."""

    name = "tfrkit.jax.loader"

    def _maker(self) -> Callable[[Any], Any]:
        """Take along what contexts of this thread say, which another thread would not see."""
        config = _jax().config
        return partial(_placed, config.jax_default_device, bool(config.jax_enable_x64), self._make)


def _jax() -> Any:
    return require("jax", "tfrkit.jax.loader")


def _placed(device: Any, wide: bool, make: Callable[[Any], Any], element: Any) -> Any:
    jax = _jax()
    enable_x64 = (jax if hasattr(jax, "enable_x64") else jax.experimental).enable_x64  # it has moved
    with jax.default_device(device), enable_x64(wide):
        return make(element)


class _Placer:
    """Moves elements to devices. Pickles if the sharding does."""

    def __init__(self, sharding: Any) -> None:
        self._jax = _jax()
        self._sharding = sharding

    def __getstate__(self) -> dict[str, Any]:
        return {"_sharding": self._sharding}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _jax=_jax())

    def element(self, value: Any, name: str = "") -> Any:
        """Place every array of an element; `name` is where it stands in the element, for errors."""
        if isinstance(value, dict):
            return {key: self.element(part, f"{name}[{key!r}]") for key, part in value.items()}
        if is_nested(value):
            inner = [self.element(part, f"{name}[{place}]") for place, part in enumerate(parts(value))]
            return rebuild(value, inner)
        if isinstance(value, Ragged):
            if self._sharding is not None:
                raise self._refusal(
                    name, "is ragged, which no sharding divides. Pad it (padded_batch, to_padded)"
                )
            return RaggedArrays(self.element(value.values, name), self.element(value.row_splits, name))
        if isinstance(value, Sparse):
            raise self._refusal(name, "is Sparse, which is no JAX array. Make it dense (to_dense) in a map")
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in _ON_HOST:
            return self._array(np.asarray(value), name)
        return value

    def _array(self, value: npt.NDArray[Any], name: str) -> Any:
        if not self._jax.config.jax_enable_x64:
            value = self._narrowed(value, name)
        if self._sharding is None:
            return self._jax.device_put(value)
        try:
            return self._jax.make_array_from_process_local_data(self._sharding, value)
        except (ValueError, IndexError) as error:
            if not re.search("divisible|divide", str(error)):
                raise self._refusal(
                    name, f"of shape {value.shape} cannot have the sharding {self._sharding}: {error}"
                ) from error
            raise self._refusal(
                name,
                f"of shape {value.shape} cannot be divided: {error}. Make batches of a size that "
                "the devices divide, with drop_remainder=True",
            ) from error

    def _narrowed(self, value: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
        """Cast to 32 bits as JAX does, but refuse integers that this would change."""
        dtype = _NARROW.get(value.dtype.name)
        if dtype is None:
            return value
        narrow = value.astype(dtype)
        if value.dtype.kind in "iu" and not np.array_equal(narrow, value):
            raise self._refusal(
                name,
                f"has numbers beyond {dtype}, to which JAX would cut them. Set jax_enable_x64, or hash or drop it",
            )
        return narrow

    @staticmethod
    def _refusal(name: str, what: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"tfrkit.jax.loader: element{name} {what}.")
