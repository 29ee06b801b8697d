"""TorchLoader: the elements of a dataset as tensors, by threads of this process."""

from __future__ import annotations

from functools import partial
from typing import Any

from tfrkit.data.dataset import Dataset
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.pass_loader import PassLoader
from tfrkit.integrations.torch_tensors import RaggedAs, TensorMaker, Transfer, plain
from tfrkit.optional import require

__all__ = ["TorchLoader", "loader"]


class TorchLoader(PassLoader):
    """The elements of a dataset as tensors; `loader` makes it."""

    name = "tfrkit.torch.loader"


def loader(
    ds: Dataset,
    device: Any = None,
    pin_memory: bool | None = None,
    buffers: int = 2,
    *,
    ragged: RaggedAs = "offsets",
) -> TorchLoader:
    """Return the elements of a dataset, which usually are batches, as tensors.

    The pipeline runs in threads of this process: no worker processes, and nothing to pickle. Each `iter` is the next
    epoch. Arrays become tensors on the same memory, which may be written to; a Ragged becomes values and offsets, a
    Sparse a sparse tensor. Bytes stay bytes and BytesColumn, on the host.

    Args:
        ds: any dataset; one of `tfrkit.tf` too.
        device: where the tensors go. They are made and moved in the background, `buffers` elements ahead.
        pin_memory: move through pinned memory; None: if the device is a CUDA device. Without one there is none.
        buffers: how many elements may be ready on the device, besides the one in use.
        ragged: "offsets" gives values and, from the innermost dimension to the outermost, offsets; "nested" gives a
            nested tensor of the jagged layout.

    Raises:
        InvalidArgumentError: there is no such choice, or `buffers` is less than 1.
        MissingExtraError: torch is not installed.

    >>> import tfrkit as tfr
    >>> batches = tfr.torch.loader(tfr.Dataset.range(5).batch(2))
    >>> len(batches), next(iter(batches))
    (3, tensor([0, 1]))
    >>> state = batches.state_dict()
    >>> batches.load_state_dict(state)
    >>> list(batches)
    [tensor([2, 3]), tensor([4])]
    """
    torch = require("torch", "tfrkit.torch")
    if buffers < 1:
        raise InvalidArgumentError(f"Expected at least 1 buffer but got {buffers}.")
    pin = pin_memory
    if pin is None:
        pin = device is not None and torch.device(device).type == "cuda"
    make = TensorMaker(ragged)
    if device is None and not pin:
        return TorchLoader(plain(ds), make)
    transfer = Transfer(device, pin)
    return TorchLoader(plain(ds), partial(_sent, make, transfer), partial(_received, transfer), buffers)


def _sent(make: TensorMaker, transfer: Transfer, element: Any) -> tuple[Any, Any]:
    return transfer.send(make(element))


def _received(transfer: Transfer, sent: tuple[Any, Any]) -> Any:
    return transfer.receive(*sent)
