"""Seeds of a pipeline, global and of its verbs, in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

from tests.oracle.support.data_scenarios import agree, facts, ours, theirs
from tests.support.rules import tf_rule

LARGEST = 2**31 - 1


def shuffled(lib, *seeds, buffer=20):
    """One shuffle after the other, made in this order."""
    ds = lib.Dataset.range(20)
    for seed in seeds:
        ds = ds.shuffle(buffer, seed=seed)
    return ds


@tf_rule("5 seeds global")
@pytest.mark.parametrize("seed", [0, 1, 7, 2**31, 2**40 + 3])
def test_global_seed(seed):
    agree(lambda lib: (lib.set_seed(seed), shuffled(lib, None))[1], passes=2)


@tf_rule("5 seeds global")
def test_each_operation_takes_the_next():
    def case(lib):
        lib.set_seed(5)
        return lib.Dataset.zip(shuffled(lib, None), shuffled(lib, None), shuffled(lib, None, None))

    agree(case, passes=2)


@tf_rule("5 seeds restart")
def test_set_seed_begins_again():
    def case(lib):
        lib.set_seed(5)
        first = shuffled(lib, None)
        lib.set_seed(5)
        return lib.Dataset.zip(first, shuffled(lib, None))

    found = agree(case)
    assert all(one == other for one, other in found.passes[0][:-1])


@tf_rule("5 seeds both")
@pytest.mark.parametrize("seed", [0, 1, -3, LARGEST, LARGEST + 4])
def test_global_seed_and_own_seed(seed):
    agree(lambda lib: (lib.set_seed(3), shuffled(lib, seed))[1], passes=2)


@tf_rule("5 seeds both")
def test_own_seed_takes_nothing_from_the_stream():
    def case(lib):
        lib.set_seed(3)
        return lib.Dataset.zip(shuffled(lib, 4), shuffled(lib, None))

    agree(case)


@tf_rule("5 seeds default")
@pytest.mark.parametrize("seed", [0, 1, 42, -1, LARGEST - 1, LARGEST, 2**40])
def test_own_seed_alone(seed):
    agree(lambda lib: shuffled(lib, seed), passes=2)


@tf_rule("5 seeds wrap")
@pytest.mark.parametrize(("seed", "own"), [(0, 0), (LARGEST, 0), (0, LARGEST), (LARGEST + 1, LARGEST + 2)])
def test_seeds_wrap_and_are_never_both_zero(seed, own):
    agree(lambda lib: (lib.set_seed(seed), shuffled(lib, own))[1], passes=2)


@tf_rule("5 seeds none")
@pytest.mark.parametrize("library", [theirs, ours])
def test_without_seeds_the_order_is_another_each_time(library):
    runs = [facts(library(), lambda lib: shuffled(lib, None)).passes[0] for _ in range(3)]
    assert runs[0] != runs[1] or runs[1] != runs[2]
    assert all(sorted(run[:-1]) == sorted(runs[0][:-1]) for run in runs)
