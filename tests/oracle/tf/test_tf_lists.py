"""Lists whose items are arrays and tensors, in TensorFlow and in `tfrkit.tf`: types, shapes and refusals."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.oracle.support.tf_scenarios import ours, outcome, same, same_lines
from tests.support.rules import tf_rule

NUMBERS = (
    "uint8",
    "int8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)
TYPES = ("bool", *NUMBERS, "complex64", "complex128")


def grid(dtype):
    return np.arange(6).reshape(2, 3).astype(dtype)


@tf_rule("6 lists of arrays")
@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_of_one_type(dtype):
    array = grid(dtype)
    for value in (
        [array],
        [array, array],
        ([array],),
        [[array], [array]],
        list(array),
        [array[:, ::-1], array],
    ):
        same(lambda tf, value=value: tf.constant(value))
        same(lambda tf, value=value: tf.convert_to_tensor(value))
        same(lambda tf, value=value: tf.stack(value))
        same(lambda tf, value=value: tf.reverse(value, [0]))
        for wanted in ("float32", "float16", "int64", "uint8", "complex128", "bool", "bfloat16"):
            same(lambda tf, value=value, wanted=wanted: tf.constant(value, wanted))


@tf_rule("6 lists of arrays")
@pytest.mark.parametrize("dtype", NUMBERS)
def test_arrays_of_several_types(dtype):
    for other in NUMBERS:
        same(lambda tf, other=other: tf.constant([grid(dtype), grid(other)]))
        same(lambda tf, other=other: tf.constant([grid(dtype)[0, 1], grid(other)[0, 2]]))
        same(
            lambda tf, other=other: tf.convert_to_tensor([tf.constant(grid(dtype)), tf.constant(grid(other))])
        )
    same(lambda tf: tf.constant([grid(dtype), grid("bool")]))
    same(lambda tf: tf.constant([grid("bool"), grid(dtype)]))


@tf_rule("6 lists of arrays")
@pytest.mark.parametrize("dtype", TYPES)
def test_tensors_among_the_items(dtype):
    same(lambda tf: tf.convert_to_tensor([tf.constant(grid(dtype))]))
    same(lambda tf: tf.stack([tf.constant(grid(dtype)), grid(dtype)]))
    same(lambda tf: tf.stack([grid(dtype), tf.constant(grid(dtype))]))
    same(
        lambda tf: tf.convert_to_tensor([[tf.constant(grid(dtype)[0, 0])], [tf.constant(grid(dtype)[1, 1])]])
    )
    same(lambda tf: tf.reverse([tf.constant(grid(dtype))], [1]))


@tf_rule("6 lists of arrays")
def test_items_that_differ():
    same_lines(
        """
        tf.constant([a, [1, 2]])
        tf.constant([[1, 2], a])
        tf.constant([[1.5, 2], a])
        tf.constant([a, [1.5, 2]])
        tf.constant([a, 5])
        tf.constant([5, a])
        tf.constant([a, None])
        tf.constant([a, "x"])
        tf.constant([a, np.arange(3)])
        tf.constant([a, np.zeros((2, 2))])
        tf.constant([np.zeros((2, 2)), a])
        tf.constant([[a], [a, a]])
        tf.constant([[a], a])
        tf.constant([np.uint8(1), np.float32(2.5)])
        tf.constant([np.float64(1), 2])
        tf.constant([1, np.float64(2.5)])
        tf.constant([True, np.bool_(False)])
        tf.constant([np.bool_(True), 1])
        tf.constant([1, np.bool_(True)])
        tf.constant([1.5, np.bool_(True)])
        tf.constant([1, True])
        tf.constant([np.array(2**40), np.array(1)])
        tf.constant([np.array([2**40, 1])])
        tf.constant([np.array([2**63 + 5], np.uint64)])
        tf.constant([np.array([np.nan, np.inf])])
        tf.constant([np.array([1e300])])
        tf.constant([np.array([1e300])], tf.float32)
        tf.constant([np.array([300])], tf.uint8)
        tf.constant([np.array([1.5])], tf.int32)
        tf.constant([np.zeros((0, 3), np.uint8)])
        tf.constant([np.zeros((2, 0))])
        tf.constant([np.zeros((2, 0))], tf.int64)
        tf.constant([np.array([b"a", b"bc"])])
        tf.constant([np.array(["a", "é"])])
        tf.constant([np.array([b"a", "b"], object)])
        tf.constant([np.array([1, 2], ">i4"), np.array([3, 4], ">i4")])
        tf.constant([np.ma.array([1, 2])])
        tf.constant([range(3), range(3)])
        tf.constant([(1, 2), [3, 4]])
        tf.constant([[], []])
        tf.constant([[], [1]])
        tf.constant([[1], []])
        tf.convert_to_tensor([tf.constant(1), 5])
        tf.convert_to_tensor([5, tf.constant(1)])
        tf.convert_to_tensor([tf.constant(1), tf.constant(1, tf.int64)])
        tf.convert_to_tensor([[tf.constant(1), 1], [2, tf.constant(3)]])
        tf.convert_to_tensor([tf.constant(1, tf.uint8), np.uint8(2)])
        tf.convert_to_tensor([tf.constant("a"), "b"])
        """,
        a=np.arange(2),
    )


IMAGE = np.random.default_rng(5).integers(0, 256, (9, 11, 3), dtype=np.uint8)
LINES = """
    tf.image.resize([image], (5, 4))
    tf.image.resize([image, image], (5, 4), "nearest")
    tf.image.resize(([image]), (9, 11))
    tf.image.flip_left_right([image])
    tf.image.flip_up_down([image])
    tf.image.rot90([image])
    tf.image.transpose([image])
    tf.image.central_crop([image], 0.5)
    tf.image.crop_to_bounding_box([image], 1, 2, 3, 4)
    tf.image.pad_to_bounding_box([image], 1, 2, 430, 650)
    tf.image.resize_with_crop_or_pad([image], 20, 5)
    tf.image.resize_with_pad([image], 20, 5)
    tf.image.rgb_to_grayscale([image])
    tf.image.adjust_brightness([image], 0.1)
    tf.image.adjust_contrast([image], 0.5)
    tf.image.adjust_saturation([image], 0.5)
    tf.image.adjust_hue([image], 0.1)
    tf.image.convert_image_dtype([image], tf.float32)
    tf.image.stateless_random_flip_left_right([image, image], (1, 2))
    tf.image.stateless_random_brightness([image], 0.1, (1, 2))
    tf.image.random_crop([image], (1, 3, 4, 3), seed=3)
    tf.cast([image], tf.float32) / 255
    tf.reduce_max([image])
"""


@tf_rule("6 lists of arrays")
@pytest.mark.parametrize("kind", ["array", "tensor", "float array", "float tensor"])
def test_lists_of_images(kind):
    image = IMAGE / np.float32(255) if "float" in kind else IMAGE
    lines = "tf.random.set_seed(1) or " + LINES.strip().replace("\n    ", "\ntf.random.set_seed(1) or ")
    same_lines(lines, image=image if "array" in kind else lambda tf: tf.constant(image))


@pytest.mark.parametrize(
    "line", [line.strip() for line in LINES.strip().splitlines() if "resize_with_pad" not in line]
)
@pytest.mark.parametrize("wrapped", [False, True], ids=["array", "tensor"])
def test_images_are_not_taken_apart_into_numbers(line, wrapped):
    photo = np.random.default_rng(5).integers(0, 256, (427, 640, 3), dtype=np.uint8)
    tf = ours()
    line = line.replace("(9, 11)", "(427, 640)")
    names = {"tf": tf, "image": tf.constant(photo) if wrapped else photo}
    eval(line, names)  # what is imported and cached does not count
    tracemalloc.start()
    try:
        eval(line, names)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * photo.size, "a list of its numbers alone takes as much"


def test_lists_share_no_memory_with_the_arrays():
    for dtype in ("int32", "float32", "bool"):
        array = grid(dtype)
        made = ours().constant([array])
        array[:] = 0
        assert made.numpy().any()
    assert outcome(ours(), lambda tf: tf.constant([grid("float32")])).shape == (1, 2, 3)
