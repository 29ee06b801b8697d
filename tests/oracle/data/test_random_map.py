"""Random operations in the functions of pipelines: TensorFlow's numbers, element after element."""

from __future__ import annotations

import pytest

from tests.oracle.support.image_cases import pieces
from tests.oracle.support.tf_scenarios import same
from tests.oracle.tf.test_random_ops import after_seed
from tests.support.rules import tf_rule


@tf_rule("6 random operations in map")
@pytest.mark.parametrize("seed", [0, 3, 2**40])
def test_operations_are_numbered_in_the_function(seed):
    def case(tf):
        def draw(number):
            return tf.random.uniform([]), tf.random.uniform([2], 0, 9, "int32"), tf.random.uniform([], seed=9)

        return list(tf.data.Dataset.range(5).map(draw))

    same(after_seed(seed, case))


@tf_rule("6 random operations in map")
def test_each_operation_has_a_stream_of_its_own():
    def case(tf):
        def draw(number):
            return tf.random.uniform([], seed=9), tf.random.uniform([], seed=9)

        return list(tf.data.Dataset.range(3).map(draw))

    found = same(after_seed(1, case))
    assert all(pair[1][0].values == pair[1][1].values for pair in found[1])


@tf_rule("6 random operations in map")
def test_every_iterator_begins_anew_and_a_repeat_goes_on():
    def case(tf):
        dataset = tf.data.Dataset.range(3).map(lambda number: tf.random.uniform([])).repeat(2)
        return [list(dataset), list(dataset), list(dataset.as_numpy_iterator())]

    same(after_seed(5, case))


@tf_rule("6 random operations in map")
def test_the_seed_is_that_of_when_the_dataset_was_made():
    def case(tf):
        dataset = tf.data.Dataset.range(3).map(lambda number: tf.random.uniform([]))
        tf.random.set_seed(8)
        outside = tf.random.uniform([])
        return [list(dataset), outside, tf.random.uniform([])]

    same(after_seed(7, case))


@tf_rule("6 random operations in map")
def test_functions_of_one_pipeline_are_numbered_apart():
    def case(tf):
        dataset = tf.data.Dataset.range(4).map(lambda number: tf.random.uniform([]))
        return list(dataset.map(lambda number: (number, tf.random.uniform([]))).batch(2))

    same(after_seed(7, case))


@tf_rule("6 random operations in map")
def test_photos_are_changed_alike():
    image = pieces()[1]

    def case(tf):
        def change(number):
            changed = tf.image.random_flip_left_right(image)
            changed = tf.image.random_crop(changed, [20, 30, 3])
            changed = tf.image.random_brightness(changed, 0.3)
            changed = tf.image.random_saturation(changed, 0.5, 1.5)
            return tf.image.random_hue(tf.image.random_contrast(changed, 0.5, 1.5), 0.2)

        return list(tf.data.Dataset.range(6).map(change).batch(4))

    same(after_seed(99, case))
