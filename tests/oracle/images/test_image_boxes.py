"""Boxes in images, and JPEG quality: the same as TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.image_cases import batch, cast, pieces, tensor
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import same
from tests.oracle.tf.test_random_ops import after_seed
from tests.support.rules import tf_rule

CORNERS = st.floats(-0.25, 1.25, width=32, allow_subnormal=False)
PARTS = st.floats(0, 1, width=32, allow_subnormal=False)
BOX = [[[0.1, 0.2, 0.9, 0.8]]]


@tf_rule("6 crop_and_resize")
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16", "float64"])
@pytest.mark.parametrize("size", [[7, 9], [1, 1], [40, 3]])
def test_crop_and_resize(method, dtype, size):
    images = cast(batch(), dtype)
    boxes = [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.2, 0.3, 1.2, 0.6]]
    same(lambda tf: tf.image.crop_and_resize(tensor(tf, images), boxes, [0, 2, 1, 1], size, method, 0.5))


@tf_rule("6 crop_and_resize")
@settings(max_examples=60)
@given(st.lists(st.tuples(*[CORNERS] * 4), min_size=1, max_size=4), st.integers(1, 12), st.integers(1, 12))
def test_any_box(boxes, height, width):
    images = batch()
    indices = [number % 3 for number in range(len(boxes))]
    same(lambda tf: tf.image.crop_and_resize(tensor(tf, images), boxes, indices, [height, width]))


@tf_rule("6 crop_and_resize")
@pytest.mark.parametrize(
    "arguments",
    [
        (batch()[0], [[0, 0, 1, 1]], [0], [2, 2]),
        (batch(), [0, 0, 1, 1], [0], [2, 2]),
        (batch(), [[0, 0, 1]], [0], [2, 2]),
        (batch(), [[0, 0, 1, 1]], [0, 1], [2, 2]),
        (batch(), [[0, 0, 1, 1]], [3], [2, 2]),
        (batch(), [[0, 0, 1, 1]], [-1], [2, 2]),
        (batch(), [[0, 0, 1, 1]], [0], [2]),
        (batch(), [[0, 0, 1, 1]], [0], [0, 2]),
        (batch(), [[0, 0, 1, 1]], [0], [2, 2], "cubic"),
    ],
    ids=["image", "boxes", "columns", "indices", "index", "negative", "size", "zero", "method"],
)
def test_crops_that_are_refused(arguments):
    image, boxes, *rest = arguments
    found = same(lambda tf: tf.image.crop_and_resize(tensor(tf, image), np.float32(boxes), *rest))
    assert isinstance(found, Failure)


@tf_rule("6 draw_bounding_boxes")
@settings(max_examples=40)
@given(st.lists(st.tuples(*[CORNERS] * 4), min_size=1, max_size=12), st.sampled_from([1, 3, 4]))
def test_drawing_any_boxes(boxes, channels):
    images = np.zeros((1, 9, 11, channels), np.float32)
    frames = np.array([boxes], np.float32)
    same(lambda tf: tf.image.draw_bounding_boxes(images, frames, None))
    same(lambda tf: tf.image.draw_bounding_boxes(images, frames, [[0.1, 0.2, 0.3, 0.4], [1, 0, 1, 0]]))


@tf_rule("6 draw_bounding_boxes")
def test_drawing_that_is_refused():
    boxes, images = np.zeros((3, 1, 4), np.float32), cast(batch(), "float32")
    for given_, frames, colours in (
        (images[0], boxes, None),
        (images, boxes[0], None),
        (images, boxes[:2], None),
        (images[..., :2], boxes, None),
        (images, boxes[..., :3], None),
        (images, boxes, [1.0, 0, 0]),
        (images, boxes, [[1.0, 0]]),
        (batch(), boxes, None),
    ):
        found = same(
            lambda tf, given_=given_, frames=frames, colours=colours: tf.image.draw_bounding_boxes(
                tensor(tf, given_), frames, colours
            )
        )
        assert isinstance(found, Failure)


@tf_rule("6 sample_distorted_bounding_box")
@settings(max_examples=80)
@given(
    st.tuples(st.integers(0, 300), st.integers(0, 300)),
    st.lists(st.tuples(*[PARTS] * 4), max_size=3),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
    st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    st.tuples(st.floats(0.25, 2, width=32), st.floats(0, 1, width=32)),
    st.tuples(st.floats(0.015625, 1, width=32), st.floats(0, 1, width=32)),
    st.integers(1, 30),
)
def test_any_sample(size, boxes, seed, covered, ratios, areas, attempts):
    given_ = np.array(boxes, np.float32).reshape(1, -1, 4)
    options = {
        "min_object_covered": covered,
        "aspect_ratio_range": (ratios[0], sum(ratios)),
        "area_range": (areas[0], min(1.0, sum(areas))),
        "max_attempts": attempts,
        "use_image_if_no_bounding_boxes": True,
    }
    same(lambda tf: tf.image.stateless_sample_distorted_bounding_box([*size, 3], given_, seed, **options))


@tf_rule("6 sample_distorted_bounding_box")
def test_samples_call_after_call():
    def case(tf):
        return [
            tf.image.sample_distorted_bounding_box([90, 100, 3], BOX, seed, max_attempts=attempts)
            for seed in (1, 2, 1)
            for attempts in (10, 20, 10)
        ]

    same(after_seed(5, case))


@tf_rule("6 sample_distorted_bounding_box")
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([5, 5], BOX), {}),
        ((5, BOX), {}),
        (([5.0, 5, 3], BOX), {}),
        (([-5, 5, 3], BOX), {}),
        (([5, 5, 3], BOX[0]), {}),
        (([5, 5, 3], [[[0.1, 0.2, 0.9]]]), {}),
        (([5, 5, 3], [[[0.1, 0.2, 0.9, 1.8]]]), {}),
        (([5, 5, 3], np.zeros((1, 0, 4), np.float32)), {}),
        (([5, 5, 3], BOX), {"min_object_covered": -1.0}),
        (([5, 5, 3], BOX), {"min_object_covered": [1.0]}),
        (([5, 5, 3], BOX), {"aspect_ratio_range": (1,)}),
        (([5, 5, 3], BOX), {"aspect_ratio_range": (0, 1)}),
        (([5, 5, 3], BOX), {"area_range": (0, 1)}),
        (([5, 5, 3], BOX), {"area_range": (0.5, 1.5)}),
        (([5, 5, 3], BOX), {"max_attempts": 0}),
    ],
    ids=str,
)
def test_samples_that_are_refused(arguments, options):
    case = lambda tf: tf.image.stateless_sample_distorted_bounding_box(*arguments, (1, 2), **options)  # noqa: E731
    assert isinstance(same(case), Failure)


@tf_rule("6 random_jpeg_quality")
def test_random_jpeg_quality():
    image = pieces()[1]
    for seed in ((1, 2), (3, 4), (5, 6)):
        same(lambda tf, seed=seed: tf.image.stateless_random_jpeg_quality(image, 20, 90, seed))
    same(after_seed(3, lambda tf: [tf.image.random_jpeg_quality(image, 5, 50, seed=s) for s in (None, 1, 1)]))
    for qualities in ((95, 75), (75, 75), (-1, 50), (50, 101), (1.5, 50)):
        found = same(lambda tf, qualities=qualities: tf.image.random_jpeg_quality(image, *qualities))
        assert isinstance(found, Failure)
