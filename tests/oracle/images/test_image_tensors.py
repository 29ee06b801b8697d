"""Image functions with Tensors for arguments, and TensorFlow's types as objects."""

from __future__ import annotations

from tests.oracle.support.image_cases import pieces
from tests.oracle.support.tf_scenarios import same
from tests.oracle.tf.test_random_ops import after_seed
from tests.support.rules import tf_rule

IMAGE = pieces()[1]


@tf_rule("6 tensors as arguments")
def test_numbers_may_be_tensors():
    same(lambda tf: tf.image.central_crop(IMAGE, tf.constant(0.7)))
    same(lambda tf: tf.image.rot90(IMAGE, tf.constant(3)))
    same(lambda tf: tf.image.adjust_brightness(IMAGE, tf.constant(0.2)))
    same(lambda tf: tf.image.adjust_contrast(IMAGE, tf.constant(0.2)))
    same(lambda tf: tf.image.adjust_saturation(IMAGE, saturation_factor=tf.constant(0.2)))
    same(lambda tf: tf.image.adjust_hue(IMAGE, delta=tf.constant(0.2)))
    same(lambda tf: tf.image.adjust_gamma(IMAGE, tf.constant(2.0), tf.constant(0.9)))


@tf_rule("6 tensors as arguments")
def test_sizes_may_be_tensors():
    same(lambda tf: tf.image.crop_to_bounding_box(IMAGE, tf.constant(2), 3, tf.shape(IMAGE)[0] // 2, 5))
    same(lambda tf: tf.image.pad_to_bounding_box(IMAGE, 2, 3, tf.shape(IMAGE)[0] + 9, tf.constant(99)))
    same(lambda tf: tf.image.stateless_random_crop(IMAGE, tf.constant([5, 6, 3]), tf.constant([1, 2])))
    same(
        lambda tf: tf.image.stateless_random_crop(IMAGE, [tf.shape(IMAGE)[0] // 2, 7, 3], [1, tf.constant(2)])
    )


@tf_rule("6 tensors as arguments")
def test_types_may_be_objects():
    same(lambda tf: tf.image.convert_image_dtype(IMAGE, tf.float32))
    same(lambda tf: tf.image.convert_image_dtype(tf.constant(IMAGE), dtype=tf.int16, saturate=True, name="x"))
    same(after_seed(1, lambda tf: tf.random.uniform([2], 0, 9, tf.int32)))
    same(after_seed(1, lambda tf: tf.random.uniform((2, 3), dtype=tf.float64)))
    same(lambda tf: tf.random.stateless_uniform(tf.shape(IMAGE), (1, 2), dtype=tf.dtypes.float16))
    same(lambda tf: tf.random.stateless_uniform(tf.TensorShape([2, 3]), (1, 2)))


@tf_rule("6 tensors as arguments")
def test_a_random_change_of_a_random_kind():
    def case(tf):
        k = tf.random.uniform([], 0, 4, tf.int32)
        turned = tf.image.rot90(IMAGE, k)
        delta = tf.random.uniform([], -0.2, 0.2)
        return tf.image.adjust_brightness(turned, delta), k

    same(after_seed(31, case))
    same(after_seed(31, lambda tf: list(tf.data.Dataset.range(5).map(lambda number: case(tf)))))
