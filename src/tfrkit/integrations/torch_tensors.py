"""Tensors of elements: the values of an element as PyTorch has them, and on which device.

Numbers become tensors on the same memory, which may be written to. Bytes stay bytes and BytesColumns, which PyTorch has
no type for. What runs this, and when, is in `passes.py`.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.dataset_argument import require_dataset
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dlpack import as_torch
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.optional import require

__all__ = ["RaggedAs", "TensorMaker", "Transfer", "plain"]

RaggedAs: TypeAlias = Literal["offsets", "nested"]
_NUMBERS: Final = "biufc"  # kinds of numpy that PyTorch has too
_EXTENSIONS: Final = ("bfloat16", "float8_")  # names of types of ml_dtypes that it has under the same names


def plain(ds: Dataset) -> Dataset:
    """The dataset without the Tensors that `tfrkit.tf` puts round values.

    Raises:
        InvalidArgumentError: it is none.
    """
    require_dataset(ds)
    return ds if type(ds).__iter__ is Dataset.__iter__ else Dataset(ds.node)


class TensorMaker:
    """Makes tensors of elements. Pickles.

    Args:
        ragged: what rows of different lengths become.

    Raises:
        InvalidArgumentError: `ragged` is something else.

    >>> TensorMaker("offsets")({"x": np.arange(3), "rows": Ragged.from_list([[1, 2], [3]]), "id": b"a"})
    {'x': tensor([0, 1, 2]), 'rows': (tensor([1, 2, 3]), tensor([0, 2, 3])), 'id': b'a'}
    """

    def __init__(self, ragged: RaggedAs) -> None:
        if ragged not in ("offsets", "nested"):
            raise InvalidArgumentError(f'Expected ragged to be "offsets" or "nested" but got {ragged!r}.')
        self._ragged = ragged

    def __call__(self, element: Any) -> Any:
        """Return the element with tensors in place of numbers; its structure stays."""
        return map_structure(self._tensor, element)

    def _tensor(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return _of_array(value)
        if isinstance(value, np.generic):
            known = value.dtype.kind in _NUMBERS or _extension(value.dtype) is not None
            return _of_array(np.array(value)) if known else value
        if isinstance(value, Ragged):
            return self._of_ragged(value)
        if isinstance(value, Sparse) and not isinstance(value.values, BytesColumn):
            return value.to_torch()
        return value

    def _of_ragged(self, value: Ragged) -> Any:
        """Return values and offsets, from the innermost to the outermost; or a nested tensor of them."""
        values, offsets = self._tensor(value.values), _of_array(value.row_splits)
        bytes_inside = isinstance(value.flat_values, BytesColumn)
        if self._ragged == "offsets" or bytes_inside:
            return (*values, offsets) if isinstance(value.values, Ragged) else (values, offsets)
        if isinstance(value.values, Ragged):
            raise InvalidArgumentError(
                f"A nested tensor has one ragged dimension but the shape is {value.shape}: "
                'leave ragged="offsets", or pad the inner rows in a map().'
            )
        return require("torch", "tfrkit.torch").nested.nested_tensor_from_jagged(values, offsets)


def _extension(dtype: np.dtype[Any]) -> Any:
    """What PyTorch has for a type of ml_dtypes; None if it is none, or PyTorch has none."""
    if not dtype.name.startswith(_EXTENSIONS):
        return None
    return getattr(require("torch", "tfrkit.torch"), dtype.name, None)


def _of_array(array: npt.NDArray[Any]) -> Any:
    """A tensor on the same memory, as far as PyTorch can have it so; arrays of objects and text as they are."""
    extension = _extension(array.dtype)
    if extension is not None:
        bits = np.asarray(array, order="C").view(f"u{array.dtype.itemsize}")
        return as_torch(bits).view(extension)
    if array.dtype.kind in _NUMBERS:
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        return as_torch(array.copy() if min(array.strides, default=0) < 0 else array)
    return array


class Transfer:
    """Moves the tensors of elements to a device, from one thread, for another.

    For a CUDA device copies run in a stream of their own, from pinned memory; the consumer's stream waits for them.

    Args:
        device: where to; None leaves them where they are, for pinned memory alone.
        pin: use pinned memory, where there is a CUDA device.
    """

    def __init__(self, device: Any, pin: bool) -> None:
        self._torch = torch = require("torch", "tfrkit.torch")
        self._device = None if device is None else torch.device(device)
        self._pin = pin and torch.cuda.is_available()
        self._stream: Any = None  # made when it is needed: a process that forks must not have begun with CUDA

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_torch": None, "_stream": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _torch=require("torch", "tfrkit.torch"))

    @property
    def _cuda(self) -> bool:
        return self._device is not None and self._device.type == "cuda"

    def send(self, element: Any) -> tuple[Any, Any]:
        """Begin to move an element; return it, and what `receive` waits for."""
        if not self._cuda:
            return self._moved(element), None
        cuda = self._torch.cuda
        self._stream = self._stream or cuda.Stream(self._device)
        with cuda.stream(self._stream):
            return self._moved(element), self._stream.record_event()

    def receive(self, element: Any, event: Any) -> Any:
        """Return an element that was sent, for the consumer's stream."""
        if event is not None:
            current = self._torch.cuda.current_stream(self._device)
            current.wait_event(event)
            for value in flatten(element):
                if isinstance(value, self._torch.Tensor):
                    value.record_stream(current)
        return element

    def _moved(self, element: Any) -> Any:
        return map_structure(self._move, element)

    def _move(self, value: Any) -> Any:
        if self._pin and hasattr(value, "pin_memory"):
            value = value.pin_memory()
        if self._device is None or not isinstance(value, self._torch.Tensor):
            return value
        return value.to(self._device, non_blocking=True)
