"""Seeds as TensorFlow makes them."""

from __future__ import annotations

import pickle
import random
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator, get_seeds
from tfrkit.testing.shuffle_reference import PlainSeeds, plain_seeds_of

SEEDS = st.none() | st.integers(-(2**40), 2**40) | st.sampled_from([0, 2**31 - 1, 2**31 - 2])


@pytest.fixture(autouse=True)
def no_global_seed():
    yield
    tfr.set_seed(None)


@given(SEEDS, st.lists(SEEDS, max_size=6))
def test_seeds_of_operations_one_after_another(global_seed, op_seeds):
    tfr.set_seed(global_seed)
    before = 0
    for op_seed in op_seeds:
        expected = plain_seeds_of(global_seed, op_seed, before)
        found = get_seeds(op_seed)
        if expected is not None:
            assert found == expected
        before += op_seed is None


def test_without_any_seed_they_are_random():
    assert len({get_seeds(None) for _ in range(10)}) == 10


def test_setting_the_seed_again_begins_its_stream_again():
    tfr.set_seed(5)
    first = [get_seeds(None) for _ in range(3)]
    tfr.set_seed(5)
    assert [get_seeds(None) for _ in range(3)] == first
    assert len(set(first)) == 3


def test_the_streams_of_others_are_left_alone():
    random.seed(3)
    expected = random.random()
    random.seed(3)
    tfr.set_seed(1)
    get_seeds(None)
    assert random.random() == expected


@pytest.mark.parametrize("reshuffle", [True, False])
def test_seeds_of_epochs(reshuffle):
    plain = PlainSeeds(7, 8, reshuffle=reshuffle)
    generator = SeedGenerator(7, 8, reshuffle=reshuffle)
    assert [generator.draw() for _ in range(9)] == [plain.draw() for _ in range(9)]


def test_a_generator_goes_on_where_another_stood():
    generator = SeedGenerator(7, 8, reshuffle=True)
    generator.draw()
    state = generator.save()
    expected = [generator.draw() for _ in range(3)]
    other = SeedGenerator(1, 1, reshuffle=True)
    other.restore(state)
    assert [other.draw() for _ in range(3)] == expected
    assert other.save() == generator.save() == [7, 8, 4]


def test_a_pickled_generator_goes_on():
    generator = SeedGenerator.of(3, True)
    generator.draw()
    copy = pickle.loads(pickle.dumps(generator))
    assert copy.draw() == generator.draw()
    assert copy.signature() == generator.signature() == ("seeds", 3, True)


def test_every_thread_draws_another_epoch():
    generator = SeedGenerator(1, 2, reshuffle=True)
    found: list[tuple[int, int]] = []
    threads = [
        threading.Thread(target=lambda: found.extend(generator.draw() for _ in range(100))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    plain = PlainSeeds(1, 2, reshuffle=True)
    assert sorted(found) == sorted(plain.draw() for _ in range(400))
