"""Queues: order, waiting, closing."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tfrkit.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.tf.v1.queues import EpochsQueue, FifoQueue, PaddingQueue, PriorityQueue, ShuffleQueue

INT = np.dtype("int64")
STRING = np.dtype(object)


def fifo(capacity: int = 10, dtype: Any = INT, shape: Any = ()) -> FifoQueue:
    return FifoQueue([dtype], [shape], capacity, "q")


def test_first_in_first_out():
    queue = fifo()
    queue.enqueue([3])
    queue.enqueue_many([[1, 2]])
    assert queue.size() == 3
    assert [int(queue.dequeue()[0]) for _ in range(3)] == [3, 1, 2]


def test_several_at_once_are_columns():
    queue = FifoQueue([INT, STRING], [(), ()], 9, "q")
    queue.enqueue_many([[1, 2, 3], ["a", "b", "c"]])
    numbers, names = queue.dequeue_many(2)
    assert numbers.tolist() == [1, 2]
    assert names.to_list() == [b"a", b"b"]


def test_too_few_elements_stay_where_they_are():
    queue = fifo()
    queue.enqueue_many([[1, 2]])
    queue.close()
    with pytest.raises(OutOfRangeError, match=r"insufficient elements \(requested 3, current size 2\)"):
        queue.dequeue_many(3)
    assert queue.dequeue_up_to(3)[0].tolist() == [1, 2]
    with pytest.raises(OutOfRangeError):
        queue.dequeue_up_to(3)


def test_closed_queue_refuses():
    queue = fifo()
    queue.close()
    with pytest.raises(CancelledError, match="is closed"):
        queue.enqueue([1])
    with pytest.raises(CancelledError, match="already closed"):
        queue.close()
    queue.close(cancel_pending_enqueues=True)


def test_shapes_and_types_are_checked():
    queue = fifo(shape=(2,))
    with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2,\) are incompatible"):
        queue.enqueue([[1, 2, 3]])
    with pytest.raises(TypeError, match="Cannot convert"):
        queue.enqueue([["a", "b"]])


def test_waiting_enqueue_is_done_after_close():
    queue = fifo(capacity=1)
    queue.enqueue([1])
    thread = threading.Thread(target=queue.enqueue, args=([2],))
    thread.start()
    while not queue._waiting:
        pass
    queue.close()
    assert [int(queue.dequeue()[0]) for _ in range(2)] == [1, 2]
    thread.join()
    with pytest.raises(OutOfRangeError):
        queue.dequeue()


def test_many_threads_share_a_queue():
    queue, found = fifo(capacity=3), []

    def take() -> None:
        try:
            while True:
                found.append(int(queue.dequeue()[0]))
        except OutOfRangeError:
            pass

    takers = [threading.Thread(target=take) for _ in range(3)]
    givers = [
        threading.Thread(target=queue.enqueue_many, args=([list(range(n, n + 50))],)) for n in (0, 50, 100)
    ]
    for thread in takers + givers:
        thread.start()
    for thread in givers:
        thread.join()
    queue.close()
    for thread in takers:
        thread.join()
    assert sorted(found) == list(range(150))


def test_shuffle_keeps_some_until_it_is_closed():
    queue = ShuffleQueue([INT], [()], 10, "q", 2, (1, 2))
    queue.enqueue_many([[0, 1, 2, 3]])
    first = [int(queue.dequeue()[0]) for _ in range(2)]
    queue.close()
    assert sorted(first + [int(queue.dequeue()[0]) for _ in range(2)]) == [0, 1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="min_after_dequeue 5 must be < capacity 5"):
        ShuffleQueue([INT], [()], 5, "q", 5, (1, 2))


def test_padding_and_priorities():
    padded = PaddingQueue([INT, STRING], [(None,), (None,)], 5, "q")
    padded.enqueue([[1, 2], ["a"]])
    padded.enqueue([[3], ["b", "c"]])
    numbers, names = padded.dequeue_many(2)
    assert numbers.tolist() == [[1, 2], [3, 0]]
    assert names.to_list() == [[b"a", b""], [b"b", b"c"]]
    ranked = PriorityQueue([INT, STRING], [(), ()], 5, "q")
    for priority, name in ((2, "b"), (1, "a"), (2, "c")):
        ranked.enqueue([priority, name])
    assert [ranked.dequeue()[1] for _ in range(3)] == [b"a", b"b", b"c"]


def test_epochs_end_and_are_shuffled():
    names = BytesColumn.from_list([b"a", b"b", b"c"])
    queue = EpochsQueue(names, STRING, epochs=2, seeds=None, name="q")
    assert [queue.next_work() for _ in range(6)] == [b"a", b"b", b"c"] * 2
    with pytest.raises(OutOfRangeError):
        queue.next_work()
    endless = EpochsQueue(names, STRING, epochs=None, seeds=(1, 2), name="q")
    epochs = [[endless.next_work() for _ in range(3)] for _ in range(9)]
    assert all(sorted(epoch) == [b"a", b"b", b"c"] for epoch in epochs)
    assert len(set(map(tuple, epochs))) > 1
