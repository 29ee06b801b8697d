"""Queues of tuples of values, as TensorFlow has them: bounded, blocking, for any number of threads.

Which waiting element comes out is a matter of the class: the oldest, a random one, the smallest. A dequeue of several
takes them as they come, so that it may be larger than the capacity; if the queue is closed before there are enough,
they go back.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from tfrkit.data.batch.collate import collate
from tfrkit.data.batch.pad import pad_values
from tfrkit.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tfrkit.model.element_spec import compatible_shapes
from tfrkit.model.shapes import Dims
from tfrkit.values.operands import convert, shape_of
from tfrkit.values.philox import make_philox

__all__ = ["EpochsQueue", "FifoQueue", "PaddingQueue", "PriorityQueue", "ShuffleQueue"]

_numbers: Final = itertools.count()
Row = tuple[Any, ...]


class FifoQueue:
    """First in, first out.

    Args:
        dtypes: types of the parts of an element.
        shapes: their shapes; None if they are not known.
        capacity: how many elements wait at most; negative: any number.
        name: for messages.
    """

    kind = "FIFOQueue"

    def __init__(
        self, dtypes: Sequence[np.dtype[Any]], shapes: Sequence[Dims | None] | None, capacity: int, name: str
    ) -> None:
        self.dtypes = list(dtypes)
        self.shapes = None if shapes is None else list(shapes)
        self.name = f"_{next(_numbers)}_{name}"
        self._rows: Any = self._empty()
        self._capacity = capacity if capacity >= 0 else 2**63
        self._changed = threading.Condition()
        self._taking = threading.Lock()  # one dequeue after another, however much it takes
        self._closed = False
        self._cancelled = False  # enqueues that wait shall not go on waiting
        self._waiting = 0  # enqueues that began before it was closed

    # ---- what waits, and which comes next; with the lock held

    def _empty(self) -> Any:
        return deque()

    def _put(self, row: Row) -> None:
        self._rows.append(row)

    def _pop(self) -> Row:
        row: Row = self._rows.popleft()
        return row

    def _put_back(self, rows: list[Row]) -> None:
        self._rows.extendleft(reversed(rows))

    def _ready(self) -> int:
        """How many elements may be taken."""
        return len(self._rows)

    # ---- enqueue

    def enqueue(self, values: Sequence[Any]) -> None:
        """Add an element; wait until there is room.

        Raises:
            CancelledError: the queue is closed, or was while this waited and was told not to.
            ValueError: a part has another shape.
        """
        row = tuple(convert(value, dtype) for value, dtype in zip(values, self.dtypes, strict=True))
        for number, value in enumerate(row):
            self._check_shape(number, shape_of(value))
        self._add([row])

    def enqueue_many(self, columns: Sequence[Any]) -> None:
        """Add the rows of columns; wait for room for each.

        Raises:
            CancelledError: as of `enqueue`; those before are in the queue.
            ValueError: there are different numbers of rows, or they have another shape.
        """
        parts = [convert(value, dtype) for value, dtype in zip(columns, self.dtypes, strict=True)]
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

    def _check_shape(self, number: int, shape: tuple[int, ...]) -> None:
        wanted = None if self.shapes is None else self.shapes[number]
        if not compatible_shapes(wanted, shape):
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
                    self._put(row)
                    self._changed.notify_all()
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    # ---- dequeue

    def dequeue(self) -> Row:
        """Take an element; wait until there is one.

        Raises:
            OutOfRangeError: there is none, and the queue is closed.
        """
        return self._take(1, fewer=False)[0]

    def dequeue_many(self, count: int) -> Row:
        """Take several, as columns.

        Raises:
            OutOfRangeError: there are not so many, and the queue is closed.
        """
        return self._columns("DequeueManyOp", count, fewer=False)

    def dequeue_up_to(self, count: int) -> Row:
        """Take several, or what is left if the queue is closed.

        Raises:
            OutOfRangeError: nothing is left.
        """
        return self._columns("DequeueUpToOp", count, fewer=True)

    def next_work(self) -> bytes:
        """Take the name of a file, for a reader.

        Raises:
            InvalidArgumentError: the elements are none.
        """
        if len(self.dtypes) != 1:
            raise InvalidArgumentError("Expected single component queue")
        if self.dtypes[0].kind != "O":
            raise InvalidArgumentError("Expected queue with single string component")
        (name,) = self.dequeue()
        if isinstance(name, bytes):
            return name
        if name.size != 1:
            raise InvalidArgumentError("Expected to dequeue a one-element string tensor")
        found: bytes = name.to_numpy().item()
        return found

    def _columns(self, verb: str, count: int, *, fewer: bool) -> Row:
        if count < 0:
            raise InvalidArgumentError(f"{verb} requested {count} < 0 elements")
        if self.shapes is None:
            raise InvalidArgumentError(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
            )
        if not count:
            shapes = [tuple(size or 0 for size in shape or ()) for shape in self.shapes]
            return tuple(
                convert(np.zeros((0, *shape), dtype), dtype)
                for shape, dtype in zip(shapes, self.dtypes, strict=True)
            )
        return self._stack(self._take(count, fewer=fewer))

    def _stack(self, rows: list[Row]) -> Row:
        made: Row = collate(rows)
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

    def size(self) -> int:
        """How many elements wait."""
        with self._changed:
            return len(self._rows)

    def close(self, *, cancel_pending_enqueues: bool = False) -> None:
        """Take no more elements; those that wait can still be taken out.

        Args:
            cancel_pending_enqueues: enqueues that wait for room fail; else they are done when there is room.

        Raises:
            CancelledError: it is closed already.
        """
        with self._changed:
            if self._closed and not (cancel_pending_enqueues and not self._cancelled):
                raise CancelledError(f"Queue '{self.name}' is already closed.")
            self._closed = True
            self._cancelled = self._cancelled or cancel_pending_enqueues
            self._changed.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether it takes no more elements."""
        return self._closed


class PaddingQueue(FifoQueue):
    """First in, first out; several elements are padded with zeros to the largest of them."""

    kind = "PaddingFIFOQueue"

    def _stack(self, rows: list[Row]) -> Row:
        assert self.shapes is not None
        fills = [b"" if dtype.kind == "O" else dtype.type(0) for dtype in self.dtypes]
        columns = zip(*rows, strict=True)
        return tuple(
            pad_values(column, shape or (), fill, number)
            for number, (column, shape, fill) in enumerate(zip(columns, self.shapes, fills, strict=True))
        )


class ShuffleQueue(FifoQueue):
    """A random one of those that wait, in TensorFlow's order for the seeds.

    Args:
        dtypes: as of a FifoQueue.
        shapes: as of a FifoQueue.
        capacity: as of a FifoQueue.
        name: for messages.
        least: so many stay, as long as the queue is not closed.
        seeds: two of them.

    Raises:
        InvalidArgumentError: there is no room for more than those that stay.
    """

    kind = "RandomShuffleQueue"

    def __init__(
        self,
        dtypes: Sequence[np.dtype[Any]],
        shapes: Sequence[Dims | None] | None,
        capacity: int,
        name: str,
        least: int,
        seeds: tuple[int, int],
    ) -> None:
        super().__init__(dtypes, shapes, capacity, name)
        if least < 0:
            raise InvalidArgumentError(f"min_after_dequeue {least} must be >= 0")
        if least >= self._capacity:
            raise InvalidArgumentError(f"min_after_dequeue {least} must be < capacity {capacity}")
        self._least = least
        self._random = make_philox(*seeds)

    def _empty(self) -> Any:
        return []

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


class PriorityQueue(FifoQueue):
    """The one whose first part, an int64, is smallest; the oldest of equals."""

    kind = "PriorityQueue"

    def _empty(self) -> Any:
        return []

    def _put(self, row: Row) -> None:
        heapq.heappush(self._rows, (int(row[0]), next(_numbers), row))

    def _pop(self) -> Row:
        row: Row = heapq.heappop(self._rows)[2]
        return row

    def _put_back(self, rows: list[Row]) -> None:
        for row in rows:
            self._put(row)


class EpochsQueue(FifoQueue):
    """Values again and again, each time in another order if that is wanted; nobody has to fill it.

    Args:
        values: one array or BytesColumn, whose rows are the elements.
        dtype: their type.
        epochs: how often; None: without end. The queue is closed after the last.
        seeds: for the orders, which are TensorFlow's; None keeps the order.
        name: for messages.
    """

    def __init__(
        self,
        values: Any,
        dtype: np.dtype[Any],
        *,
        epochs: int | None,
        seeds: tuple[int, int] | None,
        name: str,
    ) -> None:
        super().__init__([dtype], [shape_of(values)[1:]], -1, name)
        self._values = list(values)
        self._left = epochs
        self._random = None if seeds is None else make_philox(*seeds)

    def _ready(self) -> int:
        if not self._rows and not self._closed:
            if self._left == 0 or not self._values:
                self._closed = True
            else:
                self._left = None if self._left is None else self._left - 1
                self._rows.extend((value,) for value in self._next_order())
        return len(self._rows)

    def _next_order(self) -> list[Any]:
        """The values in the order of the next epoch, as TensorFlow's random_shuffle gives it."""
        order = list(self._values)
        if self._random is not None:
            count = len(order)
            drawn = self._random.uint32(-(-(count - 1) // 4) * 4).tolist()  # it takes whole groups of four
            for at in range(count - 1):
                other = at + drawn[at] % (count - at)
                order[at], order[other] = order[other], order[at]
        return order
