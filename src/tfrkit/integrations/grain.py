"""Sources for grain: the elements of an indexable Dataset by number, or whole batches of them.

grain's protocol needs no class of grain's, so that nothing of it is imported here. Which numbers are asked for, in what
order and by which process, is grain's business: shuffle and divide there, or here, not in both.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.owned import own_elements
from tfrkit.data.engine.fingerprint import fingerprint
from tfrkit.data.engine.iterator import new_context
from tfrkit.data.engine.lookup import Lookup, checked_numbers, require_lookup
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Context, Node
from tfrkit.data.engine.state import files_of
from tfrkit.data.shuffle.epoch_seeds import seeds_of
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.dataset_argument import require_dataset
from tfrkit.records.read.damage import Damage

__all__ = ["DatasetSource", "batch_source", "source"]


def source(ds: Dataset) -> DatasetSource:
    """Return the elements of a dataset as a source for grain, in the order of its epoch 0.

    Args:
        ds: an indexable dataset with an end; one of `tfrkit.tf` gives numpy's values.

    Raises:
        InvalidArgumentError: elements cannot be had by number (it names the stage), or there is no end.

    >>> import tfrkit as tfr
    >>> numbers = tfr.grain.source(tfr.Dataset.range(5).map(lambda x: x * x))
    >>> len(numbers), int(numbers[3])
    (5, 9)
    """
    return DatasetSource(require_dataset(ds).node)


def batch_source(ds: Dataset, batch_size: int, drop_remainder: bool = False) -> DatasetSource:
    """Return batches of a dataset as a source for grain: item i is the i-th batch, read and parsed in one go.

    That leaves grain one element where it would have `batch_size`: shuffle the elements here, with `global_shuffle`.

    Args:
        ds: an indexable dataset of single elements.
        batch_size: how many make a batch.
        drop_remainder: leave out a last batch that has fewer.

    Raises:
        InvalidArgumentError: as for `source`.

    >>> import tfrkit as tfr
    >>> tfr.grain.batch_source(tfr.Dataset.range(5), 2)[1]
    array([2, 3])
    """
    return DatasetSource(require_dataset(ds).batch(batch_size, drop_remainder).node)


class DatasetSource:
    """What grain calls a RandomAccessDataSource. Thread-safe; pickles if the functions of the dataset do.

    Its text says what it holds: the pipeline, its files by name, size and checksum, and its seeds. A checkpoint of
    grain's DataLoader keeps that, and is refused for other data.

    A damaged record that `on_corrupt="skip"` leaves out is None, and counted; the first one is a warning. grain leaves
    None out where a MapDataset becomes an IterDataset (`to_iter_dataset()`): batch after that, or use `batch_source`. A
    batch of grain's MapDataset, or of its DataLoader, has no room for None, and is grain's ValueError.

    Args:
        node: the last stage of the dataset.
    """

    def __init__(self, node: Node) -> None:
        require_lookup(node)
        self._node = node
        self._warned = False

    @cached_property
    def _context(self) -> Context:
        return new_context(self._node)

    @property
    def skipped(self) -> int:
        """Number of damaged records that were left out so far, in this process."""
        return self._context.skipped

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of them, as (path, Damage)."""
        return self._context.damages

    @cached_property
    def _lookup(self) -> Lookup:
        lookup = self._node.lookup(self._context)
        if lookup.size == INFINITE_CARDINALITY:
            raise InvalidArgumentError(
                "a source of grain needs a dataset with an end: leave out repeat() here, and repeat in grain"
            )
        return lookup

    def __len__(self) -> int:
        return self._lookup.size

    def __getitem__(self, index: int) -> Any:
        lookup = self._lookup
        number = operator.index(index)
        if self._leaves_out or not 0 <= number < lookup.size:
            return self._getitems([number])[0]
        return lookup.one(number, 0)

    def _getitems(self, indices: Sequence[int]) -> list[Any]:
        """Return elements that are looked up in one go, in the order of the numbers."""
        lookup = self._lookup
        numbers = checked_numbers(np.asarray(indices, np.int64), lookup.size)
        chunk, kept = lookup.at(numbers, 0)
        items = chunk.objects() if chunk.makes_own_objects else own_elements(chunk.objects())
        if kept is None:
            return list(items)
        self._warn()
        all_items = [None] * len(numbers)
        for place, item in zip(kept.tolist(), items, strict=True):
            all_items[place] = item
        return all_items

    def _warn(self) -> None:
        """Name the first record that is left out, before grain may be confused by a None."""
        if self._context.damages and not self._warned:
            self._warned = True
            path, damage = self._context.damages[0]
            warnings.warn(
                f"record {damage.record} of {path!r} is damaged, and left out as None. grain leaves None out in "
                "to_iter_dataset() only: batch after it, or use tfr.grain.batch_source, or take the damage out of the "
                "files with `tfr repair`. `skipped` and `damages` of the source have the others.",
                stacklevel=4,
            )

    @cached_property
    def _leaves_out(self) -> bool:
        return any(each.leaves_out for each in self._node.stages())

    @cached_property
    def _shown(self) -> str:
        seeds = seeds_of(self._node)
        files = files_of(self._node)
        parts = [f"pipeline={fingerprint(self._node)}", f"{files['count']} files={files['all']}"]
        return ", ".join([*parts, *([f"seeds={seeds}"] if seeds else [])])

    def __repr__(self) -> str:
        return f"<tfrkit.grain source: {self._node.label}, {self._shown}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return DatasetSource, (self._node,)
