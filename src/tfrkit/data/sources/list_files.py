"""list_files: names of files that match patterns, in TensorFlow's order."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tfrkit.data.engine.node import Node
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.shuffle.shuffle import ShuffleNode
from tfrkit.data.sources.slices import make_slices_node
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.stores.glob_files import glob_files

__all__ = ["make_list_files_node"]


def make_list_files_node(pattern: Any, shuffle: bool | None, seed: int | None) -> Node:
    """Match now; the names are slices, shuffled (anew in every pass) unless that is not wanted.

    Raises:
        InvalidArgumentError: no pattern matches.
        TypeError: a pattern is not a string.
    """
    patterns = _patterns(pattern)
    files = glob_files(patterns)
    if not files:
        raise InvalidArgumentError(f"No files matched pattern: {', '.join(patterns)}")
    node = make_slices_node(BytesColumn.from_list([os.fsencode(path) for path in files]))
    if shuffle is None or shuffle:
        node = ShuffleNode(node, len(files), SeedGenerator.of(seed, True))
    return node


def _patterns(value: Any) -> list[str]:
    if isinstance(value, BytesColumn):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            shape = ",".join(map(str, value.shape))
            raise InvalidArgumentError(
                f"Input patterns tensor must be scalar or vector, but had shape: [{shape}]"
            )
        value = value.ravel().tolist()
    items = [value] if isinstance(value, (str, bytes, os.PathLike)) else value
    if not isinstance(items, (list, tuple)):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
    for item in items:
        if isinstance(item, (list, tuple)):
            raise InvalidArgumentError(
                f"Input patterns tensor must be scalar or vector, but had shape: [{len(items)},{len(item)}]"
            )
        if not isinstance(item, (str, bytes, os.PathLike)):
            raise TypeError(f"Cannot convert {item!r} to EagerTensor of dtype string")
    return [os.fsdecode(item) for item in items]
