"""Dataset: a pipeline and how it is run. Its verbs are in `verbs/`; each makes a node over those of its inputs.

Nothing runs until the dataset is iterated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tfrkit.data.arguments import function
from tfrkit.data.elements import element_values as convert
from tfrkit.data.elements import structure_specs as specs
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.engine.iterator import DatasetIterator, NumpyIterator
from tfrkit.data.engine.node import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Node
from tfrkit.data.options import Options, OptionsNode
from tfrkit.data.report.explain import explain
from tfrkit.data.report.profile import Profile, profile
from tfrkit.data.verbs.batch_verbs import BatchVerbs
from tfrkit.data.verbs.element_verbs import ElementVerbs
from tfrkit.data.verbs.feature_verbs import FeatureVerbs
from tfrkit.data.verbs.order_verbs import OrderVerbs
from tfrkit.data.verbs.source_verbs import SourceVerbs
from tfrkit.errors import InvalidArgumentError

__all__ = ["Dataset"]


class Dataset(FeatureVerbs, SourceVerbs, ElementVerbs, BatchVerbs, OrderVerbs):
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
        """What a stage calls in place of a user's function."""
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
        """The structure of an element, with a TensorSpec and the like in place of values."""
        return self.node.element_spec()

    # ---- looking at it

    def explain(self) -> str:
        """The plan as written and as it runs, and how each stage resumes from a saved state."""
        return explain(self.node)

    def profile(self, seconds: float = 5) -> Profile:
        """Run it for at most some seconds and say where the time goes, and what would help: print it."""
        return profile(self.node, seconds)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.node.label}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.node,)
