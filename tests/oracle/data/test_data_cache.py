"""cache in memory, in TensorFlow and in tfrkit."""

from __future__ import annotations

from tests.oracle.support.data_scenarios import USER, agree, agree_on, unfused
from tests.support.rules import tf_rule


def counted(lib, make):
    """A dataset of four numbers and the list of those that were computed, so far."""
    calls = []
    return unfused(lib, make(lib.Dataset.range(4).map(lambda x: lib.note(x, calls)))), calls


def numbers(iterable, count=None):
    if count is None:
        return [int(number) for number in iterable]
    return [int(next(iterable)) for _ in range(count)]


@tf_rule("5 cache")
@tf_rule("5 cache shared")
def test_second_pass_computes_nothing():
    def case(lib):
        ds, calls = counted(lib, lambda ds: ds.cache())
        return [numbers(ds), numbers(ds), calls]

    agree_on(case, [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]])


@tf_rule("5 cache")
def test_repeat_computes_once():
    def case(lib):
        ds, calls = counted(lib, lambda ds: ds.cache().repeat(3))
        return [numbers(ds), calls]

    agree_on(case, [[0, 1, 2, 3] * 3, [0, 1, 2, 3]])


@tf_rule("5 cache partial")
def test_take_of_cache_computes_each_time():
    def case(lib):
        ds, calls = counted(lib, lambda ds: ds.cache().take(2))
        return [numbers(ds), numbers(ds), calls]

    agree_on(case, [[0, 1], [0, 1], [0, 1, 0, 1]])


@tf_rule("5 cache partial")
def test_full_pass_after_a_partial_one_computes_again():
    def case(lib):
        ds, calls = counted(lib, lambda ds: ds.cache())
        first = iter(ds)
        begun = numbers(first, 2)
        whole = numbers(ds)
        rest = numbers(first)
        return [begun, whole, rest, numbers(ds), calls]

    agree_on(case, [[0, 1], [0, 1, 2, 3], [2, 3], [0, 1, 2, 3], [0, 1, 0, 1, 2, 3, 2, 3]])


@tf_rule("5 cache partial")
def test_two_iterators_side_by_side_compute_both():
    def case(lib):
        ds, calls = counted(lib, lambda ds: ds.cache())
        one, other = iter(ds), iter(ds)
        pairs = [(int(next(one)), int(next(other))) for _ in range(4)]
        return [pairs, numbers(one), numbers(other), numbers(ds), calls]

    agree_on(case, [[(n, n) for n in range(4)], [], [], [0, 1, 2, 3], [0, 0, 1, 1, 2, 2, 3, 3]])


@tf_rule("5 cache shared")
def test_datasets_made_of_it_share():
    def case(lib):
        calls = []
        kept = lib.Dataset.range(4).map(lambda x: lib.note(x, calls)).cache()
        first = numbers(unfused(lib, kept.map(lambda x: x + 1)))
        return [first, numbers(unfused(lib, kept.skip(1))), numbers(unfused(lib, kept)), calls]

    agree_on(case, [[1, 2, 3, 4], [1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]])


@tf_rule("5 cache shared")
def test_other_cache_of_the_same_input_is_another():
    def case(lib):
        calls = []
        source = lib.Dataset.range(2).map(lambda x: lib.note(x, calls))
        return [numbers(source.cache()), numbers(source.cache()), calls]

    agree_on(case, [[0, 1], [0, 1], [0, 1, 0, 1]])


@tf_rule("5 cache known count")
def test_complete_without_having_seen_the_end():
    def case(lib):
        ds, calls = counted(lib, lambda ds: ds.cache())
        first = iter(ds)
        return [numbers(first, 4), numbers(ds), numbers(first), calls]

    agree_on(case, [[0, 1, 2, 3], [0, 1, 2, 3], [], [0, 1, 2, 3]])


@tf_rule("5 cache known count")
def test_of_unknown_count_needs_the_end():
    def case(lib):
        ds, calls = counted(lib, lambda ds: ds.filter(lambda x: x >= 0).cache())
        first = iter(ds)
        return [numbers(first, 4), numbers(ds), calls]

    agree_on(case, [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3] * 2])


@tf_rule("5 cache errors")
def test_errors_are_not_kept():
    found = agree(lambda lib: lib.Dataset.range(5).map(lambda x: lib.check(x != 2, x)).cache(), passes=3)
    assert [USER in run for run in found.passes] == [True, False, False]


@tf_rule("5 cache")
def test_order_of_a_shuffle_is_kept():
    found = agree(lambda lib: lib.Dataset.range(9).shuffle(9, seed=1).cache(), passes=3)
    assert found.passes[0] == found.passes[1] == found.passes[2]
    agree(lambda lib: lib.Dataset.range(9).cache().shuffle(9, seed=1).repeat(2), passes=2)


@tf_rule("5 cache")
def test_in_many_places():
    agree(lambda lib: lib.Dataset.range(0).cache(), [], passes=2)
    agree(lambda lib: lib.Dataset.range(7).batch(3).cache().unbatch().cache(), passes=3)
    agree(lambda lib: lib.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}).cache(), passes=2)
    agree(lambda lib: lib.Dataset.range(3).flat_map(lambda x: lib.Dataset.range(x).cache()), passes=2)


@tf_rule("5 cache shared")
def test_twice_in_one_pipeline():
    def twice(lib, join):
        kept = lib.Dataset.range(3).map(lambda x: x * 2).cache()
        return join(kept, kept)

    agree(lambda lib: twice(lib, lambda a, b: a.concatenate(b)), [0, 2, 4] * 2, passes=2)
    agree(lambda lib: twice(lib, lib.Dataset.zip), [(0, 0), (2, 2), (4, 4)], passes=2)
