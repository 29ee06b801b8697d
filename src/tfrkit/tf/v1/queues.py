"""TensorFlow's queues of tuples of Tensors: FIFOQueue, RandomShuffleQueue, and queues of strings that fill themselves.

They are bounded and blocking, for any number of threads. A dequeue of several elements takes them as they arrive, so
that it may be larger than the capacity; if the queue is closed before there are enough, they go back.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from tfrkit.data.batch.collate import collate
from tfrkit.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype as plain_dtype
from tfrkit.stores.glob_files import glob_files
from tfrkit.tf.functions.lift import unwrap, unwrap_argument
from tfrkit.tf.tensors.conversion import convert_to_tensor
from tfrkit.tf.tensors.dtype import as_dtype
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.tensors.tensor_shape import TensorShape, as_shape
from tfrkit.values.operands import convert, shape_of
from tfrkit.values.philox import make_philox
from tfrkit.values.seeds import get_seeds

__all__ = ["FIFOQueue", "QueueBase", "RandomShuffleQueue", "match_filenames_once", "string_input_producer"]

_numbers: Final = itertools.count()
Row = tuple[Any, ...]


class QueueBase:
    """A queue, first in, first out; subclasses choose another order.

    Args:
        capacity: the largest number of elements that wait; negative: any number.
        dtypes: types of the components of an element, or the type of the only one.
        shapes: their shapes; None if they are not known.
        names: of the components; elements are then dicts.
        name: for messages.
    """

    kind = "FIFOQueue"

    def __init__(self, capacity: Any, dtypes: Any, shapes: Any, names: Any, name: str) -> None:
        self._given_types = list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes]
        if not self._given_types:
            raise InvalidArgumentError("Length for attr 'component_types' of 0 must be at least minimum 1")
        self._dtypes = [as_dtype(each) for each in self._given_types]
        self._plain_types = [plain_dtype(each) for each in self._given_types]
        self._shapes = _known_shapes(shapes, [each.name for each in self._dtypes])
        self._names = None if names is None else list(names)
        if self._names is not None and len(self._names) != len(self._dtypes):
            raise ValueError(
                "List of names must have the same length as the list of dtypes, received "
                f"len(names)={len(self._names)},len(dtypes)={len(self._dtypes)}"
            )
        self.name = f"_{next(_numbers)}_{name}"
        self._rows: Any = deque()  # of Row
        self._capacity = int(capacity) if int(capacity) >= 0 else 2**63
        self._changed = threading.Condition()
        self._taking = threading.Lock()  # one dequeue after another, whatever its size
        self._closed = False
        self._cancelled = False  # enqueues that wait must fail
        self._waiting = 0  # enqueues that began before the queue was closed

    @property
    def queue_ref(self) -> QueueBase:
        """The queue itself: there is no graph that refers to it."""
        return self

    @staticmethod
    def from_list(index: Any, queues: Any) -> QueueBase:
        """Return one of several queues, by its number.

        Raises:
            TypeError: something else is among them.
        """
        if not queues or not all(isinstance(each, QueueBase) for each in queues):
            raise TypeError("A list of queues expected")
        chosen: QueueBase = queues[int(unwrap(index))]
        return chosen

    @property
    def dtypes(self) -> list[Any]:
        """The types of the components, as they were passed."""
        return list(self._given_types)

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components; unknown if none were passed."""
        return list(self._shapes) if self._shapes is not None else [TensorShape(None)] * len(self._dtypes)

    @property
    def names(self) -> list[str] | None:
        """The names of the components, or None."""
        return self._names

    # ---- which element comes next; with the lock held

    def _pop(self) -> Row:
        row: Row = self._rows.popleft()
        return row

    def _put_back(self, rows: list[Row]) -> None:
        self._rows.extendleft(reversed(rows))

    def _ready(self) -> int:
        """How many elements may be taken."""
        return len(self._rows)

    # ---- enqueue

    def enqueue(self, vals: Any, name: str | None = None) -> None:
        """Add an element; wait until there is room.

        Args:
            vals: one value, a list or tuple of values, or a dict if the components have names.
            name: ignored.

        Raises:
            CancelledError: the queue is closed, or was closed with `cancel_pending_enqueues` while this waited.
            ValueError: a component has another shape.
        """
        row = self._converted(vals)
        for number, value in enumerate(row):
            self._check_shape(number, shape_of(value))
        self._add([row])

    def enqueue_many(self, vals: Any, name: str | None = None) -> None:
        """Add the rows of Tensors; wait for room for each.

        Raises:
            CancelledError: as of `enqueue`; the rows before are in the queue.
            ValueError: the Tensors differ in their number of rows, or rows have another shape.
        """
        parts = self._converted(vals)
        counts: list[int] = []
        for number, part in enumerate(parts):
            shape = shape_of(part)
            if not shape:
                raise ValueError("Shape () must have rank at least 1")
            if counts and shape[0] != counts[0]:
                raise ValueError(f"Dimensions {counts[0]} and {shape[0]} are not compatible")
            counts.append(shape[0])
            self._check_shape(number, shape[1:])
        self._add(zip(*parts, strict=True))

    def _converted(self, vals: Any) -> Row:
        """The components of an element, or columns of them, in their types."""
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
        listed = listed[: len(self._dtypes)]  # TensorFlow ignores further values, too
        for number, (value, dtype) in enumerate(zip(listed, self._dtypes, strict=False)):
            if isinstance(value, Tensor) and value.dtype != dtype:
                raise ValueError(
                    f"component_{number}: Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                    f"{value.dtype.name}: {value!r}"
                )
        if len(listed) < len(self._dtypes):
            types = [each.name for each in self._dtypes]
            have = [convert_to_tensor(*pair).dtype.name for pair in zip(listed, types, strict=False)]
            raise InvalidArgumentError(
                f"Signature mismatch, have: {', '.join(['resource', *have])}-> "
                f"expected: {', '.join(['resource', *types])}->"
            )
        pairs = zip(listed, self._plain_types, strict=True)
        return tuple(convert(unwrap_argument(value), dtype) for value, dtype in pairs)

    def _check_shape(self, number: int, shape: tuple[int, ...]) -> None:
        wanted = shape if self._shapes is None else tuple(self._shapes[number])
        if shape != wanted:
            raise ValueError(f"Shapes {shape} and {wanted} are incompatible")

    def _add(self, rows: Iterable[Row]) -> None:
        with self._changed:
            if self._closed:
                raise CancelledError(f"{self.kind} '{self.name}' is closed.")
            self._waiting += 1
            try:
                for row in rows:
                    while len(self._rows) >= self._capacity and not self._cancelled:
                        self._changed.wait()
                    if self._cancelled:
                        raise CancelledError("Enqueue operation was cancelled")
                    self._rows.append(row)
                    self._changed.notify_all()
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    # ---- dequeue

    def dequeue(self, name: str | None = None) -> Any:
        """Take an element; wait until there is one.

        Raises:
            OutOfRangeError: the queue is empty and closed.
        """
        return self._wrapped(self._take(1, fewer=False)[0])

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Take n elements, as Tensors with n rows.

        Raises:
            OutOfRangeError: there are fewer, and the queue is closed.
        """
        return self._wrapped(self._columns("DequeueManyOp", int(unwrap(n)), fewer=False))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Take n elements, or what is left if the queue is closed.

        Raises:
            OutOfRangeError: nothing is left.
        """
        return self._wrapped(self._columns("DequeueUpToOp", int(unwrap(n)), fewer=True))

    def next_work(self) -> bytes:
        """Take the name of a file, for a reader.

        Raises:
            InvalidArgumentError: the elements are not names.
        """
        if len(self._plain_types) != 1:
            raise InvalidArgumentError("Expected single component queue")
        if self._plain_types[0].kind != "O":
            raise InvalidArgumentError("Expected queue with single string component")
        (found,) = self._take(1, fewer=False)[0]
        if isinstance(found, BytesColumn):
            if found.size != 1:
                raise InvalidArgumentError("Expected to dequeue a one-element string tensor")
            found = found.to_numpy().item()
        return bytes(found)

    def _wrapped(self, row: Row) -> Any:
        tensors = [Tensor(value) for value in row]
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def _columns(self, verb: str, count: int, *, fewer: bool) -> Row:
        if count < 0:
            raise InvalidArgumentError(f"{verb} requested {count} < 0 elements")
        if self._shapes is None:
            raise InvalidArgumentError(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
            )
        if not count:
            pairs = zip(self._shapes, self._plain_types, strict=True)
            return tuple(convert(np.zeros((0, *shape), dtype), dtype) for shape, dtype in pairs)
        made: Row = collate(self._take(count, fewer=fewer))
        return made

    def _take(self, count: int, *, fewer: bool) -> list[Row]:
        taken: list[Row] = []
        with self._taking, self._changed:
            try:
                while len(taken) < count:
                    if self._ready() > 0:
                        taken.append(self._pop())
                        self._changed.notify_all()
                    elif not self._closed or self._waiting:
                        self._changed.wait()
                    elif fewer and taken:
                        break
                    else:
                        raise OutOfRangeError(
                            f"{self.kind} '{self.name}' is closed and has insufficient elements "
                            f"(requested {count}, current size {len(taken) + len(self._rows)})"
                        )
            except BaseException:
                self._put_back(taken)
                raise
        return taken

    # ---- the queue as a whole

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements that wait."""
        with self._changed:
            return Tensor(np.int32(len(self._rows)))

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Accept no more elements; those that wait can still be taken.

        Args:
            cancel_pending_enqueues: enqueues that wait for room fail; else they complete when there is room.
            name: ignored.

        Raises:
            CancelledError: it is closed already.
        """
        with self._changed:
            if self._closed and not (cancel_pending_enqueues and not self._cancelled):
                raise CancelledError(f"Queue '{self.name}' is already closed.")
            self._closed = True
            self._cancelled = self._cancelled or cancel_pending_enqueues
            self._changed.notify_all()

    def is_closed(self, name: str | None = None) -> Tensor:
        """Return whether it accepts no more elements."""
        return Tensor(np.bool_(self._closed))


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
        super().__init__(capacity, dtypes, shapes, names, name)


class RandomShuffleQueue(QueueBase):
    """A random one of the elements that wait, in TensorFlow's order for a seed.

    Raises:
        InvalidArgumentError: `min_after_dequeue` leaves no room for elements to take.
    """

    kind = "RandomShuffleQueue"

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
        super().__init__(capacity, dtypes, shapes, names, name)
        self._rows = []
        self._least = int(min_after_dequeue)
        if self._least < 0:
            raise InvalidArgumentError(f"min_after_dequeue {self._least} must be >= 0")
        if self._least >= self._capacity:
            raise InvalidArgumentError(f"min_after_dequeue {self._least} must be < capacity {int(capacity)}")
        self._random = make_philox(*get_seeds(seed))

    def _pop(self) -> Row:
        rows = self._rows
        number = int(self._random.uint32(1)[0]) % len(rows)
        row: Row = rows[number]
        rows[number] = rows[-1]
        rows.pop()
        return row

    def _put_back(self, rows: list[Row]) -> None:
        self._rows.extend(rows)

    def _ready(self) -> int:
        return len(self._rows) - (0 if self._closed else self._least)


class _EpochsQueue(QueueBase):
    """Strings again and again, in a new order each time if there is a random generator; it fills itself."""

    def __init__(self, strings: BytesColumn, epochs: int | None, random: Any, name: str) -> None:
        super().__init__(-1, "string", [[]], None, name)
        self._strings = strings.to_list()
        self._left = epochs
        self._random = random

    def _ready(self) -> int:
        if not self._rows and not self._closed:
            if self._left == 0 or not self._strings:
                self._closed = True
            else:
                self._left = None if self._left is None else self._left - 1
                self._rows.extend((string,) for string in self._next_order())
        return len(self._rows)

    def _next_order(self) -> list[bytes]:
        """The strings in the order of the next epoch, as TensorFlow's random_shuffle returns it."""
        order = list(self._strings)
        if self._random is not None:
            count = len(order)
            drawn = self._random.uint32(-(-(count - 1) // 4) * 4).tolist()  # it draws whole groups of four
            for at in range(count - 1):
                other = at + drawn[at] % (count - at)
                order[at], order[other] = order[other], order[at]
        return order


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> QueueBase:
    """Return a queue of strings, such as names of files, that fills itself.

    Args:
        string_tensor: the strings.
        num_epochs: how often each comes; the queue is then closed. None: without end.
        shuffle: use another order every time, TensorFlow's for a seed.
        seed: for the orders.
        capacity: ignored: nothing waits.
        shared_name: ignored.
        name: for messages.
        cancel_op: ignored.

    Raises:
        ValueError: there are no strings, or `num_epochs` is not positive.
    """
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError("string_input_producer requires a non-null input tensor, got no strings")
    strings = convert_to_tensor(string_tensor, "string").value
    if not isinstance(strings, BytesColumn) or strings.ndim != 1:
        raise ValueError(f"Shapes {np.shape(strings)[1:]} and () are not compatible")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    random = make_philox(*get_seeds(seed)) if shuffle else None
    return _EpochsQueue(strings, num_epochs, random, name or "input_producer")


def match_filenames_once(pattern: Any, name: str | None = None) -> Tensor:
    """Return the names of the files that now match a pattern, or one of several; sorted."""
    given = convert_to_tensor(pattern, "string").value
    patterns = [given] if isinstance(given, bytes) else list(given)
    found = glob_files([each.decode("utf-8", "surrogateescape") for each in patterns])
    return convert_to_tensor([each.encode("utf-8", "surrogateescape") for each in found], "string")


def _known_shapes(shapes: Any, types: list[str]) -> list[TensorShape] | None:
    if shapes is None:
        return None
    if isinstance(shapes, int):
        raise TypeError(
            "Shapes must be a TensorShape or a list or tuple of TensorShapes, got <class 'int'> instead."
        )
    if not isinstance(shapes, (list, tuple)) or all(each is None or isinstance(each, int) for each in shapes):
        shapes = [shapes]  # one shape, or its sizes
    made = [as_shape(each) for each in shapes]
    if not all(each.is_fully_defined() for each in made):
        raise ValueError(f"All shapes must be fully defined: {made}")
    if len(made) != len(types):
        shown = ", ".join(f"[{','.join(map(str, each))}]" for each in made)
        raise InvalidArgumentError(
            f"Different number of component types.  Types: {', '.join(types)}, Shapes: [{shown}]"
        )
    return made
