"""Random operations: golden numbers of TensorFlow, state, threads. The oracle tests compare them with TensorFlow."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.values import random, seeds
from tfrkit.values.random_numbers import RandomStream, full_integers, integers, truncated_normal, uniform
from tfrkit.values.stateful import watch


@pytest.fixture(autouse=True)
def _no_seed_stays():
    yield
    tfr.set_seed(None)


def test_stateless_numbers_are_tensorflows():
    assert random.stateless_uniform([2], (1, 2)).tolist() == np.float32([0.8440604, 0.19204533]).tolist()
    assert random.stateless_uniform([2], (1, 2), 0, 10, "int64").tolist() == [4, 8]
    assert random.stateless_uniform([2], (1, 2), None, None, "int32").tolist() == [1105988140, 1738052849]


def test_numbers_with_a_seed_go_on():
    tfr.set_seed(7)
    first = [random.uniform([2], seed=5).tolist() for _ in range(3)]
    assert len({tuple(each) for each in first}) == 3
    tfr.set_seed(7)
    assert [random.uniform([2], seed=5).tolist() for _ in range(3)] == first


def test_other_types_have_streams_of_their_own():
    tfr.set_seed(7)
    random.uniform([100], seed=5, dtype="float64")
    random.uniform(np.array([2]), seed=5)
    random.normal([3], seed=5)
    found = random.uniform([2], seed=5).tolist()
    tfr.set_seed(7)
    assert random.uniform([2], seed=5).tolist() == found


def test_without_seeds_numbers_are_random():
    tfr.set_seed(None)
    assert random.uniform([4]).tolist() != random.uniform([4]).tolist()


def test_a_place_is_kept_only_for_seeds_that_can_come_again():
    tfr.set_seed(1)
    for _ in range(20):
        random.uniform([1])
    assert not seeds._global.places


def test_operations_with_state_say_so():
    for call in (lambda: random.uniform([1]), lambda: random.normal([1]), lambda: random.shuffle([1])):
        assert watch(call)[1]
    assert not watch(lambda: random.stateless_uniform([1], (1, 2)))[1]


def test_threads_never_draw_the_same_numbers():
    tfr.set_seed(3)
    found: list[float] = []
    threads = [
        threading.Thread(target=lambda: found.extend(random.uniform([], seed=9) for _ in range(200)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tfr.set_seed(3)
    assert sorted(found) == sorted(random.uniform([], seed=9) for _ in range(800))


def test_a_scalar_is_a_numpy_scalar():
    assert type(random.uniform([])) is np.float32
    assert type(random.stateless_uniform((), (1, 2), 0, 5, "int64")) is np.int64
    assert type(random.shuffle(5)) is np.int32


def test_shuffled_strings_are_a_column():
    found = random.shuffle(["a", "b", "c"], seed=1)
    assert isinstance(found, BytesColumn)
    assert sorted(found) == [b"a", b"b", b"c"]


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 50))
def test_numbers_of_a_later_block_are_those_of_the_stream(key, high, block):
    whole = RandomStream(key, high).numbers(4 * block + 8)
    assert RandomStream(key, high).numbers(8, block).tolist() == whole[4 * block :].tolist()
    assert RandomStream(key, high, block).numbers(8).tolist() == whole[4 * block :].tolist()


@given(st.integers(0, 2**64 - 1), st.integers(0, 300))
def test_ranges(seed, count):
    stream = RandomStream(seed, 1)
    for dtype in (np.float16, np.float32, np.float64):
        found = uniform(stream, count, np.dtype(dtype))
        assert found.dtype == dtype
        assert len(found) == count
        assert ((found >= 0) & (found < 1)).all()
        assert (abs(truncated_normal(stream, count, np.dtype(dtype))) <= 2).all()
    found = integers(stream, count, -(2**63), 2**63 - 1, np.dtype(np.int64))
    assert found.dtype == np.int64
    assert ((integers(stream, count, 5, 9, np.dtype(np.int32)) - 5).astype(np.uint32) < 4).all()
    assert full_integers(stream, count, np.dtype(np.uint64)).dtype == np.uint64
