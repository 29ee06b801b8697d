"""shuffle in TensorFlow and in tfrkit: order, seeds, epochs, several iterators, and errors of the input."""

from __future__ import annotations

import random

import pytest

from tests.oracle.support.data_scenarios import Space, agree, fails, ours, theirs
from tests.support.rules import tf_rule


def _configuration(number: int) -> dict[str, int]:
    """A random pipeline, the same for the same number."""
    rng = random.Random(number)
    count = rng.choice([1, 2, 7, 20, 40])
    return {
        "count": count,
        "size": rng.choice([1, 2, 3, 5, count, count + 1, 1000, -2]),
        "seed": rng.choice([0, 1, rng.randrange(2**31), rng.randrange(2**62), -rng.randrange(2**40)]),
    }


@tf_rule("5 shuffle order")
@tf_rule("5 shuffle reshuffle")
@pytest.mark.parametrize("number", range(30))
def test_orders_of_three_passes(number):
    case = _configuration(number)
    agree(lambda lib: lib.Dataset.range(case["count"]).shuffle(case["size"], case["seed"]), passes=3)


@tf_rule("5 shuffle no reshuffle")
@pytest.mark.parametrize("number", range(100, 110))
def test_the_same_order_again(number):
    case = _configuration(number)

    def make(lib: Space) -> object:
        return lib.Dataset.range(case["count"]).shuffle(
            case["size"], case["seed"], reshuffle_each_iteration=False
        )

    agree(make, passes=2)
    agree(lambda lib: make(lib).repeat(3))


@tf_rule("5 shuffle epochs")
@tf_rule("5 shuffle reshuffle")
@pytest.mark.parametrize("number", range(200, 220))
def test_repeated_epochs(number):
    case = _configuration(number)
    agree(lambda lib: lib.Dataset.range(case["count"]).shuffle(case["size"], case["seed"]).repeat(3))


@tf_rule("5 shuffle whole")
def test_a_buffer_for_all():
    agree(lambda lib: lib.Dataset.range(50).shuffle(-2, seed=4), passes=2)
    agree(lambda lib: lib.Dataset.range(50).filter(lambda x: x % 3 == 0).shuffle(-2, seed=4).repeat(2))


@tf_rule("5 shuffle size")
@pytest.mark.parametrize("size", [0, -1, -3])
def test_sizes_that_are_refused(size):
    refused = fails("InvalidArgumentError", "buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
    agree(lambda lib: lib.Dataset.range(5).shuffle(size), refused)


@tf_rule("5 shuffle error")
@pytest.mark.parametrize("number", range(300, 340))
def test_errors_of_the_input(number):
    rng = random.Random(number)
    count = rng.randint(2, 14)
    bad = rng.sample(range(count), rng.randint(1, min(3, count - 1)))
    size, repeats = rng.choice([1, 2, 3, 5, 10, 100, -2]), rng.choice([1, 1, 2, 5, -1])

    def case(lib: Space) -> object:
        ds = lib.Dataset.range(count)
        for each in bad:
            ds = ds.map(lambda x, each=each: lib.check(x != each, x))
        ds = ds.shuffle(size, seed=number)
        return ds if repeats == 1 else ds.repeat(repeats)

    agree(case, limit=60)


@tf_rule("5 shuffle error")
def test_nothing_but_errors():
    agree(lambda lib: lib.Dataset.range(3).map(lambda x: lib.check(x < 0, x)).shuffle(2, seed=1).repeat())
    agree(lambda lib: lib.Dataset.range(3).map(lambda x: lib.check(x < 0, x)).shuffle(2, seed=1).repeat(2))


def _without_prefetch(lib: Space, dataset: object) -> object:
    """TensorFlow puts a prefetch at the end of pipelines, which draws the seeds of the next epoch at any time."""
    if lib.name != "TensorFlow":
        return dataset
    options = lib.tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)


ITERATORS = {
    "one after another": [0] * 12 + [1] * 12,
    "in turn": [0, 1] * 12,
    "second first": [1] * 12 + [0] * 12,
    "second within first": [0] * 5 + [1] * 12 + [0] * 7,
    "over epochs": [0] * 13 + [1] * 13 + [0] * 11 + [1] * 11,
}


@tf_rule("5 shuffle reshuffle")
@pytest.mark.parametrize("turns", ITERATORS.values(), ids=ITERATORS.keys())
@pytest.mark.parametrize("kind", ["plain", "repeated", "two shuffles", "zip of one"])
def test_several_iterators_of_one_dataset(turns, kind):
    def run(lib: Space) -> list[object]:
        ds = lib.Dataset.range(12).shuffle(5, seed=42)
        if kind == "repeated":
            ds = ds.repeat(2)
        elif kind == "two shuffles":
            ds = ds.shuffle(3, seed=1)
        elif kind == "zip of one":
            ds = lib.Dataset.zip(ds, ds).map(lambda x, y: 100 * x + y)
        ds = _without_prefetch(lib, ds)
        iterators = [iter(ds), iter(ds)]
        return [int(number) for turn in turns if (number := next(iterators[turn], None)) is not None]

    assert run(ours()) == run(theirs())


PLACES = {
    "concatenate": lambda lib, ds: ds.concatenate(ds),
    "flat_map": lambda lib, ds: lib.Dataset.range(3).flat_map(lambda _: ds),
    "zip": lambda lib, ds: lib.Dataset.zip(ds, ds),
}


@tf_rule("5 shuffle reshuffle")
@pytest.mark.parametrize("how", PLACES)
def test_the_same_dataset_in_several_places(how):
    agree(lambda lib: PLACES[how](lib, lib.Dataset.range(12).shuffle(5, seed=42)), passes=2)


@tf_rule("5 shuffle order")
@pytest.mark.parametrize("number", range(400, 410))
def test_shuffles_in_a_row(number):
    first, second = _configuration(number), _configuration(number + 1000)
    agree(
        lambda lib: (
            lib.Dataset.range(30)
            .shuffle(first["size"], first["seed"])
            .map(lambda x: x + 1)
            .shuffle(second["size"], second["seed"])
            .batch(4)
        )
    )
