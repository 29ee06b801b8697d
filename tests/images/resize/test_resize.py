"""Resizing without TensorFlow: numbers that can be worked out, writing into given memory, and errors."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.errors import InvalidArgumentError, ResourceExhaustedError
from tfrkit.images.resize.resize import ResizeMethod, resize, resize_into
from tfrkit.images.resize.resize_fit import resize_with_crop_or_pad, resize_with_pad
from tfrkit.images.resize.resize_size import fitting_size, output_size

METHODS = [value for name, value in vars(ResizeMethod).items() if not name.startswith("_")]
IMAGE = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)


def reference(image, height, width):
    """Bilinear by the formula, in numpy's float32."""
    one = np.float32(1)

    def places(inside, outside):
        scale = np.float32(inside) / np.float32(outside)
        at = (np.arange(outside, dtype=np.float32) + one / 2) * scale - one / 2
        low = np.floor(at)
        lower = np.maximum(low.astype(int), 0)
        return lower, np.minimum(np.ceil(at).astype(int), inside - 1), at - low

    top, bottom, down = places(image.shape[0], height)
    left, right, along = places(image.shape[1], width)
    pixels, along, down = image.astype(np.float32), along[:, None], down[:, None, None]
    rows = [pixels[y][:, left] + (pixels[y][:, right] - pixels[y][:, left]) * along for y in (top, bottom)]
    return rows[0] + (rows[1] - rows[0]) * down


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["uint8", "float32", "int16"]),
    st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5)),
    st.integers(1, 60),
    st.integers(1, 60),
)
def test_bilinear_is_the_formula(seed, dtype, shape, height, width):
    image = (np.random.default_rng(seed).random(shape) * 255).astype(dtype)
    expected = image.astype(np.float32) if shape[:2] == (height, width) else reference(image, height, width)
    assert resize(image, (height, width)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_constant_images_stay_constant(method):
    image = np.full((9, 7, 3), 100, np.uint8)
    for size in ((4, 3), (20, 30), (9, 7)):
        for antialias in (False, True):
            assert np.allclose(resize(image, size, method, antialias=antialias), 100, rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_is_its_images(method):
    batch = np.stack([IMAGE, IMAGE[::-1], 255 - IMAGE])
    expected = [resize(image, (3, 7), method) for image in batch]
    assert np.array_equal(resize(batch, (3, 7), method), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
def test_into_gives_the_same(method, antialias):
    expected = resize(IMAGE, (3, 7), method, antialias=antialias)
    batch = np.zeros((3, *expected.shape), expected.dtype)
    resize_into(IMAGE, batch[1], method, antialias)
    assert np.array_equal(batch[1], expected)
    assert not batch[0].any()
    assert not batch[2].any()


@pytest.mark.parametrize("method", [method for method in METHODS if method != "nearest"])
def test_into_with_a_factor_is_numpys_arithmetic(method):
    plain = resize(IMAGE, (6, 7), method)
    out = np.empty_like(plain)
    resize_into(IMAGE, out, method, divide=255)
    assert out.tobytes() == (plain / np.float32(255)).tobytes()
    resize_into(IMAGE, out, method, multiply=1 / 255)
    assert out.tobytes() == (plain * np.float32(1 / 255)).tobytes()


def test_into_with_the_same_size_and_a_factor():
    out = np.empty(IMAGE.shape, np.float32)
    resize_into(IMAGE, out, divide=255)
    assert out.tobytes() == (IMAGE.astype(np.float32) / np.float32(255)).tobytes()


def test_into_a_batch():
    batch = np.stack([IMAGE, 255 - IMAGE])
    out = np.empty((2, 8, 9, 3), np.float32)
    resize_into(batch, out, "bicubic")
    assert np.array_equal(out, resize(batch, (8, 9), "bicubic"))


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.zeros((2, 2, 1), np.float32), r"expected an array of shape \(..., 3\) but got \(2, 2, 1\)"),
        (np.zeros((1, 2, 2, 3), np.float32), "expected an array of shape"),
        (np.zeros((2, 2, 3)), "expected a C-contiguous array of float32 but got float64"),
        (np.zeros((2, 4, 3), np.float32)[:, ::2], "expected a C-contiguous array"),
        (np.zeros((0, 2, 3), np.float32), "output dimensions must be positive"),
        (
            np.frombuffer(bytearray(49), np.uint8)[1:].view(np.float32).reshape(2, 2, 3),
            "expected a target that is aligned",
        ),
    ],
    ids=["channels", "rank", "type", "gaps", "empty", "unaligned"],
)
def test_into_wrong_arrays(out, message):
    with pytest.raises(ValueError, match=message):
        resize_into(IMAGE, out)


def test_into_read_only_memory():
    out = np.zeros((2, 2, 3), np.float32)
    out.flags.writeable = False
    with pytest.raises((BufferError, ValueError), match="read-only"):
        resize_into(IMAGE, out)


def test_into_with_wrong_factors():
    out = np.zeros((2, 2, 3), np.float32)
    with pytest.raises(ValueError, match="expected multiply or divide, not both"):
        resize_into(IMAGE, out, multiply=2, divide=2)
    with pytest.raises(ValueError, match="expected no factor with 'nearest'"):
        resize_into(IMAGE, out.astype(np.uint8), "nearest", divide=2)


def test_inputs_are_left_alone_and_may_be_read_only():
    image = IMAGE.copy()
    image.flags.writeable = False
    resize(image, (9, 9))
    assert np.array_equal(image, IMAGE)


def test_several_threads():
    images = [np.full((64, 64, 3), number, np.uint8) for number in range(8)]
    found = [None] * len(images)

    def work(number):
        for _ in range(50):
            found[number] = resize(images[number], (31, 33), antialias=True)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, result in enumerate(found):
        assert np.allclose(result, number)


@pytest.mark.parametrize("method", METHODS)
def test_sizes_that_memory_cannot_hold(method):
    one = np.zeros((1, 1, 1), np.uint8)
    for size in ((2**31 - 1, 2**16), (2**16, 2**31 - 1), (2**31 - 1, 2**31 - 1)):
        with pytest.raises(ResourceExhaustedError, match=r"OOM when allocating tensor with shape\[1,"):
            resize(one, size, method)


def test_fitting_into_sizes_that_memory_cannot_hold():
    with pytest.raises(ResourceExhaustedError, match=r"shape\[1,2147483648,65536,3\] and type uint8"):
        resize_with_crop_or_pad(IMAGE, 2**31, 2**16)


def test_errors_tell_what_is_wrong():
    with pytest.raises(ValueError, match="'images' must have either 3 or 4 dimensions"):
        resize(IMAGE[0], (2, 2))
    with pytest.raises(ValueError, match="Resize method is not implemented: cubic"):
        resize(IMAGE, (2, 2), "cubic")
    with pytest.raises(InvalidArgumentError, match="Value for attr 'T' of bool is not in the list"):
        resize(IMAGE.astype(bool), (2, 2))


def test_sizes():
    assert output_size((3, 4)) == output_size(np.array([3, 4])) == (3, 4)
    assert output_size((-(2**31), 2**31 - 1)) == (-(2**31), 2**31 - 1)
    assert output_size((2**31, -1)) == (-(2**31), -1)
    with pytest.raises(ValueError, match="'size' must be a 1-D int32 Tensor"):
        output_size((3.0, 4))
    with pytest.raises(ValueError, match="'size' must be a 1-D Tensor of 2 elements: new_height, new_width"):
        output_size(3)


def test_fitting_sizes():
    assert fitting_size((30, 40), 17, 100) == (17, 23)
    assert fitting_size((2, 2), 5, 3) == (3, 3)
    assert fitting_size((0, 0), 5, 3) == (-(2**31), -(2**31))


def test_crop_or_pad_takes_the_middle():
    image = np.arange(1, 7).reshape(2, 3, 1)
    assert resize_with_crop_or_pad(image, 1, 2)[..., 0].tolist() == [[1, 2]]
    assert resize_with_crop_or_pad(image, 3, 5)[..., 0].tolist() == [
        [0, 1, 2, 3, 0],
        [0, 4, 5, 6, 0],
        [0, 0, 0, 0, 0],
    ]


def test_pad_keeps_the_shape_of_the_image():
    image = np.full((10, 20, 3), 7, np.uint8)
    fitted = resize_with_pad(image, 10, 10)
    assert fitted.dtype == np.float32
    assert fitted[:, 0, 0].tolist() == [0, 0, 7, 7, 7, 7, 7, 0, 0, 0]
