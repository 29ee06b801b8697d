"""The plain engine: a pipeline run one element at a time, as its specification reads.

No runs, no fusing, no threads, no states. It takes the nodes of a Dataset and shares nothing with the iterators that
really run them, only what is done to single values, so that the two can be compared. Stages are classes with a
`__next__`: after an error the next call continues with the next element.

    list(plain(dataset)) == list(dataset)
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tfrkit.data.engine.node import Node
from tfrkit.testing import (  # noqa: F401 - each says which nodes it runs
    plain_batches,
    plain_features,
    plain_images,
    plain_numbers,
    plain_order,
    plain_sources,
    plain_stages,
)
from tfrkit.testing.plain_stage import begin, opened

__all__ = ["plain"]

_PASSES: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # that were begun of each dataset


class plain:  # noqa: N801 - reads as a function, and is an iterator
    """Iterate over a dataset in the plain way.

    Args:
        dataset: a Dataset. Its shuffles and caches remember earlier iterators of this kind, not real ones.

    >>> import tfrkit as tfr
    >>> [int(x) for x in plain(tfr.Dataset.range(5).skip(2))]
    [2, 3, 4]
    """

    def __init__(self, dataset: Any) -> None:
        node, epoch = dataset.node, _PASSES.get(dataset, 0)
        _PASSES[dataset] = epoch + 1
        self._root = begin(node.at_epoch(epoch) if isinstance(node, Node) else node)

    def __iter__(self) -> plain:
        return self

    def __next__(self) -> Any:
        return opened(next(self._root).value)
