"""StepVerbs: the verbs of Dataset that look at one element at a time. What they do is in the file of the stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfrkit.data.arguments import batch_size_of, integer
from tfrkit.data.batch.rebatch import make_rebatch_node
from tfrkit.data.batch.sparse_batch import SparseBatchNode
from tfrkit.data.elements import element_values as convert
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Node
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.sources.random import RandomNode
from tfrkit.data.sources.range import RangeNode
from tfrkit.data.stages.choose import make_choose_node, make_sample_node
from tfrkit.data.stages.group_by_window import BucketOf, BucketSize, GroupByWindowNode, PadBucket, SameSize
from tfrkit.data.stages.scan import ScanNode
from tfrkit.data.stages.take_while import TakeWhileNode
from tfrkit.data.stages.unique import UniqueNode
from tfrkit.data.stages.window import make_window_node

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["StepVerbs"]


class StepVerbs(ABC):
    """Windows and groups, running states, and choices among datasets."""

    node: Node

    @classmethod
    @abstractmethod
    def _over(cls, node: Node) -> Dataset:
        """Wrap a node."""

    @classmethod
    @abstractmethod
    def _function(cls, given: Callable[..., Any]) -> Callable[..., Any]:
        """What a stage calls in the place of a user's function."""

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which a function is false.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(9).take_while(lambda x: x != 3)]
        [0, 1, 2]
        """
        return self._over(TakeWhileNode(self.node, self._function(predicate)))

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """What a function makes of a running state and each element.

        Args:
            initial_state: a value, or a tuple or dict of them.
            scan_func: takes the state and an element (each as one argument) and gives the next state and what comes
                out.
            name: ignored; TensorFlow has it.

        Raises:
            TypeError: it gives no pair, or a state of another type.

        >>> import numpy as np, tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(5).scan(np.int64(0), lambda total, x: (total + x, total + x))]
        [0, 1, 3, 6, 10]
        """
        return self._over(ScanNode(self.node, convert.to_tensors(initial_state), self._function(scan_func)))

    def unique(self, name: str | None = None) -> Dataset:
        """Every element once, where it comes first; all that came are remembered.

        Raises:
            TypeError: elements are not int32, int64 or strings.
            InvalidArgumentError: they have several parts.
        """
        return self._over(UniqueNode(self.node))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of another size, or of several sizes in turn.

        >>> import tfrkit as tfr
        >>> [batch.tolist() for batch in tfr.Dataset.range(7).batch(3).rebatch([1, 2])]
        [[0], [1, 2], [3], [4, 5], [6]]
        """
        return self._over(make_rebatch_node(self.node, batch_size, bool(drop_remainder)))

    def sparse_batch(self, batch_size: int, row_shape: Any, name: str | None = None) -> Dataset:
        """Put consecutive arrays together as a Sparse.

        Args:
            batch_size: how many.
            row_shape: the shape of a row; None in it is the longest of a batch.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: the size is not positive. A DataLossError comes at an element larger than a row.
        """
        size = batch_size_of(batch_size)
        given = (
            row_shape.as_list()
            if hasattr(row_shape, "as_list")
            else np.atleast_1d(np.asarray(row_shape, object))
        )
        row = tuple(None if part is None or int(part) < 0 else int(part) for part in given)
        return self._over(SparseBatchNode(self.node, size, row))

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of consecutive elements; of an element with several parts, one dataset for each part.

        Args:
            size: how many elements a window has.
            shift: how far one begins behind the one before; by default `size`.
            stride: how far the elements of one are apart.
            drop_remainder: leave out windows at the end that are smaller.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: one of the numbers is not positive.

        >>> import tfrkit as tfr
        >>> [[int(x) for x in window] for window in tfr.Dataset.range(5).window(3, shift=1, drop_remainder=True)]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        width = integer(size, "size")
        sizes = width, width if shift is None else integer(shift, "shift"), integer(stride, "stride")
        return self._over(make_window_node(self.node, sizes, bool(drop_remainder), self._over))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements of one key together, so many at a time; what is left at the end comes by ascending keys.

        Args:
            key_func: gives an int64 for an element.
            reduce_func: takes a key and the dataset of its elements and gives a dataset, such as a batch of them.
            window_size: how many.
            window_size_func: how many, for a key.
            name: ignored; TensorFlow has it.

        Raises:
            ValueError: there is not exactly one of the two sizes.

        >>> import tfrkit as tfr
        >>> ds = tfr.Dataset.range(7).group_by_window(lambda x: x % 2, lambda key, part: part.batch(2), 2)
        >>> [batch.tolist() for batch in ds]
        [[0, 2], [1, 3], [4, 6], [5]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be specified."
            )
        size: Callable[..., Any]
        if window_size_func is not None:
            size = self._function(window_size_func)
        else:
            size = SameSize(integer(window_size, "window_size"))
        key, reduce = self._function(key_func), self._function(reduce_func)
        return self._over(GroupByWindowNode(self.node, key, reduce, size, self._over))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of similar length, padded.

        Args:
            element_length_func: gives the length of an element.
            bucket_boundaries: lengths at which the next bucket begins.
            bucket_batch_sizes: how many elements make a batch, for each bucket; one more than boundaries.
            padded_shapes: see `padded_batch`.
            padding_values: see `padded_batch`.
            pad_to_bucket_boundary: pad to one less than the boundary instead of the longest; no element may reach the
                last boundary.
            no_padding: the elements of a batch have the same length anyway.
            drop_remainder: leave out batches that are smaller.
            name: ignored; TensorFlow has it.

        Raises:
            ValueError: the number of sizes is not that of the buckets.

        >>> import numpy as np, tfrkit as tfr
        >>> ds = tfr.Dataset.range(1, 6).map(lambda n: np.full(n, n))
        >>> [batch.tolist() for batch in ds.bucket_by_sequence_length(len, [3], [2, 3])]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0], [5, 5, 5, 5, 5]]]
        """
        boundaries, sizes = tuple(map(int, bucket_boundaries)), tuple(map(int, bucket_batch_sizes))
        if len(sizes) != len(boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`."
            )
        reach = tuple(boundary - 1 for boundary in boundaries) if pad_to_bucket_boundary else None
        pad = PadBucket(sizes, padded_shapes, padding_values, reach, not no_padding, bool(drop_remainder))
        key = BucketOf(self._function(element_length_func), boundaries)
        return self._over(GroupByWindowNode(self.node, key, pad, BucketSize(sizes), self._over))

    # ---- sources

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = "int64", name: str | None = None) -> Dataset:
        """Count without end.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.counter(5, 2).take(3)]
        [5, 7, 9]
        """
        return cls._over(RangeNode(start, step, INFINITE_CARDINALITY, convert.as_dtype(dtype)))

    @classmethod
    def random(
        cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random numbers of 32 bits, as int64, without end; TensorFlow's for a seed.

        Args:
            seed: an integer; None draws one.
            rerandomize_each_iteration: others in every pass.
            name: ignored; TensorFlow has it.
        """
        return cls._over(RandomNode(SeedGenerator.of(seed, bool(rerandomize_each_iteration))))

    @classmethod
    def choose_from_datasets(
        cls, datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of the dataset whose number comes next.

        Args:
            datasets: from which to take.
            choice_dataset: numbers of them, as int64.
            stop_on_empty_dataset: end where the chosen one has ended; else that choice is passed over.

        Raises:
            ValueError: there is no dataset.
            TypeError: the choices are no int64 numbers, or elements differ in type.
        """
        parts = [each.node for each in datasets]
        return cls._over(make_choose_node(parts, choice_dataset.node, bool(stop_on_empty_dataset)))

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Sequence[Dataset],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of datasets at random, in TensorFlow's order for a seed.

        Args:
            datasets: from which to take.
            weights: how often each is chosen; equal by default. A dataset of weights gives other ones every time.
            seed: an integer; None draws one.
            stop_on_empty_dataset: end where the chosen one has ended; else the others go on.
            rerandomize_each_iteration: another order in every pass.

        Raises:
            ValueError: there is no dataset, or another number of weights.
            TypeError: elements differ in type.
        """
        parts = [each.node for each in datasets]
        given = getattr(weights, "node", weights)
        again = bool(rerandomize_each_iteration)
        return cls._over(make_sample_node(parts, given, seed, bool(stop_on_empty_dataset), again))
