"""BatchVerbs: the verbs of Dataset that put elements together, and take them apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfrkit.data.arguments import batch_size_of, integer
from tfrkit.data.batch.batch import BatchNode
from tfrkit.data.batch.padded_batch import PaddedBatchNode
from tfrkit.data.batch.ragged_batch import RaggedBatchNode
from tfrkit.data.batch.sparse_batch import SparseBatchNode
from tfrkit.data.batch.unbatch import UnbatchNode, check_unbatch, make_rebatch_node
from tfrkit.data.elements import element_values as convert
from tfrkit.data.stages.group_by_window import BucketOf, BucketSize, GroupByWindowNode, PadBucket, SameSize
from tfrkit.data.stages.window import WindowNode
from tfrkit.data.verbs.verb_group import VerbGroup

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["BatchVerbs"]


class BatchVerbs(VerbGroup):
    """Batches, windows and groups of elements."""

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Put consecutive elements together; the last batch may be smaller.

        Args:
            batch_size: how many.
            drop_remainder: leave out a last batch that is smaller.
            num_parallel_calls: ignored; TensorFlow has it.
            deterministic: ignored; TensorFlow has it.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: the size is not positive. Elements of different shapes are one at their batch.

        >>> import tfrkit as tfr
        >>> [batch.tolist() for batch in tfr.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        return self._over(BatchNode(self.node, batch_size_of(batch_size), bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Put consecutive elements together, padded to the longest or to the given shapes.

        Args:
            batch_size: how many.
            padded_shapes: a shape for each part of an element, in its structure; None or -1 is the batch's longest.
            padding_values: a value for each part, or one for all; by default 0, "" or False.
            drop_remainder: leave out a last batch that is smaller.
            name: ignored; TensorFlow has it.

        Raises:
            TypeError: a padding value has not the type of its part.
            ValueError: shapes are needed, or do not go with the elements. A DataLossError comes at a batch with an
                element that is longer than its shape.

        >>> import numpy as np, tfrkit as tfr
        >>> ds = tfr.Dataset.range(1, 4).map(lambda n: np.full(n, n))
        >>> [batch.tolist() for batch in ds.padded_batch(2, padding_values=np.int64(-1))]
        [[[1, -1], [2, 2]], [[3, 3, 3]]]
        """
        return self._over(
            PaddedBatchNode(
                self.node, batch_size_of(batch_size), bool(drop_remainder), padded_shapes, padding_values
            )
        )

    def ragged_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        row_splits_dtype: Any = "int64",
        name: str | None = None,
    ) -> Dataset:
        """Put consecutive elements together, as Ragged where their lengths are not known.

        Args:
            batch_size: how many.
            drop_remainder: leave out a last batch that is smaller.
            row_splits_dtype: what `element_spec` says of the splits, int64 or int32; a Ragged always has int64.
            name: ignored; TensorFlow has it.

        >>> import numpy as np, tfrkit as tfr
        >>> ds = tfr.Dataset.range(3).map(np.arange).ragged_batch(3)
        >>> ds.get_single_element().to_list()
        [[], [0], [0, 1]]
        """
        splits = convert.as_dtype(row_splits_dtype)
        return self._over(RaggedBatchNode(self.node, batch_size_of(batch_size), bool(drop_remainder), splits))

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

    def unbatch(self, name: str | None = None) -> Dataset:
        """Return the rows of every element one by one.

        Raises:
            ValueError: elements are scalars, or their parts are known to have different numbers of rows.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(5).batch(2).unbatch()]
        [0, 1, 2, 3, 4]
        """
        check_unbatch(self.node)
        return self._over(UnbatchNode(self.node))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of another size, or of several sizes in turn.

        >>> import tfrkit as tfr
        >>> [batch.tolist() for batch in tfr.Dataset.range(7).batch(3).rebatch([1, 2])]
        [[0], [1, 2], [3], [4, 5], [6]]
        """
        return self._over(make_rebatch_node(self.node, batch_size, bool(drop_remainder)))

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
            shift: how far each begins after the one before; by default `size`.
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
        return self._over(WindowNode(self.node, *sizes, bool(drop_remainder), self._over))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements of one key together, a number at a time; what is left at the end comes by ascending keys.

        Args:
            key_func: returns an int64 for an element.
            reduce_func: takes a key and the dataset of its elements and returns a dataset, such as a batch of them.
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
            element_length_func: returns the length of an element.
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
