"""DatasetIterator: what closing, forking, signals and wrong calls do to it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr


def slowly(x: Any) -> Any:
    time.sleep(0.2)
    return x


def pipelines() -> list[Any]:
    return [
        tfr.Dataset.range(100),
        tfr.Dataset.range(100).map(lambda x: x + 0),
        tfr.Dataset.range(100).prefetch(3),
        tfr.Dataset.range(100).map(lambda x: x + 0, num_parallel_calls=2),
        tfr.Dataset.range(10).interleave(lambda x: tfr.Dataset.range(10 * x, 10 * x + 10), cycle_length=3),
        tfr.Dataset.range(100).shuffle(10, seed=1),
    ]


@pytest.mark.parametrize("dataset", pipelines(), ids=lambda dataset: dataset.node.label)
@pytest.mark.parametrize("taken", [0, 1, 5])
def test_a_closed_iterator_is_at_its_end_and_knows_where_it_stood(dataset: Any, taken: int) -> None:
    whole = list(iter(dataset)) if "shuffle" not in dataset.node.label else None
    iterator = iter(dataset)
    before = [next(iterator) for _ in range(taken)]
    iterator.close()
    iterator.close()
    assert list(iterator) == []
    rest = list(dataset.iter_from(iterator.state()))
    assert sorted(before + rest) == list(range(100))
    assert whole is None or before + rest == whole


def in_child(iterator: Iterator[Any]) -> int:
    """The next element of an iterator in a forked child."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(send, str(int(next(iterator))).encode())
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as stream:
        found = int(stream.read())
    os.waitpid(child, 0)
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_resumed_iterator_that_was_not_used_yet_goes_on_in_a_forked_child() -> None:
    dataset = tfr.Dataset.range(10).map(lambda x: x + 0)
    iterator = iter(dataset)
    first = iterator.state()
    for _ in range(3):
        next(iterator)
    assert in_child(dataset.iter_from(iterator.state())) == 3
    iterator.load_state_dict(first)
    assert in_child(iterator) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_shuffle_as_their_parent_does() -> None:
    iterator = iter(tfr.Dataset.range(100_000).shuffle(100_000))
    children = [in_child(iterator), in_child(iterator)]
    assert children == [next(iterator)] * 2


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_the_handler_of_a_signal_may_ask_for_the_state() -> None:
    dataset = tfr.Dataset.range(10).map(slowly)
    iterator = iter(dataset)
    states: list[Any] = []
    before = signal.signal(signal.SIGALRM, lambda *_: states.append(iterator.state()))
    try:
        next(iterator)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        assert next(iterator) == 1
    finally:
        signal.signal(signal.SIGALRM, before)
    assert next(dataset.iter_from(states[0])) == 1


def test_a_function_must_not_ask_its_own_iterator() -> None:
    iterator: Any = None
    iterator = iter(tfr.Dataset.range(3).map(lambda x: next(iterator)))
    with pytest.raises(RuntimeError, match="already at work in this thread"):
        next(iterator)


def test_a_state_that_is_refused_leaves_the_iterator_alone() -> None:
    iterator = iter(tfr.Dataset.range(10).map(lambda x: x + 0))
    next(iterator)
    with pytest.raises(tfr.errors.InvalidArgumentError, match="another pipeline"):
        iterator.load_state_dict(iter(tfr.Dataset.range(10)).state())
    assert next(iterator) == 1


def test_an_iterator_can_be_closed_while_its_generator_is_at_work() -> None:
    begun, ends = threading.Event(), []

    def generate() -> Iterator[int]:
        try:
            for number in range(3):
                begun.set()
                time.sleep(0.3)
                yield number
        finally:
            ends.append(True)

    iterator = iter(tfr.Dataset.from_generator(generate, output_signature=tfr.TensorSpec((), np.int64)))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(iterator))
    thread.start()
    begun.wait()
    iterator.close()
    thread.join()
    assert found == []
    assert ends == [True]


def test_an_iterator_that_was_never_begun_goes_quietly() -> None:
    # An interruption may come before anything is set.
    iterator = object.__new__(tfr.DatasetIterator)
    iterator.__del__()
