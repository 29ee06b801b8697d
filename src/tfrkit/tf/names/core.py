"""The classes that everything else gives and takes."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

NAMES: Final[dict[str, Entry]] = {
    "version.VERSION": Raw("tf.namespace:VERSION"),
    "Tensor": Raw("tf.tensors.tensor:Tensor"),
    "RaggedTensor": Raw("tf.tensors.ragged_tensor:RaggedTensor"),
    "SparseTensor sparse.SparseTensor": Raw("tf.tensors.sparse_tensor:SparseTensor"),
    "random.set_seed": Raw("data.shuffle.epoch_seeds:set_seed"),
}
