"""Windows, flat images, arguments: what image functions of TensorFlow do besides."""

from __future__ import annotations

import inspect
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.image_cases import batch, cast, photos, pieces, tensor
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.tf_scenarios import ours, same, same_lines
from tests.support.rules import tf_rule

ONES = [1, 1, 1, 1]
SIZES = st.integers(1, 3)


def four(rows: int, columns: int) -> list[int]:
    return [1, rows, columns, 1]


@tf_rule("6 extract_patches")
@settings(max_examples=60)
@given(st.tuples(*[st.integers(1, 8)] * 2), st.tuples(*[SIZES] * 6), st.sampled_from(["SAME", "VALID"]))
def test_any_windows(size, numbers, padding):
    images = batch()[:2, : size[0], : size[1]]
    window, strides, rates = four(*numbers[:2]), four(*numbers[2:4]), four(*numbers[4:])
    same(lambda tf: tf.image.extract_patches(images, window, strides, rates, padding))


@tf_rule("6 extract_patches")
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_windows_of_every_type(dtype):
    images = cast(batch(), dtype) if dtype != "complex64" else batch().astype(dtype) * 1j
    same(lambda tf: tf.image.extract_patches(tensor(tf, images), four(3, 2), four(2, 2), ONES, "SAME"))


@tf_rule("6 extract_patches")
def test_windows_that_are_refused():
    same_lines(
        """
        tf.image.extract_patches(image[0], w, ones, ones, "SAME")
        tf.image.extract_patches(image, [1, 2, 2], ones, ones, "SAME")
        tf.image.extract_patches(image, [2, 2, 2, 1], ones, ones, "SAME")
        tf.image.extract_patches(image, w, [1, 1, 1, 2], ones, "SAME")
        tf.image.extract_patches(image, w, [1, 0, 1, 1], ones, "SAME")
        tf.image.extract_patches(image, w, ones, [1, 1, 0, 1], "SAME")
        tf.image.extract_patches(image, w, ones, ones, "same")
        tf.image.extract_patches(image, 2, ones, ones, "SAME")
        tf.image.extract_patches(image, [1, 2.5, 2, 1], ones, ones, "SAME")
        tf.image.extract_patches(image[:, :2], [1, 3, 2, 1], ones, ones, "VALID")
        tf.image.extract_patches(image[:, :1], [1, 3, 2, 1], ones, ones, "VALID")
        tf.image.extract_patches(image[:0], w, ones, ones, "SAME")
        tf.image.extract_patches(tf.fill([1, 2, 2, 1], "a"), w, ones, ones, "SAME")
        """,
        image=batch(),
        w=four(2, 2),
        ones=ONES,
    )


@tf_rule("6 per_image_standardization")
@pytest.mark.parametrize("scale", [1, 255])
def test_nearly_flat_images(scale):
    image = photos()[0][:40, 300:420] / np.float32(scale)  # sky
    quotient = abs(image.mean()) / image.std()
    assert quotient > 10
    found = [
        np.asarray(module.image.per_image_standardization(image).numpy()) for module in (tensorflow(), ours())
    ]
    assert np.abs(found[0] - found[1]).max() <= 2e-6 * (np.abs(found[0]).max() + quotient)


@tf_rule("6 arrays that are no tensors")
def test_arrays_that_are_no_tensors():
    same_lines(
        """
        tf.image.rgb_to_hsv(image)
        tf.image.rgb_to_hsv(images=image / 255)
        tf.image.rgb_to_hsv(tf.constant(image / 255))
        tf.image.rgb_to_hsv(tf.constant(image))
        tf.image.rgb_to_hsv([[[1, 2, 3]]])
        tf.image.rgb_to_hsv([[["1", "2", "3"]]])
        tf.image.hsv_to_rgb((image / 255).astype("float16"))
        tf.image.draw_bounding_boxes(image[None], [[[0, 0, 1, 1]]], None)
        tf.image.draw_bounding_boxes(image[None] / 255, np.float32([[[0, 0, 1, 1]]]), None)
        tf.image.draw_bounding_boxes(tf.constant(image[None]), [[[0, 0, 1, 1]]], None)
        tf.image.resize(image, np.array([3.7, 4.2]))
        tf.image.resize(image, tf.constant([3.0, 4.0]))
        tf.image.resize(image, size=tf.constant([3, 4], tf.int64))
        tf.image.resize(image, [tf.constant(3, tf.int64), tf.constant(4, tf.int64)])
        tf.compat.v1.image.resize(image, tf.constant([3, 4], tf.int16))
        tf.image.crop_and_resize(image[None], [[0, 0, 1, 1]], [0], 5)
        """,
        image=pieces()[3],
    )


@tf_rule("6 image functions of TensorFlow 1")
def test_arguments_of_tensorflow_1():
    same_lines(
        """
        tf.compat.v1.image.crop_and_resize(images, boxes, [0], [2, 3])
        tf.compat.v1.image.crop_and_resize(images, boxes, box_ind=[1], crop_size=[2, 3], method="nearest")
        tf.compat.v1.image.crop_and_resize(images, boxes, box_indices=[1], crop_size=[2, 3])
        tf.compat.v1.image.crop_and_resize(images, boxes, box_ind=[0], box_indices=[0], crop_size=[2, 2])
        tf.compat.v1.image.crop_and_resize(images, boxes, [0])
        tf.compat.v1.image.draw_bounding_boxes(images, [boxes] * 3)
        tf.compat.v1.image.draw_bounding_boxes(images, [boxes] * 3, "name", colors=[[0.5, 1, 2]])
        tf.compat.v1.image.extract_image_patches(images, [1, 2, 2, 1], ones, ones, "SAME")
        tf.compat.v1.extract_image_patches(images, sizes=[1, 2, 2, 1], strides=ones, rates=ones, padding="VALID")
        tf.compat.v1.image.extract_image_patches(images, ones, ones, ones, "SAME", sizes=ones)
        [tf.compat.v1.image.sample_distorted_bounding_box([40, 50, 1], [boxes], 4, 5, 0.2) for _ in range(3)]
        [tf.compat.v1.image.sample_distorted_bounding_box([40, 50, 1], [boxes], seed2=6) for _ in range(3)]
        [tf.compat.v1.image.sample_distorted_bounding_box([40, 50, 1], [boxes], seed=7) for _ in range(3)]
        """,
        images=batch(),
        boxes=[[0.0, 0.0, 1.0, 1.0]],
        ones=ONES,
    )


def arguments(function: Any) -> list[tuple[str, Any]]:
    """Names and defaults, in order. The names of operations are arguments that may be left out."""
    found = inspect.signature(function).parameters.values()
    return [(each.name, str(_plain(each.default))) for each in found if each.name != "name"]


def _plain(value: Any) -> Any:
    value = getattr(value, "name", getattr(value, "value", value))
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def functions(space: str) -> list[str]:
    """TensorFlow's functions of images that tfrkit has too."""
    theirs, our = (reduce(getattr, space.split("."), module) for module in (tensorflow(), ours()))
    words = ("image",) if space.endswith("image") else ("jpeg", "png", "gif", "bmp", "webp", "decode_image")
    names = [
        name
        for name in dir(theirs)
        if name[0] not in "_R" and (words == ("image",) or any(map(name.__contains__, words)))
    ]
    return [name for name in names if hasattr(our, name)]


@tf_rule("6 arguments of image functions")
@pytest.mark.parametrize("space", ["image", "io", "compat.v1.image", "compat.v1.io"])
def test_arguments_have_the_same_names_and_defaults(space):
    theirs, our = (reduce(getattr, space.split("."), module) for module in (tensorflow(), ours()))
    names = functions(space)
    assert len(names) >= (11 if space.endswith("io") else 57)
    for name in names:
        assert arguments(getattr(our, name)) == arguments(getattr(theirs, name)), name


def test_failures_are_compared():
    assert isinstance(
        same(lambda tf: tf.image.extract_patches(batch()[0], ONES, ONES, ONES, "SAME")), Failure
    )
