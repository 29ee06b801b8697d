"""decode_gif: how frames are put together, damage, and hostile headers."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from tests.oracle.support.gif_files import COLORS, control, frame, screen
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.decode_image import decode_gif, decode_image
from tfrkit.images.codecs.png.png import decode_png

NUMBERS = [number % 8 for number in range(12)]
FILE = screen(4, 3) + frame(0, 0, 4, 3, NUMBERS) + control(1, 7) + frame(1, 1, 2, 2, [7, 6, 5, 4]) + b";"


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


def test_damage_in_any_frame_is_an_error():
    for size in (20, len(FILE) - 8):
        with pytest.raises(InvalidArgumentError, match=rf"^Invalid GIF data \(size {size}\), "):
            decode_gif(FILE[:size])


def test_claim_of_a_huge_frame_is_an_error():
    claim = screen(9, 9) + frame(0, 0, 40000, 40000, NUMBERS) + b";"
    with pytest.raises(InvalidArgumentError, match=r"Image size \(1600000000 pixels\) exceeds limit"):
        decode_gif(claim)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(
        ImportError, match=r"Decoding GIF needs the package pillow.*pip install 'tfrkit\[images\]'"
    ):
        decode_gif(FILE)


def test_mutations_give_frames_or_an_error():
    generator = random.Random(1)
    for _ in range(1500):
        data = bytearray(FILE)
        for _ in range(generator.randrange(1, 4)):
            data[generator.randrange(4, len(data))] = generator.randrange(256)
        try:
            decode_gif(bytes(data))
        except InvalidArgumentError as error:
            assert str(error).startswith("Invalid GIF data")  # noqa: PT017
