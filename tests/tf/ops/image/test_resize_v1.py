"""The resizing of TensorFlow 1: where pixels lie, and when an image is returned as it is."""

from __future__ import annotations

import numpy as np

from tfrkit.tf.ops.image.resize_v1 import resize_bilinear, resize_image_with_pad, resize_images


def test_image_of_the_fitting_size_keeps_its_type():
    image = np.ones((30, 15, 1), np.uint8)
    assert resize_image_with_pad(image, 30, 20).dtype == np.uint8
    assert resize_image_with_pad(image, 60, 40).dtype == np.float32


def test_tensorflow_1_places_pixels_at_corners():
    row = np.array([[[0], [8]]], np.float32)
    assert resize_images(row, (1, 4)).ravel().tolist() == [0, 4, 8, 8]
    assert resize_bilinear(row[None], (1, 3), align_corners=True).ravel().tolist() == [0, 4, 8]
    assert resize_bilinear(row[None], (1, 4), half_pixel_centers=True).ravel().tolist() == [0, 2, 6, 8]
