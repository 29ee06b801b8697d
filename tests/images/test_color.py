"""Colours: golden values and properties that need no TensorFlow."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr

COLOURS = st.lists(
    st.tuples(*[st.floats(0, 1, width=32, allow_subnormal=False)] * 3), min_size=1, max_size=12
).map(lambda rows: np.array([rows], np.float32))


def test_bytes_times_a_255th():
    found = tfr.image.convert_image_dtype(np.arange(256, dtype=np.uint8), "float32")
    exact = np.arange(256) / np.float32(255)
    assert np.array_equal(found, np.arange(256, dtype=np.float32) * np.float32(1 / 255))
    assert int((found != exact.astype(np.float32)).sum()) == 126


@given(COLOURS)
def test_hsv_and_back(colours):
    there = tfr.image.rgb_to_hsv(colours)
    assert ((there >= 0) & (there <= 1)).all()
    assert np.allclose(tfr.image.hsv_to_rgb(there), colours, atol=2e-6)


@given(COLOURS)
def test_a_whole_turn_of_the_hue_is_none(colours):
    assert np.allclose(tfr.image.adjust_hue(colours, 1.0), colours, atol=2e-6)
    assert np.allclose(tfr.image.adjust_hue(tfr.image.adjust_hue(colours, 0.25), -0.25), colours, atol=4e-6)


@given(COLOURS)
def test_without_saturation_everything_is_gray(colours):
    gray = tfr.image.adjust_saturation(colours, 0)
    assert np.array_equal(gray, np.repeat(colours.max(-1, keepdims=True), 3, -1))


@given(COLOURS)
def test_without_contrast_everything_is_the_mean(colours):
    assert np.allclose(tfr.image.adjust_contrast(colours, 0), colours.mean((0, 1)), atol=1e-6)


def test_inputs_stay_as_they_are():
    image = np.random.default_rng(1).random((5, 4, 3), np.float32)
    image.flags.writeable = False
    before = image.copy()
    for call in (
        lambda: tfr.image.adjust_brightness(image, 0.1),
        lambda: tfr.image.adjust_contrast(image, 2),
        lambda: tfr.image.adjust_saturation(image, 2),
        lambda: tfr.image.adjust_hue(image, 0.1),
        lambda: tfr.image.adjust_gamma(image, 2),
        lambda: tfr.image.per_image_standardization(image),
        lambda: tfr.image.rgb_to_hsv(image),
        lambda: tfr.image.stateless_random_flip_left_right(image[None], (1, 2)),
    ):
        assert not np.shares_memory(call(), image)
        assert np.array_equal(image, before)
