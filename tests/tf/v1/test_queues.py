"""Queues: order, waiting, closing."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tfrkit import tf
from tfrkit.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tfrkit.tf.v1.queues import string_input_producer


def fifo(capacity: int = 10, dtypes: Any = "int64", shapes: Any = ((),)) -> Any:
    return tf.queue.FIFOQueue(capacity, dtypes, shapes)


def taken(queue: Any, count: int) -> list[int]:
    return [int(queue.dequeue()) for _ in range(count)]


def test_first_in_first_out():
    queue = fifo()
    queue.enqueue(3)
    queue.enqueue_many([[1, 2]])
    assert int(queue.size()) == 3
    assert taken(queue, 3) == [3, 1, 2]


def test_several_at_once_are_columns():
    queue = fifo(9, ["int64", "string"], [(), ()])
    queue.enqueue_many([[1, 2, 3], ["a", "b", "c"]])
    numbers, names = queue.dequeue_many(2)
    assert numbers.numpy().tolist() == [1, 2]
    assert names.numpy().tolist() == [b"a", b"b"]


def test_too_few_elements_stay_where_they_are():
    queue = fifo()
    queue.enqueue_many([[1, 2]])
    queue.close()
    with pytest.raises(OutOfRangeError, match=r"insufficient elements \(requested 3, current size 2\)"):
        queue.dequeue_many(3)
    assert queue.dequeue_up_to(3).numpy().tolist() == [1, 2]
    with pytest.raises(OutOfRangeError):
        queue.dequeue_up_to(3)


def test_closed_queue_refuses():
    queue = fifo()
    queue.close()
    with pytest.raises(CancelledError, match="is closed"):
        queue.enqueue(1)
    with pytest.raises(CancelledError, match="already closed"):
        queue.close()
    queue.close(cancel_pending_enqueues=True)


def test_shapes_and_types_are_checked():
    queue = fifo(shapes=[(2,)])
    with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2,\) are incompatible"):
        queue.enqueue([[1, 2, 3]])
    with pytest.raises(TypeError, match="Cannot convert"):
        queue.enqueue([["a", "b"]])


def test_waiting_enqueue_is_done_after_close():
    queue = fifo(capacity=1)
    queue.enqueue(1)
    thread = threading.Thread(target=queue.enqueue, args=(2,))
    thread.start()
    while not queue._waiting:
        pass
    queue.close()
    assert taken(queue, 2) == [1, 2]
    thread.join()
    with pytest.raises(OutOfRangeError):
        queue.dequeue()


def test_many_threads_share_a_queue():
    queue, found = fifo(capacity=3), []

    def take() -> None:
        try:
            while True:
                found.append(int(queue.dequeue()))
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
    queue = tf.queue.RandomShuffleQueue(10, 2, "int64", [()], seed=1)
    queue.enqueue_many([[0, 1, 2, 3]])
    first = taken(queue, 2)
    queue.close()
    assert sorted(first + taken(queue, 2)) == [0, 1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="min_after_dequeue 5 must be < capacity 5"):
        tf.queue.RandomShuffleQueue(5, 5, "int64")


def test_epochs_end_and_are_shuffled():
    names = ["a", "b", "c"]
    queue = string_input_producer(names, num_epochs=2, shuffle=False)
    assert [queue.next_work() for _ in range(6)] == [b"a", b"b", b"c"] * 2
    with pytest.raises(OutOfRangeError):
        queue.next_work()
    endless = string_input_producer(names, seed=1)
    epochs = [[endless.next_work() for _ in range(3)] for _ in range(9)]
    assert all(sorted(epoch) == [b"a", b"b", b"c"] for epoch in epochs)
    assert len(set(map(tuple, epochs))) > 1


@pytest.mark.parametrize("name", ["PaddingFIFOQueue", "PriorityQueue", "TextLineReader", "WholeFileReader"])
def test_what_is_not_here_says_what_to_use(name):
    with pytest.raises(AttributeError, match=r"Use (tf\.data|Python's heapq)"):
        getattr(tf.compat.v1, name)
