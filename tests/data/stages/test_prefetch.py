from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tests.data.stages.test_map import fail_at
from tests.data.support.outcomes import outcomes, resumed, wait_for
from tfrkit import TensorSpec
from tfrkit.data.dataset import Dataset
from tfrkit.errors import InvalidArgumentError


@pytest.mark.parametrize("depth", [0, 1, 2, 7, -1])
@pytest.mark.parametrize("batch", [None, 3])
def test_nothing_changes(depth, batch):
    def build(prefetch):
        ds = Dataset.range(40).map(fail_at(0, 5, 6, 39))
        ds = ds.prefetch(prefetch) if prefetch is not None else ds
        return outcomes(ds if batch is None else ds.batch(batch).prefetch(2))

    assert build(depth) == build(None)


def test_it_goes_as_far_ahead_as_it_may_and_no_further():
    calls = []
    iterator = iter(Dataset.range(100).map(lambda x: calls.append(int(x)) or x).prefetch(3))
    next(iterator)
    assert wait_for(lambda: len(calls) >= 3)
    time.sleep(0.05)
    assert len(calls) <= 4
    iterator.close()


def test_nothing_runs_before_the_first_element_is_asked_for():
    calls = []
    iterator = iter(Dataset.range(100).map(lambda x: calls.append(int(x)) or x).prefetch(3))
    time.sleep(0.02)
    assert calls == []
    iterator.close()


def test_work_goes_on_while_the_consumer_does_something_else():
    made, door = [], threading.Event()

    def function(x):
        if x == 5:
            door.wait(60)
        made.append(int(x))
        return x

    iterator = iter(Dataset.range(10).map(function).prefetch(5))
    next(iterator)
    assert wait_for(lambda: len(made) >= 5)
    assert [int(next(iterator)) for _ in range(4)] == [
        1,
        2,
        3,
        4,
    ]  # they are there, though the next call waits
    assert made == [0, 1, 2, 3, 4]
    door.set()
    iterator.close()


def test_a_generator_that_blocks_does_not_hold_back_what_came_before():
    door = threading.Event()

    def numbers():
        yield from (1, 2, 3)
        door.wait(20)
        yield 4

    source = Dataset.from_generator(numbers, output_signature=TensorSpec([], "int64"))
    for ds in (source.prefetch(10), source.prefetch(2).prefetch(-1), source.prefetch(1).map(abs)):
        door.clear()
        iterator = iter(ds)
        assert [int(next(iterator)) for _ in range(3)] == [1, 2, 3]
        door.set()
        assert outcomes(iterator) == [4]


def test_closing_does_not_wait_for_a_generator_that_blocks():
    door = threading.Event()
    closed = []

    def numbers():
        try:
            yield 1
            door.wait(20)
            yield 2
        finally:
            closed.append(True)

    source = Dataset.from_generator(numbers, output_signature=TensorSpec([], "int64"))
    iterator = iter(source.prefetch(1).prefetch(1))
    next(iterator)
    start = time.perf_counter()
    iterator.close()
    del iterator
    assert time.perf_counter() - start < 15
    assert not closed
    door.set()
    assert wait_for(lambda: closed == [True])


def test_a_closed_iterator_is_at_its_end():
    iterator = iter(Dataset.range(10).map(abs).prefetch(2))
    next(iterator)
    iterator.close()
    assert outcomes(iterator) in ([], [1])


def test_depth_must_not_be_negative():
    message = "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"
    with pytest.raises(InvalidArgumentError, match=message):
        Dataset.range(3).prefetch(-2)


@pytest.mark.parametrize("depth", [0, 1, 5, -1])
@pytest.mark.parametrize("at", [0, 1, 3, 4, 8, 11, 12])
def test_state(depth, at):
    def make():
        return Dataset.range(12).map(fail_at(2, 6)).prefetch(depth)

    assert resumed(make, at) == outcomes(make())[at:]


def test_state_while_a_generator_blocks():
    door = threading.Event()

    def numbers():
        yield from (1, 2)
        door.wait(20)
        yield from (3, 4)

    ds = Dataset.from_generator(numbers, output_signature=TensorSpec([], "int64")).prefetch(4)
    iterator = iter(ds)
    assert [int(next(iterator)) for _ in range(2)] == [1, 2]
    state = iterator.state()
    door.set()
    assert outcomes(ds.iter_from(state)) == [3, 4]
    iterator.close()


def test_autotune_keeps_less_ready_when_elements_become_large():
    sizes = [1] * 300 + [8 << 20] * 60
    made = []

    def make(x):
        made.append(int(x))
        return np.zeros(sizes[int(x)], np.uint8)

    iterator = iter(Dataset.range(360).map(make).prefetch(-1))
    for _ in range(300):
        next(iterator)
    ahead = []
    for number in range(300, 330):
        next(iterator)
        time.sleep(0.005)
        ahead.append(len(made) - number)
    assert max(ahead[10:]) <= 12  # 64 MiB, and those under way
    iterator.close()
