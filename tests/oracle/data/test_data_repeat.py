"""repeat in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

from tests.oracle.support.data_scenarios import USER, agree, facts, fails, ours, theirs
from tests.support.rules import tf_rule


@tf_rule("5 repeat")
@tf_rule("5 cardinality repeat")
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_so_many_times(count):
    agree(lambda lib: lib.Dataset.range(2).repeat(count), [0, 1] * count)


@tf_rule("5 repeat")
@tf_rule("5 cardinality repeat")
@pytest.mark.parametrize("arguments", [(), (None,), (-1,), (-5,)], ids=str)
def test_for_ever(arguments):
    agree(lambda lib: lib.Dataset.range(2).repeat(*arguments), [0, 1, 0, 1, 0], limit=5)


@tf_rule("5 repeat empty")
@tf_rule("5 cardinality repeat")
def test_nothing_for_ever_ends():
    agree(lambda lib: lib.Dataset.range(0).repeat(), [])
    agree(lambda lib: lib.Dataset.range(3).filter(lambda x: x > 9).repeat(), [])
    agree(lambda lib: lib.Dataset.range(3).take(0).repeat(), [])


@tf_rule("5 repeat")
def test_of_unknown_number():
    agree(lambda lib: lib.Dataset.range(3).filter(lambda x: x > 0).repeat(2), [1, 2, 1, 2])


@tf_rule("5 repeat")
@tf_rule("5 iterator after error")
def test_errors_come_each_time():
    agree(
        lambda lib: lib.Dataset.range(3).map(lambda x: lib.check(x != 1, x)).repeat(2),
        [0, USER, 2, 0, USER, 2],
    )


@tf_rule("5 repeat empty")
def test_that_only_fails_goes_on_for_ever():
    agree(lambda lib: lib.Dataset.range(1).map(lambda x: lib.check(x != 0, x)).repeat(), limit=5)
    agree(lambda lib: lib.Dataset.range(2).map(lambda x: lib.check(x > 5, x)).repeat(2), [USER] * 4)


@tf_rule("5 repeat")
def test_of_repeat():
    agree(lambda lib: lib.Dataset.range(2).repeat(2).repeat(2), [0, 1] * 4)
    agree(lambda lib: lib.Dataset.range(2).repeat().repeat(0), [])
    agree(lambda lib: lib.Dataset.range(2).repeat().repeat(2).take(5), [0, 1, 0, 1, 0])


SHUFFLED = {
    "directly": lambda ds, count: ds.repeat(count),
    "batch": lambda ds, count: ds.batch(2).repeat(count),
    "map": lambda ds, count: ds.map(lambda x: x + 1).repeat(count),
    "take": lambda ds, count: ds.take(4).repeat(count),
    "nothing": lambda ds, count: ds.take(-1).skip(0).repeat(1).shard(1, 0).repeat(count),
    "prefetch": lambda ds, count: ds.prefetch(0).repeat(count),
    "twice": lambda ds, count: ds.batch(2).repeat(count).batch(2).repeat(2),
}


@tf_rule("5 shuffle repeat seeds")
@tf_rule("5 shuffle reshuffle")
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("how", SHUFFLED)
def test_orders_of_several_passes(how, count):
    agree(lambda lib: SHUFFLED[how](lib.Dataset.range(7).shuffle(5, seed=3), count), passes=3)


@tf_rule("5 shuffle repeat seeds")
def test_of_a_zip_of_shuffles():
    agree(
        lambda lib: lib.Dataset.zip(
            lib.Dataset.range(7).shuffle(5, seed=3), lib.Dataset.range(4).shuffle(9, seed=1)
        ).repeat(2),
        passes=3,
    )


@tf_rule("5 shuffle repeat fused")
@pytest.mark.parametrize(("count", "elements"), [(0, 0), (-5, 9)])
def test_counts_that_tensorflow_refuses_after_shuffle(count, elements):
    case = lambda lib: lib.Dataset.range(4).shuffle(4, seed=1).repeat(count).take(9)  # noqa: E731
    refused = fails("InvalidArgumentError", "count must be greater than zero or equal to -1.")
    if count:
        assert facts(theirs(), case).passes[0][0].message.startswith(refused.message)
    else:
        agree(lambda lib: lib.Dataset.range(4).repeat(0), [])
    assert len(facts(ours(), case).passes[0]) == elements + 1
