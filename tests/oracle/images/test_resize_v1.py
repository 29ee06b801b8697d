"""The resizing functions of TensorFlow 1, in TensorFlow and in tfrkit."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.resize_images import TYPES, photo, random_images
from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

PARTS = ("resize_bilinear", "resize_nearest_neighbor", "resize_bicubic", "resize_area")
IMAGE = random_images(0, "uint8", (3, 4, 1))
BATCH = IMAGE[np.newaxis]


def both(part, *arguments, **options):
    """The same from both; the text of an error without TensorFlow's name of the operation."""
    return same(lambda tf: getattr(tf.compat.v1.image, part)(*arguments, **options))


@tf_rule("6 resize v1")
@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(TYPES),
    st.lists(st.integers(1, 3), max_size=1),
    st.tuples(st.integers(1, 30), st.integers(1, 30), st.integers(1, 5)),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from([0, 1, 2, 3, "bilinear", "nearest", "bicubic", "area"]),
    st.booleans(),
    st.booleans(),
)
def test_any_images(seed, dtype, batch, shape, size, method, aligned, preserve):
    images = random_images(seed, dtype, (*batch, *shape))
    both("resize", images, size, method, aligned, preserve)


@tf_rule("6 resize v1 parts")
@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(TYPES),
    st.tuples(st.integers(0, 3), st.integers(1, 30), st.integers(1, 30), st.integers(1, 5)),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from(PARTS),
    st.sampled_from([{}, {"align_corners": True}, {"half_pixel_centers": True}]),
)
def test_any_batches(seed, dtype, shape, size, part, options):
    if part == "resize_area" and "half_pixel_centers" in options:
        options = {}
    both(part, random_images(seed, dtype, shape), size, **options)


@tf_rule("6 resize v1 parts")
@pytest.mark.parametrize("part", PARTS)
def test_photos(part):
    batch = photo("china.jpg")[np.newaxis, ::2]
    for size in ((96, 96), (240, 224), (301, 64)):
        for aligned in (False, True):
            both(part, batch, size, aligned)


@tf_rule("6 resize v1 parts")
@pytest.mark.parametrize("part", PARTS)
def test_one_pixel(part):
    for shape in ((1, 1, 7, 2), (1, 7, 1, 1), (1, 1, 1, 3)):
        for size in ((1, 1), (1, 5), (5, 1), (4, 9)):
            for aligned in (False, True):
                both(part, random_images(1, "float32", shape), size, aligned)


@tf_rule("6 resize v1")
@pytest.mark.parametrize("method", [0, 3, 4, 1.0, True, "lanczos3", "foo", None, ["area"]], ids=repr)
def test_methods(method):
    for size in ((2, 3), (3, 4), (-2, 3)):
        for images in (IMAGE, IMAGE.astype(bool)):
            both("resize_images", images, size, method)
            both("resize_images", images, size, method, True)
            both("resize_images", images, size, method, 1)


@tf_rule("6 resize v1")
def test_images_of_the_right_size_stay():
    for images in (IMAGE, BATCH.astype(bool), [[[1, 2]]], np.zeros((0, 4, 1))):
        shape = np.shape(images)
        both("resize", images, shape[-3:-1], "nonsense", "nonsense")
    both("resize", IMAGE, (3, 9), preserve_aspect_ratio=True)
    both("resize", IMAGE, (2.0, 3))
    both("resize", IMAGE[0], (2, 3))
    same(lambda tf: {k: v for k, v in vars(tf.compat.v1.image.ResizeMethod).items() if k[0] != "_"})


@tf_rule("6 resize v1 errors")
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "images",
    [
        IMAGE, BATCH, BATCH[np.newaxis], BATCH.astype(bool), IMAGE.astype(bool), BATCH[:, :0], BATCH[..., :0],
        BATCH[:0], None, "abc", 5, [[[[1]]]], [[1], [1, 2]],
    ],
    ids=lambda images: f"{getattr(images, 'dtype', '')}{getattr(images, 'shape', images)}",
)  # fmt: skip
def test_wrong_images(part, images):
    for size in ((2, 3), (2, 3, 4), ((2, 3),), (0, 3), 5):
        both(part, images, size)


@tf_rule("6 resize v1 errors")
@pytest.mark.parametrize(
    "size",
    [
        (2.0, 3.0), np.array([2.0, 3.9]), np.array([2, 3]), (2, 3, 4), ((2, 3),), (0, 3), (-2, 3), (2**31, 3), None,
        (2**63, 1), (2**32 + 1, 2), "ab", ["a", "b"], 5, 2.5, [], (True, True), (True, 2), (np.bool_(True), 2),
        [2, [3]], (2, None), np.array([np.nan, 1]), np.float32(5), {2, 3}, {},
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrong_sizes(size):
    both("resize_bilinear", BATCH, size)
    both("resize_area", BATCH.astype(bool), size)


@tf_rule("6 resize v1 errors")
def test_wrong_attributes():
    for value in (1, "x", None, np.bool_(True)):
        both("resize_bilinear", BATCH, (2, 3), value)
        both("resize_bicubic", BATCH, (2, 3), half_pixel_centers=value)
        both("resize_area", BATCH.astype(bool), (2.0, 3.0), value)
    fails(
        lambda tf: tf.compat.v1.image.resize_bilinear(IMAGE, (2, 3), True, half_pixel_centers=True),
        "InvalidArgumentError",
        "If half_pixel_centers is True, align_corners must be False.",
    )


OWN = np.random.default_rng(3).integers(0, 256, (8, 9, 3), dtype=np.uint8)
MAPS = {
    "decoded": ("png", lambda tf, x: tf.io.decode_png(x)),
    "with channels": ("png", lambda tf, x: tf.image.decode_png(x, channels=3)),
    "of any format": ("png", lambda tf, x: tf.io.decode_image(x, expand_animations=False)),
    "turned": ("png", lambda tf, x: tf.image.flip_left_right(tf.io.decode_png(x))),
    "cut to a size": ("png", lambda tf, x: tf.image.crop_to_bounding_box(tf.io.decode_png(x), 0, 0, 8, 9)),
    "made to fit": ("png", lambda tf, x: tf.image.resize_with_crop_or_pad(tf.io.decode_png(x), 8, 9)),
    "of a shape": ("png", lambda tf, x: tf.ensure_shape(tf.io.decode_png(x), (8, 9, 3))),
    "of half a shape": ("png", lambda tf, x: tf.ensure_shape(tf.io.decode_png(x), (None, None, 3))),
    "of raw bytes": ("raw", lambda tf, x: tf.reshape(tf.io.decode_raw(x, tf.uint8), (8, 9, 3))),
    "as they are": ("image", lambda tf, x: x),
    "resized": ("png", lambda tf, x: tf.compat.v1.image.resize(tf.io.decode_png(x), (8, 9), 1)),
}


@tf_rule("6 resize_v1 in a map")
@pytest.mark.parametrize("name", MAPS)
def test_own_size_in_a_map(name):
    kind, make = MAPS[name]

    def case(tf):
        given = {"png": tf.io.encode_png(OWN), "raw": OWN.tobytes(), "image": OWN}[kind]
        images = tf.data.Dataset.from_tensors(given)
        found = []
        for options in ({}, {"method": 1}, {"align_corners": True}, {"preserve_aspect_ratio": True}):
            one = images.map(
                lambda x, options=options: tf.compat.v1.image.resize(make(tf, x), (8, 9), **options)
            )
            two = images.map(lambda x: make(tf, x)).map(
                lambda x, options=options: tf.compat.v1.image.resize(x, (8, 9), **options)
            )
            found += [next(iter(one)), next(iter(two))]
        padded = images.map(lambda x: tf.compat.v1.image.resize_image_with_pad(make(tf, x), 8, 9))
        return [*found, next(iter(padded)), tf.compat.v1.image.resize(make(tf, given), (8, 9))]

    same(case)


@tf_rule("6 resize_v1 in a map")
def test_shapes_that_are_set_in_a_map():
    def case(tf, shape):
        def change(x):
            image = tf.io.decode_png(x)
            image.set_shape(shape)
            return tf.compat.v1.image.resize(image, (8, 9))

        return next(iter(tf.data.Dataset.from_tensors(tf.io.encode_png(OWN)).map(change)))

    for shape in ((8, 9, 3), (None, None, 3), (8, 9, None), (None, 9, 3)):
        same(lambda tf, shape=shape: case(tf, shape))


def test_nothing_is_noted_that_no_longer_exists():
    from tfrkit.tf.tensors.unsized import NOTED

    test_own_size_in_a_map("turned")
    gc.collect()
    assert not NOTED
