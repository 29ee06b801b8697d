"""Random numbers: those of TensorFlow for the same seeds, call after call."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.cpu_dependent import cpu_dependent
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

NORMAL = 2e-6  # of the largest: libraries round sines and logarithms differently
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int32", "int64")
SHAPES = ([], [1], [7], [3, 5], [0], (2, 0), [400])
SEEDS = st.integers(-(2**63), 2**63 - 1)


def after_seed(seed, case):
    """Run a case after setting the global seed, which begins all streams anew."""

    def seeded(tf):
        tf.random.set_seed(seed)
        return case(tf)

    return seeded


@tf_rule("6 stateless numbers")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("seed", [(1, 2), (0, 0), (-1, 5), (2**40, -(2**50))])
def test_stateless_floats(seed, dtype):
    for shape in SHAPES:
        same(lambda tf, shape=shape: tf.random.stateless_uniform(shape, seed, dtype=dtype))
        same(lambda tf, shape=shape: tf.random.stateless_uniform(shape, seed, -2, 5.5, dtype))


@tf_rule("6 stateless numbers")
@pytest.mark.parametrize("dtype", [*INTEGERS, "uint32", "uint64"])
def test_stateless_integers(dtype):
    for shape in SHAPES:
        same(lambda tf, shape=shape: tf.random.stateless_uniform(shape, (3, 4), None, None, dtype))
        same(lambda tf, shape=shape: tf.random.stateless_uniform(shape, (3, 4), -7, 99, dtype))
        same(lambda tf, shape=shape: tf.random.stateless_uniform(shape, (3, 4), -(2**31), 2**31 - 1, dtype))


@tf_rule("6 stateless numbers")
@settings(max_examples=60)
@given(SEEDS, SEEDS, st.sampled_from([*FLOATS, *INTEGERS]), st.integers(0, 40))
def test_any_two_seeds(seed, seed2, dtype, count):
    seeds = np.array([seed, seed2])
    same(lambda tf: tf.random.stateless_uniform([count], seeds, 0, 10, dtype))


@cpu_dependent
@tf_rule("6 normal numbers")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["stateless_normal", "stateless_truncated_normal"])
def test_stateless_normal(name, dtype):
    within = {"float16": 1e-3, "bfloat16": 8e-3, "float64": 1e-15}.get(dtype, NORMAL)
    for shape in SHAPES:
        for seed in ((1, 2), (-5, 2**40)):
            same(
                lambda tf, shape=shape, seed=seed: getattr(tf.random, name)(shape, seed, 1, 2.5, dtype),
                within=within,
            )


@tf_rule("6 stateless arguments")
@pytest.mark.parametrize(
    "shape", [2, [-1], [2.5], "a", None, [[1, 2]], True, [None], np.array([2], np.uint8)], ids=str
)
def test_shapes_that_are_none(shape):
    assert isinstance(same(lambda tf: tf.random.stateless_uniform(shape, (1, 2))), Failure)
    assert isinstance(same(lambda tf: tf.random.uniform(shape, seed=1)), Failure)
    assert isinstance(same(lambda tf: tf.random.normal(shape, seed=1)), Failure)


@tf_rule("6 stateless arguments")
@pytest.mark.parametrize("seed", [[1], [1, 2, 3], 1, [1.5, 2], None, "a", [[1, 2]]], ids=str)
def test_seeds_that_are_not_two(seed):
    assert isinstance(same(lambda tf: tf.random.stateless_uniform([2], seed)), Failure)


@tf_rule("6 stateless arguments")
@pytest.mark.parametrize(
    "options",
    [
        {"minval": 1},
        {"dtype": "int32"},
        {"dtype": "uint32", "minval": 0, "maxval": 10},
        {"dtype": "uint32", "minval": None},
        {"dtype": "int8", "minval": 0, "maxval": 4},
        {"dtype": "int32", "minval": 5, "maxval": 5},
        {"dtype": "int32", "minval": 6, "maxval": 5},
        {"dtype": "int32", "minval": 0.5, "maxval": 5},
        {"dtype": "string"},
        {"dtype": "int64", "minval": -(2**63), "maxval": 2**63 - 1},
        {"minval": [1.0, 2.0], "maxval": [3.0, 4.0]},
        {"dtype": "int32", "minval": [1, 2], "maxval": [3, 4]},
        {"alg": "philox"},
        {"alg": "threefry"},
        {"alg": "nope"},
        {"minval": 5, "maxval": 1},
        {"minval": "a"},
        {"minval": None},
    ],
    ids=str,
)
def test_options_of_stateless_uniform(options):
    same(lambda tf: tf.random.stateless_uniform([2], (1, 2), **options))


@tf_rule("6 numbers with state")
@pytest.mark.parametrize("seed", [0, 1, 7, -3, 2**40])
def test_calls_after_the_global_seed(seed):
    def case(tf):
        return [
            tf.random.uniform([3]),
            tf.random.uniform([2], 1, 5, "int32"),
            tf.random.uniform([]),
            tf.random.shuffle(np.arange(9)),
            tf.random.uniform([2], dtype="float64"),
            tf.random.shuffle([5]),
            tf.random.uniform([2, 2]),
        ]

    same(after_seed(seed, case))


@tf_rule("6 numbers with state")
@pytest.mark.parametrize("seed", [0, 5, -1, 2**33, 1.5, np.int64(3)])
def test_calls_with_one_seed_go_on_in_their_stream(seed):
    def case(tf):
        return [
            tf.random.uniform([3], seed=seed),
            tf.random.uniform([2], 0, 2.5, seed=seed),
            tf.random.uniform([2], dtype="float64", seed=seed),
            tf.random.uniform(np.array([2]), seed=seed),
            tf.random.uniform([2], maxval=9, dtype="int32", seed=seed),
            tf.random.uniform([0], seed=seed),
            tf.random.uniform([2], seed=seed),
            tf.random.uniform([2], maxval=9, dtype="int64", seed=seed),
            tf.random.uniform([2], maxval=9, dtype="int32", seed=seed),
            tf.random.uniform(np.array([2]), seed=seed),
        ]

    same(after_seed(11, case))
    same(after_seed(12, lambda tf: [case(tf), tf.random.set_seed(12), case(tf)][::2]))


@tf_rule("6 numbers with state")
def test_a_seed_of_its_own_without_a_global_one():
    def case(tf):
        tf.random.set_seed(1)  # forget what other tests drew
        tf.random.set_seed(None)
        return [tf.random.uniform([3], seed=12345), tf.random.uniform([3], seed=12345)]

    same(case)


@tf_rule("6 numbers with state")
@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "int32"},
        {"dtype": "uint32", "maxval": 3},
        {"dtype": "int32", "minval": 5, "maxval": 5},
        {"maxval": [1.0, 2.0]},
        {"dtype": "int32", "maxval": [1, 2]},
        {"seed": [1]},
    ],
    ids=str,
)
def test_options_of_uniform(options):
    same(after_seed(3, lambda tf: tf.random.uniform([2], **options)))


@tf_rule("6 numbers with state")
def test_a_call_that_fails_has_drawn_its_seed():
    def case(tf):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.random.uniform([2], 5, 5, "int32")
        return tf.random.uniform([2])

    same(after_seed(3, case))


@cpu_dependent
@tf_rule("6 normal numbers")
@pytest.mark.parametrize("name", ["normal", "truncated_normal"])
@pytest.mark.parametrize("seed", [None, 4])
def test_normal_with_state(name, seed):
    def case(tf):
        draw = getattr(tf.random, name)
        return [
            draw([5], seed=seed),
            draw([3, 3], 1, 2, seed=seed),
            draw([], seed=seed),
            draw([70], seed=seed),
        ]

    same(after_seed(5, case), within=NORMAL)


@tf_rule("6 normal numbers")
@pytest.mark.parametrize("name", ["normal", "truncated_normal"])
@pytest.mark.parametrize("options", [{"dtype": "int32"}, {"stddev": "a"}, {"dtype": "complex64"}], ids=str)
def test_options_of_normal_that_are_refused(name, options):
    assert isinstance(same(lambda tf: getattr(tf.random, name)([2], **options)), Failure)


@tf_rule("6 shuffled rows")
@pytest.mark.parametrize(
    "value",
    [
        5,
        [1],
        [],
        [[1, 2], [3, 4], [5, 6]],
        [True, False],
        np.arange(1000.0),
        np.zeros((3, 0)),
    ],
    ids=lambda value: str(np.shape(value)),
)
def test_shuffle(value):
    same(after_seed(2, lambda tf: [tf.random.shuffle(value, seed=1), tf.random.shuffle(value, seed=1)]))
    same(lambda tf: tf.random.experimental.stateless_shuffle(value, seed=(1, 2)))


@tf_rule("6 shuffled rows")
def test_shuffle_of_strings():
    same(after_seed(2, lambda tf: tf.random.shuffle(["a", "b", "c", "d"], seed=1).numpy()))


@tf_rule("6 shuffled rows")
def test_shuffle_of_nothing():
    fails(lambda tf: tf.random.shuffle(None), "ValueError", "Attempt to convert a value (None)")


@tf_rule("6 stateless numbers")
def test_seeds_out_of_seeds():
    same(lambda tf: tf.random.split((1, 2), 3))
    same(lambda tf: tf.random.split(np.array([1, 2]), 3))
    same(lambda tf: tf.random.fold_in((1, 2), 7))
    same(lambda tf: tf.random.experimental.stateless_fold_in((1, 2), np.int64(7)))
