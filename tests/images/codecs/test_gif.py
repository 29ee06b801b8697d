"""decode_gif: how frames are put together, damage, and hostile headers."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest

from tests.oracle.support.gif_files import COLORS, control, frame, screen
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.decode_image import decode_image
from tfrkit.images.codecs.gif import decode_gif
from tfrkit.images.codecs.png.png import decode_png

NUMBERS = [number % 8 for number in range(12)]
FILE = screen(9, 9) + frame(0, 0, 4, 3, NUMBERS) + control(2, 7) + frame(1, 1, 2, 2, [7, 6, 5, 4]) + b";"


def test_frames_lie_over_those_before():
    found = decode_gif(FILE)
    colors = np.array(COLORS, np.uint8)
    first = colors[np.array(NUMBERS).reshape(3, 4)]
    second = first.copy()
    second[1, 2], second[2, 1], second[2, 2] = colors[6], colors[5], colors[4]
    assert np.array_equal(found, [first, second])


def test_other_functions_take_what_they_can():
    assert decode_image(FILE, expand_animations=False).shape == (3, 4, 3)
    assert decode_image(FILE, dtype="uint16").max() == 73 * 256
    with pytest.raises(
        InvalidArgumentError, match=r"^Got 2 frames, but animated gifs can only be decoded by"
    ):
        decode_png(FILE)
    with pytest.raises(InvalidArgumentError, match=r"^channels must be 0 or 3 for GIF, got 1"):
        decode_image(FILE, channels=1)


def test_frames_before_damage_are_given():
    assert np.array_equal(decode_gif(FILE[:-8]), decode_gif(FILE)[:1])
    with pytest.raises(
        InvalidArgumentError,
        match=r"^Invalid GIF data \(size 20\), failed to open gif file: No screen descriptor",
    ):
        decode_gif(FILE[:20])


def test_nothing_is_allocated_for_a_claim():
    claim = screen(9, 9) + frame(0, 0, 40000, 40000, NUMBERS) + b";"
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgumentError, match="Image EOF detected before image complete"):
            decode_gif(claim)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_mutations_give_frames_or_an_error():
    generator = random.Random(1)
    for _ in range(3000):
        data = bytearray(FILE)
        for _ in range(generator.randrange(1, 4)):
            data[generator.randrange(4, len(data))] = generator.randrange(256)
        try:
            decode_gif(bytes(data))
        except InvalidArgumentError as error:
            assert str(error).startswith("Invalid GIF data")  # noqa: PT017
