"""Colour spaces and changes of colours: the same as TensorFlow's, bit for bit where the rules say so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.cpu_dependent import apart, cpu_dependent
from tests.oracle.support.image_cases import FLOATS, INTEGERS, TYPES, batch, cast, pieces, tensor
from tests.oracle.support.oracle import Failure
from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

SPACES = {  # what TensorFlow multiplies red, green and blue with, or what stands for them
    "rgb_to_yiq": [
        [0.299, 0.59590059, 0.2115],
        [0.587, -0.27455667, -0.52273617],
        [0.114, -0.32134392, 0.31119955],
    ],
    "yiq_to_rgb": [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]],
    "rgb_to_yuv": [
        [0.299, -0.14714119, 0.61497538],
        [0.587, -0.28886916, -0.51496512],
        [0.114, 0.43601035, -0.10001026],
    ],
    "yuv_to_rgb": [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]],
}
POWERS = 3e-7  # of adjust_gamma in float32
ODD = np.array(
    [[[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]], [[1, 1, 1], [-1, 0.5, 2], [3, 3, 3], [0.5, 0.25, 0.5]]],
    np.float32,
)


def images(dtype):
    return [cast(image, dtype) for image in (*pieces(), batch())]


@tf_rule("6 rgb_to_grayscale")
@pytest.mark.parametrize("dtype", TYPES)
def test_gray_of_colours(dtype):
    for image in images(dtype):
        same(lambda tf, image=image: tf.image.rgb_to_grayscale(image))


@tf_rule("6 rgb_to_grayscale")
@pytest.mark.parametrize("dtype", ["bool", "complex64"])
def test_gray_of_other_types(dtype):
    fails(
        lambda tf: tf.image.rgb_to_grayscale(cast(pieces()[3], dtype)),
        "AttributeError",
        "image dtype must be either floating point or integer",
    )


@tf_rule("6 rgb_to_grayscale")
@pytest.mark.parametrize("shape", [(2, 2, 4), (2, 2, 1), (4,), (0,), (0, 3), (2, 0, 3), (2, 2, 4, 5, 3)])
def test_gray_of_other_shapes(shape):
    same(lambda tf: tf.image.rgb_to_grayscale(np.zeros(shape, np.float32)))


@tf_rule("6 grayscale_to_rgb")
@pytest.mark.parametrize("dtype", [*[name for name in TYPES if name != "uint16"], "bool"])
def test_colours_of_gray(dtype):
    for image in images(dtype):
        same(lambda tf, image=image: tf.image.grayscale_to_rgb(tensor(tf, image[..., :1])))


@tf_rule("6 grayscale_to_rgb")
@pytest.mark.parametrize("shape", [(), (3,), (1,), (2, 3), (2, 1), (0, 1), (2, 2, 2)])
def test_colours_of_gray_of_other_shapes(shape):
    same(lambda tf: tf.image.grayscale_to_rgb(tensor(tf, np.zeros(shape, np.float32))))


@tf_rule("6 hsv")
@pytest.mark.parametrize("dtype", FLOATS)
def test_hsv_and_back(dtype):
    for image in (*images(dtype), ODD.astype(images(dtype)[0].dtype)):
        same(lambda tf, image=image: tf.image.rgb_to_hsv(tensor(tf, image)))
        same(lambda tf, image=image: tf.image.hsv_to_rgb(tensor(tf, image)))


@tf_rule("6 hsv")
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_hsv_of_integers_is_refused(dtype):
    image = cast(pieces()[3], dtype)
    text = (
        f"Value for attr 'T' of {dtype} is not in the list of allowed values: half, bfloat16, float, double"
    )
    fails(lambda tf: tf.image.rgb_to_hsv(tensor(tf, image)), "InvalidArgumentError", text)
    fails(lambda tf: tf.image.hsv_to_rgb(tensor(tf, image)), "InvalidArgumentError", text)


@tf_rule("6 hsv")
@pytest.mark.parametrize("shape", [(), (0,), (3,), (4,), (2, 2, 1), (2, 2, 4), (0, 3), (2, 2, 2, 2, 3)])
def test_hsv_of_other_shapes(shape):
    same(lambda tf: tf.image.rgb_to_hsv(np.zeros(shape, np.float32)))
    same(lambda tf: tf.image.hsv_to_rgb(np.zeros(shape, np.float32)))


@cpu_dependent
@tf_rule("6 yiq and yuv")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", list(SPACES))
def test_yiq_and_yuv(name, dtype):
    for image in (*images(dtype), ODD.astype(images(dtype)[0].dtype)):
        absolute = np.abs(image.astype(np.float64)) @ np.abs(SPACES[name])
        within = apart(dtype, 3, absolute, summed_in="float64" if dtype == "float64" else "float32")
        same(lambda tf, image=image: getattr(tf.image, name)(image), within=within)


@tf_rule("6 yiq and yuv")
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_yiq_and_yuv_of_integers_are_refused(dtype):
    for name in ("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"):
        fails(
            lambda tf, name=name: getattr(tf.image, name)(cast(pieces()[3], dtype)),
            "TypeError",
            f"to EagerTensor of dtype {dtype}",
        )


@cpu_dependent
@tf_rule("6 yiq and yuv")
@pytest.mark.parametrize("shape", [(3,), (4,), (2, 2, 1), (0, 3), (2, 2, 2, 2, 3)])
def test_yuv_of_other_shapes(shape):
    same(lambda tf: tf.image.rgb_to_yuv(np.zeros(shape, np.float32)))


def changes(name, factors, dtype, within=0.0):
    for image in images(dtype):
        for factor in factors:
            same(lambda tf, image=image, factor=factor: getattr(tf.image, name)(image, factor), within=within)


@tf_rule("6 adjust_brightness")
@pytest.mark.parametrize("dtype", TYPES)
def test_brightness(dtype):
    changes("adjust_brightness", (0.1, -0.3, 0, 1, np.float64(0.777)), dtype)


@tf_rule("6 adjust_brightness")
def test_brightness_of_each_channel():
    same(lambda tf: tf.image.adjust_brightness(pieces()[1], [0.1, -0.2, 0.3]))
    same(lambda tf: tf.image.adjust_brightness(np.float32(3), 0.5))


@tf_rule("6 adjust_contrast")
@pytest.mark.parametrize("dtype", [name for name in TYPES if name != "float16"])
def test_contrast(dtype):
    changes("adjust_contrast", (0, 0.5, 1.7, 3, -1.0, np.float64(1.1)), dtype)


@tf_rule("6 adjust_contrast")
@settings(max_examples=40)
@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 5),
    st.floats(-4, 4, width=32, allow_subnormal=False),
)
def test_contrast_of_any_size(height, width, channels, factor):
    values = np.random.default_rng(height * 41 + width).normal(size=(height, width, channels))
    same(lambda tf: tf.image.adjust_contrast(values.astype(np.float32), factor))


@tf_rule("6 adjust_saturation")
@pytest.mark.parametrize("dtype", [name for name in TYPES if name != "float16"])
def test_saturation(dtype):
    changes("adjust_saturation", (0, 0.5, 1.7, 3, -1.0, np.float64(1.1)), dtype)
    same(lambda tf: tf.image.adjust_saturation(ODD, 1.3))


@tf_rule("6 adjust_hue")
@pytest.mark.parametrize("dtype", [name for name in TYPES if name != "float16"])
def test_hue(dtype):
    changes("adjust_hue", (0, 0.5, -0.2, 1, -1, 0.123, np.float64(0.9)), dtype)
    same(lambda tf: tf.image.adjust_hue(ODD, 0.3))


@tf_rule("6 colours of half")
@pytest.mark.parametrize("name", ["adjust_contrast", "adjust_saturation", "adjust_hue"])
def test_changes_of_half_work_in_tfrkit_only(name):
    from tests.oracle.support.tf_scenarios import ours, outcome, tensorflow

    image = cast(pieces()[1], "float16")
    theirs = outcome(tensorflow(), lambda tf: getattr(tf.image, name)(image, 0.5))
    assert isinstance(theirs, Failure)
    assert theirs.name == "NotFoundError"
    found = outcome(ours(), lambda tf: getattr(tf.image, name)(image, 0.5))
    wide = outcome(ours(), lambda tf: getattr(tf.image, name)(image.astype(np.float32), 0.5))
    assert found.dtype == "float16"
    assert np.array_equal(found.values, wide.values.astype(np.float16))


@tf_rule("6 changes of colours")
@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("adjust_contrast", [0.1]),
        ("adjust_contrast", "a"),
        ("adjust_contrast", None),
        ("adjust_saturation", [0.1, 0.2]),
        ("adjust_saturation", "a"),
        ("adjust_saturation", None),
        ("adjust_hue", 1.1),
        ("adjust_hue", -1.1),
        ("adjust_gamma", -0.1),
        ("adjust_brightness", None),
    ],
    ids=str,
)
def test_arguments_that_are_refused(name, argument):
    found = same(lambda tf: getattr(tf.image, name)(pieces()[3], argument))
    assert isinstance(found, Failure)


@tf_rule("6 changes of colours")
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 2, 4), (2, 2, 1), (0, 4, 3), (2, 2, 0, 3)])
def test_changes_of_other_shapes(shape):
    image = np.zeros(shape, np.float32)
    for name in ("adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue"):
        same(lambda tf, name=name: getattr(tf.image, name)(image, 0.5))


@tf_rule("6 changes of colours")
@pytest.mark.parametrize("dtype", ["bool", "complex64"])
def test_changes_of_other_types(dtype):
    image = cast(pieces()[3], dtype)
    for name in ("adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue", "adjust_gamma"):
        text = "image dtype must be either floating point or integer"
        fails(lambda tf, name=name: getattr(tf.image, name)(image, 0.5), "AttributeError", text)


@cpu_dependent
@tf_rule("6 adjust_gamma")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("gamma", "gain"), [(1, 1), (2, 1), (0.5, 1.5), (2.2, 0.7), (0, 1), (3.5, 2)])
def test_gamma(dtype, gamma, gain):
    within = {"float16": 1e-3, "bfloat16": 8e-3}.get(dtype, POWERS)
    for image in images(dtype):
        same(lambda tf, image=image: tf.image.adjust_gamma(image, gamma, gain), within=within)


@cpu_dependent
@tf_rule("6 adjust_gamma")
@pytest.mark.parametrize(("gamma", "gain"), [(1, 1), (2, 1), (0.5, 1.5), (2.2, 0.7), (0, 1), (0.9, 1)])
def test_gamma_of_bytes_is_exact(gamma, gain):
    every = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    for image in (every, *images("uint8"), *images("uint16")):
        same(lambda tf, image=image: tf.image.adjust_gamma(image, gamma, gain))
