"""tf.queue: the queues of `tfrkit.tf.v1.queues` with Tensors; and producers of file names, which fill themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype as plain_dtype
from tfrkit.stores.glob_files import glob_files
from tfrkit.tf.functions.lift import unwrap, unwrap_argument
from tfrkit.tf.tensors.conversion import convert_to_tensor
from tfrkit.tf.tensors.dtype import as_dtype
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_shape import TensorShape, as_shape
from tfrkit.tf.v1.queues import (
    EpochsQueue,
    FifoQueue,
    PaddingQueue,
    ShuffleQueue,
)
from tfrkit.tf.v1.queues import (
    PriorityQueue as _PriorityQueue,
)
from tfrkit.values.seeds import get_seeds

__all__ = [
    "FIFOQueue",
    "PaddingFIFOQueue",
    "PriorityQueue",
    "QueueBase",
    "RandomShuffleQueue",
    "match_filenames_once",
    "string_input_producer",
]


class QueueBase:
    """What all queues have; see `tfrkit.tf.v1.queues`.

    Attributes:
        queue_ref: the queue itself.
    """

    def __init__(
        self, dtypes: Sequence[Any], shapes: Any, names: Sequence[str] | None, queue_ref: FifoQueue
    ) -> None:
        """Use one of the classes."""
        self._given_types = list(dtypes)
        self._dtypes = [as_dtype(each) for each in dtypes]
        self._shapes: list[TensorShape] | None = shapes
        self._names = None if names is None else list(names)
        self.queue_ref = queue_ref

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """One of some queues, by its number.

        Raises:
            TypeError: there is something else among them.
        """
        if not queues or not all(isinstance(each, QueueBase) for each in queues):
            raise TypeError("A list of queues expected")
        return queues[int(unwrap(index))]

    @property
    def name(self) -> str:
        """For messages."""
        return self.queue_ref.name

    @property
    def dtypes(self) -> list[Any]:
        """The types of the parts of an element, as they were given."""
        return list(self._given_types)

    @property
    def shapes(self) -> list[TensorShape]:
        """Their shapes; unknown if none were given."""
        return list(self._shapes) if self._shapes is not None else [TensorShape(None)] * len(self._dtypes)

    @property
    def names(self) -> list[str] | None:
        """Their names, None if they have none."""
        return self._names

    def enqueue(self, vals: Any, name: str | None = None) -> None:
        """Add an element: one value, a list or tuple of values, or a dict if the parts have names."""
        self.queue_ref.enqueue(self._parts(vals))

    def enqueue_many(self, vals: Any, name: str | None = None) -> None:
        """Add the rows of Tensors."""
        self.queue_ref.enqueue_many(self._parts(vals))

    def dequeue(self, name: str | None = None) -> Any:
        """Take an element; wait until there is one."""
        return self._given(self.queue_ref.dequeue())

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Take n elements, as Tensors with n rows."""
        return self._given(self.queue_ref.dequeue_many(int(unwrap(n))))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Take n elements, or what is left if the queue is closed."""
        return self._given(self.queue_ref.dequeue_up_to(int(unwrap(n))))

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Take no more elements."""
        self.queue_ref.close(cancel_pending_enqueues=cancel_pending_enqueues)

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether it takes no more elements."""
        return Tensor(np.bool_(self.queue_ref.is_closed))

    def size(self, name: str | None = None) -> Tensor:
        """How many elements wait."""
        return Tensor(np.int32(self.queue_ref.size()))

    def _parts(self, vals: Any) -> list[Any]:
        if isinstance(vals, Mapping):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  "
                    f"Dictionary: {sorted(vals)},Queue: {sorted(self._names)}"
                )
            listed = [vals[key] for key in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            listed = list(vals) if isinstance(vals, (list, tuple)) else [vals]
        listed = listed[: len(self._dtypes)]  # TensorFlow passes over what is too much, too
        for number, (value, dtype) in enumerate(zip(listed, self._dtypes, strict=False)):
            if isinstance(value, Tensor) and value.dtype != dtype:
                raise ValueError(
                    f"component_{number}: Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                    f"{value.dtype.name}: {value!r}"
                )
        if len(listed) < len(self._dtypes):
            types = [each.name for each in self._dtypes]
            have = [
                convert_to_tensor(value, name).dtype.name for value, name in zip(listed, types, strict=False)
            ]
            raise InvalidArgumentError(
                f"Signature mismatch, have: {', '.join(['resource', *have])}-> "
                f"expected: {', '.join(['resource', *types])}->"
            )
        return [unwrap_argument(each) for each in listed]

    def _given(self, row: Sequence[Any]) -> Any:
        tensors = [Tensor(value) for value in row]
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors


def _types(dtypes: Any) -> list[Any]:
    listed = list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes]
    if not listed:
        raise InvalidArgumentError("Length for attr 'component_types' of 0 must be at least minimum 1")
    return listed


def _known_shapes(shapes: Any, dtypes: list[Any], *, partly: bool = False) -> list[TensorShape] | None:
    if partly and (
        not isinstance(shapes, (list, tuple))
        or not shapes
        or any(each is None or isinstance(each, int) for each in shapes)
    ):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, int):
        raise TypeError(
            "Shapes must be a TensorShape or a list or tuple of TensorShapes, got <class 'int'> instead."
        )
    if isinstance(shapes, TensorShape) or not isinstance(shapes, (list, tuple)):
        shapes = [shapes]
    elif all(each is None or isinstance(each, int) for each in shapes):
        shapes = [shapes]  # the sizes of one shape
    made = [as_shape(each) for each in shapes]
    if not partly and not all(each.is_fully_defined() for each in made):
        raise ValueError(f"All shapes must be fully defined: {made}")
    if len(made) != len(dtypes):
        listed = ", ".join(as_dtype(each).name for each in dtypes)
        shown = ", ".join(
            str(each) if each.rank is None else f"[{','.join(map(str, each))}]" for each in made
        )
        raise InvalidArgumentError(
            f"Different number of component types.  Types: {listed}, Shapes: [{shown}]"
        )
    return made


def _checked_names(names: Any, dtypes: list[Any]) -> list[str] | None:
    if names is None:
        return None
    if len(names) != len(dtypes):
        raise ValueError(
            "List of names must have the same length as the list of dtypes, received "
            f"len(names)={len(names)},len(dtypes)={len(dtypes)}"
        )
    return list(names)


def _described(dtypes: list[Any], shapes: list[TensorShape] | None) -> tuple[list[Any], list[Any] | None]:
    """Types and shapes as the queue itself takes them."""
    sizes = None if shapes is None else [None if each.rank is None else tuple(each) for each in shapes]
    return [plain_dtype(each) for each in dtypes], sizes


class FIFOQueue(QueueBase):
    """First in, first out."""

    def __init__(
        self,
        capacity: Any,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        types = _types(dtypes)
        known, named = _known_shapes(shapes, types), _checked_names(names, types)
        super().__init__(types, known, named, FifoQueue(*_described(types, known), int(capacity), name))


class PaddingFIFOQueue(QueueBase):
    """First in, first out; several elements are padded to one shape."""

    def __init__(
        self,
        capacity: Any,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = _types(dtypes)
        known, named = _known_shapes(shapes, types, partly=True), _checked_names(names, types)
        super().__init__(types, known, named, PaddingQueue(*_described(types, known), int(capacity), name))


class RandomShuffleQueue(QueueBase):
    """A random one of the elements."""

    def __init__(
        self,
        capacity: Any,
        min_after_dequeue: Any,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = _types(dtypes)
        known, named = _known_shapes(shapes, types), _checked_names(names, types)
        described = _described(types, known)
        queue = ShuffleQueue(*described, int(capacity), name, int(min_after_dequeue), get_seeds(seed))
        super().__init__(types, known, named, queue)


class PriorityQueue(QueueBase):
    """The element with the smallest priority, an int64 before its other parts."""

    def __init__(
        self,
        capacity: Any,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        all_types = ["int64", *_types(types)]
        inner = _known_shapes(shapes, all_types[1:])
        known = None if inner is None else [TensorShape([]), *inner]
        named = _checked_names(names, all_types)
        super().__init__(
            all_types, known, named, _PriorityQueue(*_described(all_types, known), int(capacity), name)
        )


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,  # noqa: ARG001
    shared_name: str | None = None,  # noqa: ARG001
    name: str | None = None,
    cancel_op: Any = None,  # noqa: ARG001
) -> QueueBase:
    """A queue of strings, such as names of files, that needs nobody to fill it.

    Args:
        string_tensor: the strings.
        num_epochs: how often each comes; the queue is then closed. None: without end.
        shuffle: another order every time, TensorFlow's for a seed.
        seed: for the orders.
        capacity: ignored: nothing waits.
        shared_name: ignored.
        name: for messages.
        cancel_op: ignored.

    Raises:
        ValueError: there are no strings, or `num_epochs` is not positive.
    """
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError("string_input_producer requires a non-null input tensor")
    strings = convert_to_tensor(string_tensor, "string").value
    if not isinstance(strings, BytesColumn) or strings.ndim != 1:
        raise ValueError(f"Shapes {np.shape(strings)[1:]} and () are not compatible")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    queue = EpochsQueue(
        strings,
        np.dtype(object),
        epochs=num_epochs,
        seeds=get_seeds(seed) if shuffle else None,
        name=name or "input_producer",
    )
    return QueueBase(["string"], [TensorShape([])], None, queue)


def match_filenames_once(pattern: Any, name: str | None = None) -> Tensor:  # noqa: ARG001
    """The names of files that match a pattern, or several, now; sorted."""
    given = convert_to_tensor(pattern, "string").value
    patterns = [given] if isinstance(given, bytes) else list(given)
    found = glob_files([each.decode("utf-8", "surrogateescape") for each in patterns])
    return convert_to_tensor([each.encode("utf-8", "surrogateescape") for each in found], "string")
