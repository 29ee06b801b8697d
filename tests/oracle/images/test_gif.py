"""decode_gif in TensorFlow and in tfrkit, on files made by hand and by Pillow."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from PIL import Image

from tests.oracle.support.codecs import mutated, same
from tests.oracle.support.gif_files import COLORS, control, frame, screen
from tests.support.rules import tf_rule

END = b";"
TWELVE = [number % 8 for number in range(12)]
FOUR = [7, 6, 5, 4]
WHOLE = frame(0, 0, 4, 3, TWELVE)
PART = frame(1, 1, 2, 2, FOUR)
START = screen(4, 3)
LOOP = b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"

PLACES = {
    "one frame": START + WHOLE + END,
    "larger canvas": screen(9, 9) + WHOLE + END,
    "smaller canvas": screen(2, 2) + WHOLE + END,
    "first frame off the corner": screen(6, 6) + frame(1, 1, 4, 3, TWELVE) + END,
    "second frame smaller": START + WHOLE + PART + END,
    "first frame smaller": START + PART + WHOLE + END,
    "second frame beyond the canvas": START + WHOLE + frame(3, 2, 2, 2, FOUR) + END,
    "second frame outside": START + WHOLE + frame(30, 20, 2, 2, FOUR) + END,
    "second frame wider": START + WHOLE + frame(0, 0, 6, 1, [1] * 6) + END,
    "interlaced": screen(2, 9)
    + frame(0, 0, 2, 9, [number % 8 for number in range(18)], interlaced=True)
    + END,
    "one row interlaced": screen(5, 1) + frame(0, 0, 5, 1, [1, 2, 3, 4, 5], interlaced=True) + END,
    "colours of its own": START + frame(0, 0, 4, 3, TWELVE, colors=COLORS[::-1]) + WHOLE + END,
    "only colours of its own": screen(4, 3, None) + frame(0, 0, 4, 3, TWELVE, colors=COLORS) + END,
    "no colours": screen(4, 3, None) + WHOLE + END,
    "second without colours": screen(4, 3, None) + frame(0, 0, 4, 3, TWELVE, colors=COLORS) + WHOLE + END,
    "too few colours": screen(4, 3, COLORS[:2]) + WHOLE + END,
    "too few colours, transparent": screen(4, 3, COLORS[:4])
    + control(0, 7)
    + frame(0, 0, 4, 3, [1, 2, 3, 7] * 3)
    + END,
    "transparent": START + WHOLE + control(0, 7) + PART + END,
    "transparent first": START + control(0, 3) + WHOLE + END,
    "said twice": START + control(0, 3) + control(0, 5) + WHOLE + END,
    "said twice, opaque first": START + control() + control(0, 5) + WHOLE + END,
    "said before a comment": START + control(0, 3) + b"!\xfe\x01a\0" + WHOLE + END,
    "said with a wrong size": START + b"!\xf9\x03\x01\0\0\0" + WHOLE + END,
    "said of the first only": START + control(0, 3) + WHOLE + WHOLE + END,
    "repeating": START + LOOP + WHOLE + PART + END,
    "unknown extension": START + b"!\x01\x03abc\0" + WHOLE + END,
    "empty extension": START + b"!\xf9\x00\x04\x01\0\0\3\0" + WHOLE + END,
}


@tf_rule("6 decode_gif frames")
@pytest.mark.parametrize("what", PLACES)
def test_frames(what):
    same("decode_gif", PLACES[what], what=what)


@tf_rule("6 decode_gif frames")
@pytest.mark.parametrize("disposal", range(4))
def test_disposal_is_not_looked_at(disposal):
    frames = [
        control(disposal) + WHOLE,
        control(disposal) + PART,
        control(disposal, 6) + frame(0, 0, 2, 2, FOUR),
    ]
    found = same("decode_gif", START + b"".join(frames) + END)
    assert found.shape == (3, 3, 4, 3)
    assert found[1, 0, 0].tolist() == found[0, 0, 0].tolist()


@tf_rule("6 decode_gif codes")
def test_long_codes_and_full_tables():
    generator = random.Random(1)
    noise = [generator.randrange(256) for _ in range(120 * 100)]
    runs = [pixel for _ in range(200) for pixel in [generator.randrange(256)] * generator.randrange(1, 90)]
    grays = [(number, number, number) for number in range(256)]
    for pixels in (noise, runs[: len(runs) // 100 * 100], [0] * 40000):
        width, height = 100, len(pixels) // 100
        same("decode_gif", screen(width, height, grays) + frame(0, 0, width, height, pixels, size=8) + END)
    for size in (1, 3, 5, 8):
        same("decode_gif", START + frame(0, 0, 4, 3, [pixel % 2 for pixel in TWELVE], size=size) + END)


DAMAGES = {
    "no trailer": START + WHOLE,
    "more behind": START + WHOLE + END + b"more",
    "unknown block": START + b"x" + WHOLE + END,
    "unknown block behind a frame": START + WHOLE + b"x" + END,
    "no frames": START + END,
    "other version": b"GIF80a" + (START + WHOLE + END)[6:],
    "too few pixels": START + frame(0, 0, 4, 3, TWELVE[:7]) + END,
    "too few pixels in the second frame": START + WHOLE + frame(0, 0, 4, 3, TWELVE[:7]) + WHOLE + END,
    "too many pixels": START + frame(0, 0, 4, 3, TWELVE * 2) + END,
    "no end code": START + frame(0, 0, 4, 3, TWELVE, end=False) + END,
    "no width": START + frame(0, 0, 0, 3, [], size=3) + END,
    "no width in the second frame": START + WHOLE + frame(0, 0, 0, 3, [], size=3) + END,
    "too large": START + frame(0, 0, 65535, 65535, TWELVE) + END,
    "codes of 10 bits": START + frame(0, 0, 4, 3, TWELVE, size=9) + END,
    "no codes": START + frame(0, 0, 4, 3, [], codes=b"\0") + END,
    "extension cut off": START + WHOLE + b"!\xff\x0bNET",
    "only the magic": b"GIF8",
}


@tf_rule("6 decode_gif damaged")
@pytest.mark.parametrize("what", DAMAGES)
def test_damages(what):
    same("decode_gif", DAMAGES[what], what=what)


def files():
    generator = random.Random(2)
    runs = [pixel for _ in range(40) for pixel in [generator.randrange(8)] * generator.randrange(1, 200)]
    height = len(runs) // 50
    return [
        START
        + control(2, 3)
        + frame(0, 0, 4, 3, TWELVE, interlaced=True)
        + control(0, 7)
        + PART
        + LOOP
        + WHOLE
        + END,
        screen(50, height) + frame(0, 0, 50, height, runs[: 50 * height]) + END,
        START + PART + frame(0, 0, 4, 3, TWELVE, colors=COLORS[::-1]) + END,
    ]


@tf_rule("6 decode_gif damaged")
@pytest.mark.parametrize("number", range(3))
def test_every_cut(number):
    contents = files()[number]
    for size in range(4, len(contents)):
        same("decode_gif", contents[:size], what=size)


@tf_rule("6 decode_gif damaged")
@pytest.mark.parametrize("seed", range(3))
def test_mutations(seed):
    chosen = random.Random(seed)
    for number in range(500):
        same("decode_gif", mutated(chosen.choice(files()), chosen, start=4), what=number)


@tf_rule("6 decode_gif files")
def test_files_of_pillow():
    generator = np.random.default_rng(3)
    frames = [Image.fromarray(generator.integers(0, 256, (20, 30, 3), dtype=np.uint8)) for _ in range(3)]
    frames += [frames[0].copy()]
    frames[3].paste((1, 2, 3), (5, 5, 15, 12))
    for options in ({}, {"disposal": 2}, {"optimize": True}, {"interlace": 0}, {"transparency": 0}):
        file = io.BytesIO()
        frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], **options)
        same("decode_gif", file.getvalue(), what=options)
