"""tf.random.Generator: TensorFlow's numbers and states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.cpu_dependent import cpu_dependent
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import same
from tests.support.rules import tf_rule

WORDS = st.integers(-(2**63), 2**63 - 1)


def state_of(generator):
    return generator.state.numpy()


@tf_rule("6 generator")
@pytest.mark.parametrize(
    "seed", [0, 1, 42, -1, -256, 2**63, 2**64 + 7, 2**130 + 5, [5], [1, 2], [1, 2, 3], [1, 2, 3, 4]]
)
def test_seeds(seed):
    def case(tf):
        generator = tf.random.Generator.from_seed(seed)
        drawn = [generator.uniform([5]), generator.uniform([2, 3], 1, 9, "int32"), generator.uniform([])]
        return drawn, state_of(generator), generator.key, generator.algorithm

    same(case)


@tf_rule("6 generator")
@settings(max_examples=40)
@given(st.tuples(WORDS, WORDS, WORDS), st.integers(0, 20))
def test_any_state(state, count):
    def case(tf):
        generator = tf.random.Generator.from_state(np.array(state), "philox")
        return generator.uniform_full_int([count]), state_of(generator), generator.uniform([count])

    same(case)


@tf_rule("6 generator")
def test_every_kind_of_number():
    def case(tf):
        generator = tf.random.Generator.from_seed(7)
        return [
            generator.uniform([3], dtype="float64"),
            generator.uniform([3], None, None, "int64"),
            generator.uniform((2,), -1.5, 2.5, "float16"),
            generator.uniform_full_int([2]),
            generator.uniform_full_int([2], "int32"),
            generator.make_seeds(3),
            generator.skip(10),
            [each.uniform([2]) for each in generator.split(2)],
            generator.uniform([0]),
            state_of(generator),
        ]

    same(case)


@cpu_dependent
@tf_rule("6 generator")
def test_normal_numbers():
    def case(tf):
        generator = tf.random.Generator.from_seed(7)
        return (
            generator.normal([9], 1, 2),
            generator.truncated_normal([9]),
            generator.normal([2], dtype="float64"),
        )

    same(case, within=2e-6)


@tf_rule("6 generator")
def test_going_back():
    def case(tf):
        generator = tf.random.Generator.from_seed(3)
        first = generator.uniform([2])
        copy = tf.random.Generator(generator)
        generator.reset_from_seed(3)
        again = generator.uniform([2])
        generator.reset([1, 2, 3])
        third = generator.uniform([2])
        generator.reset_from_key_counter(3, [1, 2])
        other = tf.random.Generator.from_key_counter(3, [1, 2], "philox")
        return first, again, third, generator.uniform([2]), copy.uniform([2]), other.uniform([2])

    same(case)


@tf_rule("6 generator")
def test_the_global_one():
    def case(tf):
        tf.random.set_global_generator(tf.random.Generator.from_seed(9))
        return tf.random.get_global_generator().uniform([2])

    same(case)


@tf_rule("6 generator")
def test_what_is_refused():
    for case in (
        lambda tf: tf.random.Generator.from_seed(1).uniform([2], dtype="int32"),
        lambda tf: tf.random.Generator.from_seed(1).uniform([-2]),
        lambda tf: tf.random.Generator.from_seed(1, alg="nope"),
    ):
        assert isinstance(same(case), Failure)
