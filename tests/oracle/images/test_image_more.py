"""Windows, overlapping boxes, scales, arguments: what image functions of TensorFlow do besides."""

from __future__ import annotations

import inspect
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.cpu_dependent import apart, cpu_dependent
from tests.oracle.support.image_cases import batch, cast, photos, pieces, tensor
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.tf_scenarios import ours, same, same_lines
from tests.support.rules import tf_rule

BOXES = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [1, 11, 0, 10], [0, 10.1, 1, 11.1], [0, 7, 1, 7]]
SCORES = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]
ONES = [1, 1, 1, 1]
SIZES = st.integers(1, 3)


def four(rows: int, columns: int) -> list[int]:
    return [1, rows, columns, 1]


def random_boxes(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(seed)
    boxes = numbers.random((count, 4), np.float32)
    return (boxes * 4).round() / 4 if seed % 2 else boxes, numbers.random(count, np.float32).round(
        seed % 3 + 1
    )


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


@tf_rule("6 non_max_suppression")
@settings(max_examples=80)
@given(
    st.integers(0, 99),
    st.integers(0, 40),
    st.integers(0, 30),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
    st.sampled_from([float("-inf"), 0.3]),
    st.sampled_from(["float32", "float16"]),
)
def test_boxes_that_overlap(seed, count, most, overlap, least, dtype):
    boxes, scores = (each.astype(dtype) for each in random_boxes(seed, count))
    table = np.random.default_rng(seed).random((count, count), np.float32)

    def case(tf: Any) -> Any:
        chosen = tf.image.non_max_suppression(
            tensor(tf, boxes),
            tensor(tf, scores),
            max_output_size=most,
            iou_threshold=overlap,
            score_threshold=least,
        )
        return chosen, tf.image.non_max_suppression_overlaps(table, np.float32(scores), most, overlap, least)

    same(case)


@cpu_dependent
@tf_rule("6 non_max_suppression")
@settings(max_examples=60)
@given(st.integers(0, 99), st.integers(0, 40), st.integers(0, 30), st.sampled_from([0.0, 0.1, 0.5, 2.0]))
def test_scores_that_fall(seed, count, most, sigma):
    boxes, scores = random_boxes(seed, count)
    chosen = "non_max_suppression_with_scores"
    same(
        lambda tf: getattr(tf.image, chosen)(boxes, scores, most, 0.5, 0.2, soft_nms_sigma=sigma),
        within=1e-6,
    )


@tf_rule("6 non_max_suppression")
def test_arguments_of_suppression():
    same_lines(
        """
        tf.image.non_max_suppression(boxes, scores, 3)
        tf.image.non_max_suppression(tf.constant(boxes), tf.constant(scores), tf.constant(3), tf.constant(0.5))
        tf.image.non_max_suppression(np.float64(boxes), np.float64(scores), np.int64(3))
        tf.image.non_max_suppression(tf.constant(boxes, tf.float64), tf.constant(scores, tf.float64), 3)
        tf.image.non_max_suppression(boxes, [0.5, float("nan"), 0.7, 0.5, 0.5, 0.5], 6)
        tf.image.non_max_suppression(boxes, scores, -1)
        tf.image.non_max_suppression(boxes, scores, 3.0)
        tf.image.non_max_suppression(boxes, scores, 3, 1.5)
        tf.image.non_max_suppression(boxes, scores, 3, [[0.5]])
        tf.image.non_max_suppression(boxes, scores, [3])
        tf.image.non_max_suppression(boxes[0], [0.9], 3)
        tf.image.non_max_suppression([[0.0, 0, 1]], [0.9], 3)
        tf.image.non_max_suppression([[0.0, 0, 1, 1]], [0.9, 0.75], 3)
        tf.image.non_max_suppression([[0.0, 0, 1, 1]], [[0.9]], 3)
        tf.image.non_max_suppression_with_scores(boxes, scores, 6, soft_nms_sigma=-0.5)
        tf.image.non_max_suppression_overlaps([[1.0, 0.61], [0.6, 1.0]], [0.5, 0.6], 3, 0.6)
        tf.image.non_max_suppression_overlaps([[1.0, 0.6], [0.61, 1.0]], [0.5, 0.6], 3, 0.6)
        tf.image.non_max_suppression_overlaps([[0.0, 0.3]], [0.5, 0.6], 3)
        """,
        boxes=BOXES,
        scores=SCORES,
    )


@tf_rule("6 combined_non_max_suppression")
@settings(max_examples=60)
@given(
    st.integers(0, 99),
    st.integers(0, 20),
    st.integers(1, 3),
    st.booleans(),
    st.tuples(st.integers(1, 8), st.integers(1, 20)),
    st.tuples(st.booleans(), st.booleans()),
)
def test_boxes_of_classes(seed, count, classes, own, sizes, options):
    numbers = np.random.default_rng(seed)
    boxes = numbers.random((2, count, classes if own else 1, 4), np.float32) * 1.4 - 0.2
    scores = numbers.random((2, count, classes), np.float32)
    same(lambda tf: tf.image.combined_non_max_suppression(boxes, scores, *sizes, 0.25, 0.2, *options))


@tf_rule("6 combined_non_max_suppression")
def test_arguments_of_suppression_of_classes():
    same_lines(
        """
        tf.image.combined_non_max_suppression(boxes, scores, 3, 5, pad_per_class=True, clip_boxes=False)
        tf.image.combined_non_max_suppression(boxes=boxes, scores=scores, max_output_size_per_class=3, max_total_size=5)
        tf.image.combined_non_max_suppression(boxes, scores, 0, 2)
        tf.image.combined_non_max_suppression(boxes, scores, 1, 0)
        tf.image.combined_non_max_suppression(boxes, scores, 1, 1, 1.5)
        tf.image.combined_non_max_suppression(boxes, scores, [1], 1)
        tf.image.combined_non_max_suppression(boxes[0], scores, 1, 1)
        tf.image.combined_non_max_suppression(boxes, scores[:, :3], 1, 1)
        tf.image.combined_non_max_suppression(boxes[..., :3], scores, 1, 1)
        tf.image.combined_non_max_suppression(np.tile(boxes, (1, 1, 2, 1)), np.tile(scores, 3), 1, 1)
        tf.image.combined_non_max_suppression(boxes[:0], scores[:0], 1, 1)
        """,
        boxes=np.float32(BOXES)[None, :, None],
        scores=np.float32(SCORES)[None, :, None],
    )


@cpu_dependent
@tf_rule("6 measures of images")
def test_similarity_at_several_scales():
    china, flower = (photo[:180, :201] for photo in photos())
    noisy = np.clip(china + np.random.default_rng(1).normal(0, 20, china.shape), 0, 255).astype(np.uint8)
    same_lines(
        """
        tf.image.ssim_multiscale(one, two, 255)
        tf.image.ssim_multiscale(one, three, max_val=255)
        tf.image.ssim_multiscale(one, 255 - one, 255)
        tf.image.ssim_multiscale(np.stack([one, two]), one[None], 255)
        tf.image.ssim_multiscale(one / 255, two / 255, 1.0)
        tf.image.ssim_multiscale(tf.constant(one), tf.constant(two), 255, (1, 1, 1, 1, 1))
        tf.image.ssim_multiscale(one, two, 255, [0.5, 0.5], 5, 1.0, 0.02, 0.05)
        tf.image.ssim_multiscale(one[:50], two[:50], 255)
        tf.image.ssim_multiscale(one[..., 0], two[..., 0], 255)
        tf.image.ssim_multiscale(one, two[:-1], 255)
        """,
        one=china,
        two=noisy,
        three=flower,
        within=7e-4,  # of the largest, which is 0.14 in the smallest case
    )


def absolute_edges(images):
    """The sums of the absolute products that edges are differences of."""
    wide = np.pad(np.abs(images.astype(np.float64)), ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    smooth_x = wide[:, :, :-2] + 2 * wide[:, :, 1:-1] + wide[:, :, 2:]
    smooth_y = wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    return np.stack([smooth_x[:, :-2] + smooth_x[:, 2:], smooth_y[:, :, :-2] + smooth_y[:, :, 2:]], -1)


@cpu_dependent
@tf_rule("6 measures of images")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_edges(dtype):
    for image in (batch(), pieces()[0][None], photos()[0][None, :200, :301]):
        given = cast(image, dtype)
        within = apart(
            dtype, 5, absolute_edges(given)
        )  # of six numbers, once or twice: those products are exact
        same(lambda tf, given=given: tf.image.sobel_edges(tensor(tf, given)), within=within)


@tf_rule("6 measures of images")
def test_edges_that_are_refused():
    same_lines(
        """
        tf.image.sobel_edges(tf.zeros([5, 6, 3]))
        tf.image.sobel_edges(tf.zeros([1, 1, 4, 1]))
        tf.image.sobel_edges(tf.zeros([0, 3, 4, 1]))
        tf.image.sobel_edges(tf.zeros([1, 2, 4, 1], tf.uint8))
        """
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


@cpu_dependent
@tf_rule("6 total_variation")
def test_total_variation_of_half():
    same(
        lambda tf: tf.image.total_variation(tensor(tf, cast(photos()[1][:150, :163], "float16"))), within=3e-3
    )


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
    assert len(names) >= (11 if space.endswith("io") else 66)
    for name in names:
        assert arguments(getattr(our, name)) == arguments(getattr(theirs, name)), name


def test_failures_are_compared():
    assert isinstance(
        same(lambda tf: tf.image.extract_patches(batch()[0], ONES, ONES, ONES, "SAME")), Failure
    )
