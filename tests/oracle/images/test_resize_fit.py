"""resize_with_pad and resize_with_crop_or_pad in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.resize_images import METHODS, TYPES, photo, random_images
from tests.oracle.support.tf_scenarios import same
from tests.support.rules import tf_rule

IMAGE = random_images(0, "uint8", (3, 4, 1))
SHAPES = st.tuples(st.integers(1, 30), st.integers(1, 30), st.integers(1, 4))
BATCHES = st.lists(st.integers(0, 2), max_size=1)
SIDES = st.integers(1, 40)


@tf_rule("6 resize_with_crop_or_pad")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 99), st.sampled_from(TYPES), BATCHES, SHAPES, SIDES, SIDES)
def test_crop_or_pad(seed, dtype, batch, shape, height, width):
    images = random_images(seed, dtype, (*batch, *shape))
    same(lambda tf: tf.image.resize_with_crop_or_pad(images, height, width))
    same(lambda tf: tf.compat.v1.image.resize_image_with_crop_or_pad(images, height, width))


@tf_rule("6 resize_with_crop_or_pad")
@pytest.mark.parametrize("dtype", ["bool", "complex64", "uint64", "O"])
def test_crop_or_pad_of_other_types(dtype):
    images = np.full((3, 4, 1), b"a", object) if dtype == "O" else np.ones((3, 4, 1), dtype)
    for size in ((2, 7), (5, 2), (3, 4)):
        same(lambda tf, s=size: tf.image.resize_with_crop_or_pad(images, *s).numpy())


@tf_rule("6 resize_with_pad")
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 99),
    st.sampled_from(TYPES),
    BATCHES,
    SHAPES,
    SIDES,
    SIDES,
    st.sampled_from(METHODS),
    st.booleans(),
)
def test_pad(seed, dtype, batch, shape, height, width, method, antialias):
    images = random_images(seed, dtype, (*batch, *shape))
    same(lambda tf: tf.image.resize_with_pad(images, height, width, method, antialias))


@tf_rule("6 resize_with_pad")
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 99),
    st.sampled_from(TYPES),
    BATCHES,
    SHAPES,
    SIDES,
    SIDES,
    st.integers(0, 3),
    st.booleans(),
)
def test_pad_of_tensorflow_1(seed, dtype, batch, shape, height, width, method, aligned):
    images = random_images(seed, dtype, (*batch, *shape))
    same(lambda tf: tf.compat.v1.image.resize_image_with_pad(images, height, width, method, aligned))


@tf_rule("6 resize_with_pad")
@tf_rule("6 resize_with_crop_or_pad")
def test_photos():
    images = photo("flower.jpg")
    for size in ((224, 224), (100, 700), (500, 300)):
        same(lambda tf, s=size: tf.image.resize_with_pad(images, *s))
        same(lambda tf, s=size: tf.image.resize_with_pad(images, *s, antialias=True))
        same(lambda tf, s=size: tf.image.resize_with_crop_or_pad(images, *s))


@tf_rule("6 resize fit errors")
@pytest.mark.parametrize("function", ["resize_with_pad", "resize_with_crop_or_pad"])
@pytest.mark.parametrize(
    "size",
    [
        (0, 2), (2, 0), (0, 0), (-1, 2), (5.0, 2.0), (5.5, 2.5), (3.0, 4.0), (3, 4.0), (2.0, 2.0), (-1.0, 2),
        (2, -1.0), (None, 2), ("5", 2), ([5], [2]), (b"5", 2), (1 + 0j, 2), (True, 4), (np.int64(5), np.int64(2)),
        (np.array(5), np.array(2)), (float("nan"), 2),
    ],
    ids=repr,
)  # fmt: skip
def test_sizes(function, size):
    same(lambda tf: getattr(tf.image, function)(IMAGE, *size))


@tf_rule("6 resize fit errors")
@pytest.mark.parametrize(
    "size", [(5.0, 2), (2.0, 7), (2, 7.0), (5, 2.0), (7.0, 7.0), (7.0, 2.0), (2.0, 7.0)], ids=repr
)
def test_fractions_of_crop_or_pad(size):
    same(lambda tf: tf.image.resize_with_crop_or_pad(IMAGE, *size))


@tf_rule("6 resize fit errors")
@pytest.mark.parametrize("function", ["resize_with_pad", "resize_with_crop_or_pad"])
@pytest.mark.parametrize("size", [(5, 2), (0, 2), (2, 0), (2, -1), (0, 0)], ids=repr)
def test_sizes_that_are_tensors(function, size):
    same(lambda tf: getattr(tf.image, function)(tf.constant(IMAGE), *map(tf.constant, size)))


@tf_rule("6 resize fit errors")
@pytest.mark.parametrize("function", ["resize_with_pad", "resize_with_crop_or_pad"])
def test_images(function):
    for images in (
        IMAGE[0], IMAGE[np.newaxis, np.newaxis], IMAGE[:0], IMAGE[:, :0], IMAGE[:, :, :0], IMAGE[np.newaxis, :0],
        IMAGE[np.newaxis][:0], [[[1], [2]]], [[1], [2, 3]], None, np.zeros((300, 2, 1), np.uint8),
    ):  # fmt: skip
        same(lambda tf, a=images: getattr(tf.image, function)(a, 3, 3))


@tf_rule("6 resize fit errors")
def test_methods_and_types():
    for method in ("nearest", 1, "foo", None):
        same(lambda tf, m=method: tf.image.resize_with_pad(IMAGE, 5, 3, m))
        same(lambda tf, m=method: tf.compat.v1.image.resize_image_with_pad(IMAGE, 5, 3, m))
    same(lambda tf: tf.image.resize_with_pad(IMAGE, 5, 3, "bilinear", 1))
    same(lambda tf: tf.image.resize_with_pad(IMAGE.astype(bool), 5, 3))
    same(lambda tf: tf.compat.v1.image.resize_image_with_pad(IMAGE.astype(bool), 3, 4))
