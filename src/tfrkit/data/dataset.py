"""Dataset: the verbs. Each makes a node over those of its inputs; what they do is in the file of the stage.

Nothing runs until somebody iterates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tfrkit.data.arguments import batch_size_of, function, integer
from tfrkit.data.batch.batch import BatchNode
from tfrkit.data.batch.padded_batch import make_padded_batch_node
from tfrkit.data.batch.ragged_batch import RaggedBatchNode
from tfrkit.data.batch.unbatch import UnbatchNode, check_unbatch
from tfrkit.data.elements import element_values as convert
from tfrkit.data.elements import structure_specs as specs
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.engine.iterator import DatasetIterator, NumpyIterator
from tfrkit.data.engine.node import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Node
from tfrkit.data.feature_verbs import FeatureVerbs
from tfrkit.data.options import Options, OptionsNode
from tfrkit.data.report.explain import explain
from tfrkit.data.report.profile import Profile, profile
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.shuffle.shuffle import ShuffleNode
from tfrkit.data.sources.generator import make_generator_node
from tfrkit.data.sources.list_files import make_list_files_node
from tfrkit.data.sources.range import RangeNode
from tfrkit.data.sources.slices import make_slices_node, make_tensors_node
from tfrkit.data.stages.assert_cardinality import AssertCardinalityNode
from tfrkit.data.stages.cache import CacheMemory, CacheNode
from tfrkit.data.stages.concatenate import ConcatenateNode, check_concatenate
from tfrkit.data.stages.filter import FilterNode
from tfrkit.data.stages.ignore_errors import IgnoreErrorsNode
from tfrkit.data.stages.interleave import InterleaveNode, resolve_cycle
from tfrkit.data.stages.map import MapNode
from tfrkit.data.stages.prefetch import PrefetchNode
from tfrkit.data.stages.repeat import make_repeat_node
from tfrkit.data.stages.shard import ShardNode
from tfrkit.data.stages.take import SkipNode, TakeNode
from tfrkit.data.stages.zip import make_zip_node
from tfrkit.data.step_verbs import StepVerbs
from tfrkit.errors import InvalidArgumentError

__all__ = ["Dataset"]


class Dataset(FeatureVerbs, StepVerbs):
    """A description of a stream of elements, with TensorFlow's verbs and some more.

    Elements are numpy scalars, bytes, arrays, Ragged, Sparse and BytesColumn, or tuples and dicts of them. A dataset
    can be iterated any number of times, and pickles if its functions do.

    >>> ds = Dataset.range(10).shuffle(4, seed=1).map(lambda x: x * x).batch(4)
    >>> [batch.tolist() for batch in ds]
    [[0, 16, 25, 1], [4, 49, 81, 64], [36, 9]]
    """

    def __init__(self, node: Node) -> None:
        """Use the class methods; this wraps a node."""
        self.node = node

    @classmethod
    def _over(cls, node: Node) -> Dataset:
        """Wrap a node: what every verb gives."""
        return Dataset(node)

    @classmethod
    def _function(cls, given: Callable[..., Any]) -> Callable[..., Any]:
        """What a stage calls in the place of a user's function."""
        return function(given)

    # ---- sources

    @classmethod
    def range(cls, *args: int, output_type: Any = None, name: str | None = None) -> Dataset:
        """Count, as Python's range does; int64 unless another type is asked for.

        >>> list(Dataset.range(5, 1, -2)) == [5, 3]
        True
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
            )
        numbers = [integer(each, "args") for each in args]
        first, stop, step = {1: (0, *numbers, 1), 2: (*numbers, 1), 3: numbers}[len(args)]
        if step == 0:
            raise InvalidArgumentError("step must be a non-zero integer.")
        count = max(0, -((first - stop) // step))
        dtype = np.dtype(np.int64) if output_type is None else convert.as_dtype(output_type)
        return cls._over(RangeNode(first, step, count, dtype))

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Dataset:
        """One element for each row of the given arrays.

        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2, 3])]
        [1, 2, 3]
        """
        return cls._over(make_slices_node(tensors))

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Dataset:
        """A single element: the given arrays themselves.

        >>> list(Dataset.from_tensors((1, "a")))
        [(np.int32(1), b'a')]
        """
        return cls._over(make_tensors_node(tensors))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a generator yields; it is called anew for every iterator.

        Args:
            generator: a function that gives an iterable.
            output_types: types of the elements' parts.
            output_shapes: shapes of the elements' parts.
            args: arguments for the generator.
            output_signature: a structure of TensorSpec and the like, instead of types and shapes.
            name: ignored; TensorFlow has it.
        """
        return cls._over(make_generator_node(generator, output_types, output_shapes, args, output_signature))

    @classmethod
    def list_files(
        cls,
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Names of the files that match, as bytes; matching happens now.

        Args:
            file_pattern: a pattern or several, by TensorFlow's rules: `*`, `?` and `[...]` within one part of a path,
                dot files and folders included.
            shuffle: False gives them sorted; else they are shuffled anew in every pass.
            seed: for the order; see `shuffle`.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: nothing matches.
        """
        return cls._over(make_list_files_node(file_pattern, shuffle, seed))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, until the shortest ends.

        Args:
            args: datasets, or one tuple or dict (nested too) of them: elements have that structure.
            datasets: the same, as TensorFlow once had it.
            name: ignored; TensorFlow has it.

        Raises:
            TypeError: there is a list, or something that is no Dataset.

        >>> list(Dataset.zip(Dataset.range(2), Dataset.range(5, 9)))
        [(np.int64(0), np.int64(5)), (np.int64(1), np.int64(6))]
        """
        return cls._over(make_zip_node(args, datasets))

    # ---- one element for another

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Apply a function to every element.

        Args:
            map_func: takes an element (the parts of a tuple as arguments) and gives another.
            num_parallel_calls: how many calls may run at once; AUTOTUNE finds out.
            deterministic: keep the order (the default) although calls run at once. It is kept anyway before stages
                that make elements again to go on from a state: shuffle, cache, unbatch, zip, interleave.
            synchronous: ignored; TensorFlow has it.
            use_unbounded_threadpool: ignored; TensorFlow has it.
            name: ignored; TensorFlow has it.
        """
        return self._over(MapNode(self.node, self._function(map_func), num_parallel_calls, deterministic))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Keep the elements for which a function is true.

        Args:
            predicate: takes an element (the parts of a tuple as arguments) and gives a bool. Anything else is a
                ValueError at that element.
            name: ignored; TensorFlow has it.

        >>> list(Dataset.range(5).filter(lambda x: x > 2))
        [np.int64(3), np.int64(4)]
        """
        return self._over(FilterNode(self.node, self._function(predicate)))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Put a number, from `start` on, before every element.

        >>> list(Dataset.from_tensor_slices(["a", "b"]).enumerate(start=5))
        [(np.int64(5), b'a'), (np.int64(6), b'b')]
        """
        numbers = self._over(RangeNode(integer(start, "start"), 1, INFINITE_CARDINALITY, np.dtype(np.int64)))
        return self.zip(numbers, self)

    # ---- one element to many, and many to one

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Make a dataset of every element, and give their elements one after another.

        Args:
            map_func: takes an element and gives a Dataset. Anything else is a TypeError at that element.
            name: ignored; TensorFlow has it.

        >>> [int(x) for x in Dataset.range(4).flat_map(Dataset.range)]
        [0, 0, 1, 0, 1, 2]
        """
        return self._over(InterleaveNode(self.node, self._function(map_func), 1, 1, None, None, "flat_map"))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Make a dataset of every element, and take from several of them in turn.

        Args:
            map_func: takes an element and gives a Dataset.
            cycle_length: of how many at once; by default as many as there are cores.
            block_length: how many elements of one before the next has its turn; by default 1.
            num_parallel_calls: how many of them are read ahead at once; at most `cycle_length`.
            deterministic: False: whichever has an element first.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: a length is not positive.
            ValueError: there are more parallel calls than datasets in turn.

        >>> ds = Dataset.range(1, 4).interleave(lambda x: Dataset.from_tensors(x).repeat(3), 2, 2)
        >>> [int(x) for x in ds]
        [1, 1, 2, 2, 1, 2, 3, 3, 3]
        """
        cycle, block = resolve_cycle(cycle_length, block_length, num_parallel_calls)
        return self._over(
            InterleaveNode(
                self.node,
                self._function(map_func),
                cycle,
                block,
                num_parallel_calls,
                deterministic,
                "interleave",
            )
        )

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

        >>> [batch.tolist() for batch in Dataset.range(5).batch(2)]
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

        >>> ds = Dataset.range(1, 4).map(lambda n: np.full(n, n))
        >>> [batch.tolist() for batch in ds.padded_batch(2, padding_values=np.int64(-1))]
        [[[1, -1], [2, 2]], [[3, 3, 3]]]
        """
        return self._over(
            make_padded_batch_node(
                self.node, batch_size_of(batch_size), padded_shapes, padding_values, bool(drop_remainder)
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

        >>> ds = Dataset.range(3).map(np.arange).ragged_batch(3)
        >>> ds.get_single_element().to_list()
        [[], [0], [0, 1]]
        """
        splits = convert.as_dtype(row_splits_dtype)
        return self._over(RaggedBatchNode(self.node, batch_size_of(batch_size), bool(drop_remainder), splits))

    def unbatch(self, name: str | None = None) -> Dataset:
        """Give the rows of every element one by one.

        Raises:
            ValueError: elements are scalars, or their parts are known to have different numbers of rows.

        >>> [int(x) for x in Dataset.range(5).batch(2).unbatch()]
        [0, 1, 2, 3, 4]
        """
        check_unbatch(self.node)
        return self._over(UnbatchNode(self.node))

    # ---- which elements, and in what order

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Mix: give a random one of the next `buffer_size` elements, in TensorFlow's order for a seed.

        Args:
            buffer_size: how many elements wait at a time; UNKNOWN_CARDINALITY (-2): all of them.
            seed: an integer; None draws one, by `set_seed` if that was called.
            reshuffle_each_iteration: another order in every pass (the default), or the same.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: the size is not positive.

        >>> [int(x) for x in Dataset.range(6).shuffle(6, seed=1, reshuffle_each_iteration=False)]
        [3, 5, 0, 4, 1, 2]
        """
        size = integer(buffer_size, "buffer_size")
        if size <= 0 and size != UNKNOWN_CARDINALITY:
            raise InvalidArgumentError("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return self._over(ShuffleNode(self.node, size, SeedGenerator.of(seed, reshuffle)))

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

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from the `index`-th on."""
        shards, number = integer(num_shards, "num_shards"), integer(index, "index")
        if shards <= 0:
            raise InvalidArgumentError(
                f"Number of shards must be greater than zero (currently num_shards = {shards})."
            )
        if not 0 <= number < shards:
            raise InvalidArgumentError(
                f"Index must be between 0 and {shards - 1} (currently index = {number})."
            )
        return self._over(ShardNode(self.node, shards, number))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, then those of another dataset.

        Raises:
            TypeError: it is none, or its elements have another structure or other types.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"expected a Dataset to concatenate but got {type(dataset).__name__}")
        check_concatenate(self.node, dataset.node)
        return self._over(ConcatenateNode(self.node, dataset.node))

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

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Leave out what fails; `DatasetIterator.ignored` counts it, and `log_warning` logs it.

        >>> [int(x) for x in Dataset.range(3).map(lambda x: 2 // int(x)).ignore_errors()]
        [2, 1]
        """
        return self._over(IgnoreErrorsNode(self.node, bool(log_warning)))

    def assert_cardinality(self, expected_cardinality: int) -> Dataset:
        """Say how many elements there are; another number is a FailedPreconditionError where it shows."""
        return self._over(
            AssertCardinalityNode(self.node, integer(expected_cardinality, "expected_cardinality"))
        )

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Apply a function to the dataset itself.

        Raises:
            TypeError: it gives no Dataset.
        """
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(
                f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}."
            )
        return made

    def options(self) -> Options:
        """What `with_options` said."""
        return OptionsNode.of(self.node)

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Set options for the whole pipeline; what they do not set stays as it is.

        Raises:
            TypeError: they are no Options.
        """
        if not isinstance(options, Options):
            raise TypeError(f"expected Options but got {type(options).__name__}")
        return self._over(OptionsNode(self.node, OptionsNode.of(self.node).merge(options)))

    # ---- running it

    def __iter__(self) -> DatasetIterator:
        """Run it from the beginning."""
        return DatasetIterator(self.node)

    def iter_from(self, state: Mapping[str, Any]) -> DatasetIterator:
        """Run it from where another iterator stood; see `DatasetIterator.state`.

        Raises:
            InvalidArgumentError: the state is of another pipeline, or a file has changed since.
        """
        return DatasetIterator(self.node, state)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Run it; every part of an element is a numpy scalar, a read-only array or bytes, as in TensorFlow."""
        return NumpyIterator(iter(self))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Fold all elements into one value.

        Args:
            initial_state: a value, or a tuple or dict of them. A Python int is an int32: for sums of int64 give
                `np.int64(0)`.
            reduce_func: takes the state and an element (each as one argument) and gives the next state.
            name: ignored; TensorFlow has it.

        Raises:
            TypeError: it gives a state of another structure or type.

        >>> Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x)
        np.int64(10)
        """
        state = convert.to_tensors(initial_state)
        for element in DatasetIterator(self.node):
            (own,) = copies_for(reduce_func, [state])
            made = convert.to_element(reduce_func(own, element))
            specs.check_same_state(state, made)
            state = made
        return state

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element.

        Raises:
            InvalidArgumentError: there is none, or more than one.
        """
        iterator = DatasetIterator(self.node)
        try:
            for element in iterator:
                for _ in iterator:
                    raise InvalidArgumentError("Dataset had more than one element.")
                return element
            raise InvalidArgumentError("Dataset was empty.")
        finally:
            iterator.close()

    def cardinality(self, name: str | None = None) -> int:
        """The number of elements, INFINITE_CARDINALITY (-1) or UNKNOWN_CARDINALITY (-2), without running it."""
        return self.node.cardinality()

    def __len__(self) -> int:
        """The number of elements.

        Raises:
            TypeError: it is infinite, or not known without running.
        """
        size = self.node.cardinality()
        if size == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return size

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """The structure of an element, with a TensorSpec and the like in the place of values."""
        return self.node.element_spec()

    # ---- looking at it

    def explain(self) -> str:
        """The plan as written and as it runs, and how each stage goes on from a saved state."""
        return explain(self.node)

    def profile(self, seconds: float = 5) -> Profile:
        """Run it for at most some seconds and say where the time goes, and what would help: print it."""
        return profile(self.node, seconds)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.node.label}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.node,)
