"""Philox4x32-10, in the native module and as TensorFlow seeds it."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit import _core
from tfrkit.testing.shuffle_reference import PlainPhilox
from tfrkit.values.philox import make_philox, scrambled_philox

SEEDS = st.integers(0, 2**64 - 1)


@given(SEEDS, SEEDS, st.lists(st.integers(0, 20), max_size=8))
def test_numbers_are_those_of_the_plain_generator(seed, seed2, counts):
    native, plain = make_philox(seed, seed2), PlainPhilox(seed, seed2)
    for count in counts:
        assert native.uint32(count).tolist() == [plain.next() for _ in range(count)]


@given(SEEDS, SEEDS, st.integers(0, 100), st.integers(0, 100))
def test_skipping_equals_asking(seed, seed2, before, count):
    asked, skipped = make_philox(seed, seed2), make_philox(seed, seed2)
    asked.uint32(before + count)
    skipped.uint32(before)
    skipped.skip(count)
    assert asked.uint32(5).tolist() == skipped.uint32(5).tolist()


def test_negative_seeds_count_as_64_bits():
    assert np.array_equal(make_philox(-1, -2).uint32(8), make_philox(2**64 - 1, 2**64 - 2).uint32(8))


def test_a_block_is_where_the_numbers_of_four_begin():
    assert _core.Philox(5, 6, 10).uint32(4).tolist() == make_philox(5, 6).uint32(44).tolist()[40:]


def test_scrambled_seeds_are_those_of_tensorflow():
    # tf.random.stateless_uniform([3], [1, 2]) has these numbers' low 23 bits as its fractions.
    assert [int(number) & 0x7FFFFF for number in scrambled_philox(1, 2).uint32(3)] == [
        number & 0x7FFFFF for number in PlainPhilox.scrambled(1, 2).take(3)
    ]


def test_threads_share_one_stream():
    stream = make_philox(1, 2)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.extend(stream.uint32(997).tolist())) for _ in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(found) == sorted(make_philox(1, 2).uint32(8 * 997).tolist())


@pytest.mark.parametrize("arguments", [(-1, 0), (0, -1), (2**64, 0)])
def test_the_native_one_wants_64_bits(arguments):
    with pytest.raises(TypeError):
        _core.Philox(*arguments)
