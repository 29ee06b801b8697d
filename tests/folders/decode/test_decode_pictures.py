"""Image files of a column: those that one native call takes, those that it leaves, and which of many is broken."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import tfrkit as tfr
from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.folders.decode.decode_pictures import decode_pictures
from tfrkit.folders.decode.stored_keys import BadValue
from tfrkit.folders.feature_tree import ImageFeature
from tfrkit.model.bytes_column import BytesColumn

RANDOM = np.random.default_rng(3)
GRAY = ImageFeature((5, 7, 1))


def pixels(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, shape, np.uint8)


def by_pillow(image: np.ndarray, mode: str | None = None, **options: object) -> bytes:
    file = io.BytesIO()
    made = Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
    (made if mode is None else made.convert(mode)).save(file, "PNG", **options)
    return file.getvalue()


def left_of(column: BytesColumn, shape: tuple[int, int, int]) -> list[int]:
    """The rows that the native call leaves."""
    target = np.empty((len(column), *shape), np.uint8)
    return _core.decode_png_files(column.data, column.offsets, shape, target)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (28, 28), (33, 90)])
def test_plain_files_are_decoded_in_one_call(size, channels):
    images = [pixels(*size, channels) for _ in range(40)] + [np.zeros((*size, channels), np.uint8)] * 2
    files = [by_pillow(image, compress_level=number % 10) for number, image in enumerate(images)]
    files += [tfr.image.encode_png(image, number % 10) for number, image in enumerate(images)]
    column = BytesColumn.from_list(files)
    assert left_of(column, (*size, channels)) == []
    found = decode_pictures(column, ImageFeature((*size, channels)), threads=2)
    np.testing.assert_array_equal(found, images + images)


def test_a_part_of_a_column_is_decoded():
    images = [pixels(5, 7, 1) for _ in range(9)]
    column = BytesColumn.from_list([b"xx", *map(tfr.image.encode_png, images)])[3:8]
    np.testing.assert_array_equal(decode_pictures(column, GRAY, 1), images[2:7])
    assert decode_pictures(column[:0], GRAY, 1).shape == (0, 5, 7, 1)


def test_other_files_have_the_pixels_of_decode_image():
    color = pixels(5, 7, 3)
    plain = tfr.image.encode_png(pixels(5, 7, 1))
    files = [
        plain,
        by_pillow(color),
        by_pillow(color, "P"),
        by_pillow(color, "LA"),
        by_pillow(color, "1"),
        tfr.image.encode_png(pixels(5, 7, 1).astype(np.uint16) * 100),
        tfr.image.encode_jpeg(color),
        plain + b"more",
    ]
    column = BytesColumn.from_list(files)
    assert left_of(column, (5, 7, 1)) == [1, 2, 3, 4, 5, 6]
    expected = [tfr.image.decode_image(file, 1) for file in files]
    np.testing.assert_array_equal(decode_pictures(column, GRAY, 2), expected)


def test_the_first_broken_file_is_named():
    good = tfr.image.encode_png(pixels(5, 7, 1))
    jpeg = tfr.image.encode_jpeg(pixels(5, 7, 1))
    column = BytesColumn.from_list([good, jpeg, good, good[:-20], good, b""])
    with pytest.raises(BadValue) as caught:
        decode_pictures(column, GRAY, 2)
    assert caught.value.row == 3
    assert "its image cannot be decoded" in caught.value.reason
    other = BytesColumn.from_list([good, tfr.image.encode_png(pixels(7, 5, 1))])
    with pytest.raises(BadValue, match="expected the shape"):
        decode_pictures(other, GRAY, 2)


@given(st.data())
def test_damaged_files_are_those_of_decode_image(data):
    size = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    image = np.frombuffer(data.draw(st.binary(min_size=81, max_size=81)), np.uint8)
    file = bytearray(tfr.image.encode_png(np.resize(image, (*size, 1)), data.draw(st.integers(0, 9))))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(file) - 1))
        file[place] = data.draw(st.integers(0, 255))
    column = BytesColumn.from_list([bytes(file)])
    try:
        expected = tfr.image.decode_image(bytes(file), 1, expand_animations=False)
    except InvalidArgumentError:
        expected = None
    target = np.empty((1, *size, 1), np.uint8)
    left = _core.decode_png_files(column.data, column.offsets, (*size, 1), target)
    if not left:
        np.testing.assert_array_equal(target[0], expected)
    else:
        assert expected is None


def test_wrong_arguments_are_refused():
    data, offsets = np.zeros(4, np.uint8), np.array([0, 3, 2])
    with pytest.raises(IndexError):
        _core.decode_png_files(data, offsets, (1, 1, 1), np.empty(2, np.uint8))
    with pytest.raises(ValueError, match="expected a target"):
        _core.decode_png_files(data, np.array([0, 4]), (1, 1, 1), np.empty(2, np.uint8))
    huge = (1 << 40, 1 << 40, 1)
    assert _core.decode_png_files(data, np.array([0, 4]), huge, np.empty(0, np.uint8)) == [0]
