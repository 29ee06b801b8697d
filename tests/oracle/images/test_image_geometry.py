"""Crops, pads, flips, turns of images: the same as TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.image_cases import TYPES, batch, cast, pieces, tensor
from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

TURNS = {
    "flip_left_right": lambda tf, image: tf.image.flip_left_right(image),
    "flip_up_down": lambda tf, image: tf.image.flip_up_down(image),
    "rot90": lambda tf, image: tf.image.rot90(image),
    "transpose": lambda tf, image: tf.image.transpose(image),
}
SHAPES = ((), (3,), (2, 3), (1, 2, 2, 2, 3), (0, 2, 3), (2, 0, 2, 3), (0, 2, 2, 3), (2, 2, 0))


@tf_rule("6 flips")
@pytest.mark.parametrize("dtype", [*TYPES, "bool", "complex64"])
@pytest.mark.parametrize("name", TURNS)
def test_turns_of_every_type(name, dtype):
    for image in (*pieces()[1:4], batch()[:, :5, :7]):
        given_ = cast(image, dtype)
        same(lambda tf, given_=given_: TURNS[name](tf, given_))


@tf_rule("6 flips")
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, -1, -6, 7, True, np.int64(3)])
def test_turning_several_times(k):
    for image in (pieces()[1], batch()):
        same(lambda tf, image=image: tf.image.rot90(image, k))


@tf_rule("6 image shapes")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TURNS)
def test_turns_of_other_shapes(name, shape):
    same(lambda tf: TURNS[name](tf, np.zeros(shape, np.float32)))


@tf_rule("6 image shapes")
@pytest.mark.parametrize("shape", SHAPES)
def test_crops_of_other_shapes(shape):
    image = np.zeros(shape, np.float32)
    same(lambda tf: tf.image.central_crop(image, 0.5))
    same(lambda tf: tf.image.central_crop(image, 1.0))
    same(lambda tf: tf.image.crop_to_bounding_box(image, 0, 0, 1, 1))
    same(lambda tf: tf.image.pad_to_bounding_box(image, 0, 0, 5, 5))


@tf_rule("6 flips")
@pytest.mark.parametrize(
    ("k", "name", "text"),
    [
        (1.5, "TypeError", "Cannot convert 1.5 to EagerTensor of dtype int32"),
        ("a", "TypeError", "Cannot convert 'a' to EagerTensor of dtype int32"),
        ([1], "ValueError", "Shape (1,) must have rank 0"),
        (None, "ValueError", "Attempt to convert a value (None)"),
    ],
)
def test_turns_that_are_no_number(k, name, text):
    fails(lambda tf: tf.image.rot90(pieces()[3], k), name, text)


@tf_rule("6 central_crop")
@pytest.mark.parametrize(
    "fraction",
    [0.5, 0.1, 0.999, 1e-9, 1 / 3, 0.7, 0.875, 1, 1.0, True, np.float32(0.3), np.float64(0.3), np.array(0.6)],
)
def test_central_crop(fraction):
    for image in (*pieces(), batch()):
        same(lambda tf, image=image: tf.image.central_crop(image, fraction))


@tf_rule("6 central_crop")
@settings(max_examples=60)
@given(st.integers(1, 120), st.integers(1, 120), st.floats(2**-10, 1, width=32), st.booleans())
def test_central_crop_of_any_size(height, width, fraction, single):
    number = np.float32(fraction) if single else fraction
    same(lambda tf: tf.image.central_crop(np.zeros((height, width, 1), np.uint8), number))


@tf_rule("6 central_crop")
@pytest.mark.parametrize("fraction", [0, -1, 1.5, 0.0, 1.0000001, float("inf")])
def test_fractions_out_of_range(fraction):
    fails(
        lambda tf: tf.image.central_crop(pieces()[1], fraction),
        "ValueError",
        "central_fraction must be within (0, 1]",
    )


@tf_rule("6 central_crop")
@pytest.mark.parametrize("fraction", ["a", [0.5], 1j])
def test_fractions_that_are_no_number(fraction):
    fails(lambda tf: tf.image.central_crop(pieces()[1], fraction), "TypeError", "'<=' not supported between")


@tf_rule("6 bounding boxes")
@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
def test_boxes_of_every_type(dtype):
    for image in (pieces()[1], batch()):
        given_ = cast(image, dtype)
        same(lambda tf, given_=given_: tf.image.crop_to_bounding_box(given_, 3, 5, 7, 11))
        same(lambda tf, given_=given_: tf.image.pad_to_bounding_box(given_, 3, 5, 40, 70))


@tf_rule("6 bounding boxes")
@pytest.mark.parametrize(
    "box",
    [
        (0, 0, 4, 5),
        (1, 1, 4, 4),
        (0, 1, 4, 5),
        (-1, 0, 1, 1),
        (0, -1, 1, 1),
        (0, 0, 0, 1),
        (0, 0, 1, 0),
        (-1, -1, -1, -1),
        (np.int64(1), np.int32(0), np.uint8(2), 2),
    ],
    ids=str,
)
def test_boxes_at_the_edges(box):
    image = pieces()[1][:4, :5]
    same(lambda tf: tf.image.crop_to_bounding_box(image, *box))
    same(lambda tf: tf.image.pad_to_bounding_box(image, *box))
    top, left, height, width = box
    same(lambda tf: tf.image.pad_to_bounding_box(image, top, left, height + 6, width + 6))


@tf_rule("6 bounding boxes")
@settings(max_examples=60)
@given(st.lists(st.integers(-1, 9), min_size=4, max_size=4))
def test_any_box(box):
    image = pieces()[1][:5, :6]
    same(lambda tf: tf.image.crop_to_bounding_box(image, *box))
    same(lambda tf: tf.image.pad_to_bounding_box(image, *box))


@tf_rule("6 flips")
def test_tensors_and_lists_are_images_too():
    image = pieces()[3]
    same(lambda tf: tf.image.flip_left_right(tensor(tf, image)))
    same(lambda tf: tf.image.flip_left_right([[[1.5, 2], [3, 4]]]))
    same(lambda tf: tf.image.transpose([[[1], [2]]]))
    same(lambda tf: tf.compat.v1.image.transpose_image(image))
