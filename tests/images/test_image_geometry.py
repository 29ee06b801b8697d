"""Crops, flips and turns: what needs no TensorFlow to be known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr

IMAGE = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)


@pytest.mark.parametrize(
    "function", [tfr.image.flip_left_right, tfr.image.flip_up_down, tfr.image.rot90, tfr.image.transpose]
)
def test_results_are_arrays_of_their_own(function):
    image = IMAGE.copy()
    image.flags.writeable = False
    found = function(image)
    assert found.flags.c_contiguous
    assert not np.shares_memory(found, image)
    assert np.array_equal(image, IMAGE)


@given(st.integers(-9, 9))
def test_four_turns_are_none(k):
    turned = tfr.image.rot90(tfr.image.rot90(IMAGE, k), -k)
    assert np.array_equal(turned, IMAGE)
    assert np.array_equal(tfr.image.rot90(IMAGE, k), tfr.image.rot90(IMAGE, k + 4))


def test_flipping_twice_and_transposing_twice_change_nothing():
    for function in (tfr.image.flip_left_right, tfr.image.flip_up_down, tfr.image.transpose):
        assert np.array_equal(function(function(IMAGE)), IMAGE)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(4, 9), st.integers(5, 9))
def test_a_pad_is_undone_by_a_crop(top, left, height, width):
    padded = tfr.image.pad_to_bounding_box(IMAGE, top, left, height + top, width + left)
    assert padded.shape == (height + top, width + left, 3)
    assert int(padded.sum(dtype=np.int64)) == int(IMAGE.sum(dtype=np.int64))
    assert np.array_equal(tfr.image.crop_to_bounding_box(padded, top, left, 4, 5), IMAGE)


def test_sizes_with_fractions_are_refused():
    with pytest.raises(TypeError, match=r"expected an integer for a size or offset but got 1\.5"):
        tfr.image.crop_to_bounding_box(IMAGE, 0, 0, 1.5, 1)


def test_byte_order_does_not_matter():
    swapped = IMAGE.astype(">u2")
    found = tfr.image.flip_up_down(swapped)
    assert found.dtype.isnative
    assert np.array_equal(found, IMAGE[::-1])


def test_a_batch_is_its_images():
    batch = np.stack([IMAGE, IMAGE[::-1]])
    for function in (
        tfr.image.flip_left_right,
        tfr.image.rot90,
        lambda image: tfr.image.central_crop(image, 0.5),
        lambda image: tfr.image.adjust_contrast(image, 2),
        lambda image: tfr.image.adjust_hue(image, 0.3),
        tfr.image.per_image_standardization,
    ):
        assert np.array_equal(function(batch), np.stack([function(image) for image in batch]))
