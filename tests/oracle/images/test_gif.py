"""decode_gif in TensorFlow and in tfrkit, on files made by hand and by Pillow."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from PIL import Image

import tfrkit.image
from tests.oracle.support.codecs import same
from tests.oracle.support.gif_files import COLORS, control, frame, screen
from tests.oracle.support.jpeg_compare import attempt
from tests.oracle.support.oracle import Failure, tensorflow
from tests.support.rules import tf_rule

END = b";"
TWELVE = [number % 8 for number in range(12)]
FOUR = [7, 6, 5, 4]
WHOLE = frame(0, 0, 4, 3, TWELVE)
PART = frame(1, 1, 2, 2, FOUR)
START = screen(4, 3)
LOOP = b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"

EXACT = {
    "one frame": START + WHOLE + END,
    "smaller canvas": screen(2, 2) + WHOLE + END,
    "second frame smaller": START + WHOLE + PART + END,
    "interlaced": screen(2, 9)
    + frame(0, 0, 2, 9, [number % 8 for number in range(18)], interlaced=True)
    + END,
    "one row interlaced": screen(5, 1) + frame(0, 0, 5, 1, [1, 2, 3, 4, 5], interlaced=True) + END,
    "colours of its own": START + frame(0, 0, 4, 3, TWELVE, colors=COLORS[::-1]) + WHOLE + END,
    "only colours of its own": screen(4, 3, None) + frame(0, 0, 4, 3, TWELVE, colors=COLORS) + END,
    "too few colours, transparent": screen(4, 3, COLORS[:4])
    + control(0, 7)
    + frame(0, 0, 4, 3, [1, 2, 3, 7] * 3)
    + END,
    "transparent": START + WHOLE + control(0, 7) + PART + END,
    "transparent first": START + control(0, 3) + WHOLE + END,
    "said before a comment": START + control(0, 3) + b"!\xfe\x01a\0" + WHOLE + END,
    "said of the first only": START + control(0, 3) + WHOLE + WHOLE + END,
    "repeating": START + LOOP + WHOLE + PART + END,
    "unknown extension": START + b"!\x01\x03abc\0" + WHOLE + END,
    "no trailer": START + WHOLE,
    "more behind": START + WHOLE + END + b"more",
    "too many pixels": START + frame(0, 0, 4, 3, TWELVE * 2) + END,
    "no end code": START + frame(0, 0, 4, 3, TWELVE, end=False) + END,
}


@tf_rule("6 decode_gif frames")
@pytest.mark.parametrize("what", EXACT)
def test_frames(what):
    same("decode_gif", EXACT[what], what=what)


@tf_rule("6 decode_gif animations")
@pytest.mark.parametrize("disposal", range(4))
def test_first_frames_are_equal_and_later_ones_follow_disposal(disposal):
    parts = [
        control(disposal) + WHOLE,
        control(disposal) + PART,
        control(disposal, 6) + frame(0, 0, 2, 2, FOUR),
    ]
    contents = START + b"".join(parts) + END
    found, reference = tfrkit.image.decode_gif(contents), tensorflow().io.decode_gif(contents).numpy()
    assert found.shape == reference.shape
    assert np.array_equal(found[0], reference[0])
    assert np.array_equal(found, reference) == (disposal < 2)  # TensorFlow does not look at disposal
    same("decode_image", contents, expand_animations=False)


@tf_rule("6 decode_gif animations")
def test_size_is_that_of_the_canvas():
    contents = screen(9, 9) + WHOLE + END
    found, reference = tfrkit.image.decode_gif(contents), tensorflow().io.decode_gif(contents).numpy()
    assert reference.shape == (1, 3, 4, 3)  # that of the largest frame
    assert found.shape == (1, 9, 9, 3)
    assert np.array_equal(found[:, :3, :4], reference)


@tf_rule("6 decode_gif codes")
def test_long_codes_and_full_tables():
    generator = random.Random(1)
    noise = [generator.randrange(256) for _ in range(120 * 100)]
    runs = [pixel for _ in range(200) for pixel in [generator.randrange(256)] * generator.randrange(1, 90)]
    grays = [(number, number, number) for number in range(256)]
    for pixels in (noise, runs[: len(runs) // 100 * 100], [0] * 40000):
        width, height = 100, len(pixels) // 100
        same("decode_gif", screen(width, height, grays) + frame(0, 0, width, height, pixels, size=8) + END)
    for size in (2, 3, 5, 8):
        same("decode_gif", START + frame(0, 0, 4, 3, [pixel % 2 for pixel in TWELVE], size=size) + END)


DAMAGES = {
    "no frames": START + END,
    "too few pixels": START + frame(0, 0, 4, 3, TWELVE[:7]) + END,
    "no width": START + frame(0, 0, 0, 3, [], size=3) + END,
    "too large": START + frame(0, 0, 65535, 65535, TWELVE) + END,
    "no codes": START + frame(0, 0, 4, 3, [], codes=b"\0") + END,
    "only the magic": b"GIF8",
}


@tf_rule("6 decode_gif damaged")
@pytest.mark.parametrize("what", DAMAGES)
def test_damages(what):
    for decode in (tensorflow().io.decode_gif, tfrkit.image.decode_gif):
        with pytest.raises(Exception, match=r"Invalid GIF data \(size ") as caught:
            decode(DAMAGES[what])
        assert type(caught.value).__name__ == "InvalidArgumentError"


@tf_rule("6 decode_gif damaged")
def test_every_cut_is_an_error_or_gives_the_first_frames():
    contents = START + WHOLE + LOOP + control(0, 7) + PART + WHOLE + END
    whole = tfrkit.image.decode_gif(contents)
    for size in range(4, len(contents)):
        found = attempt(lambda size=size: tfrkit.image.decode_gif(contents[:size]))
        if isinstance(found, Failure):
            assert found.name == "InvalidArgumentError", size
        else:
            assert np.array_equal(found, whole[: len(found)]), size


@tf_rule("6 decode_gif files")
def test_files_of_pillow():
    generator = np.random.default_rng(3)
    frames = [Image.fromarray(generator.integers(0, 256, (20, 30, 3), dtype=np.uint8)) for _ in range(3)]
    frames += [frames[0].copy()]
    frames[3].paste((1, 2, 3), (5, 5, 15, 12))
    for options in ({}, {"optimize": True}, {"interlace": 0}, {"transparency": 0}):
        still, animation = io.BytesIO(), io.BytesIO()
        frames[0].save(still, "GIF", **options)
        frames[0].save(animation, "GIF", save_all=True, append_images=frames[1:], **options)
        same("decode_gif", still.getvalue(), what=options)
        same("decode_image", animation.getvalue(), what=options, expand_animations=False)
        assert tfrkit.image.decode_gif(animation.getvalue()).shape == (4, 20, 30, 3)
