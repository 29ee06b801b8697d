"""decode_image, and every decoder on every format, in TensorFlow and in tfrkit."""

from __future__ import annotations

import functools
import io
import random

import numpy as np
import pytest
from PIL import Image

from tests.oracle.images.test_bmp import bmp
from tests.oracle.support import tf_scenarios
from tests.oracle.support.codecs import mutated, ours, same
from tests.oracle.support.gif_files import control, frame, screen
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.png_files import png, samples
from tests.support.rules import tf_rule
from tfrkit.errors import UnimplementedError
from tfrkit.images.codecs.webp import read_webp_features

JPEG_XL = bytes.fromhex("ff0a0810101437020800010020004b188b15c2100e00")
OTHERS = ("decode_png", "decode_bmp", "decode_webp", "decode_jpeg")


def picture(height, width, channels, seed=0):
    """Slopes with some noise, as photos have."""
    y, x = np.mgrid[:height, :width]
    noise = np.random.default_rng(seed).integers(0, 9, (height, width, channels))
    slopes = np.stack([x * 3 + y * 2 * (channel + 1) for channel in range(channels)], -1)
    return ((slopes + noise) % 256).astype(np.uint8)


def saved(image, form, **options):
    file = io.BytesIO()
    Image.fromarray(image).save(file, form, **options)
    return file.getvalue()


def animated(count, height, width, **options):
    frames = [Image.fromarray(picture(height, width, 4, seed)) for seed in range(count)]
    file = io.BytesIO()
    frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:], **options)
    return file.getvalue()


@functools.cache
def files():
    """One file of every kind, whole and damaged."""
    generator = np.random.default_rng(1)
    colors = picture(5, 7, 3)
    still = screen(4, 3) + frame(0, 0, 4, 3, [1, 2, 3] * 4)
    made = {
        "png": png(samples(2, 8, 5, 7, generator), 2, 8),
        "png 16": png(samples(6, 16, 5, 7, generator), 6, 16),
        "png gray": png(samples(0, 4, 5, 7, generator), 0, 4),
        "jpeg": saved(colors, "JPEG"),
        "jpeg gray": saved(colors[:, :, 0], "JPEG"),
        "gif": still + b";",
        "gif animated": still + control(0, 1) + frame(1, 0, 2, 2, [1, 2, 3, 4]) + b";",
        "bmp": bmp(7, 5, 24),
        "bmp gray": bmp(7, 5, 8),
        "webp": saved(colors, "WEBP"),
        "webp alpha": saved(picture(5, 7, 4), "WEBP", lossless=True),
        "webp animated": animated(3, 5, 7, lossless=True),
        "nothing": b"hello",
        "empty": b"",
    }
    cut = {f"{name} cut": made[name][:60] for name in ("png", "jpeg", "bmp", "webp", "webp animated")}
    return {**made, **cut, "webp header cut": made["webp"][:25]}


FILES = tuple(files())


@tf_rule("6 decode_image formats")
@pytest.mark.parametrize("name", FILES)
def test_types_and_channels(name):
    for channels in (None, 0, 1, 2, 3, 4):
        for dtype in ("uint8", "uint16", "float32"):
            same("decode_image", files()[name], what=name, channels=channels, dtype=dtype)
        same("decode_image", files()[name], what=name, channels=channels, expand_animations=False)


@tf_rule("6 decode_image other types")
@pytest.mark.parametrize("name", ["png", "png 16", "jpeg", "gif", "bmp", "webp"])
def test_other_types(name):
    for dtype in ("int32", "float64", "int8", "uint32", "float16", "int64"):
        same("decode_image", files()[name], what=name, dtype=dtype)


@tf_rule("6 decoders sniff")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("function", OTHERS)
def test_every_decoder_on_every_format(name, function):
    for channels in (0, 1, 3, 4):
        same(function, files()[name], what=name, channels=channels)


@tf_rule("6 decoders sniff")
@pytest.mark.parametrize("name", FILES)
def test_decode_gif_on_every_format(name):
    same("decode_gif", files()[name], what=name)
    same("decode_png", files()[name], what=name, dtype="uint16")


@tf_rule("6 decoders sniff")
def test_first_bytes():
    heads = [
        b"\xff\xd8\xff",
        b"\xff\xd8",
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a",
        b"GIF8",
        b"GIF",
        b"BM",
        b"B",
    ]
    heads += [b"RIFF", b"RIFF1234WEBP", b"RIFF1234WEBPx", b"RIFF1234WAVEx", b"\xff"]
    for head in heads:
        if head not in (b"\xff\xd8\xff", b"GIF8"):  # what decoders say of no more than this is theirs
            same("decode_image", head, what=head)


@tf_rule("6 decode_image arguments")
def test_arguments():
    contents = files()["gif animated"]
    for expand in (True, False, 0, 1, "a", None):
        same("decode_image", contents, expand_animations=expand)
    same("decode_image", contents, channels=3, expand_animations=None)
    same("decode_image", files()["png"], expand_animations=None)
    for dtype in (None, "nothing", np.uint16, tensorflow().float32, float):
        same("decode_image", contents, dtype=dtype)
    for channels in (True, 1.5, -1, "x", [3]):
        same("decode_image", contents, channels=channels)
    for wrong in ([contents], [], 3, None, "text", [["a"]]):
        same("decode_image", wrong)


@tf_rule("6 codec names")
def test_names_in_both_modules():
    contents, frames, images = files()["png"], files()["gif animated"], np.zeros((2, 3, 4, 3), np.uint8)
    for part in ("io", "image"):
        for read in (lambda tf: getattr(tf, part), lambda tf: getattr(tf.compat.v1, part)):  # noqa: B023
            tf_scenarios.same(lambda tf: read(tf).decode_png(tf.constant(contents), channels=1))  # noqa: B023
            tf_scenarios.same(lambda tf: read(tf).decode_image(tf.constant(frames), dtype=tf.float32))  # noqa: B023
            tf_scenarios.same(lambda tf: read(tf).decode_gif(contents=frames))  # noqa: B023
            tf_scenarios.same(lambda tf: read(tf).decode_bmp(files()["bmp"], 4))  # noqa: B023
            tf_scenarios.same(lambda tf: read(tf).decode_webp(files()["webp"], name="any"))  # noqa: B023
            tf_scenarios.same(lambda tf: tf.shape(read(tf).encode_png(tf.constant(images))))  # noqa: B023


WEBP = [
    {"lossless": True},
    {"quality": 80},
    {"quality": 10},
    {"lossless": True, "exact": True},
    {"alpha_quality": 50},
]


@tf_rule("6 decode_webp pixels")
@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("options", WEBP, ids=str)
def test_webp_stills(channels, options):
    for height, width in ((1, 1), (2, 3), (16, 16), (17, 33), (101, 99)):
        contents = saved(picture(height, width, channels), "WEBP", **options)
        for wanted in (0, 3, 4):
            same("decode_webp", contents, channels=wanted)
        same("decode_webp", contents + b"more")


@tf_rule("6 decode_webp animated")
@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"minimize_size": True}], ids=str)
def test_webp_animations(options):
    contents = animated(4, 30, 20, **options)
    for wanted in (0, 3, 4):
        same("decode_webp", contents, channels=wanted)
    sparse = [np.zeros((20, 30, 4), np.uint8) for _ in range(4)]
    for number, pixels in enumerate(sparse):
        pixels[number * 3 : number * 3 + 5, number * 4 : number * 4 + 6] = picture(5, 6, 4, number)
    frames = [Image.fromarray(pixels) for pixels in sparse]
    file = io.BytesIO()
    frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:], **options)
    assert len(same("decode_webp", file.getvalue())) == 4


@tf_rule("6 decode_webp damaged")
@pytest.mark.parametrize("name", ["webp", "webp alpha", "webp animated"])
def test_webp_cuts(name):
    contents = files()[name]
    for size in range(13, len(contents)):
        same("decode_webp", contents[:size], what=size)


@tf_rule("6 decode_webp damaged")
def test_webp_mutations_are_an_image_or_an_error():
    chosen = random.Random(1)
    whole = [files()[name] for name in ("webp", "webp alpha", "webp animated")]
    for _ in range(500):
        contents = mutated(chosen.choice(whole), chosen, start=12)
        features = read_webp_features(contents)
        if features and features.width * features.height > 1_000_000:
            continue
        try:
            ours("decode_webp")(contents)
        except ValueError as error:
            assert type(error).__name__ == "InvalidArgumentError", error  # noqa: PT017


@tf_rule("6 decode_webp without alpha")
def test_animation_without_alpha_is_rgb():
    frames = [Image.fromarray(picture(5, 7, 3, seed)) for seed in range(3)]
    file = io.BytesIO()
    frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    found = ours("decode_webp")(file.getvalue())
    assert np.array_equal(found, np.stack([np.asarray(frame) for frame in frames]))
    same("decode_webp", file.getvalue(), channels=4)


@tf_rule("6 JPEG XL")
def test_jpeg_xl_is_not_decoded():
    assert tensorflow().io.decode_image(JPEG_XL).numpy().tolist() == [[[1], [2]], [[3], [4]]]
    with pytest.raises(UnimplementedError, match="JPEG XL images are not decoded"):
        ours("decode_image")(JPEG_XL)
    same("decode_image", JPEG_XL, dtype="uint16")
