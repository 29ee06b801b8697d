"""Random changes of images: TensorFlow's decisions for the same seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.image_cases import TYPES, batch, cast, pieces, tensor
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import fails, same
from tests.oracle.tf.test_random_ops import SEEDS, after_seed
from tests.support.rules import tf_rule

CHANGES = {
    "random_flip_left_right": (),
    "random_flip_up_down": (),
    "random_crop": ([11, 13, 3],),
    "random_brightness": (0.3,),
    "random_contrast": (0.2, 1.8),
    "random_saturation": (0.5, 2),
    "random_hue": (0.4,),
}


@tf_rule("6 stateless random images")
@pytest.mark.parametrize("name", CHANGES)
def test_stateless_changes(name):
    for image in (pieces()[0], cast(pieces()[0], "float32")):
        for seed in ((1, 2), (3, 4), (-1, 2**40)):
            same(
                lambda tf, image=image, seed=seed: getattr(tf.image, f"stateless_{name}")(
                    image, *CHANGES[name], seed=seed
                )
            )


@tf_rule("6 stateless random images")
@settings(max_examples=40)
@given(SEEDS, SEEDS, st.sampled_from(sorted(CHANGES)))
def test_any_two_seeds(seed, seed2, name):
    image, seeds = pieces()[1], np.array([seed, seed2])
    same(lambda tf: getattr(tf.image, f"stateless_{name}")(image, *CHANGES[name], seed=seeds))


@tf_rule("6 random images")
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("own", [None, 5])
def test_changes_call_after_call(name, own):
    image = pieces()[1]

    def case(tf):
        return [getattr(tf.image, name)(image, *CHANGES[name], seed=own) for _ in range(5)]

    same(after_seed(17, case))


@tf_rule("6 random images")
def test_changes_of_different_kinds_share_a_stream():
    image = pieces()[1]

    def case(tf):
        flipped = tf.image.random_flip_left_right(image, seed=5)
        flipped = tf.image.random_flip_up_down(flipped, seed=5)
        bright = tf.image.random_brightness(flipped, 0.3, seed=5)
        return [bright, tf.random.uniform([2], seed=5), tf.image.random_crop(bright, [3, 4, 3], seed=5)]

    same(after_seed(23, case))


@tf_rule("6 random flips")
@pytest.mark.parametrize("dtype", [*TYPES, "complex64"])
def test_flips_of_batches(dtype):
    images = cast(np.tile(batch()[:, :3, :4], (3, 1, 1, 1)), dtype)
    for seed in ((1, 2), (3, 4)):
        same(lambda tf, seed=seed: tf.image.stateless_random_flip_left_right(images, seed))
        same(lambda tf, seed=seed: tf.image.stateless_random_flip_up_down(images, seed))


@tf_rule("6 random flips")
def test_flips_of_batches_are_products():
    images = np.array([[[[np.inf], [1], [-0.0]]]] * 6, np.float32)
    same(lambda tf: tf.image.stateless_random_flip_left_right(images, (1, 2)))


@tf_rule("6 random flips")
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 2, 2, 2, 3), (0, 2, 3), (0, 2, 2, 3), (2, 2, 0)])
def test_flips_of_other_shapes(shape):
    image = np.zeros(shape, np.float32)
    same(lambda tf: tf.image.random_flip_left_right(image))
    same(lambda tf: tf.image.stateless_random_flip_up_down(image, (1, 2)))


@tf_rule("6 random flips")
def test_flips_of_batches_of_bools_are_refused():
    image = batch() > 9
    fails(lambda tf: tf.image.random_flip_left_right(image), "TypeError", "Cannot convert 1 to EagerTensor")
    same(lambda tf: tf.image.stateless_random_flip_left_right(image[0], (3, 4)))


@tf_rule("6 random_crop")
@pytest.mark.parametrize(
    "size",
    [
        [2, 2, 3],
        (2, 4, 3),
        [2, 2],
        [2],
        [3, 4, 3],
        [2, 2, 3, 1],
        2,
        [0, 2, 3],
        [2.5, 2, 3],
        "a",
        None,
        [[2, 2, 3]],
        [],
        np.array([1, 1, 1]),
    ],
    ids=str,
)
def test_sizes_of_crops(size):
    image = pieces()[1][:2, :4]
    same(lambda tf: tf.image.stateless_random_crop(image, size, (1, 2)))
    same(after_seed(4, lambda tf: tf.image.random_crop(image, size, seed=3)))


@tf_rule("6 random_crop")
def test_crops_of_anything():
    same(lambda tf: tf.image.stateless_random_crop(np.arange(20), [5], (1, 2)))
    same(lambda tf: tf.image.stateless_random_crop(batch(), [2, 5, 6, 1], (1, 2)))
    same(lambda tf: tf.image.stateless_random_crop(["a", "b", "c"], [2], (1, 2)).numpy())
    same(lambda tf: tf.image.stateless_random_crop(np.float32(3), [], (1, 2)))
    same(lambda tf: tf.compat.v1.random_crop(tensor(tf, pieces()[1]), [31, 61, 3]))


@tf_rule("6 random arguments")
@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("random_brightness", (-0.1,), "max_delta must be non-negative."),
        ("random_hue", (-0.1,), "max_delta must be non-negative."),
        ("random_hue", (0.6,), "max_delta must be <= 0.5."),
        ("random_contrast", (1.5, 0.5), "upper must be > lower."),
        ("random_contrast", (0.5, 0.5), "upper must be > lower."),
        ("random_contrast", (-1, 1), "lower must be non-negative."),
        ("random_saturation", (1.5, 0.5), "upper must be > lower."),
        ("random_saturation", (-1, 1), "lower must be non-negative."),
    ],
    ids=str,
)
def test_ranges_that_are_refused(name, arguments, text):
    image = pieces()[1]
    fails(lambda tf: getattr(tf.image, name)(image, *arguments), "ValueError", text)
    fails(
        lambda tf: getattr(tf.image, f"stateless_{name}")(image, *arguments, seed=(1, 2)), "ValueError", text
    )


@tf_rule("6 random arguments")
@pytest.mark.parametrize("name", CHANGES)
def test_three_seeds_are_refused(name):
    found = same(
        lambda tf: getattr(tf.image, f"stateless_{name}")(pieces()[1], *CHANGES[name], seed=(1, 2, 3))
    )
    assert found == Failure("InvalidArgumentError", "seed must have shape [2], not [3]")


@tf_rule("6 random arguments")
def test_bounds_may_be_whole_numbers():
    image = cast(pieces()[1], "float32")
    same(lambda tf: tf.image.stateless_random_brightness(image, 0, (1, 2)))
    same(lambda tf: tf.image.stateless_random_contrast(image, 0, 1, (1, 2)))
    same(lambda tf: tf.image.stateless_random_saturation(image, 0, np.float64(3), (1, 2)))
    fails(lambda tf: tf.image.stateless_random_saturation(image, 0, 1), "ValueError", "(None)")
