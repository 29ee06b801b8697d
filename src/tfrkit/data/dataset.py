"""Dataset: a pipeline and how it is run. Its verbs are in `verbs/`; each makes a node over those of its inputs.

Nothing runs until the dataset is iterated.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

from tfrkit.cached_property import cached_property
from tfrkit.data.arguments import function, integer
from tfrkit.data.elements import element_values as convert
from tfrkit.data.elements import structure_specs as specs
from tfrkit.data.elements.owned import copies_for, own_elements
from tfrkit.data.engine.iterator import DatasetIterator, new_context, to_numpy
from tfrkit.data.engine.lookup import Lookup, checked_numbers, out_of_range, require_lookup
from tfrkit.data.engine.node import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Node, blocker
from tfrkit.data.engine.spawned import check_spawned
from tfrkit.data.left_out import nothing_left
from tfrkit.data.options import Options, OptionsNode
from tfrkit.data.report.explain import explain
from tfrkit.data.report.profile import Profile, profile
from tfrkit.data.shuffle.pass_seeds import move_seeds
from tfrkit.data.stages.epoch import EpochNode
from tfrkit.data.stages.take import SliceNode
from tfrkit.data.verbs.batch_verbs import BatchVerbs
from tfrkit.data.verbs.element_verbs import ElementVerbs
from tfrkit.data.verbs.feature_verbs import FeatureVerbs
from tfrkit.data.verbs.order_verbs import OrderVerbs
from tfrkit.data.verbs.source_verbs import SourceVerbs
from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.model.row_selection import is_one_row

__all__ = ["Dataset"]

_NO_BATCH: Final = (
    "A DataLoader cannot leave a batch out: iterate (tfr.torch.loader, tfr.torch.IterableDataset), which can"
)


class Dataset(FeatureVerbs, SourceVerbs, ElementVerbs, BatchVerbs, OrderVerbs):
    """A description of a stream of elements, with TensorFlow's verbs and some more.

    Elements are numpy scalars, bytes, arrays, Ragged, Sparse and BytesColumn, or tuples and dicts of them. A dataset
    can be iterated any number of times, and pickles if its functions do. Where elements can be had by number
    (`indexable`), it is a sequence too.

    >>> ds = Dataset.range(10).shuffle(4, seed=1).map(lambda x: x * x).batch(4)
    >>> [batch.tolist() for batch in ds]
    [[0, 16, 25, 1], [4, 49, 81, 64], [36, 9]]
    """

    _counts: ClassVar = True  # files are counted where the length is asked for

    def __init__(self, node: Node) -> None:
        """Use the class methods; this wraps a node."""
        self.node = node
        self._epochs = 0  # passes that were begun

    @classmethod
    def _over(cls, node: Node) -> Dataset:
        return Dataset(node)

    @classmethod
    def _function(cls, given: Callable[..., Any]) -> Callable[..., Any]:
        return function(given)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Apply a function to the dataset itself.

        Raises:
            TypeError: it does not return a Dataset.
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
            TypeError: they are not Options.
        """
        if not isinstance(options, Options):
            raise TypeError(f"expected Options but got {type(options).__name__}")
        return self._over(OptionsNode(self.node, OptionsNode.of(self.node).merge(options)))

    # ---- running it

    def __iter__(self) -> DatasetIterator:
        """Run it from the beginning: the k-th time in epoch k, which is the order of `global_shuffle` then."""
        return DatasetIterator(self.node, epoch=self._next_epoch())

    def _next_epoch(self) -> int:
        epoch, self._epochs = self._epochs, self._epochs + 1
        return epoch

    def iter_from(self, state: Mapping[str, Any]) -> DatasetIterator:
        """Run it from where another iterator stood; see `DatasetIterator.state` and `DatasetIterator.position`.

        The next `iter` begins the epoch after that one.

        Raises:
            InvalidArgumentError: the state is of another pipeline, or a file has changed since.
        """
        iterator = DatasetIterator(self.node, state)
        self._epochs = iterator.epoch + 1
        return iterator

    def set_epoch(self, number: int) -> None:
        """Let the next `iter` be the pass with this number, and count from there; shuffles with a buffer do so too.

        >>> ds = Dataset.range(4).global_shuffle(seed=1)
        >>> ds.set_epoch(7)
        >>> list(ds) == list(ds.epoch(7)), list(ds) == list(ds.epoch(8))
        (True, True)
        """
        self._epochs = _epoch_number(number)
        move_seeds(self.node, self._epochs)

    def epoch(self, number: int) -> Dataset:
        """The dataset as the pass with this number has it, however often it is iterated.

        >>> ds = Dataset.range(4).global_shuffle(seed=1)
        >>> list(ds) == list(ds.epoch(0)), list(ds) == list(ds.epoch(1))
        (True, True)
        """
        return self._over(EpochNode(self.node, _epoch_number(number)))

    # ---- elements by number

    @property
    def indexable(self) -> bool:
        """Whether `len(ds)`, `ds[i]`, slices and `at` work: elements can be had by their numbers."""
        return blocker(self.node) is None

    @cached_property
    def _lookup(self) -> Lookup:
        require_lookup(self.node)
        return self.node.lookup(new_context(self.node))

    def __getitem__(self, index: int | slice) -> Any:
        """One element, as iterating gives it in epoch 0; or the dataset of those of a slice.

        Negative numbers count from the end.

        Raises:
            IndexError: there is no such element.
            InvalidArgumentError: elements cannot be had by number; it names the stage.

        >>> ds = Dataset.range(10).map(lambda x: x * x)
        >>> int(ds[-1]), [int(x) for x in ds[2:8:2]]
        (81, [4, 16, 36])
        """
        lookup = self._lookup
        if type(index) is int and 0 <= index < lookup.size:
            return lookup.one(index, 0)
        if isinstance(index, slice):
            first, stop, step = index.indices(lookup.size if lookup.size >= 0 else _known_end(index))
            return self._over(SliceNode(self.node, first, step, len(range(first, stop, step))))
        if not is_one_row(index):
            return self.at(index)
        number = operator.index(index)
        if number < 0 <= lookup.size:
            number += lookup.size
        if number < 0 or 0 <= lookup.size <= number:
            raise out_of_range(index, lookup.size)
        return lookup.one(number, 0)

    def at(self, indices: Any, epoch: int = 0) -> Any:
        """The elements with these numbers as one batch, as `batch` puts them together; all are made in one go.

        Args:
            indices: integers, in any order; negative ones count from the end.
            epoch: the pass whose order and seeds count.

        Raises:
            IndexError: there is no such element.
            InvalidArgumentError: elements cannot be had by number, or do not fit together.

        >>> Dataset.range(10).map(lambda x: x * x).at([5, -1, 0])
        array([25, 81,  0])
        """
        lookup = self._lookup
        chunk = lookup.at(checked_numbers(indices, lookup.size), _epoch_number(epoch)).chunk
        return chunk.batch() if len(chunk) else specs.empty_batch(self.node.element_spec())

    def __getitems__(self, indices: Any) -> list[Any]:
        """The elements with these numbers, made in one go: what PyTorch's DataLoader asks a dataset for.

        Damaged ones that `on_corrupt="skip"` leaves out are missing.

        Raises:
            DataLossError: all of them are.
        """
        lookup = self._lookup
        numbers = checked_numbers(indices, lookup.size)
        found = lookup.at(numbers, 0).chunk
        if not len(found) and len(numbers):
            raise nothing_left(self.node, numbers, 0, _NO_BATCH) or IndexError("no element is left")
        return own_elements(found.objects())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Run it; every part of an element is a numpy scalar, a read-only array or bytes, as in TensorFlow."""
        return map(to_numpy, iter(self))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Fold all elements into one value.

        Args:
            initial_state: a value, or a tuple or dict of them. A Python int is an int32: for sums of int64 give
                `np.int64(0)`.
            reduce_func: takes the state and an element (each as one argument) and returns the next state.
            name: ignored; TensorFlow has it.

        Raises:
            TypeError: it returns a state of another structure or type.

        >>> import numpy as np
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
            InvalidArgumentError: there is no element, or more than one.
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
        """The number of elements. Files are counted by their indexes, which are made once, on all cores, and kept.

        Raises:
            TypeError: it is infinite, or not known without running.
        """
        size = self.node.cardinality()
        if size == UNKNOWN_CARDINALITY and self._counts and self.indexable:
            try:
                size = self._lookup.size
            except (
                OpError
            ) as error:  # damage, which iterating shows in its place; list() asks for the length too
                raise TypeError(f"The dataset length is unknown: {error}") from error
        if size == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN_CARDINALITY:
            found = blocker(self.node) if self._counts else None  # TensorFlow says no more
            if found is None:
                raise TypeError("The dataset length is unknown.")
            raise TypeError(
                f"The dataset length is unknown. {found.label} has no elements by number, so that the dataset can only "
                f"be iterated. {found.unindexable} For a DataLoader use tfr.torch.IterableDataset(ds)."
            )
        return size

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """The structure of an element, with a TensorSpec and the like in place of values."""
        return self.node.element_spec()

    # ---- looking at it

    def explain(self) -> str:
        """The plan as written and as it runs, and how each stage resumes from a saved state."""
        return explain(self.node)

    def profile(self, seconds: float = 5, consumer: Callable[[Any], Any] | None = None) -> Profile:
        """Run it for at most some seconds and say where the time goes, and what would help: print it.

        Args:
            seconds: how long, at most.
            consumer: called with every element, such as a step of training: how long it waited is shown too.
        """
        return profile(self.node, seconds, consumer)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.node.label}>"

    def __reduce__(self) -> tuple[Any, ...]:
        check_spawned(self.node)
        return Dataset, (self.node,)


def _known_end(index: slice) -> int:
    """Where a slice of a dataset without an end stops at the latest.

    Raises:
        InvalidArgumentError: it has no such end, or counts from the dataset's.
    """
    start, stop, step = (
        None if each is None else operator.index(each) for each in (index.start, index.stop, index.step)
    )
    if stop is None or min(start or 0, stop) < 0 or (step or 1) < 0:
        raise InvalidArgumentError(
            "A slice of a dataset without an end needs an end of its own, as in ds[2:9], and counts from the "
            "beginning: give one, or put take() before it."
        )
    return stop


def _epoch_number(number: Any) -> int:
    count = integer(number, "epoch")
    if not 0 <= count < 2**63:
        raise InvalidArgumentError(f"Expected an epoch of at least 0 but got {count}.")
    return count
