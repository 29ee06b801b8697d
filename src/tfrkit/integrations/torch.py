"""tfr.torch: datasets for PyTorch.

`loader` runs a pipeline in threads of the training process and gives tensors: the fastest way, and the simplest.
`MapDataset` and `IterableDataset` are for a DataLoader with worker processes. docs/pytorch.md says when to use which.
torch is imported when one of these names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrkit.integrations.torch_datasets import IterableDataset, MapDataset, collate
    from tfrkit.integrations.torch_loader import TorchLoader, loader

__all__ = ["IterableDataset", "MapDataset", "TorchLoader", "collate", "loader"]

if not TYPE_CHECKING:  # a type checker reports names that are not there itself

    def __getattr__(name: str) -> object:
        if name not in __all__:
            from tfrkit.model.near_names import missing_name

            raise missing_name("tfrkit.torch", name, __all__)
        from tfrkit.integrations import torch_datasets, torch_loader

        return getattr(torch_loader if hasattr(torch_loader, name) else torch_datasets, name)


def __dir__() -> list[str]:
    return sorted(__all__)
