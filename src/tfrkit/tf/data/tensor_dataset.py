"""tf.data.Dataset: the pipelines of `tfrkit.data` under TensorFlow's interface.

Every verb is that of `tfrkit.data.Dataset`; arguments may be Tensors, and functions and users see Tensors. Different is
what TensorFlow does by default when it runs a pipeline: it calls a function for several elements at once, and a map and
the batch after it are one stage.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, NoReturn

import numpy as np

from tfrkit.data import dataset as engine
from tfrkit.data.arguments import function
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.engine.iterator import DatasetIterator
from tfrkit.data.engine.node import Node, last_active
from tfrkit.model.element_spec import RaggedTensorSpec
from tfrkit.model.policy import TENSORFLOW, ReadPolicy
from tfrkit.tf.data.absent_verbs import VerbsMeta, absent_verb
from tfrkit.tf.data.data_iterator import NumpyIterator, OwnedIterator
from tfrkit.tf.data.tensorflow_stages import AutoMapNode, RefusedRepeatNode, after_map
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.tf.functions.on_tensors import OnTensors, Yielding, begin_functions
from tfrkit.tf.tensors.ragged_tensor import RaggedTensor
from tfrkit.tf.tensors.sparse_tensor import SparseTensor
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_specs import plain, public

__all__ = ["Dataset"]

_NAMES: Final = {  # of TensorFlow's classes, where they are not those of the verbs
    "cache": "Cache",
    "choose_from_datasets": "_DirectedInterleave",
    "from_generator": "_FlatMap",
    "from_tensor_slices": "_TensorSlice",
    "from_tensors": "_Tensor",
    "ragged_batch": "_Batch",
}
_CLASSES: Final = {
    "TensorSpec": Tensor,
    "RaggedTensorSpec": RaggedTensor,
    "SparseTensorSpec": SparseTensor,
}


class Dataset(engine.Dataset, metaclass=VerbsMeta):
    """A description of a stream of elements: Tensors, or tuples and dicts of them.

    Attributes:
        shown: TensorFlow's name of the class; None: it is found by the last stage.
    """

    shown: ClassVar[str | None] = None
    _counts: ClassVar = False  # of files, as in TensorFlow
    usual_policy: ClassVar[ReadPolicy] = TENSORFLOW

    @classmethod
    def _over(cls, node: Node) -> Dataset:
        """Wrap a node: what every verb gives."""
        return Dataset(node)

    @classmethod
    def _function(cls, given: Callable[..., Any]) -> Callable[..., Any]:
        """What a stage calls in place of a user's function."""
        return OnTensors(function(given))

    def __getattr__(self, name: str) -> Any:
        raise absent_verb(self, name)

    # ---- verbs that run otherwise

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Any:
        """What a generator yields, Tensors too; see `tfrkit.Dataset.from_generator`."""
        made = Yielding(generator) if callable(generator) else generator
        signature = map_structure(plain, output_signature)
        return super().from_generator(made, output_types, output_shapes, args, signature, name)

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        *args: Any,
        **options: Any,
    ) -> Any:
        """Apply a function to every element, several at once if it has no stateful operation; the order is kept."""
        if num_parallel_calls is None and not options.get("seeded"):
            return self._over(AutoMapNode(self.node, self._function(map_func), None, None))
        return super().map(map_func, num_parallel_calls, deterministic, *args, **options)

    def batch(self, batch_size: int, *args: Any, **options: Any) -> Any:
        """Put consecutive elements together; after a map an error loses the whole batch."""
        made = super().batch(batch_size, *args, **options)
        parallel = options.get("num_parallel_calls", args[1] if len(args) > 1 else None)
        if parallel is None and last_active(self.node).verb == AutoMapNode.verb:
            return self._over(after_map(made.node))
        return made

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """Begin again at the end; after a shuffle, some counts are refused when it runs, as by TensorFlow."""
        made = super().repeat(count)
        number = -1 if count is None else int(count)
        if (number == 0 or number < -1) and last_active(self.node).reorders:
            return self._over(RefusedRepeatNode(made.node))
        return made

    def ragged_batch(self, batch_size: int, *args: Any, **options: Any) -> Any:
        """Put consecutive elements together, as RaggedTensors, which TensorFlow makes in a map: see `batch`."""
        made = super().ragged_batch(batch_size, *args, **options)
        if last_active(self.node).verb == AutoMapNode.verb or _makes_ragged(made.node):
            return self._over(after_map(made.node))
        return made

    # ---- running it

    def __iter__(self) -> OwnedIterator:
        """Run it from the beginning."""
        begin_functions(self.node)
        return OwnedIterator(self.node, epoch=self._next_epoch())

    def iter_from(self, state: Mapping[str, Any]) -> OwnedIterator:
        """Run it from where another iterator stood; see `tfrkit.DatasetIterator.state`."""
        iterator = OwnedIterator(self.node, state)
        self._epochs = iterator.epoch + 1
        return iterator

    def __getitem__(self, index: Any) -> Any:
        """One element, or the dataset of those of a slice; see `tfrkit.Dataset`."""
        found = super().__getitem__(index)
        return found if isinstance(found, Dataset) else wrap(found)

    def at(self, indices: Any, epoch: int = 0) -> Any:
        """Some elements as one batch; see `tfrkit.Dataset.at`."""
        return wrap(super().at(indices, epoch))

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Run it; every part of an element is what numpy has for it."""
        begin_functions(self.node)
        return NumpyIterator(DatasetIterator(self.node, epoch=self._next_epoch()))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Fold all elements into one value; see `tfrkit.Dataset.reduce`."""
        return wrap(super().reduce(initial_state, self._function(reduce_func)))

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element."""
        return wrap(super().get_single_element())

    def cardinality(self, name: str | None = None) -> Any:
        """The number of elements, INFINITE_CARDINALITY (-1) or UNKNOWN_CARDINALITY (-2), as a Tensor."""
        return Tensor(np.int64(self.node.cardinality()))

    @property
    def element_spec(self) -> Any:
        """The structure of an element, with a TensorSpec and the like in the place of Tensors."""
        return map_structure(public, self.node.element_spec())

    # ---- TensorFlow 1

    def make_one_shot_iterator(self) -> OwnedIterator:
        """Run it from the beginning."""
        return iter(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> NoReturn:
        """There are no graphs in which an iterator could be initialised.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "`make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration instead."
        )

    @property
    def output_types(self) -> Any:
        """The types in `element_spec`."""
        return map_structure(lambda spec: spec.dtype, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes in `element_spec`."""
        return map_structure(lambda spec: spec.shape, self.element_spec)

    @property
    def output_classes(self) -> Any:
        """The classes of values: Tensor, RaggedTensor, SparseTensor."""
        return map_structure(lambda spec: _CLASSES[type(spec).__name__], self.element_spec)

    def __repr__(self) -> str:
        return f"<{self.shown or _name_of(self.node)} element_spec={self.element_spec!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._over, (self.node,)


def _name_of(node: Node) -> str:
    """TensorFlow's name of the class of a dataset whose last stage this is."""
    name = "".join(map(str.capitalize, node.verb.split("_"))) or "Options"
    parallel = "Parallel" if getattr(node, "parallel", None) is not None else ""
    return f"{_NAMES.get(node.verb, f'_{parallel}{name}')}Dataset"


def _makes_ragged(node: Any) -> bool:
    """Whether a value of a ragged_batch is ragged, for which TensorFlow has a map before the batch."""
    try:
        return any(isinstance(spec, RaggedTensorSpec) for spec in flatten(node.row_spec()))
    except Exception:  # noqa: BLE001  # a user's function may do anything; it will fail again at its element
        return True


def _on_values(verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb that takes Tensors as arguments."""

    @functools.wraps(verb)
    def call(dataset: Any, /, *args: Any, **options: Any) -> Any:
        options = {name: unwrap(value) for name, value in options.items()}
        return verb(dataset, *[unwrap(value) for value in args], **options)

    return call


def _take_tensors(cls: type[Dataset]) -> None:
    """Let every verb take Tensors."""
    for name in dir(cls):
        verb: Any = None if name.startswith("_") else getattr(cls, name)
        if isinstance(getattr(verb, "__self__", None), type):
            setattr(cls, name, classmethod(_on_values(verb.__func__)))
        elif callable(verb):
            setattr(cls, name, _on_values(verb))


_take_tensors(Dataset)
