"""OrderVerbs: the verbs of Dataset for which elements come, in what order and when, unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfrkit.data.arguments import integer
from tfrkit.data.engine.lookup import require_lookup
from tfrkit.data.engine.node import AUTOTUNE, UNKNOWN_CARDINALITY
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.shuffle.global_shuffle import drawn_seed, make_global_shuffle_node
from tfrkit.data.shuffle.shuffle import ShuffleNode
from tfrkit.data.stages.assert_cardinality import AssertCardinalityNode
from tfrkit.data.stages.cache import CacheMemory, CacheNode
from tfrkit.data.stages.choose import make_choose_node, make_sample_node
from tfrkit.data.stages.concatenate import ConcatenateNode, check_concatenate
from tfrkit.data.stages.prefetch import PrefetchNode
from tfrkit.data.stages.repeat import make_repeat_node
from tfrkit.data.stages.seeded import check_common_seeds
from tfrkit.data.stages.shard import ShardNode
from tfrkit.data.stages.take import SkipNode, TakeNode
from tfrkit.data.stages.zip import make_zip_node
from tfrkit.data.verbs.verb_group import VerbGroup
from tfrkit.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["OrderVerbs"]


class OrderVerbs(VerbGroup):
    """Order, number and timing of elements, and several datasets as one."""

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Mix: return a random one of the next `buffer_size` elements, in TensorFlow's order for a seed.

        Args:
            buffer_size: how many elements wait at a time; UNKNOWN_CARDINALITY (-2): all of them.
            seed: an integer; None draws one, by `set_seed` if that was called.
            reshuffle_each_iteration: another order in every pass (the default), or the same.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: the size is not positive.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(6).shuffle(6, seed=1, reshuffle_each_iteration=False)]
        [3, 5, 0, 4, 1, 2]
        """
        size = integer(buffer_size, "buffer_size")
        if size <= 0 and size != UNKNOWN_CARDINALITY:
            raise InvalidArgumentError("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return self._over(ShuffleNode(self.node, size, SeedGenerator.of(seed, reshuffle)))

    def global_shuffle(
        self, seed: int | None = None, reshuffle_each_iteration: bool = True, window: int | None = None
    ) -> Dataset:
        """All elements in a random order that is computed from the seed: no buffer, and every part of it at once.

        It stands right after the source, so that only records that are wanted are read. The k-th pass has the order of
        epoch k; see `epoch`.

        Args:
            seed: 64 bits; None draws one, which travels with the dataset.
            reshuffle_each_iteration: another order in every epoch.
            window: about how many bytes of elements to mix at a time, for storage that is slow at random reads: runs of
                neighbours come in random order, and are mixed within a window. `explain()` shows what is read.

        Raises:
            InvalidArgumentError: elements cannot be had by number; the text names the stage.

        >>> import tfrkit as tfr
        >>> ds = tfr.Dataset.range(100).global_shuffle(seed=1)
        >>> sorted(int(x) for x in ds) == list(range(100)), len(ds), int(ds[0]) == int(next(iter(ds.epoch(0))))
        (True, 100, True)
        """
        return self._over(make_global_shuffle_node(self.node, seed, bool(reshuffle_each_iteration), window))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """Begin again at the end: `count` times in all, or for ever."""
        return self._over(
            make_repeat_node(self.node, -1 if count is None else max(-1, integer(count, "count")))
        )

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first elements; all if the count is negative."""
        return self._over(TakeNode(self.node, max(-1, integer(count, "count"))))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """All but the first elements; none if the count is negative."""
        return self._over(SkipNode(self.node, max(-1, integer(count, "count"))))

    def shard(
        self,
        num_shards: int,
        index: int,
        name: str | None = None,
        *,
        tail: str | None = None,
        mask: str | None = None,
    ) -> Dataset:
        """Every `num_shards`-th element, from the `index`-th on.

        Only the elements of this shard are made by stages that make one of each (`parse`, `decode_image`, `map`, ...),
        and by `batch`: an element that fails is an error of its own shard. After `global_shuffle`, and with `tail`,
        only those elements are read. (In `tfrkit.tf` all shards make all elements, as in TensorFlow.)

        Args:
            num_shards: how many parts there are.
            index: which of them.
            name: ignored; TensorFlow has it.
            tail: None: the first shards may have one element more than the others. "drop": all have equally many, and
                the rest is left out. "repeat": all have equally many, filled up from the beginning of the epoch.
            mask: name of a feature that is False for elements that `tail="repeat"` has filled up with.

        Raises:
            InvalidArgumentError: a number is out of range; or a global shuffle, or a seeded function, before it has a
                seed of its own in every process, so that the shards would not be parts of one order.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(7).shard(3, 1, tail="repeat")]
        [1, 4, 0]
        """
        if tail not in (None, "drop", "repeat"):
            raise InvalidArgumentError(f'Expected tail to be None, "drop" or "repeat" but got {tail!r}.')
        if mask is not None and tail != "repeat":
            raise InvalidArgumentError('mask marks what tail="repeat" fills up with: pass that too.')
        shards, number = integer(num_shards, "num_shards"), integer(index, "index")
        if shards <= 0:
            raise InvalidArgumentError(
                f"Number of shards must be greater than zero (currently num_shards = {shards})."
            )
        if not 0 <= number < shards:
            raise InvalidArgumentError(
                f"Index must be between 0 and {shards - 1} (currently index = {number})."
            )
        if tail is not None:
            require_lookup(self.node)
        if shards > 1 and (shuffled := drawn_seed(self.node)) is not None:
            raise InvalidArgumentError(
                f"shard({shards}, {number}) after {shuffled.label}: without a seed every process would draw another "
                "order, and elements would come twice or never. Give global_shuffle() a seed, the same everywhere."
            )
        if shards > 1:
            check_common_seeds(self.node, f"shard({shards}, {number}) after map(seeded=True)")
        alone = not self.usual_policy.makes_left_out
        return self._over(ShardNode(self.node, shards, number, tail or "", mask or "", alone=alone))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, then those of another dataset.

        Raises:
            TypeError: it is not a Dataset, or its elements have another structure or other types.
        """
        if not isinstance(dataset, VerbGroup):
            raise TypeError(f"expected a Dataset to concatenate but got {type(dataset).__name__}")
        check_concatenate(self.node, dataset.node)
        return self._over(ConcatenateNode(self.node, dataset.node))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, until the shortest ends.

        Args:
            args: datasets, or one tuple or dict (nested too) of them: elements have that structure.
            datasets: the same, as TensorFlow once had it.
            name: ignored; TensorFlow has it.

        Raises:
            TypeError: there is a list, or something that is not a Dataset.

        >>> import numpy as np, tfrkit as tfr
        >>> list(tfr.Dataset.zip(tfr.Dataset.range(2), tfr.Dataset.range(5, 9)))
        [(np.int64(0), np.int64(5)), (np.int64(1), np.int64(6))]
        """
        return cls._over(make_zip_node(args, datasets))

    @classmethod
    def choose_from_datasets(
        cls, datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of the dataset whose number comes next.

        Args:
            datasets: from which to take.
            choice_dataset: numbers of them, as int64.
            stop_on_empty_dataset: end where the chosen one has ended; otherwise that choice is skipped.

        Raises:
            ValueError: there is no dataset.
            TypeError: the choices are not int64 numbers, or elements differ in type.
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
            stop_on_empty_dataset: end where the chosen one has ended; otherwise the others continue.
            rerandomize_each_iteration: another order in every pass.

        Raises:
            ValueError: there is no dataset, or another number of weights.
            TypeError: elements differ in type.
        """
        parts = [each.node for each in datasets]
        given = getattr(weights, "node", weights)
        again = bool(rerandomize_each_iteration)
        return cls._over(make_sample_node(parts, given, seed, bool(stop_on_empty_dataset), again))

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """Keep the elements of the first complete pass in memory, and give those from then on.

        Raises:
            InvalidArgumentError: there is a file name; TensorFlow would keep them there.
        """
        if filename:
            raise InvalidArgumentError(f"expected no filename (the cache is in memory) but got {filename!r}")
        return self._over(CacheNode(self.node, CacheMemory()))

    def prefetch(self, buffer_size: int | None, name: str | None = None) -> Dataset:
        """Make the next elements ready in the background.

        Args:
            buffer_size: how many; AUTOTUNE or None finds out, 0 does nothing.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: it is below -1.
        """
        depth = AUTOTUNE if buffer_size is None else integer(buffer_size, "buffer_size")
        if depth < -1:
            raise InvalidArgumentError("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        return self._over(PrefetchNode(self.node, depth))

    def assert_cardinality(self, expected_cardinality: int) -> Dataset:
        """Say how many elements there are; another number is a FailedPreconditionError where it shows."""
        return self._over(
            AssertCardinalityNode(self.node, integer(expected_cardinality, "expected_cardinality"))
        )
